//! [`try_fold`](crate::iter::ParallelIterator::try_fold) and
//! [`try_fold_with`](crate::iter::ParallelIterator::try_fold_with).
//!
//! Like [`fold`](super::fold), but a piece whose accumulator is a failure takes no more items.

use crate::iter::{
    adapters::init::{Init, Shared},
    fallible::Try,
    plumbing::{Consumer, Drive, Driven, Progress},
};
use std::{iter, ops::ControlFlow};

/// Folds each piece of the sequence until a failure, and yields the accumulators.
/// [`ParallelIterator::try_fold`](crate::iter::ParallelIterator::try_fold) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct TryFold<I, N, F> {
    base: I,
    identity: N,
    fold: F,
}

/// Folds each piece of the sequence into a clone of a value until a failure, and yields the accumulators.
/// [`ParallelIterator::try_fold_with`](crate::iter::ParallelIterator::try_fold_with) returns it.
pub type TryFoldWith<I, T, F> = TryFold<I, Shared<T>, F>;

impl<I, N, F> TryFold<I, N, F> {
    pub(in crate::iter) fn new(base: I, identity: N, fold: F) -> Self {
        Self { base, identity, fold }
    }
}

debug_by_base!(TryFold<I, N, F>);

impl<I, N, F, R> Drive for TryFold<I, N, F>
where
    I: Drive,
    N: Init,
    F: Fn(N::State, I::Item) -> R + Sync + Send,
    R: Try<Output = N::State> + Send,
{
    type Item = R;

    fn drive<C: Consumer<R>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, R> {
        let folding = TryFoldConsumer { base: consumer, identity: &self.identity, fold: &self.fold };
        match self.base.drive(&folding, (ControlFlow::Continue(self.identity.init()), folder), at) {
            Progress::Folding(pair) => Progress::Folding(folding.finish(pair)),
            Progress::Complete(result) => Progress::Complete(result),
        }
    }
}

struct TryFoldConsumer<'a, C, N, F> {
    base: &'a C,
    identity: &'a N,
    fold: &'a F,
}

impl<C, N, F> TryFoldConsumer<'_, C, N, F> {
    /// Passes the accumulator on.
    #[inline]
    fn finish<R: Try>(&self, (accumulator, folder): (ControlFlow<R, R::Output>, C::Folder)) -> C::Folder
    where
        C: Consumer<R>,
    {
        let accumulator = match accumulator {
            ControlFlow::Continue(accumulator) => R::from_output(accumulator),
            ControlFlow::Break(failure) => failure,
        };
        self.base.consume_iter(folder, iter::once(accumulator))
    }
}

impl<T, R, C, N, F> Consumer<T> for TryFoldConsumer<'_, C, N, F>
where
    C: Consumer<R>,
    N: Init,
    F: Fn(N::State, T) -> R + Sync,
    R: Try<Output = N::State>,
{
    type Folder = (ControlFlow<R, N::State>, C::Folder);
    type Result = C::Result;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    #[inline]
    fn folder(&self, at: C::Position) -> Self::Folder {
        (ControlFlow::Continue(self.identity.init()), self.base.folder(at))
    }
    #[inline]
    fn consume_iter(&self, (accumulator, folder): Self::Folder, mut items: impl Iterator<Item = T>) -> Self::Folder {
        let accumulator = match accumulator {
            ControlFlow::Continue(accumulator) => {
                items.try_fold(accumulator, |accumulator, item| (self.fold)(accumulator, item).branch())
            }
            failure => failure,
        };
        (accumulator, folder)
    }
    #[inline]
    fn complete(&self, pair: Self::Folder) -> C::Result {
        self.base.complete(self.finish(pair))
    }
    #[inline]
    fn combine(&self, left: C::Result, right: C::Result) -> C::Result {
        self.base.combine(left, right)
    }
    #[inline]
    fn is_full(&self, (accumulator, folder): &Self::Folder, rest: C::Position) -> bool {
        accumulator.is_break() || self.base.is_full(folder, rest)
    }
}
