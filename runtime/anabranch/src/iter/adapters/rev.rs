//! [`rev`](crate::iter::IndexedParallelIterator::rev).

use crate::iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed};
use std::iter;

/// Yields the items from the last to the first.
/// [`IndexedParallelIterator::rev`](crate::iter::IndexedParallelIterator::rev) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Rev<I> {
    base: I,
}

impl<I> Rev<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self { base }
    }
}

impl<I: DriveIndexed> Drive for Rev<I> {
    drive_indexed!(I::Item);
}

impl<I: DriveIndexed> DriveIndexed for Rev<I> {
    type Producer<'a>
        = RevProducer<I::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        RevProducer { base: self.base.producer() }
    }
}

/// A piece of a [`Rev`].
pub struct RevProducer<P> {
    base: P,
}

impl<P> Producer for RevProducer<P>
where
    P: Producer<IntoIter: DoubleEndedIterator>,
{
    type Item = P::Item;
    type IntoIter = iter::Rev<P::IntoIter>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let mid = self.base.len() - mid;
        let (right, left) = self.base.split_at(mid);
        (Self { base: left }, Self { base: right })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().rev()
    }
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}
