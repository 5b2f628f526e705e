//! Slices as arguments: the whole vector, rows, segments.

use std::marker::PhantomData;
use std::ops::Range;

use crate::arguments::elements::{Stored, host};
use crate::graph::Graph;
use crate::source::{Source, View, trap};
use crate::tree::Node;
use crate::{Element, Error, Slice, Values, element};

/// A whole vector for each element. [`whole`] returns it.
#[derive(Debug, Clone, Copy)]
#[must_use = "a lazy vector does nothing by itself"]
pub struct Whole<T, V> {
    values: V,
    element: PhantomData<fn() -> T>,
}

/// Rows of a matrix. [`rows`] returns it.
#[derive(Debug, Clone, Copy)]
#[must_use = "a lazy vector does nothing by itself"]
pub struct Rows<T, V> {
    values: V,
    width: usize,
    element: PhantomData<fn() -> T>,
}

/// Segments of a vector. [`segments`] returns it.
#[derive(Debug, Clone, Copy)]
#[must_use = "a lazy vector does nothing by itself"]
pub struct Segments<T, O, V> {
    offsets: O,
    values: V,
    element: PhantomData<fn() -> T>,
}

/// Returns an argument for a parameter `&[T]`: all of `values` for each element.
///
/// ```
/// use anabranch_kernel::{Kernel, Map, Queue, Slice, Vector, indices, whole};
///
/// /// The sum of the numbers up to the one with this number.
/// enum SumUpTo {}
///
/// impl Kernel for SumUpTo {
///     type Params = (Slice<u32>, u32);
///     type Output = u32;
///     const NAME: &'static str = "sum_up_to";
///     const PROGRAM: &'static [u8] = &[];
///
///     fn call((numbers, last): (&[u32], u32)) -> u32 {
///         numbers[..=last as usize].iter().sum()
///     }
/// }
///
/// let sums = Map::<SumUpTo, _>::new((whole(&[5, 6, 7]), indices(3))).collect(&Queue::cpu())?;
/// assert_eq!(anabranch::run(|cx| sums.download(cx))?, [5, 11, 18]);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
pub fn whole<T: Element, V: Values<T>>(values: V) -> Whole<T, V> {
    Whole { values, element: PhantomData }
}

/// Returns an argument for a parameter `&[T]`: for element `i` the `width` values from `values[i * width]` on.
///
/// An operation returns [`Error::Lengths`] if the number of values is not a multiple of `width`, or `width` is 0.
///
/// ```
/// use anabranch_kernel::{Kernel, Map, Queue, Slice, Vector, rows};
///
/// enum Total {}
///
/// impl Kernel for Total {
///     type Params = (Slice<u32>,);
///     type Output = u32;
///     const NAME: &'static str = "total";
///     const PROGRAM: &'static [u8] = &[];
///
///     fn call((row,): (&[u32],)) -> u32 {
///         row.iter().sum()
///     }
/// }
///
/// let matrix = [1, 2, 3, 10, 20, 30];
/// let totals = Map::<Total, _>::new((rows(&matrix, 3),)).collect(&Queue::cpu())?;
/// assert_eq!(anabranch::run(|cx| totals.download(cx))?, [6, 60]);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
pub fn rows<T: Element, V: Values<T>>(values: V, width: usize) -> Rows<T, V> {
    Rows { values, width, element: PhantomData }
}

/// Returns an argument for a parameter `&[T]`: for element `i` the values from `values[offsets[i]]` on, up to but
/// excluding `offsets[i + 1]`. There is one offset more than there are segments.
///
/// An operation returns [`Error::Lengths`] if there is no offset, and [`Error::Trap`] if offsets decrease or are larger
/// than the number of values.
///
/// ```
/// use anabranch_kernel::{Kernel, Map, Queue, Slice, Vector, segments};
///
/// enum Total {}
///
/// impl Kernel for Total {
///     type Params = (Slice<u32>,);
///     type Output = u32;
///     const NAME: &'static str = "total";
///     const PROGRAM: &'static [u8] = &[];
///
///     fn call((part,): (&[u32],)) -> u32 {
///         part.iter().sum()
///     }
/// }
///
/// let totals = Map::<Total, _>::new((segments(&[0, 2, 2, 3], &[1, 2, 7]),)).collect(&Queue::cpu())?;
/// assert_eq!(anabranch::run(|cx| totals.download(cx))?, [3, 0, 7]);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
pub fn segments<T: Element, O: Values<u32>, V: Values<T>>(offsets: O, values: V) -> Segments<T, O, V> {
    Segments { offsets, values, element: PhantomData }
}

