//! [`zip`](crate::iter::IndexedParallelIterator::zip) and [`zip_eq`](crate::iter::IndexedParallelIterator::zip_eq).

use crate::iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed};
use std::iter;

/// Pairs the items of two iterators, up to the length of the shorter iterator.
/// [`IndexedParallelIterator::zip`](crate::iter::IndexedParallelIterator::zip) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Zip<A, B> {
    a: A,
    b: B,
}

impl<A, B> Zip<A, B> {
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        Self { a, b }
    }
}

impl<A: DriveIndexed, B: DriveIndexed> Drive for Zip<A, B> {
    drive_indexed!((A::Item, B::Item));
}

impl<A: DriveIndexed, B: DriveIndexed> DriveIndexed for Zip<A, B> {
    type Producer<'a>
        = ZipProducer<A::Producer<'a>, B::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.a.len().min(self.b.len())
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        let (a, b) = (self.a.producer(), self.b.producer());
        let len = a.len().min(b.len());
        ZipProducer { a: first(a, len), b: first(b, len) }
    }
}

/// Returns the first `len` items, or all if there are fewer.
pub(super) fn first<P: Producer>(items: P, len: usize) -> P {
    if items.len() > len { items.split_at(len).0 } else { items }
}

/// A piece of a [`Zip`]: two pieces of the same length.
pub struct ZipProducer<A, B> {
    a: A,
    b: B,
}

impl<A: Producer, B: Producer> Producer for ZipProducer<A, B> {
    type Item = (A::Item, B::Item);
    type IntoIter = iter::Zip<A::IntoIter, B::IntoIter>;

    #[inline]
    fn len(&self) -> usize {
        self.a.len().min(self.b.len())
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (a_left, a_right) = self.a.split_at(mid);
        let (b_left, b_right) = self.b.split_at(mid);
        (Self { a: a_left, b: b_left }, Self { a: a_right, b: b_right })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.a.into_iter().zip(self.b.into_iter())
    }
    fn min_len(&self) -> usize {
        self.a.min_len().max(self.b.min_len())
    }
    fn max_len(&self) -> usize {
        self.a.max_len().min(self.b.max_len())
    }
}

/// Pairs the items of two iterators of the same length.
/// [`IndexedParallelIterator::zip_eq`](crate::iter::IndexedParallelIterator::zip_eq) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct ZipEq<A, B> {
    zip: Zip<A, B>,
}

impl<A: DriveIndexed, B: DriveIndexed> ZipEq<A, B> {
    #[track_caller]
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        assert_eq!(a.len(), b.len(), "iterators must have the same length");
        Self { zip: Zip::new(a, b) }
    }
}

impl<A: DriveIndexed, B: DriveIndexed> Drive for ZipEq<A, B> {
    drive_indexed!((A::Item, B::Item));
}

impl<A: DriveIndexed, B: DriveIndexed> DriveIndexed for ZipEq<A, B> {
    type Producer<'a>
        = ZipProducer<A::Producer<'a>, B::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.zip.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        self.zip.producer()
    }
}
