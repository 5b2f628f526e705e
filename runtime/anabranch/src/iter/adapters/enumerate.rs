//! [`enumerate`](crate::iter::IndexedParallelIterator::enumerate).

use crate::iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed};
use std::iter;

/// Pairs each item with its index. [`IndexedParallelIterator::enumerate`] returns it.
///
/// [`IndexedParallelIterator::enumerate`]: crate::iter::IndexedParallelIterator::enumerate
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Enumerate<I> {
    base: I,
}

impl<I> Enumerate<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self { base }
    }
}

impl<I: DriveIndexed> Drive for Enumerate<I> {
    drive_indexed!((usize, I::Item));
}

impl<I: DriveIndexed> DriveIndexed for Enumerate<I> {
    type Producer<'a>
        = EnumerateProducer<I::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        EnumerateProducer { base: self.base.producer(), start: 0 }
    }
}

/// A piece of an [`Enumerate`].
pub struct EnumerateProducer<P> {
    base: P,
    /// The index of the first item.
    start: usize,
}

impl<P> Producer for EnumerateProducer<P>
where
    P: Producer<IntoIter: DoubleEndedIterator + ExactSizeIterator>,
{
    type Item = (usize, P::Item);
    type IntoIter = EnumerateIter<P::IntoIter>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, start: self.start }, Self { base: right, start: self.start + mid })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        EnumerateIter { base: self.base.into_iter().enumerate(), start: self.start }
    }
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}

/// Counts from `start` on. It is not a `Zip` with a range, because a `Zip` folds anything but slices and ranges item by
/// item.
pub struct EnumerateIter<I> {
    base: iter::Enumerate<I>,
    start: usize,
}

impl<I: Iterator> Iterator for EnumerateIter<I> {
    type Item = (usize, I::Item);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (index, item) = self.base.next()?;
        Some((self.start + index, item))
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
    #[inline]
    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let (index, item) = self.base.nth(n)?;
        Some((self.start + index, item))
    }
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        self.base.fold(init, |state, (index, item)| f(state, (self.start + index, item)))
    }
}

impl<I: ExactSizeIterator + DoubleEndedIterator> DoubleEndedIterator for EnumerateIter<I> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let (index, item) = self.base.next_back()?;
        Some((self.start + index, item))
    }
    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<Self::Item> {
        let (index, item) = self.base.nth_back(n)?;
        Some((self.start + index, item))
    }
    #[inline]
    fn rfold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        self.base.rfold(init, |state, (index, item)| f(state, (self.start + index, item)))
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for EnumerateIter<I> {}
