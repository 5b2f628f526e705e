//! Arrays by value.

use crate::iter::{
    convert::IntoParallelIterator,
    plumbing::{Drive, DriveIndexed, drive_indexed},
    sources::owned::Owned,
};
use std::{array, fmt, mem, mem::ManuallyDrop};

/// A parallel iterator over the items of an array, by value.
pub struct IntoIter<T, const N: usize> {
    items: [ManuallyDrop<T>; N],
    /// Whether `items` has been moved out.
    is_taken: bool,
}

impl<T, const N: usize> IntoIter<T, N> {
    fn new(items: [T; N]) -> Self {
        Self { items: items.map(ManuallyDrop::new), is_taken: false }
    }

    /// Returns the items that are left, all or none.
    fn as_slice(&self) -> &[ManuallyDrop<T>] {
        if self.is_taken { &[] } else { &self.items }
    }

    fn take(&mut self) -> Owned<'_, T> {
        let is_taken = mem::replace(&mut self.is_taken, true);
        let items: &mut [_] = if is_taken { &mut [] } else { &mut self.items[..] };
        // SAFETY: this uses and drops the items only as long as `is_taken` is `false`, and it never becomes so again.
        unsafe { Owned::new(items) }
    }
}

impl<T, const N: usize> Drop for IntoIter<T, N> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T: Clone, const N: usize> Clone for IntoIter<T, N> {
    fn clone(&self) -> Self {
        assert!(!self.is_taken, "the items have been moved out");
        Self::new(array::from_fn(|index| T::clone(&self.items[index])))
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for IntoIter<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoIter").field(&self.as_slice()).finish()
    }
}

impl<T: Send, const N: usize> IntoParallelIterator for [T; N] {
    type Iter = IntoIter<T, N>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> IntoIter<T, N> {
        IntoIter::new(self)
    }
}

impl<T: Send, const N: usize> Drive for IntoIter<T, N> {
    drive_indexed!(T);
}

impl<T: Send, const N: usize> DriveIndexed for IntoIter<T, N> {
    type Producer<'a>
        = Owned<'a, T>
    where
        Self: 'a;

    #[inline]
    fn len(&self) -> usize {
        self.as_slice().len()
    }
    #[inline]
    fn producer(&mut self) -> Owned<'_, T> {
        self.take()
    }
}