impl<T: Element, V: Stored<T>> Source<Slice<T>> for Whole<T, V> {
    type View<'a>
        = WholeView<'a, T>
    where
        Self: 'a;
    const NAME: &'static str = "whole";

    fn count(&self) -> Result<Option<usize>, Error> {
        Ok(None)
    }
    fn view(&self) -> Result<Self::View<'_>, Error> {
        host(&self.values).map(WholeView)
    }
    fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Node, Error> {
        Ok(Node::Whole { buffer: self.values.data().on_device(graph)?, words: element::words::<T>() })
    }
}

impl<T: Element, V: Stored<T>> Source<Slice<T>> for Rows<T, V> {
    type View<'a>
        = RowsView<'a, T>
    where
        Self: 'a;
    const NAME: &'static str = "rows";

    fn count(&self) -> Result<Option<usize>, Error> {
        let (len, width) = (self.values.data().len(), self.width);
        if width == 0 || !len.is_multiple_of(width) {
            return Err(Error::lengths(format!(
                "{len} values are no rows of {width}: the width must be at least 1 and divide the length"
            )));
        }
        Ok(Some(len / width))
    }
    fn view(&self) -> Result<Self::View<'_>, Error> {
        Ok(RowsView { values: host(&self.values)?, width: self.width })
    }
    fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Node, Error> {
        let buffer = self.values.data().on_device(graph)?;
        let width = u32::try_from(self.width)
            .map_err(|_| Error::lengths(format!("rows of {} do not fit a device: use at most 2^32 - 1", self.width)))?;
        Ok(Node::Rows { buffer, words: element::words::<T>(), width: graph.uniform(&width) })
    }
}

impl<T: Element, O: Stored<u32>, V: Stored<T>> Source<Slice<T>> for Segments<T, O, V> {
    type View<'a>
        = SegmentsView<'a, T>
    where
        Self: 'a;
    const NAME: &'static str = "segments";

    fn count(&self) -> Result<Option<usize>, Error> {
        let segments = self.offsets.data().len().checked_sub(1);
        let missing = || Error::lengths("segments need one offset more than there are segments, so at least one");
        segments.map(Some).ok_or_else(missing)
    }
    fn view(&self) -> Result<Self::View<'_>, Error> {
        Ok(SegmentsView { offsets: host(&self.offsets)?, values: host(&self.values)? })
    }
    fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Node, Error> {
        let offsets = self.offsets.data().on_device(graph)?;
        Ok(Node::Segments { offsets, buffer: self.values.data().on_device(graph)?, words: element::words::<T>() })
    }
}

/// The view of a [`Whole`].
#[derive(Clone)]
pub struct WholeView<'a, T>(&'a [T]);

impl<'a, T: Element> View<'a, Slice<T>> for WholeView<'a, T> {
    #[inline(always)]
    fn part(&self, _: Range<usize>) -> Self {
        self.clone()
    }
    #[inline(always)]
    fn get(&self, _: usize) -> &'a [T] {
        self.0
    }
}

/// The view of [`Rows`].
#[derive(Clone)]
pub struct RowsView<'a, T> {
    values: &'a [T],
    width: usize,
}

impl<'a, T: Element> View<'a, Slice<T>> for RowsView<'a, T> {
    #[inline(always)]
    fn part(&self, range: Range<usize>) -> Self {
        Self { values: &self.values[range.start * self.width..range.end * self.width], ..*self }
    }
    #[inline(always)]
    fn get(&self, index: usize) -> &'a [T] {
        &self.values[index * self.width..][..self.width]
    }
}

/// The view of [`Segments`].
#[derive(Clone)]
pub struct SegmentsView<'a, T> {
    offsets: &'a [u32],
    values: &'a [T],
}

impl<'a, T: Element> View<'a, Slice<T>> for SegmentsView<'a, T> {
    #[inline(always)]
    fn part(&self, range: Range<usize>) -> Self {
        Self { offsets: &self.offsets[range.start..range.end + 1], ..*self }
    }
    #[inline(always)]
    fn get(&self, index: usize) -> &'a [T] {
        let (start, end) = (self.offsets[index], self.offsets[index + 1]);
        match self.values.get(start as usize..end as usize) {
            Some(segment) => segment,
            None => trap("segments", format!("{start}..{end} is no range of {} values", self.values.len())),
        }
    }
}
