//! [`count`](crate::iter::ParallelIterator::count).

use crate::iter::plumbing::Consumer;

/// Counts the items.
pub(in crate::iter) struct Count;

impl<T> Consumer<T> for Count {
    type Folder = usize;
    type Result = usize;
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) -> usize {
        0
    }
    #[inline]
    fn consume_iter(&self, folder: usize, items: impl Iterator<Item = T>) -> usize {
        folder + items.count()
    }
    #[inline]
    fn complete(&self, folder: usize) -> usize {
        folder
    }
    #[inline]
    fn combine(&self, left: usize, right: usize) -> usize {
        left + right
    }
    #[inline]
    fn is_full(&self, _: &usize, (): ()) -> bool {
        false
    }
}
