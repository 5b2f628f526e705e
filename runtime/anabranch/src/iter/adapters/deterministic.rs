//! [`deterministic`](crate::iter::ParallelIterator::deterministic).

use crate::iter::plumbing::{Consumer, Drive, Driven};

/// Cuts the sequence at the same places in each run.
/// [`ParallelIterator::deterministic`](crate::iter::ParallelIterator::deterministic) returns it.
///
/// It is not indexed: a producer does not decide where it is cut.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Deterministic<I>(I);

impl<I> Deterministic<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self(base)
    }
}

impl<I: Drive> Drive for Deterministic<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        self.0.drive(&DeterministicConsumer(consumer), folder, at)
    }
    fn opt_len(&self) -> Option<usize> {
        self.0.opt_len()
    }
}

struct DeterministicConsumer<'a, C>(&'a C);

impl<T, C: Consumer<T>> Consumer<T> for DeterministicConsumer<'_, C> {
    type Folder = C::Folder;
    type Result = C::Result;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = true;

    #[inline]
    fn folder(&self, at: C::Position) -> C::Folder {
        self.0.folder(at)
    }
    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        self.0.consume_iter(folder, items)
    }
    #[inline]
    fn complete(&self, folder: C::Folder) -> C::Result {
        self.0.complete(folder)
    }
    #[inline]
    fn combine(&self, left: C::Result, right: C::Result) -> C::Result {
        self.0.combine(left, right)
    }
    #[inline]
    fn is_full(&self, folder: &C::Folder, rest: C::Position) -> bool {
        self.0.is_full(folder, rest)
    }
}
