//! [`chunks`](crate::iter::IndexedParallelIterator::chunks),
//! [`fold_chunks`](crate::iter::IndexedParallelIterator::fold_chunks) and
//! [`fold_chunks_with`](crate::iter::IndexedParallelIterator::fold_chunks_with).
//!
//! All three cut the base into chunks and turn each into one item. [`FoldChunk`] is the difference.

use crate::iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed};
use std::fmt;

/// Turns the items of a chunk into one item. A producer that is cut clones it.
pub trait FoldChunk<T>: Clone + Send {
    /// The type of the new item.
    type Output: Send;

    /// Makes the new item.
    fn fold(&self, items: impl Iterator<Item = T>) -> Self::Output;
}

/// Yields the items in vectors. [`IndexedParallelIterator::chunks`](crate::iter::IndexedParallelIterator::chunks)
/// returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Chunks<I> {
    base: I,
    size: usize,
}

impl<I> Chunks<I> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, size: usize) -> Self {
        Self { base, size: checked(size) }
    }
}

/// Folds the items of each chunk, starting with a new value.
/// [`IndexedParallelIterator::fold_chunks`](crate::iter::IndexedParallelIterator::fold_chunks) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct FoldChunks<I, ID, F> {
    base: I,
    size: usize,
    identity: ID,
    op: F,
}

impl<I, ID, F> FoldChunks<I, ID, F> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, size: usize, identity: ID, op: F) -> Self {
        Self { base, size: checked(size), identity, op }
    }
}

/// Folds the items of each chunk, starting with a clone of a value.
/// [`IndexedParallelIterator::fold_chunks_with`](crate::iter::IndexedParallelIterator::fold_chunks_with) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct FoldChunksWith<I, T, F> {
    base: I,
    size: usize,
    init: T,
    op: F,
}

impl<I, T, F> FoldChunksWith<I, T, F> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, size: usize, init: T, op: F) -> Self {
        Self { base, size: checked(size), init, op }
    }
}

#[track_caller]
fn checked(size: usize) -> usize {
    assert!(size != 0, "the chunk size must not be zero");
    size
}

impl<I: fmt::Debug, ID, F> fmt::Debug for FoldChunks<I, ID, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoldChunks").field("base", &self.base).field("size", &self.size).finish_non_exhaustive()
    }
}

impl<I: fmt::Debug, T: fmt::Debug, F> fmt::Debug for FoldChunksWith<I, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("FoldChunksWith");
        f.field("base", &self.base).field("size", &self.size).field("init", &self.init).finish_non_exhaustive()
    }
}

/// Collects a chunk.
#[derive(Clone)]
pub struct Collect;

impl<T: Send> FoldChunk<T> for Collect {
    type Output = Vec<T>;

    #[inline]
    fn fold(&self, items: impl Iterator<Item = T>) -> Vec<T> {
        items.collect()
    }
}

/// Folds a chunk, starting with a new value.
pub struct FoldFrom<'a, ID, F> {
    identity: &'a ID,
    op: &'a F,
}

impl<ID, F> Clone for FoldFrom<'_, ID, F> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T, R, ID, F> FoldChunk<T> for FoldFrom<'_, ID, F>
where
    ID: Fn() -> R + Sync,
    F: Fn(R, T) -> R + Sync,
    R: Send,
{
    type Output = R;

    #[inline]
    fn fold(&self, items: impl Iterator<Item = T>) -> R {
        items.fold((self.identity)(), self.op)
    }
}

/// Folds a chunk, starting with a clone of a value.
pub struct FoldWith<'a, R, F> {
    init: R,
    op: &'a F,
}

impl<R: Clone, F> Clone for FoldWith<'_, R, F> {
    fn clone(&self) -> Self {
        Self { init: self.init.clone(), op: self.op }
    }
}

impl<T, R, F> FoldChunk<T> for FoldWith<'_, R, F>
where
    R: Send + Clone,
    F: Fn(R, T) -> R + Sync,
{
    type Output = R;

    #[inline]
    fn fold(&self, items: impl Iterator<Item = T>) -> R {
        items.fold(self.init.clone(), self.op)
    }
}

impl<I: DriveIndexed> Drive for Chunks<I> {
    drive_indexed!(Vec<I::Item>);
}

