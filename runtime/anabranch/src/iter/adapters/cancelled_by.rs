//! [`cancelled_by`](crate::iter::ParallelIterator::cancelled_by).

use crate::{
    cx::cancel_check::CancelCheck,
    iter::plumbing::{Consumer, Drive, Driven, Progress},
    wait::Cancelled,
};
use std::{fmt, iter};

/// Yields the items as `Ok`, until a scope is cancelled.
/// [`ParallelIterator::cancelled_by`](crate::iter::ParallelIterator::cancelled_by) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct CancelledBy<'cx, I> {
    base: I,
    check: CancelCheck<'cx>,
}

impl<'cx, I> CancelledBy<'cx, I> {
    pub(in crate::iter) fn new(base: I, check: CancelCheck<'cx>) -> Self {
        Self { base, check }
    }
}

impl<I: fmt::Debug> fmt::Debug for CancelledBy<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelledBy").field("base", &self.base).finish_non_exhaustive()
    }
}

impl<I: Drive> Drive for CancelledBy<'_, I> {
    type Item = Result<I::Item, Cancelled>;

    fn drive<C: Consumer<Self::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, Self::Item> {
        match self.base.drive(&CancelledByConsumer { base: consumer, check: self.check }, (folder, false), at) {
            Progress::Folding((folder, _)) => Progress::Folding(folder),
            Progress::Complete(result) => Progress::Complete(result),
        }
    }
}

struct CancelledByConsumer<'a, 'cx, C> {
    base: &'a C,
    check: CancelCheck<'cx>,
}

impl<T, C: Consumer<Result<T, Cancelled>>> Consumer<T> for CancelledByConsumer<'_, '_, C> {
    /// The flag: whether the piece has yielded the error.
    type Folder = (C::Folder, bool);
    type Result = C::Result;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    #[inline]
    fn folder(&self, at: C::Position) -> Self::Folder {
        (self.base.folder(at), false)
    }
    #[inline]
    fn consume_iter(&self, (folder, has_ended): Self::Folder, items: impl Iterator<Item = T>) -> Self::Folder {
        if has_ended {
            (folder, true)
        } else if self.check.is_cancelled() {
            (self.base.consume_iter(folder, iter::once(Err(Cancelled))), true)
        } else {
            (self.base.consume_iter(folder, items.map(Ok)), false)
        }
    }
    #[inline]
    fn complete(&self, (folder, _): Self::Folder) -> C::Result {
        self.base.complete(folder)
    }
    #[inline]
    fn combine(&self, left: C::Result, right: C::Result) -> C::Result {
        self.base.combine(left, right)
    }
    #[inline]
    fn is_full(&self, (folder, has_ended): &Self::Folder, rest: C::Position) -> bool {
        *has_ended || self.base.is_full(folder, rest)
    }
}
