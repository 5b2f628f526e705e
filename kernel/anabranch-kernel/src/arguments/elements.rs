//! Stored vectors, with one element for each index.

use std::ops::Range;

use crate::device_vec::{Storage, len_on_device};
use crate::element;
use crate::gpu::Buffer;
use crate::graph::Graph;
use crate::source::{Source, View};
use crate::tree::{BufferId, Node};
use crate::{DeviceVec, Element, Error};

/// Stored elements of type `T`: `&DeviceVec<T>`, `&[T]`, `&Vec<T>` and `&[T; N]`. Each operation on a device uploads
/// the slices that it reads.
///
/// ```
/// use anabranch_kernel::{Queue, Values, Vector};
///
/// fn total(queue: &Queue, values: impl Vector<Item = u32>) -> u32 {
///     anabranch::run(|cx| values.sum(queue).unwrap().wait(cx)).unwrap()
/// }
/// let queue = Queue::cpu();
/// assert_eq!(total(&queue, &vec![1, 2, 3]), 6);
/// assert_eq!(total(&queue, &queue.upload(&[1, 2, 3]).unwrap()), 6);
/// fn is_stored(_: impl Values<u32>) {}
/// is_stored(&[1, 2, 3]);
/// ```
pub trait Values<T: Element>: Stored<T> {}

impl<T: Element, S: Stored<T>> Values<T> for S {}

/// The part of [`Values`] that no path names.
pub trait Stored<T: Element> {
    /// Returns the elements.
    fn data(&self) -> Data<'_, T>;
}

/// Where stored elements are.
pub enum Data<'a, T> {
    /// In a slice, which an operation on a device uploads.
    Slice(&'a [T]),
    /// In a [`DeviceVec`] of the processor.
    Host(&'a [T]),
    /// In a buffer of a device.
    Device(&'a Buffer),
}

impl<'a, T: Element> Data<'a, T> {
    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Slice(elements) | Self::Host(elements) => elements.len(),
            Self::Device(buffer) => len_on_device::<T>(buffer),
        }
    }

    /// Returns the elements in the memory of the host.
    pub(crate) fn on_host(self) -> Result<&'a [T], Error> {
        match self {
            Self::Slice(elements) | Self::Host(elements) => Ok(elements),
            Self::Device(buffer) => Err(Error::queues(buffer.queue().device().name(), "the processor")),
        }
    }

    /// Returns the number of the buffer in `graph`. Uploads a slice.
    pub(crate) fn on_device(self, graph: &mut Graph<'a>) -> Result<BufferId, Error> {
        match self {
            Self::Slice(elements) => graph.upload(elements),
            Self::Host(_) => Err(Error::queues("the memory of the host", "a device")),
            Self::Device(buffer) => Ok(graph.buffer(buffer)),
        }
    }
}

/// Returns the elements in the memory of the host.
pub(crate) fn host<T: Element>(values: &impl Stored<T>) -> Result<&[T], Error> {
    values.data().on_host()
}

/// Implements [`Stored`] and [`Source`] for a reference.
macro_rules! stored {
    ([$($generics:tt)*] $target:ty, $this:ident => $data:expr) => {
        impl<$($generics)*> Stored<T> for &$target {
            fn data(&self) -> Data<'_, T> {
                let $this: &$target = self;
                $data
            }
        }

        impl<$($generics)*> Source<T> for &$target {
            type View<'a> = Elements<'a, T> where Self: 'a;
            const NAME: &'static str = "a vector";

            #[inline]
            fn count(&self) -> Result<Option<usize>, Error> {
                Ok(Some(self.data().len()))
            }
            #[inline]
            fn view(&self) -> Result<Elements<'_, T>, Error> {
                self.data().on_host().map(Elements)
            }
            fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Node, Error> {
                Ok(Node::Buffer { buffer: self.data().on_device(graph)?, words: element::words::<T>() })
            }
        }
    };
}

stored!([T: Element] [T], elements => Data::Slice(elements));
stored!([T: Element] Vec<T>, elements => Data::Slice(elements));
stored!([T: Element, const N: usize] [T; N], elements => Data::Slice(elements));
stored!([T: Element] DeviceVec<T>, vec => match vec.storage() {
    Storage::Host(elements) => Data::Host(elements),
    Storage::Device(buffer) => Data::Device(buffer),
});

/// The view of stored elements.
pub struct Elements<'a, T>(&'a [T]);

impl<T> Clone for Elements<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Elements<'_, T> {}

impl<'a, T: Element> View<'a, T> for Elements<'a, T> {
    #[inline(always)]
    fn part(&self, range: Range<usize>) -> Self {
        Self(&self.0[range])
    }
    #[inline(always)]
    fn get(&self, index: usize) -> T {
        self.0[index]
    }
}
