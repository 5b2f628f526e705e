//! [`panic_fuse`](crate::iter::ParallelIterator::panic_fuse).

use crate::{
    iter::plumbing::{Consumer, Drive, DriveIndexed, Driven, Producer, Visitor, delegate},
    sys::sync::{AtomicBool, Ordering},
};
use std::thread;

/// Ends the loop on all threads as soon as one thread panics.
/// [`ParallelIterator::panic_fuse`](crate::iter::ParallelIterator::panic_fuse) returns it.
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct PanicFuse<I> {
    base: I,
    /// Whether a thread has panicked. It guards no data, so accesses are relaxed.
    has_panicked: AtomicBool,
}

impl<I> PanicFuse<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self { base, has_panicked: AtomicBool::new(false) }
    }
}

impl<I: Clone> Clone for PanicFuse<I> {
    fn clone(&self) -> Self {
        Self::new(self.base.clone())
    }
}

debug_by_base!(PanicFuse<I>);

/// Sets the flag when it is dropped by a panic that began after it was made.
struct Fuse<'a> {
    has_panicked: &'a AtomicBool,
    was_panicking: bool,
}

impl<'a> Fuse<'a> {
    fn new(has_panicked: &'a AtomicBool) -> Self {
        Self { has_panicked, was_panicking: thread::panicking() }
    }

    #[inline]
    fn is_blown(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed)
    }
}

impl Drop for Fuse<'_> {
    fn drop(&mut self) {
        if !self.was_panicking && thread::panicking() {
            self.has_panicked.store(true, Ordering::Relaxed);
        }
    }
}

impl<I: Drive> Drive for PanicFuse<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        self.base.drive(&PanicFuseConsumer { base: consumer, has_panicked: &self.has_panicked }, folder, at)
    }
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
    fn accept<V: Visitor<I::Item>>(self, visitor: V) -> V::Output {
        self.base.accept(PanicFuseVisitor(visitor))
    }
}

struct PanicFuseConsumer<'a, C> {
    base: &'a C,
    has_panicked: &'a AtomicBool,
}

impl<T, C: Consumer<T>> Consumer<T> for PanicFuseConsumer<'_, C> {
    delegate!(C, self => self.base, until self.has_panicked.load(Ordering::Relaxed));

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        let fuse = Fuse::new(self.has_panicked);
        self.base.consume_iter(folder, items.take_while(|_| !fuse.is_blown()))
    }
}

struct PanicFuseVisitor<V>(V);

impl<T, V: Visitor<T>> Visitor<T> for PanicFuseVisitor<V> {
    type Output = V::Output;

    fn visit<I: Drive<Item = T>>(self, base: I) -> V::Output {
        self.0.visit(PanicFuse::new(base))
    }
    fn visit_indexed<I: DriveIndexed<Item = T>>(self, base: I) -> V::Output {
        self.0.visit_indexed(PanicFuse::new(base))
    }
}

impl<I: DriveIndexed> DriveIndexed for PanicFuse<I> {
    type Producer<'a>
        = PanicFuseProducer<'a, I::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        PanicFuseProducer { base: self.base.producer(), has_panicked: &self.has_panicked }
    }
}

/// A piece of a [`PanicFuse`].
pub struct PanicFuseProducer<'a, P> {
    base: P,
    has_panicked: &'a AtomicBool,
}

impl<'a, P: Producer> Producer for PanicFuseProducer<'a, P> {
    type Item = P::Item;
    type IntoIter = PanicFuseIter<'a, P::IntoIter>;

    const IS_EXACT: bool = P::IS_EXACT;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, ..self }, Self { base: right, ..self })
    }
    fn into_iter(self) -> Self::IntoIter {
        PanicFuseIter { base: self.base.into_iter(), fuse: Fuse::new(self.has_panicked) }
    }
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}

/// The iterator over a piece of a [`PanicFuse`]. It ends when a thread has panicked.
pub struct PanicFuseIter<'a, I> {
    base: I,
    fuse: Fuse<'a>,
}

impl<I: Iterator> Iterator for PanicFuseIter<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if self.fuse.is_blown() { None } else { self.base.next() }
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for PanicFuseIter<'_, I> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        if self.fuse.is_blown() { None } else { self.base.next_back() }
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for PanicFuseIter<'_, I> {
    fn len(&self) -> usize {
        self.base.len()
    }
}