impl<I: DriveIndexed> DriveIndexed for Chunks<I> {
    type Producer<'a>
        = ChunksProducer<I::Producer<'a>, Collect>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len().div_ceil(self.size)
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        ChunksProducer { base: self.base.producer(), size: self.size, fold: Collect }
    }
}

impl<I, ID, F, R> Drive for FoldChunks<I, ID, F>
where
    I: DriveIndexed,
    ID: Fn() -> R + Sync + Send,
    F: Fn(R, I::Item) -> R + Sync + Send,
    R: Send,
{
    drive_indexed!(R);
}

impl<I, ID, F, R> DriveIndexed for FoldChunks<I, ID, F>
where
    I: DriveIndexed,
    ID: Fn() -> R + Sync + Send,
    F: Fn(R, I::Item) -> R + Sync + Send,
    R: Send,
{
    type Producer<'a>
        = ChunksProducer<I::Producer<'a>, FoldFrom<'a, ID, F>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len().div_ceil(self.size)
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        let fold = FoldFrom { identity: &self.identity, op: &self.op };
        ChunksProducer { base: self.base.producer(), size: self.size, fold }
    }
}

impl<I, R, F> Drive for FoldChunksWith<I, R, F>
where
    I: DriveIndexed,
    F: Fn(R, I::Item) -> R + Sync + Send,
    R: Send + Clone,
{
    drive_indexed!(R);
}

impl<I, R, F> DriveIndexed for FoldChunksWith<I, R, F>
where
    I: DriveIndexed,
    F: Fn(R, I::Item) -> R + Sync + Send,
    R: Send + Clone,
{
    type Producer<'a>
        = ChunksProducer<I::Producer<'a>, FoldWith<'a, R, F>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len().div_ceil(self.size)
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        let fold = FoldWith { init: self.init.clone(), op: &self.op };
        ChunksProducer { base: self.base.producer(), size: self.size, fold }
    }
}

/// A piece of chunks. Only the last chunk may be shorter than `size`.
pub struct ChunksProducer<P, F> {
    base: P,
    size: usize,
    fold: F,
}

impl<P: Producer, F: FoldChunk<P::Item>> Producer for ChunksProducer<P, F> {
    type Item = F::Output;
    type IntoIter = ChunksIter<P, F>;

    #[inline]
    fn len(&self) -> usize {
        self.base.len().div_ceil(self.size)
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let mid = mid.saturating_mul(self.size).min(self.base.len());
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, size: self.size, fold: self.fold.clone() }, Self { base: right, ..self })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        ChunksIter { rest: Some(self.base), size: self.size, fold: self.fold }
    }
    fn min_len(&self) -> usize {
        self.base.min_len().div_ceil(self.size)
    }
    fn max_len(&self) -> usize {
        (self.base.max_len() / self.size).max(1)
    }
}

/// Cuts the chunks off one by one, so that each is folded as one iterator of the base.
pub struct ChunksIter<P, F> {
    rest: Option<P>,
    size: usize,
    fold: F,
}

impl<P: Producer, F: FoldChunk<P::Item>> Iterator for ChunksIter<P, F> {
    type Item = F::Output;

    #[inline]
    fn next(&mut self) -> Option<F::Output> {
        let rest = self.rest.take().filter(|rest| rest.len() > 0)?;
        let mid = rest.len().min(self.size);
        let (chunk, rest) = rest.split_at(mid);
        self.rest = Some(rest);
        Some(self.fold.fold(chunk.into_iter()))
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.rest.as_ref().map_or(0, |rest| rest.len().div_ceil(self.size));
        (len, Some(len))
    }
}

impl<P: Producer, F: FoldChunk<P::Item>> DoubleEndedIterator for ChunksIter<P, F> {
    #[inline]
    fn next_back(&mut self) -> Option<F::Output> {
        let rest = self.rest.take().filter(|rest| rest.len() > 0)?;
        let len = rest.len();
        let (rest, chunk) = rest.split_at((len - 1) / self.size * self.size);
        self.rest = Some(rest);
        Some(self.fold.fold(chunk.into_iter()))
    }
}

impl<P: Producer, F: FoldChunk<P::Item>> ExactSizeIterator for ChunksIter<P, F> {}
