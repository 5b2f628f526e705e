//! A parallel iterator whose pieces stop early.

use anabranch::iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed};

use super::stop::{Stop, Watch};

/// Yields the items until a [`Stop`] ends the loop.
pub(super) struct Watched<'a, I> {
    base: I,
    stop: &'a Stop<'a>,
}

impl<'a, I: DriveIndexed> Watched<'a, I> {
    #[inline]
    pub(super) fn new(base: I, stop: &'a Stop<'a>) -> Self {
        Self { base, stop }
    }
}

impl<I: DriveIndexed> Drive for Watched<'_, I> {
    drive_indexed!(I::Item);
}

impl<'a, I: DriveIndexed> DriveIndexed for Watched<'a, I> {
    type Producer<'p>
        = WatchedProducer<'a, I::Producer<'p>>
    where
        Self: 'p;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        WatchedProducer { base: self.base.producer(), stop: self.stop }
    }
}

/// A piece of a [`Watched`].
pub(super) struct WatchedProducer<'a, P> {
    base: P,
    stop: &'a Stop<'a>,
}

impl<'a, P: Producer> Producer for WatchedProducer<'a, P> {
    type Item = P::Item;
    type IntoIter = WatchedIter<'a, P::IntoIter>;
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
        let base = if self.stop.is_stopped() { self.base.split_at(0).0 } else { self.base };
        WatchedIter { base: base.into_iter(), _watch: self.stop.watch() }
    }
    #[inline]
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    #[inline]
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}

/// The iterator over a block. Until its end it watches for a panic, also of the code that takes the items.
pub(super) struct WatchedIter<'a, I> {
    base: I,
    _watch: Watch<'a>,
}

impl<I: Iterator> Iterator for WatchedIter<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.base.next()
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
    #[inline]
    fn nth(&mut self, n: usize) -> Option<I::Item> {
        self.base.nth(n)
    }
    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        let Self { base, _watch } = self;
        base.fold(init, f)
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for WatchedIter<'_, I> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        self.base.next_back()
    }
    #[inline]
    fn rfold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        let Self { base, _watch } = self;
        base.rfold(init, f)
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for WatchedIter<'_, I> {}
