//! [`try_reduce`](crate::iter::ParallelIterator::try_reduce) and
//! [`try_reduce_with`](crate::iter::ParallelIterator::try_reduce_with).

use crate::{
    iter::{fallible::Try, plumbing::Consumer},
    sys::sync::{AtomicBool, Ordering},
};
use std::ops::ControlFlow::{self, Break, Continue};

/// Combines the items by a closure until a failure.
pub(in crate::iter) struct TryReduce<F> {
    op: F,
    /// Whether any thread has met a failure. It guards no data, so accesses are relaxed.
    has_failed: AtomicBool,
}

impl<F> TryReduce<F> {
    pub(in crate::iter) fn new(op: F) -> Self {
        Self { op, has_failed: AtomicBool::new(false) }
    }

    /// Notes a failure, so that the other threads end.
    #[inline]
    fn note<R, T>(&self, state: ControlFlow<R, T>) -> ControlFlow<R, T> {
        if state.is_break() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        state
    }
}

#[inline]
fn join<R: Try>(state: ControlFlow<R, R::Output>) -> R {
    match state {
        Continue(output) => R::from_output(output),
        Break(failure) => failure,
    }
}

impl<R, F> Consumer<R> for TryReduce<F>
where
    R: Try + Send,
    F: Fn(R::Output, R::Output) -> R + Sync,
{
    type Folder = Option<ControlFlow<R, R::Output>>;
    type Result = Option<R>;
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) -> Self::Folder {
        None
    }
    #[inline]
    fn consume_iter(&self, folder: Self::Folder, mut items: impl Iterator<Item = R>) -> Self::Folder {
        let state = match folder {
            Some(state) => state,
            None => items.next()?.branch(),
        };
        Some(self.note(match state {
            Continue(left) => items.try_fold(left, |left, right| (self.op)(left, right.branch()?).branch()),
            failure => failure,
        }))
    }
    #[inline]
    fn complete(&self, folder: Self::Folder) -> Option<R> {
        folder.map(join)
    }
    #[inline]
    fn combine(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        match (left, right) {
            (Some(left), Some(right)) => Some(match (left.branch(), right.branch()) {
                (Continue(left), Continue(right)) => join(self.note((self.op)(left, right).branch())),
                (Break(failure), _) | (_, Break(failure)) => failure,
            }),
            (left, right) => left.or(right),
        }
    }
    #[inline]
    fn is_full(&self, _: &Self::Folder, (): ()) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }
}
