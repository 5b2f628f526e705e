//! [`filter`](crate::iter::ParallelIterator::filter) and [`filter_map`](crate::iter::ParallelIterator::filter_map).

use crate::iter::plumbing::{Consumer, Drive, Driven, delegate};

/// Yields the items that satisfy a predicate. [`ParallelIterator::filter`](crate::iter::ParallelIterator::filter)
/// returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Filter<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> Filter<I, P> {
    pub(in crate::iter) fn new(base: I, predicate: P) -> Self {
        Self { base, predicate }
    }
}

debug_by_base!(Filter<I, P>);

impl<I, P> Drive for Filter<I, P>
where
    I: Drive,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        self.base.drive(&FilterConsumer { base: consumer, predicate: &self.predicate }, folder, at)
    }
}

struct FilterConsumer<'a, C, P> {
    base: &'a C,
    predicate: &'a P,
}

impl<T, C: Consumer<T>, P: Fn(&T) -> bool + Sync> Consumer<T> for FilterConsumer<'_, C, P> {
    delegate!(C, self => self.base);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        self.base.consume_iter(folder, items.filter(self.predicate))
    }
}

/// Maps each item, and yields the results that are `Some`.
/// [`ParallelIterator::filter_map`](crate::iter::ParallelIterator::filter_map) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct FilterMap<I, F> {
    base: I,
    map: F,
}

impl<I, F> FilterMap<I, F> {
    pub(in crate::iter) fn new(base: I, map: F) -> Self {
        Self { base, map }
    }
}

debug_by_base!(FilterMap<I, F>);

impl<I, F, R> Drive for FilterMap<I, F>
where
    I: Drive,
    F: Fn(I::Item) -> Option<R> + Sync + Send,
    R: Send,
{
    type Item = R;

    fn drive<C: Consumer<R>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, R> {
        self.base.drive(&FilterMapConsumer { base: consumer, map: &self.map }, folder, at)
    }
}

/// Also the consumer of other adapters that drop some of the items.
pub(super) struct FilterMapConsumer<'a, C, F> {
    pub(super) base: &'a C,
    pub(super) map: &'a F,
}

impl<T, R, C: Consumer<R>, F: Fn(T) -> Option<R> + Sync> Consumer<T> for FilterMapConsumer<'_, C, F> {
    delegate!(C, self => self.base);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        self.base.consume_iter(folder, items.filter_map(self.map))
    }
}
