//! Moving items out of a collection's memory, in pieces.

use crate::iter::plumbing::Producer;
use std::{fmt, iter::FusedIterator, mem, mem::ManuallyDrop, slice};

/// Items in the memory of a collection that does not own them any more. Those that are not moved out are dropped.
pub struct Owned<'a, T>(slice::IterMut<'a, ManuallyDrop<T>>);

impl<'a, T> Owned<'a, T> {
    /// Takes the items of `slots` over.
    ///
    /// # Safety
    /// The caller uses and drops the values in `slots` no more, nor does it let others do so.
    #[inline]
    pub(super) unsafe fn new(slots: &'a mut [ManuallyDrop<T>]) -> Self {
        Self(slots.iter_mut())
    }

    /// Takes all items of `vec` over. They do not belong to it any more, whatever becomes of the result.
    #[inline]
    pub(super) fn take_all(vec: &'a mut Vec<T>) -> Self {
        Self::take_from(vec, 0)
    }

    /// Takes the items from `start` on over.
    ///
    /// # Panics
    /// Panics when `start` is greater than the length.
    #[inline]
    fn take_from(vec: &'a mut Vec<T>, start: usize) -> Self {
        let count = vec.len().checked_sub(start).expect("a start within the vector");
        // SAFETY: `start` is at most the length, so all values that remain are initialised.
        unsafe { vec.set_len(start) };
        // SAFETY: `count` initialised values follow the first `start` ones in the vector's buffer. The vector is
        // borrowed for as long as the slice. `ManuallyDrop<T>` is laid out as `T`.
        let slots = unsafe { slice::from_raw_parts_mut(vec.as_mut_ptr().add(start).cast::<ManuallyDrop<T>>(), count) };
        // SAFETY: the length of the vector does not cover the values any more, so it neither uses nor drops them.
        unsafe { Self::new(slots) }
    }
}

impl<T> Drop for Owned<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            let rest: *mut [ManuallyDrop<T>] = mem::take(&mut self.0).into_slice();
            // SAFETY: this owns the values that the iterator has not passed, by the contract of `new`. The iterator is
            // replaced by an empty one, so each is dropped once. `ManuallyDrop<T>` is laid out as `T`.
            unsafe { (rest as *mut [T]).drop_in_place() };
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Owned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Owned").field(&self.0.as_slice()).finish()
    }
}

impl<T: Send> Producer for Owned<'_, T> {
    type Item = T;
    type IntoIter = Self;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    #[inline]
    fn split_at(mut self, mid: usize) -> (Self, Self) {
        // Checked first: a panic drops the items with `self`.
        assert!(mid <= self.0.len(), "split beyond the end of the items");
        let (left, right) = mem::take(&mut self.0).into_slice().split_at_mut(mid);
        (Self(left.iter_mut()), Self(right.iter_mut()))
    }
    #[inline]
    fn into_iter(self) -> Self {
        self
    }
}

impl<T> Iterator for Owned<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        // SAFETY: this owns the values that the iterator has not passed, by the contract of `new`. The iterator has now
        // passed this one, so it is taken once.
        self.0.next().map(|slot| unsafe { ManuallyDrop::take(slot) })
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for Owned<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        // SAFETY: as for `next`.
        self.0.next_back().map(|slot| unsafe { ManuallyDrop::take(slot) })
    }
}

impl<T> ExactSizeIterator for Owned<'_, T> {}
impl<T> FusedIterator for Owned<'_, T> {}

/// A part of a vector that is being drained: the items of `start..end`.
///
/// Nothing happens before [`take`](Self::take), so a `Drain` that is forgotten leaves the vector as it is.
#[derive(Debug)]
pub(super) struct DrainedVec<'data, T> {
    vec: &'data mut Vec<T>,
    start: usize,
    end: usize,
    /// The length of the vector before the items were taken, 0 as long as they were not.
    before: usize,
}

impl<'data, T> DrainedVec<'data, T> {
    /// # Panics
    /// Panics when the range is not within the vector.
    #[track_caller]
    pub(super) fn new(vec: &'data mut Vec<T>, range: std::ops::Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= vec.len(), "the range is not within the vector");
        Self { vec, start: range.start, end: range.end, before: 0 }
    }

    /// Returns the number of items.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Takes the items. The vector keeps those in front of them, and has the others back when this is dropped. If this
    /// is forgotten, those others leak.
    pub(super) fn take(&mut self) -> Owned<'_, T> {
        assert_eq!(self.before, 0, "the items were taken before");
        self.before = self.vec.len();
        let count = self.end - self.start;
        let mut rest = Owned::take_from(self.vec, self.start);
        // The tail stays where it is: `ManuallyDrop` drops nothing.
        let (items, _tail) = mem::take(&mut rest.0).into_slice().split_at_mut(count);
        // SAFETY: `rest` owned the values in `items`, and it has no items any more.
        unsafe { Owned::new(items) }
    }
}

impl<T> Drop for DrainedVec<'_, T> {
    fn drop(&mut self) {
        if self.before == 0 {
            self.vec.drain(self.start..self.end);
            return;
        }
        let tail = self.before - self.end;
        // SAFETY: the vector was not changed since `take`, as this borrows it. So its length is `start`, and the items
        // at `end..before` are initialised and belong to nobody. The drained items have been moved out or dropped:
        // `Owned` borrows this.
        unsafe {
            let items = self.vec.as_mut_ptr();
            items.add(self.end).copy_to(items.add(self.start), tail);
            self.vec.set_len(self.start + tail);
        }
    }
}
