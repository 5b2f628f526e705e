//! [`skip`](crate::iter::IndexedParallelIterator::skip) and [`take`](crate::iter::IndexedParallelIterator::take).

use crate::iter::{
    adapters::zip::first,
    plumbing::{Drive, DriveIndexed, Producer, drive_indexed},
};

/// Skips the first items. [`IndexedParallelIterator::skip`](crate::iter::IndexedParallelIterator::skip) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Skip<I> {
    base: I,
    n: usize,
}

impl<I> Skip<I> {
    pub(in crate::iter) fn new(base: I, n: usize) -> Self {
        Self { base, n }
    }
}

impl<I: DriveIndexed> Drive for Skip<I> {
    drive_indexed!(I::Item);
}

impl<I: DriveIndexed> DriveIndexed for Skip<I> {
    type Producer<'a>
        = I::Producer<'a>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len().saturating_sub(self.n)
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        let all = self.base.producer();
        let skipped = all.len().min(self.n);
        all.split_at(skipped).1
    }
}

/// Yields the first items only. [`IndexedParallelIterator::take`](crate::iter::IndexedParallelIterator::take) returns
/// it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Take<I> {
    base: I,
    n: usize,
}

impl<I> Take<I> {
    pub(in crate::iter) fn new(base: I, n: usize) -> Self {
        Self { base, n }
    }
}

impl<I: DriveIndexed> Drive for Take<I> {
    drive_indexed!(I::Item);
}

impl<I: DriveIndexed> DriveIndexed for Take<I> {
    type Producer<'a>
        = I::Producer<'a>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len().min(self.n)
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        first(self.base.producer(), self.n)
    }
}
