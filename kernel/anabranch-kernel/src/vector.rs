//! Lazy vectors and the operations that compute them.

use anabranch::Cx;

use crate::device_vec::Storage;
use crate::element;
use crate::gpu::GpuQueue;
use crate::graph::{Graph, Inputs};
use crate::queue::Place;
use crate::source::{Source, len, same_len};
use crate::tree::Operator;
use crate::{
    Argument, AsQueue, DeviceVec, Element, Error, Gather, Indices, Item, Kernel, Map, Number, Pending, Values, cpu,
};

/// A lazy vector, and the operations that compute it.
///
/// These are lazy vectors: [`Map`], [`gather`](crate::gather), [`indices`](crate::indices), `&DeviceVec<T>`, `&[T]`,
/// `&Vec<T>` and `&[T; N]`. Each operation on a device uploads the slices that it reads. If several operations read
/// them, upload them once with [`Queue::upload`](crate::Queue::upload).
///
/// # Errors
/// Each operation returns
/// - [`Error::Lengths`] if arguments have different lengths, or no argument has a length;
/// - [`Error::Queues`] if a stored vector does not belong to the queue that is passed;
/// - [`Error::Trap`] if a kernel panics or an index is out of range. On the processor the operation itself returns it.
///   On another device the first wait for the result does;
/// - [`Error::Cancelled`] if the queue is a [`ScopedQueue`](crate::ScopedQueue) whose scope is cancelled, before the
///   operation begins or, on the processor, while it runs;
/// - [`Error::OutOfMemory`], [`Error::Lost`] and [`Error::Unsupported`], on devices other than the processor.
pub trait Vector: Argument<<Self as Vector>::Item> + Sized {
    /// The type of an item.
    type Item: Item;

    /// Computes all elements, and stores them.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector, indices};
    ///
    /// let stored = indices(3).collect(&Queue::cpu())?;
    /// assert_eq!(anabranch::run(|cx| stored.download(cx))?, [0, 1, 2]);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors).
    fn collect(self, queue: impl AsQueue) -> Result<DeviceVec<Self::Item>, Error>
    where
        Self::Item: Element,
    {
        let (queue, cx) = queue.as_queue().begin()?;
        Ok(DeviceVec::new(match queue.place() {
            Place::Cpu => Storage::Host(cpu::collect(&self, cx)?),
            Place::Gpu(queue) => Storage::Device(queue.collect(inputs(&self, queue)?)?),
        }))
    }

    /// Combines all elements with the kernel `K`, beginning with `identity`.
    ///
    /// `K` must be associative and commutative, and `identity` must change nothing: elements are combined in any order
    /// and grouping, and with `identity` any number of times. So a sum of floats can differ between two runs in its
    /// last bits.
    ///
    /// ```
    /// use anabranch_kernel::{Number, Queue, Vector, indices};
    ///
    /// type Add = <u32 as Number>::Add;
    /// let total = indices(101).reduce::<Add>(&Queue::cpu(), 0)?;
    /// assert_eq!(anabranch::run(|cx| total.wait(cx))?, 5050);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors).
    fn reduce<K>(self, queue: impl AsQueue, identity: Self::Item) -> Result<Pending<Self::Item>, Error>
    where
        Self::Item: Element,
        K: Kernel<Params = (Self::Item, Self::Item), Output = Self::Item>,
    {
        let (queue, cx) = queue.as_queue().begin()?;
        match queue.place() {
            Place::Cpu => cpu::reduce::<K, _, _>(&self, identity, cx).map(Pending::ready),
            Place::Gpu(queue) => queue
                .reduce(inputs(&self, queue)?, Operator::of::<K>(), element::as_words(&[identity]))
                .map(Pending::device),
        }
    }

    /// Sums all elements. Integers wrap. The sum of no elements is 0.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector};
    ///
    /// let total = [1.5, 2.5].sum(&Queue::cpu())?;
    /// assert_eq!(anabranch::run(|cx| total.wait(cx))?, 4.0);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors).
    fn sum(self, queue: impl AsQueue) -> Result<Pending<Self::Item>, Error>
    where
        Self::Item: Number,
    {
        self.reduce::<<Self::Item as Number>::Add>(queue, Self::Item::ZERO)
    }

