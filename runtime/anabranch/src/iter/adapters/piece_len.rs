//! [`with_min_len`](crate::iter::IndexedParallelIterator::with_min_len) and
//! [`with_max_len`](crate::iter::IndexedParallelIterator::with_max_len).

use crate::iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed};

/// Sets a minimum length of pieces.
/// [`IndexedParallelIterator::with_min_len`](crate::iter::IndexedParallelIterator::with_min_len) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct MinLen<I> {
    base: I,
    min: usize,
}

impl<I> MinLen<I> {
    pub(in crate::iter) fn new(base: I, min: usize) -> Self {
        Self { base, min }
    }
}

/// Sets a maximum length of pieces.
/// [`IndexedParallelIterator::with_max_len`](crate::iter::IndexedParallelIterator::with_max_len) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct MaxLen<I> {
    base: I,
    max: usize,
}

impl<I> MaxLen<I> {
    pub(in crate::iter) fn new(base: I, max: usize) -> Self {
        Self { base, max }
    }
}

impl<I: DriveIndexed> Drive for MinLen<I> {
    drive_indexed!(I::Item);
}

impl<I: DriveIndexed> DriveIndexed for MinLen<I> {
    type Producer<'a>
        = PieceLenProducer<I::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        let base = self.base.producer();
        let (min, max) = (base.min_len().max(self.min), base.max_len());
        PieceLenProducer { base, min, max }
    }
}

impl<I: DriveIndexed> Drive for MaxLen<I> {
    drive_indexed!(I::Item);
}

impl<I: DriveIndexed> DriveIndexed for MaxLen<I> {
    type Producer<'a>
        = PieceLenProducer<I::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        let base = self.base.producer();
        let (min, max) = (base.min_len(), base.max_len().min(self.max));
        PieceLenProducer { base, min, max }
    }
}

/// A piece with limits for the lengths of its parts.
pub struct PieceLenProducer<P> {
    base: P,
    min: usize,
    max: usize,
}

impl<P: Producer> Producer for PieceLenProducer<P> {
    type Item = P::Item;
    type IntoIter = P::IntoIter;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, ..self }, Self { base: right, ..self })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter()
    }
    fn min_len(&self) -> usize {
        self.min
    }
    fn max_len(&self) -> usize {
        self.max
    }
}
