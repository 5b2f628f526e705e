//! [`map_init`](crate::iter::ParallelIterator::map_init) and [`map_with`](crate::iter::ParallelIterator::map_with).
//!
//! A piece keeps its state beside the folder, from the first item to the last. A producer has no such place, because a
//! piece of it is cut for each block. So it makes a state for each block. That is why `accept` does not offer the
//! producer to `collect`: the states may be expensive.

use crate::iter::{
    adapters::init::{Init, Shared},
    plumbing::{Consumer, Drive, DriveIndexed, Driven, Producer, Progress},
};

/// Maps each item with a state of the piece.
/// [`ParallelIterator::map_init`](crate::iter::ParallelIterator::map_init) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct MapInit<I, N, F> {
    base: I,
    init: N,
    map: F,
}

/// Maps each item with a clone of a value.
/// [`ParallelIterator::map_with`](crate::iter::ParallelIterator::map_with) returns it.
pub type MapWith<I, T, F> = MapInit<I, Shared<T>, F>;

impl<I, N, F> MapInit<I, N, F> {
    pub(in crate::iter) fn new(base: I, init: N, map: F) -> Self {
        Self { base, init, map }
    }
}

debug_by_base!(MapInit<I, N, F>);

impl<I, N, F, R> Drive for MapInit<I, N, F>
where
    I: Drive,
    N: Init,
    F: Fn(&mut N::State, I::Item) -> R + Sync + Send,
    R: Send,
{
    type Item = R;

    fn drive<C: Consumer<R>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, R> {
        let with_state = MapInitConsumer { base: consumer, init: &self.init, map: &self.map };
        match self.base.drive(&with_state, (self.init.init(), folder), at) {
            Progress::Folding((_, folder)) => Progress::Folding(folder),
            Progress::Complete(result) => Progress::Complete(result),
        }
    }
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
}

struct MapInitConsumer<'a, C, N, F> {
    base: &'a C,
    init: &'a N,
    map: &'a F,
}

impl<T, R, C, N, F> Consumer<T> for MapInitConsumer<'_, C, N, F>
where
    C: Consumer<R>,
    N: Init,
    F: Fn(&mut N::State, T) -> R + Sync,
{
    type Folder = (N::State, C::Folder);
    type Result = C::Result;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    #[inline]
    fn folder(&self, at: C::Position) -> Self::Folder {
        (self.init.init(), self.base.folder(at))
    }
    #[inline]
    fn consume_iter(&self, (mut state, folder): Self::Folder, items: impl Iterator<Item = T>) -> Self::Folder {
        let folder = self.base.consume_iter(folder, items.map(|item| (self.map)(&mut state, item)));
        (state, folder)
    }
    #[inline]
    fn complete(&self, (_, folder): Self::Folder) -> C::Result {
        self.base.complete(folder)
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

impl<I, N, F, R> DriveIndexed for MapInit<I, N, F>
where
    I: DriveIndexed,
    N: Init,
    F: Fn(&mut N::State, I::Item) -> R + Sync + Send,
    R: Send,
{
    type Producer<'a>
        = MapInitProducer<'a, I::Producer<'a>, N, F>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        MapInitProducer { base: self.base.producer(), init: &self.init, map: &self.map }
    }
}

/// A piece of a [`MapInit`].
pub struct MapInitProducer<'a, P, N, F> {
    base: P,
    init: &'a N,
    map: &'a F,
}

impl<'a, P, N, F, R> Producer for MapInitProducer<'a, P, N, F>
where
    P: Producer,
    N: Init,
    F: Fn(&mut N::State, P::Item) -> R + Sync,
{
    type Item = R;
    type IntoIter = MapInitIter<'a, P::IntoIter, N::State, F>;

    const IS_EXACT: bool = P::IS_EXACT;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, ..self }, Self { base: right, ..self })
    }
    fn into_iter(self) -> Self::IntoIter {
        MapInitIter { base: self.base.into_iter(), state: self.init.init(), map: self.map }
    }
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}

/// The iterator over a piece of a [`MapInit`].
pub struct MapInitIter<'a, I, S, F> {
    base: I,
    state: S,
    map: &'a F,
}

impl<I: Iterator, S, F: Fn(&mut S, I::Item) -> R, R> Iterator for MapInitIter<'_, I, S, F> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        self.base.next().map(|item| (self.map)(&mut self.state, item))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
    #[inline]
    fn fold<B, G: FnMut(B, R) -> B>(mut self, init: B, mut f: G) -> B {
        self.base.fold(init, |accumulator, item| f(accumulator, (self.map)(&mut self.state, item)))
    }
}

impl<I: DoubleEndedIterator, S, F: Fn(&mut S, I::Item) -> R, R> DoubleEndedIterator for MapInitIter<'_, I, S, F> {
    #[inline]
    fn next_back(&mut self) -> Option<R> {
        self.base.next_back().map(|item| (self.map)(&mut self.state, item))
    }
}

impl<I: ExactSizeIterator, S, F: Fn(&mut S, I::Item) -> R, R> ExactSizeIterator for MapInitIter<'_, I, S, F> {
    fn len(&self) -> usize {
        self.base.len()
    }
}
