//! [`for_each`](crate::iter::ParallelIterator::for_each).

use crate::iter::plumbing::Consumer;

/// Calls a closure for each item.
pub(in crate::iter) struct ForEach<F>(pub(in crate::iter) F);

impl<T, F: Fn(T) + Sync> Consumer<T> for ForEach<F> {
    type Folder = ();
    type Result = ();
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) {}
    #[inline]
    fn consume_iter(&self, (): (), items: impl Iterator<Item = T>) {
        items.for_each(&self.0);
    }
    #[inline]
    fn complete(&self, (): ()) {}
    #[inline]
    fn combine(&self, (): (), (): ()) {}
    #[inline]
    fn is_full(&self, (): &(), (): ()) -> bool {
        false
    }
}
