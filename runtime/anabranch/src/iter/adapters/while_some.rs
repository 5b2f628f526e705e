//! [`while_some`](crate::iter::ParallelIterator::while_some).

use crate::{
    iter::plumbing::{Consumer, Drive, Driven, delegate},
    sys::sync::{AtomicBool, Ordering},
};

/// Yields the contents of `Some` until any thread meets a `None`.
/// [`ParallelIterator::while_some`](crate::iter::ParallelIterator::while_some) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct WhileSome<I>(I);

impl<I> WhileSome<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self(base)
    }
}

impl<I: Drive<Item = Option<T>>, T: Send> Drive for WhileSome<I> {
    type Item = T;

    fn drive<C: Consumer<T>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, T> {
        self.0.drive(&WhileSomeConsumer { base: consumer, has_ended: AtomicBool::new(false) }, folder, at)
    }
}

struct WhileSomeConsumer<'a, C> {
    base: &'a C,
    /// Whether a thread has met a `None`. It guards no data, so accesses are relaxed.
    has_ended: AtomicBool,
}

impl<T, C: Consumer<T>> Consumer<Option<T>> for WhileSomeConsumer<'_, C> {
    delegate!(C, self => self.base, until self.has_ended.load(Ordering::Relaxed));

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = Option<T>>) -> C::Folder {
        if self.has_ended.load(Ordering::Relaxed) {
            return folder;
        }
        let items = items.map_while(|item| {
            if item.is_none() {
                self.has_ended.store(true, Ordering::Relaxed);
            }
            item
        });
        self.base.consume_iter(folder, items)
    }
}
