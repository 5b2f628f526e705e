//! Vectors.

use crate::iter::{
    convert::IntoParallelIterator,
    plumbing::{Drive, DriveIndexed, drive_indexed},
    sources::{
        drain::ParallelDrainRange,
        owned::{DrainedVec, Owned},
    },
};
use std::ops::RangeBounds;

/// A parallel iterator over the items of a vector, by value.
#[derive(Debug, Clone)]
pub struct IntoIter<T>(Vec<T>);

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<T: Send> IntoParallelIterator for Box<[T]> {
    type Iter = IntoIter<T>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter(self.into())
    }
}

impl<T: Send> Drive for IntoIter<T> {
    drive_indexed!(T);
}

impl<T: Send> DriveIndexed for IntoIter<T> {
    type Producer<'a>
        = Owned<'a, T>
    where
        Self: 'a;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    #[inline]
    fn producer(&mut self) -> Owned<'_, T> {
        Owned::take_all(&mut self.0)
    }
}

/// A parallel iterator that drains items from a vector. [`par_drain`](ParallelDrainRange::par_drain) returns it.
#[derive(Debug)]
pub struct Drain<'data, T>(DrainedVec<'data, T>);

impl<'data, T: Send> ParallelDrainRange<usize> for &'data mut Vec<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'data, T> {
        let range = slice_range(range, self.len());
        Drain(DrainedVec::new(self, range))
    }
}

/// Returns the indices that `range` contains in a collection of `len` items.
///
/// # Panics
/// Panics when `range` is not within the collection.
#[track_caller]
pub(super) fn slice_range(range: impl RangeBounds<usize>, len: usize) -> std::ops::Range<usize> {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    let start = match range.start_bound() {
        Included(start) => *start,
        Excluded(before) => before.checked_add(1).expect("the range is not within the collection"),
        Unbounded => 0,
    };
    let end = match range.end_bound() {
        Included(last) => last.checked_add(1).expect("the range is not within the collection"),
        Excluded(end) => *end,
        Unbounded => len,
    };
    assert!(start <= end && end <= len, "the range {start}..{end} is not within a collection of {len} items");
    start..end
}

impl<T: Send> Drive for Drain<'_, T> {
    drive_indexed!(T);
}

impl<T: Send> DriveIndexed for Drain<'_, T> {
    type Producer<'a>
        = Owned<'a, T>
    where
        Self: 'a;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    #[inline]
    fn producer(&mut self) -> Owned<'_, T> {
        self.0.take()
    }
}
