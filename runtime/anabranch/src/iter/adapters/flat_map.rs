//! [`flat_map`](crate::iter::ParallelIterator::flat_map) and [`flatten`](crate::iter::ParallelIterator::flatten).
//!
//! The parallel iterator of each item is driven in turn, with the folder that has folded the items before it. If other
//! threads have taken a part of it, it ends with a result instead. The piece keeps that result, and goes on with a new
//! folder.

use crate::iter::{
    convert::IntoParallelIterator,
    plumbing::{Consumer, Drive, Driven, Position, Progress},
};
use std::convert;

/// Maps each item to a parallel iterator, and yields their items.
/// [`ParallelIterator::flat_map`](crate::iter::ParallelIterator::flat_map) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct FlatMap<I, F> {
    base: I,
    map: F,
}

impl<I, F> FlatMap<I, F> {
    pub(in crate::iter) fn new(base: I, map: F) -> Self {
        Self { base, map }
    }
}

debug_by_base!(FlatMap<I, F>);

impl<I, F, R> Drive for FlatMap<I, F>
where
    I: Drive,
    F: Fn(I::Item) -> R + Sync + Send,
    R: IntoParallelIterator,
{
    type Item = R::Item;

    fn drive<C: Consumer<R::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, R::Item> {
        drive(self.base, &self.map, consumer, folder, at)
    }
}

/// Flattens items that are parallel iterators. [`ParallelIterator::flatten`](crate::iter::ParallelIterator::flatten)
/// returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Flatten<I>(I);

impl<I> Flatten<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self(base)
    }
}

impl<I> Drive for Flatten<I>
where
    I: Drive<Item: IntoParallelIterator>,
{
    type Item = <I::Item as IntoParallelIterator>::Item;

    fn drive<C: Consumer<Self::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, Self::Item> {
        drive(self.0, &convert::identity, consumer, folder, at)
    }
}

fn drive<I, F, R, C>(
    base: I,
    map: &F,
    consumer: &C,
    folder: C::Folder,
    at: C::Position,
) -> Progress<C::Folder, C::Result>
where
    I: Drive,
    F: Fn(I::Item) -> R + Sync,
    R: IntoParallelIterator,
    C: Consumer<R::Item>,
{
    let flat = FlatMapConsumer { base: consumer, map };
    match base.drive(&flat, FlatFolder { left: None, folder, at: start(at) }, at) {
        Progress::Folding(FlatFolder { left: None, folder, .. }) => Progress::Folding(folder),
        Progress::Folding(folder) => Progress::Complete(Consumer::<I::Item>::complete(&flat, folder)),
        Progress::Complete(result) => Progress::Complete(result),
    }
}

/// Returns the position of the first item of a piece.
///
/// All parts of the inner iterators have it. It is unknown where in the sequence an item of a piece is, because other
/// threads may take a part of the piece meanwhile. So a part must not have a position that is later than theirs.
fn start<P: Position>(at: P) -> P {
    at.split_at(0, 1).0
}

struct FlatMapConsumer<'a, C, F> {
    base: &'a C,
    map: &'a F,
}

struct FlatFolder<F, R, P> {
    /// The result of the items before those in `folder`, if other threads have folded some of them.
    left: Option<R>,
    folder: F,
    at: P,
}

impl<T, R, C, F> Consumer<T> for FlatMapConsumer<'_, C, F>
where
    F: Fn(T) -> R + Sync,
    R: IntoParallelIterator,
    C: Consumer<R::Item>,
{
    type Folder = FlatFolder<C::Folder, C::Result, C::Position>;
    type Result = C::Result;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    #[inline]
    fn folder(&self, at: C::Position) -> Self::Folder {
        FlatFolder { left: None, folder: self.base.folder(at), at: start(at) }
    }

    fn consume_iter(&self, mut flat: Self::Folder, mut items: impl Iterator<Item = T>) -> Self::Folder {
        while !self.base.is_full(&flat.folder, flat.at)
            && let Some(item) = items.next()
        {
            let inner = (self.map)(item).into_par_iter();
            flat = match inner.drive(self.base, flat.folder, flat.at) {
                Progress::Folding(folder) => FlatFolder { folder, ..flat },
                Progress::Complete(result) => FlatFolder {
                    left: Some(match flat.left {
                        Some(left) => self.base.combine(left, result),
                        None => result,
                    }),
                    folder: self.base.folder(flat.at),
                    at: flat.at,
                },
            };
        }
        flat
    }

    #[inline]
    fn complete(&self, flat: Self::Folder) -> C::Result {
        let result = self.base.complete(flat.folder);
        match flat.left {
            Some(left) => self.base.combine(left, result),
            None => result,
        }
    }

    #[inline]
    fn combine(&self, left: C::Result, right: C::Result) -> C::Result {
        self.base.combine(left, right)
    }

    #[inline]
    fn is_full(&self, flat: &Self::Folder, rest: C::Position) -> bool {
        self.base.is_full(&flat.folder, rest)
    }
}
