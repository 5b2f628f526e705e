//! [`step_by`](crate::iter::IndexedParallelIterator::step_by).

use crate::iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed};
use std::iter;

/// Yields each n-th item.
/// [`IndexedParallelIterator::step_by`](crate::iter::IndexedParallelIterator::step_by) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct StepBy<I> {
    base: I,
    step: usize,
}

impl<I> StepBy<I> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, step: usize) -> Self {
        assert!(step != 0, "the step must not be zero");
        Self { base, step }
    }
}

impl<I: DriveIndexed> Drive for StepBy<I> {
    drive_indexed!(I::Item);
}

impl<I: DriveIndexed> DriveIndexed for StepBy<I> {
    type Producer<'a>
        = StepByProducer<I::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len().div_ceil(self.step)
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        StepByProducer { base: self.base.producer(), step: self.step }
    }
}

/// A piece of a [`StepBy`], which begins with an item that is yielded.
pub struct StepByProducer<P> {
    base: P,
    step: usize,
}

impl<P> Producer for StepByProducer<P>
where
    P: Producer<IntoIter: DoubleEndedIterator + ExactSizeIterator>,
{
    type Item = P::Item;
    type IntoIter = iter::StepBy<P::IntoIter>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len().div_ceil(self.step)
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        // The last step may be incomplete.
        let mid = mid.saturating_mul(self.step).min(self.base.len());
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, ..self }, Self { base: right, ..self })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().step_by(self.step)
    }
    fn min_len(&self) -> usize {
        self.base.min_len().div_ceil(self.step)
    }
    fn max_len(&self) -> usize {
        (self.base.max_len() / self.step).max(1)
    }
}
