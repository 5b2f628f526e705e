//! [`dedup`](crate::iter::ParallelIterator::dedup) and [`dedup_by_key`](crate::iter::ParallelIterator::dedup_by_key).
//!
//! Within a piece an item is compared with the item before. The first item of a piece is kept back until the piece
//! before has ended. `combine` then either drops it, or inserts a piece that is this item alone.

use crate::iter::plumbing::{Consumer, Drive, Driven, Progress};
use std::iter;

/// Yields the items that differ from the item before, by a key.
/// [`ParallelIterator::dedup_by_key`](crate::iter::ParallelIterator::dedup_by_key) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct DedupByKey<I, F> {
    base: I,
    key: F,
}

impl<I, F> DedupByKey<I, F> {
    pub(in crate::iter) fn new(base: I, key: F) -> Self {
        Self { base, key }
    }
}

debug_by_base!(DedupByKey<I, F>);

impl<I, F, K> Drive for DedupByKey<I, F>
where
    I: Drive,
    F: Fn(&I::Item) -> K + Sync + Send,
    K: PartialEq + Send,
{
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        drive(self.base, &self.key, consumer, folder, at)
    }
}

/// Yields the items that differ from the item before.
/// [`ParallelIterator::dedup`](crate::iter::ParallelIterator::dedup) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Dedup<I>(I);

impl<I> Dedup<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self(base)
    }
}

impl<I: Drive<Item: PartialEq + Clone>> Drive for Dedup<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        drive(self.0, &<I::Item as Clone>::clone, consumer, folder, at)
    }
}

fn drive<I, F, K, C>(
    base: I,
    key: &F,
    consumer: &C,
    folder: C::Folder,
    at: C::Position,
) -> Progress<C::Folder, C::Result>
where
    I: Drive,
    F: Fn(&I::Item) -> K + Sync,
    K: PartialEq + Send,
    C: Consumer<I::Item>,
{
    let dedup = DedupConsumer { base: consumer, key };
    let folder = DedupFolder { base: folder, first: None, last: None, begins: true, at };
    match base.drive(&dedup, folder, at) {
        Progress::Folding(folder) => Progress::Folding(folder.base),
        Progress::Complete(result) => Progress::Complete(result.base),
    }
}

struct DedupConsumer<'a, C, F> {
    base: &'a C,
    key: &'a F,
}

/// The state of a piece, and with the base's result its result too.
struct DedupFolder<F, T, K, P> {
    /// Has all items but `first`.
    base: F,
    /// The first item of the piece, if another piece is before it.
    first: Option<T>,
    /// The key of the last item.
    last: Option<K>,
    /// Whether no piece is before it.
    begins: bool,
    at: P,
}

impl<T, K, C, F> Consumer<T> for DedupConsumer<'_, C, F>
where
    T: Send,
    K: PartialEq + Send,
    C: Consumer<T>,
    F: Fn(&T) -> K + Sync,
{
    type Folder = DedupFolder<C::Folder, T, K, C::Position>;
    type Result = DedupFolder<C::Result, T, K, C::Position>;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    fn folder(&self, at: C::Position) -> Self::Folder {
        DedupFolder { base: self.base.folder(at), first: None, last: None, begins: false, at }
    }

    fn consume_iter(&self, mut folder: Self::Folder, mut items: impl Iterator<Item = T>) -> Self::Folder {
        let mut last = match folder.last.take() {
            Some(last) => last,
            None => {
                let Some(first) = items.next() else { return folder };
                let last = (self.key)(&first);
                if folder.begins {
                    folder.base = self.base.consume_iter(folder.base, iter::once(first));
                } else {
                    folder.first = Some(first);
                }
                last
            }
        };
        let items = items.filter(|item| {
            let key = (self.key)(item);
            let is_new = key != last;
            last = key;
            is_new
        });
        folder.base = self.base.consume_iter(folder.base, items);
        folder.last = Some(last);
        folder
    }

    fn complete(&self, folder: Self::Folder) -> Self::Result {
        let DedupFolder { base, first, last, begins, at } = folder;
        DedupFolder { base: self.base.complete(base), first, last, begins, at }
    }

    fn combine(&self, mut left: Self::Result, right: Self::Result) -> Self::Result {
        if let Some(first) = right.first {
            match &left.last {
                Some(last) if *last == (self.key)(&first) => {}
                None if !left.begins => {
                    left.first = Some(first);
                    left.at = right.at;
                }
                _ => {
                    let single = self.base.consume_iter(self.base.folder(right.at), iter::once(first));
                    left.base = self.base.combine(left.base, self.base.complete(single));
                }
            }
        }
        left.base = self.base.combine(left.base, right.base);
        left.last = right.last.or(left.last);
        left
    }

    fn is_full(&self, folder: &Self::Folder, rest: C::Position) -> bool {
        self.base.is_full(&folder.base, rest)
    }
}
