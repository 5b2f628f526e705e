//! [`flat_map_iter`](crate::iter::ParallelIterator::flat_map_iter) and
//! [`flatten_iter`](crate::iter::ParallelIterator::flatten_iter).

use crate::iter::plumbing::{Consumer, Drive, Driven, delegate};
use std::convert;

/// Maps each item to a plain iterator, and yields their items.
/// [`ParallelIterator::flat_map_iter`](crate::iter::ParallelIterator::flat_map_iter) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct FlatMapIter<I, F> {
    base: I,
    map: F,
}

impl<I, F> FlatMapIter<I, F> {
    pub(in crate::iter) fn new(base: I, map: F) -> Self {
        Self { base, map }
    }
}

debug_by_base!(FlatMapIter<I, F>);

impl<I, F, R> Drive for FlatMapIter<I, F>
where
    I: Drive,
    F: Fn(I::Item) -> R + Sync + Send,
    R: IntoIterator<Item: Send>,
{
    type Item = R::Item;

    fn drive<C: Consumer<R::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, R::Item> {
        self.base.drive(&FlatMapIterConsumer { base: consumer, map: &self.map }, folder, at)
    }
}

/// Flattens items that are plain iterators.
/// [`ParallelIterator::flatten_iter`](crate::iter::ParallelIterator::flatten_iter) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct FlattenIter<I>(I);

impl<I> FlattenIter<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self(base)
    }
}

impl<I> Drive for FlattenIter<I>
where
    I: Drive<Item: IntoIterator<Item: Send>>,
{
    type Item = <I::Item as IntoIterator>::Item;

    fn drive<C: Consumer<Self::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, Self::Item> {
        self.0.drive(&FlatMapIterConsumer { base: consumer, map: &convert::identity }, folder, at)
    }
}

struct FlatMapIterConsumer<'a, C, F> {
    base: &'a C,
    map: &'a F,
}

impl<T, R, C, F> Consumer<T> for FlatMapIterConsumer<'_, C, F>
where
    F: Fn(T) -> R + Sync,
    R: IntoIterator,
    C: Consumer<R::Item>,
{
    delegate!(C, self => self.base);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        self.base.consume_iter(folder, items.flat_map(self.map))
    }
}
