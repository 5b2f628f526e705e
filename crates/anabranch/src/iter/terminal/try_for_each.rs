//! [`try_for_each`](crate::iter::ParallelIterator::try_for_each).

use crate::{
    iter::{fallible::Try, plumbing::Consumer},
    sys::sync::{AtomicBool, Ordering},
};

/// Calls a closure for each item until it fails.
pub(in crate::iter) struct TryForEach<F> {
    op: F,
    /// Whether any call has failed. It guards no data, so accesses are relaxed.
    has_failed: AtomicBool,
}

impl<F> TryForEach<F> {
    pub(in crate::iter) fn new(op: F) -> Self {
        Self { op, has_failed: AtomicBool::new(false) }
    }
}

impl<T, R, F> Consumer<T> for TryForEach<F>
where
    R: Try<Output = ()> + Send,
    F: Fn(T) -> R + Sync,
{
    /// The first failure.
    type Folder = Option<R>;
    type Result = Option<R>;
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) -> Option<R> {
        None
    }
    #[inline]
    fn consume_iter(&self, folder: Option<R>, mut items: impl Iterator<Item = T>) -> Option<R> {
        if self.has_failed.load(Ordering::Relaxed) {
            return folder;
        }
        let failure = items.try_for_each(|item| (self.op)(item).branch()).break_value()?;
        self.has_failed.store(true, Ordering::Relaxed);
        Some(failure)
    }
    #[inline]
    fn complete(&self, folder: Option<R>) -> Option<R> {
        folder
    }
    #[inline]
    fn combine(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        left.or(right)
    }
    #[inline]
    fn is_full(&self, _: &Option<R>, (): ()) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }
}
