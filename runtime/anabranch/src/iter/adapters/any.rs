//! Adapters that take or skip items in the order in which threads meet them:
//! [`take_any`](crate::iter::ParallelIterator::take_any), [`skip_any`](crate::iter::ParallelIterator::skip_any),
//! [`take_any_while`](crate::iter::ParallelIterator::take_any_while) and
//! [`skip_any_while`](crate::iter::ParallelIterator::skip_any_while).
//!
//! Their consumers share a counter or a flag. It guards no data, so accesses are relaxed.

use crate::{
    iter::plumbing::{Consumer, Drive, Driven, delegate},
    sys::sync::{AtomicBool, AtomicUsize, Ordering},
};

/// Subtracts one, unless the number is zero already. Returns whether it did.
#[inline]
fn claim(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

/// Yields any `n` items. [`ParallelIterator::take_any`](crate::iter::ParallelIterator::take_any) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct TakeAny<I> {
    base: I,
    n: usize,
}

impl<I> TakeAny<I> {
    pub(in crate::iter) fn new(base: I, n: usize) -> Self {
        Self { base, n }
    }
}

impl<I: Drive> Drive for TakeAny<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        self.base.drive(&TakeAnyConsumer { base: consumer, left: AtomicUsize::new(self.n) }, folder, at)
    }
}

struct TakeAnyConsumer<'a, C> {
    base: &'a C,
    /// How many more items may be taken.
    left: AtomicUsize,
}

impl<T, C: Consumer<T>> Consumer<T> for TakeAnyConsumer<'_, C> {
    delegate!(C, self => self.base, until self.left.load(Ordering::Relaxed) == 0);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        if self.left.load(Ordering::Relaxed) == 0 {
            return folder;
        }
        self.base.consume_iter(folder, items.take_while(|_| claim(&self.left)))
    }
}

/// Skips any `n` items. [`ParallelIterator::skip_any`](crate::iter::ParallelIterator::skip_any) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct SkipAny<I> {
    base: I,
    n: usize,
}

impl<I> SkipAny<I> {
    pub(in crate::iter) fn new(base: I, n: usize) -> Self {
        Self { base, n }
    }
}

impl<I: Drive> Drive for SkipAny<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        self.base.drive(&SkipAnyConsumer { base: consumer, left: AtomicUsize::new(self.n) }, folder, at)
    }
}

struct SkipAnyConsumer<'a, C> {
    base: &'a C,
    /// How many more items are to be skipped.
    left: AtomicUsize,
}

impl<T, C: Consumer<T>> Consumer<T> for SkipAnyConsumer<'_, C> {
    delegate!(C, self => self.base);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        self.base.consume_iter(folder, items.skip_while(|_| claim(&self.left)))
    }
}

/// Yields items until any thread meets one that does not satisfy a predicate.
/// [`ParallelIterator::take_any_while`](crate::iter::ParallelIterator::take_any_while) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct TakeAnyWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> TakeAnyWhile<I, P> {
    pub(in crate::iter) fn new(base: I, predicate: P) -> Self {
        Self { base, predicate }
    }
}

debug_by_base!(TakeAnyWhile<I, P>);

impl<I, P> Drive for TakeAnyWhile<I, P>
where
    I: Drive,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        let has_ended = AtomicBool::new(false);
        self.base.drive(&TakeAnyWhileConsumer { base: consumer, predicate: &self.predicate, has_ended }, folder, at)
    }
}

struct TakeAnyWhileConsumer<'a, C, P> {
    base: &'a C,
    predicate: &'a P,
    /// Whether a thread has met an item that does not satisfy the predicate.
    has_ended: AtomicBool,
}

impl<T, C: Consumer<T>, P: Fn(&T) -> bool + Sync> Consumer<T> for TakeAnyWhileConsumer<'_, C, P> {
    delegate!(C, self => self.base, until self.has_ended.load(Ordering::Relaxed));

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        let items = items.take_while(|item| {
            if self.has_ended.load(Ordering::Relaxed) {
                return false;
            }
            let is_taken = (self.predicate)(item);
            if !is_taken {
                self.has_ended.store(true, Ordering::Relaxed);
            }
            is_taken
        });
        self.base.consume_iter(folder, items)
    }
}

/// Skips items until any thread meets one that does not satisfy a predicate.
/// [`ParallelIterator::skip_any_while`](crate::iter::ParallelIterator::skip_any_while) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct SkipAnyWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> SkipAnyWhile<I, P> {
    pub(in crate::iter) fn new(base: I, predicate: P) -> Self {
        Self { base, predicate }
    }
}

debug_by_base!(SkipAnyWhile<I, P>);

impl<I, P> Drive for SkipAnyWhile<I, P>
where
    I: Drive,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        let has_ended = AtomicBool::new(false);
        self.base.drive(&SkipAnyWhileConsumer { base: consumer, predicate: &self.predicate, has_ended }, folder, at)
    }
}

struct SkipAnyWhileConsumer<'a, C, P> {
    base: &'a C,
    predicate: &'a P,
    /// Whether a thread has met an item that does not satisfy the predicate.
    has_ended: AtomicBool,
}

impl<T, C: Consumer<T>, P: Fn(&T) -> bool + Sync> Consumer<T> for SkipAnyWhileConsumer<'_, C, P> {
    delegate!(C, self => self.base);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        let items = items.skip_while(|item| {
            if self.has_ended.load(Ordering::Relaxed) {
                return false;
            }
            let is_skipped = (self.predicate)(item);
            if !is_skipped {
                self.has_ended.store(true, Ordering::Relaxed);
            }
            is_skipped
        });
        self.base.consume_iter(folder, items)
    }
}