    /// Finds the least element. NaN is ignored. Without elements it is [`Number::GREATEST`].
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector};
    ///
    /// let least = [1.5, f32::NAN, -2.5].min(&Queue::cpu())?;
    /// assert_eq!(anabranch::run(|cx| least.wait(cx))?, -2.5);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors).
    fn min(self, queue: impl AsQueue) -> Result<Pending<Self::Item>, Error>
    where
        Self::Item: Number,
    {
        self.reduce::<<Self::Item as Number>::Min>(queue, Self::Item::GREATEST)
    }

    /// Finds the greatest element. NaN is ignored. Without elements it is [`Number::LEAST`].
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector, indices};
    ///
    /// let greatest = indices(7).max(&Queue::cpu())?;
    /// assert_eq!(anabranch::run(|cx| greatest.wait(cx))?, 6);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors).
    fn max(self, queue: impl AsQueue) -> Result<Pending<Self::Item>, Error>
    where
        Self::Item: Number,
    {
        self.reduce::<<Self::Item as Number>::Max>(queue, Self::Item::LEAST)
    }

    /// Combines each element with the elements before it: element `i` of the result combines the elements up to and
    /// including `i`.
    ///
    /// `K` must be associative, and `identity` must change nothing. The order is kept, so `K` need not be commutative.
    ///
    /// ```
    /// use anabranch_kernel::{Number, Queue, Vector};
    ///
    /// type Add = <u32 as Number>::Add;
    /// let sums = [3, 1, 4].scan::<Add>(&Queue::cpu(), 0)?;
    /// assert_eq!(anabranch::run(|cx| sums.download(cx))?, [3, 4, 8]);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors).
    fn scan<K>(self, queue: impl AsQueue, identity: Self::Item) -> Result<DeviceVec<Self::Item>, Error>
    where
        Self::Item: Element,
        K: Kernel<Params = (Self::Item, Self::Item), Output = Self::Item>,
    {
        let (queue, cx) = queue.as_queue().begin()?;
        Ok(DeviceVec::new(match queue.place() {
            Place::Cpu => Storage::Host(cpu::scan::<K, _, _>(&self, cx)?),
            Place::Gpu(queue) => scan_on_device::<K, _, _>(&self, queue, identity, true)?,
        }))
    }

    /// Like [`scan`](Self::scan), but element `i` of the result combines the elements before `i`. The first element is
    /// `identity`.
    ///
    /// ```
    /// use anabranch_kernel::{Number, Queue, Vector};
    ///
    /// type Add = <u32 as Number>::Add;
    /// let sums = [3, 1, 4].exclusive_scan::<Add>(&Queue::cpu(), 0)?;
    /// assert_eq!(anabranch::run(|cx| sums.download(cx))?, [0, 3, 4]);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors).
    fn exclusive_scan<K>(self, queue: impl AsQueue, identity: Self::Item) -> Result<DeviceVec<Self::Item>, Error>
    where
        Self::Item: Element,
        K: Kernel<Params = (Self::Item, Self::Item), Output = Self::Item>,
    {
        let (queue, cx) = queue.as_queue().begin()?;
        Ok(DeviceVec::new(match queue.place() {
            Place::Cpu => Storage::Host(cpu::exclusive_scan::<K, _, _>(&self, identity, cx)?),
            Place::Gpu(queue) => scan_on_device::<K, _, _>(&self, queue, identity, false)?,
        }))
    }

    /// Stores the elements for which the kernel `P` returns `true`, in their order. Waits for their number.
    ///
    /// ```
    /// use anabranch_kernel::{Kernel, Queue, Vector, indices};
    ///
    /// enum IsEven {}
    ///
    /// impl Kernel for IsEven {
    ///     type Params = (u32,);
    ///     type Output = bool;
    ///     const NAME: &'static str = "is_even";
    ///     const PROGRAM: &'static [u8] = &[];
    ///
    ///     fn call((number,): (u32,)) -> bool {
    ///         number % 2 == 0
    ///     }
    /// }
    ///
    /// anabranch::run(|cx| {
    ///     let even = indices(7).compact::<IsEven>(cx, &Queue::cpu())?;
    ///     assert_eq!(even.download(cx)?, [0, 2, 4, 6]);
    ///     Ok::<_, anabranch_kernel::Error>(())
    /// })?;
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors). Also returns [`Error::Cancelled`] if the scope of `cx` is cancelled, as with a
    /// [`ScopedQueue`](crate::ScopedQueue).
    fn compact<P>(self, cx: &Cx<'_>, queue: impl AsQueue) -> Result<DeviceVec<Self::Item>, Error>
    where
        Self::Item: Element,
        P: Kernel<Params = (Self::Item,), Output = bool>,
    {
        cx.check()?;
        let (queue, _) = queue.as_queue().begin()?;
        Ok(DeviceVec::new(match queue.place() {
            Place::Cpu => Storage::Host(cpu::compact::<P, _, _>(&self, cx)?),
            Place::Gpu(queue) => Storage::Device(queue.compact(cx, inputs(&self, queue)?, Operator::of::<P>())?),
        }))
    }

    /// Writes element `i` to `target[numbers[i]]`.
    ///
    /// If a number occurs more than once, each word of `target` gets one of its values, and it is unspecified which. If
    /// the operation fails, `target` may have changed.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector};
    ///
    /// let queue = Queue::cpu();
    /// let mut target = queue.zeroed(4)?;
    /// [1.5f32, 2.5].scatter(&queue, &[3, 1], &mut target)?;
    /// assert_eq!(anabranch::run(|cx| target.download(cx))?, [0.0, 2.5, 0.0, 1.5]);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors). A number that is out of range is an [`Error::Trap`].
    fn scatter(
        self,
        queue: impl AsQueue,
        numbers: impl Argument<u32>,
        target: &mut DeviceVec<Self::Item>,
    ) -> Result<(), Error>
    where
        Self::Item: Element,
    {
        let (queue, cx) = queue.as_queue().begin()?;
        match (queue.place(), target.storage_mut()) {
            (Place::Cpu, Storage::Host(target)) => {
                same_len(&self, &numbers)?;
                cpu::scatter(&self, &numbers, target, cx)
            }
            (Place::Gpu(queue), Storage::Device(target)) => queue.scatter(both_inputs(&self, &numbers, queue)?, target),
            (Place::Cpu, Storage::Device(target)) => {
                Err(Error::queues(target.queue().device().name(), queue.device().name()))
            }
            (Place::Gpu(_), Storage::Host(_)) => Err(Error::queues("the memory of the host", queue.device().name())),
        }
    }

    /// Counts how often each number less than `bins` occurs. Counts wrap at 2^32.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector};
    ///
    /// let counts = [2, 0, 2].histogram(&Queue::cpu(), 4)?;
    /// assert_eq!(anabranch::run(|cx| counts.download(cx))?, [1, 0, 2, 0]);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Vector`](Self#errors). A number that is not less than `bins` is an [`Error::Trap`].
    fn histogram(self, queue: impl AsQueue, bins: usize) -> Result<DeviceVec<u32>, Error>
    where
        Self: Argument<u32> + Vector<Item = u32>,
    {
        let (queue, cx) = queue.as_queue().begin()?;
        Ok(DeviceVec::new(match queue.place() {
            Place::Cpu => Storage::Host(cpu::histogram(&self, bins, cx)?),
            Place::Gpu(queue) => Storage::Device(queue.histogram(inputs(&self, queue)?, bins)?),
        }))
    }
}

