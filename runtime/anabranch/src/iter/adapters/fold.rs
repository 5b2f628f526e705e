//! [`fold`](crate::iter::ParallelIterator::fold) and [`fold_with`](crate::iter::ParallelIterator::fold_with).
//!
//! Each piece has an accumulator, beside the folder of the next consumer. At the end of the piece, the accumulator is
//! the only item that this folder gets.

use crate::iter::{
    adapters::init::{Init, Shared},
    plumbing::{Consumer, Drive, Driven, Progress},
};
use std::iter;

/// Folds each piece of the sequence, and yields the accumulators.
/// [`ParallelIterator::fold`](crate::iter::ParallelIterator::fold) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Fold<I, N, F> {
    base: I,
    identity: N,
    fold: F,
}

/// Folds each piece of the sequence into a clone of a value, and yields the accumulators.
/// [`ParallelIterator::fold_with`](crate::iter::ParallelIterator::fold_with) returns it.
pub type FoldWith<I, T, F> = Fold<I, Shared<T>, F>;

impl<I, N, F> Fold<I, N, F> {
    pub(in crate::iter) fn new(base: I, identity: N, fold: F) -> Self {
        Self { base, identity, fold }
    }
}

debug_by_base!(Fold<I, N, F>);

impl<I, N, F> Drive for Fold<I, N, F>
where
    I: Drive,
    N: Init<State: Send>,
    F: Fn(N::State, I::Item) -> N::State + Sync + Send,
{
    type Item = N::State;

    fn drive<C: Consumer<N::State>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, N::State> {
        let folding = FoldConsumer { base: consumer, identity: &self.identity, fold: &self.fold };
        match self.base.drive(&folding, (self.identity.init(), folder), at) {
            Progress::Folding(pair) => Progress::Folding(folding.finish(pair)),
            Progress::Complete(result) => Progress::Complete(result),
        }
    }
}

struct FoldConsumer<'a, C, N, F> {
    base: &'a C,
    identity: &'a N,
    fold: &'a F,
}

impl<C, N, F> FoldConsumer<'_, C, N, F> {
    /// Passes the accumulator on.
    #[inline]
    fn finish<T>(&self, (accumulator, folder): (T, C::Folder)) -> C::Folder
    where
        C: Consumer<T>,
    {
        self.base.consume_iter(folder, iter::once(accumulator))
    }
}

impl<T, C, N, F> Consumer<T> for FoldConsumer<'_, C, N, F>
where
    C: Consumer<N::State>,
    N: Init,
    F: Fn(N::State, T) -> N::State + Sync,
{
    type Folder = (N::State, C::Folder);
    type Result = C::Result;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    #[inline]
    fn folder(&self, at: C::Position) -> Self::Folder {
        (self.identity.init(), self.base.folder(at))
    }
    #[inline]
    fn consume_iter(&self, (accumulator, folder): Self::Folder, items: impl Iterator<Item = T>) -> Self::Folder {
        (items.fold(accumulator, self.fold), folder)
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
    fn is_full(&self, (_, folder): &Self::Folder, rest: C::Position) -> bool {
        self.base.is_full(folder, rest)
    }
}
