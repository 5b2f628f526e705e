//! [`map`](crate::iter::ParallelIterator::map).

use crate::iter::plumbing::{Consumer, Drive, DriveIndexed, Driven, Producer, Visitor, delegate};
use std::iter;

/// Maps each item. [`ParallelIterator::map`](crate::iter::ParallelIterator::map) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Map<I, F> {
    base: I,
    map: F,
}

impl<I, F> Map<I, F> {
    pub(in crate::iter) fn new(base: I, map: F) -> Self {
        Self { base, map }
    }
}

debug_by_base!(Map<I, F>);

impl<I, F, R> Drive for Map<I, F>
where
    I: Drive,
    F: Fn(I::Item) -> R + Sync + Send,
    R: Send,
{
    type Item = R;

    fn drive<C: Consumer<R>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, R> {
        self.base.drive(&MapConsumer { base: consumer, map: &self.map }, folder, at)
    }
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
    fn accept<V: Visitor<R>>(self, visitor: V) -> V::Output {
        self.base.accept(MapVisitor { visitor, map: self.map })
    }
}

struct MapConsumer<'a, C, F> {
    base: &'a C,
    map: &'a F,
}

impl<T, R, C, F> Consumer<T> for MapConsumer<'_, C, F>
where
    C: Consumer<R>,
    F: Fn(T) -> R + Sync,
{
    delegate!(C, self => self.base);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        self.base.consume_iter(folder, items.map(self.map))
    }
}

struct MapVisitor<V, F> {
    visitor: V,
    map: F,
}

impl<T, R, V, F> Visitor<T> for MapVisitor<V, F>
where
    V: Visitor<R>,
    F: Fn(T) -> R + Sync + Send,
    R: Send,
{
    type Output = V::Output;

    fn visit<I: Drive<Item = T>>(self, base: I) -> V::Output {
        self.visitor.visit(Map::new(base, self.map))
    }
    fn visit_indexed<I: DriveIndexed<Item = T>>(self, base: I) -> V::Output {
        self.visitor.visit_indexed(Map::new(base, self.map))
    }
}

impl<I, F, R> DriveIndexed for Map<I, F>
where
    I: DriveIndexed,
    F: Fn(I::Item) -> R + Sync + Send,
    R: Send,
{
    type Producer<'a>
        = MapProducer<'a, I::Producer<'a>, F>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        MapProducer { base: self.base.producer(), map: &self.map }
    }
}

/// A piece of a [`Map`].
pub struct MapProducer<'a, P, F> {
    base: P,
    map: &'a F,
}

impl<'a, P, F, R> Producer for MapProducer<'a, P, F>
where
    P: Producer,
    F: Fn(P::Item) -> R + Sync,
{
    type Item = R;
    type IntoIter = iter::Map<P::IntoIter, &'a F>;

    const IS_EXACT: bool = P::IS_EXACT;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, ..self }, Self { base: right, ..self })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().map(self.map)
    }
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}