impl<T: Element> Vector for &[T] {
    type Item = T;
}
impl<T: Element> Vector for &Vec<T> {
    type Item = T;
}
impl<T: Element, const N: usize> Vector for &[T; N] {
    type Item = T;
}
impl<T: Element> Vector for &DeviceVec<T> {
    type Item = T;
}
impl Vector for Indices {
    type Item = u32;
}
impl<T: Element, V: Values<T>, I: Argument<u32>> Vector for Gather<T, V, I> {
    type Item = T;
}
impl<K: Kernel, A> Vector for Map<K, A>
where
    Self: Argument<K::Output>,
{
    type Item = K::Output;
}

/// Combines each element with those before it, and with itself if `is_inclusive`.
fn scan_on_device<K, T, S>(vector: &S, queue: &GpuQueue, identity: T, is_inclusive: bool) -> Result<Storage<T>, Error>
where
    T: Element,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    let identity = [identity];
    let operator = Operator::of::<K>();
    queue.scan(inputs(vector, queue)?, operator, element::as_words(&identity), is_inclusive).map(Storage::Device)
}

/// Describes a lazy vector to a device. Its stored vectors are those of the queue.
fn inputs<'a, T: Element>(vector: &'a impl Source<T>, queue: &'a GpuQueue) -> Result<Inputs<'a, 1>, Error> {
    let mut graph = Graph::of_queue(queue);
    let len = len_on_device(len(vector)?)?;
    let roots = [vector.describe(&mut graph)?];
    graph.buffers().try_for_each(|buffer| queue.check_owner(buffer))?;
    Ok(Inputs { graph, roots, words: [element::words::<T>()], len })
}

/// Describes two lazy vectors of the same length to a device. Their stored vectors are those of the queue.
pub(crate) fn both_inputs<'a, A: Element, B: Element>(
    a: &'a impl Source<A>,
    b: &'a impl Source<B>,
    queue: &'a GpuQueue,
) -> Result<Inputs<'a, 2>, Error> {
    let mut graph = Graph::of_queue(queue);
    let len = len_on_device(same_len(a, b)?)?;
    let roots = [a.describe(&mut graph)?, b.describe(&mut graph)?];
    graph.buffers().try_for_each(|buffer| queue.check_owner(buffer))?;
    Ok(Inputs { graph, roots, words: [element::words::<A>(), element::words::<B>()], len })
}

/// Checks that a device can count the elements.
fn len_on_device(len: usize) -> Result<u32, Error> {
    u32::try_from(len).map_err(|_| Error::Unsupported {
        reason: format!("{len} elements are more than a device counts, 2^32 - 1: work on parts"),
    })
}
