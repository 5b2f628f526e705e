//! [`interleave`](crate::iter::IndexedParallelIterator::interleave) and
//! [`interleave_shortest`](crate::iter::IndexedParallelIterator::interleave_shortest).

use crate::iter::{
    adapters::zip::first,
    plumbing::{Drive, DriveIndexed, Producer, drive_indexed},
};
use std::cmp::Ordering;

/// Yields the items of two iterators alternately, and then the rest of the longer one.
/// [`IndexedParallelIterator::interleave`](crate::iter::IndexedParallelIterator::interleave) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Interleave<A, B> {
    a: A,
    b: B,
}

impl<A, B> Interleave<A, B> {
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        Self { a, b }
    }
}

impl<A, B> Drive for Interleave<A, B>
where
    A: DriveIndexed,
    B: DriveIndexed<Item = A::Item>,
{
    drive_indexed!(A::Item);
}

impl<A, B> DriveIndexed for Interleave<A, B>
where
    A: DriveIndexed,
    B: DriveIndexed<Item = A::Item>,
{
    type Producer<'a>
        = InterleaveProducer<A::Producer<'a>, B::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.a.len().checked_add(self.b.len()).expect(TOO_LONG)
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        _ = self.len();
        InterleaveProducer { a: self.a.producer(), b: self.b.producer(), from_a: true }
    }
}

const TOO_LONG: &str = "interleaved iterators have at most `usize::MAX` items";

/// Yields the items of two iterators alternately, until the iterator whose turn it is has no more items.
/// [`IndexedParallelIterator::interleave_shortest`] returns it.
///
/// [`IndexedParallelIterator::interleave_shortest`]: crate::iter::IndexedParallelIterator::interleave_shortest
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct InterleaveShortest<A, B> {
    a: A,
    b: B,
}

impl<A, B> InterleaveShortest<A, B> {
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        Self { a, b }
    }
}

impl<A: DriveIndexed, B: DriveIndexed> InterleaveShortest<A, B> {
    /// Returns how many items of each are yielded.
    fn lens(&self) -> (usize, usize) {
        let (a, b) = (self.a.len(), self.b.len());
        if a > b { (b + 1, b) } else { (a, a) }
    }
}

impl<A, B> Drive for InterleaveShortest<A, B>
where
    A: DriveIndexed,
    B: DriveIndexed<Item = A::Item>,
{
    drive_indexed!(A::Item);
}

impl<A, B> DriveIndexed for InterleaveShortest<A, B>
where
    A: DriveIndexed,
    B: DriveIndexed<Item = A::Item>,
{
    type Producer<'a>
        = InterleaveProducer<A::Producer<'a>, B::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        let (a, b) = self.lens();
        a.checked_add(b).expect(TOO_LONG)
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        _ = self.len();
        let (a, b) = self.lens();
        InterleaveProducer { a: first(self.a.producer(), a), b: first(self.b.producer(), b), from_a: true }
    }
}

/// A piece of interleaved items.
pub struct InterleaveProducer<A, B> {
    a: A,
    b: B,
    /// Whether the first item is one of `a`.
    from_a: bool,
}

impl<A, B> Producer for InterleaveProducer<A, B>
where
    A: Producer<IntoIter: DoubleEndedIterator + ExactSizeIterator>,
    B: Producer<Item = A::Item, IntoIter: DoubleEndedIterator + ExactSizeIterator>,
{
    type Item = A::Item;
    type IntoIter = InterleaveIter<A::IntoIter, B::IntoIter>;

    #[inline]
    fn len(&self) -> usize {
        self.a.len() + self.b.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (a_len, b_len) = (self.a.len(), self.b.len());
        let a_turns = if self.from_a { mid.div_ceil(2) } else { mid / 2 };
        // Where one of them ends, the other one makes up for the rest.
        let a_mid = a_turns.min(a_len).max(mid.saturating_sub(b_len));
        let (a_left, a_right) = self.a.split_at(a_mid);
        let (b_left, b_right) = self.b.split_at(mid - a_mid);
        let left = Self { a: a_left, b: b_left, from_a: self.from_a };
        (left, Self { a: a_right, b: b_right, from_a: self.from_a == mid.is_multiple_of(2) })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        InterleaveIter { a: self.a.into_iter(), b: self.b.into_iter(), from_a: self.from_a }
    }
    fn min_len(&self) -> usize {
        self.a.min_len().max(self.b.min_len())
    }
    fn max_len(&self) -> usize {
        self.a.max_len().min(self.b.max_len())
    }
}

/// Yields items alternately.
pub struct InterleaveIter<A, B> {
    a: A,
    b: B,
    from_a: bool,
}

impl<A: ExactSizeIterator, B: ExactSizeIterator<Item = A::Item>> Iterator for InterleaveIter<A, B> {
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        let from_a = self.from_a;
        self.from_a = !from_a;
        if self.b.len() == 0 || from_a && self.a.len() > 0 { self.a.next() } else { self.b.next() }
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.a.len() + self.b.len();
        (len, Some(len))
    }
}

impl<A, B> DoubleEndedIterator for InterleaveIter<A, B>
where
    A: ExactSizeIterator + DoubleEndedIterator,
    B: ExactSizeIterator<Item = A::Item> + DoubleEndedIterator,
{
    #[inline]
    fn next_back(&mut self) -> Option<A::Item> {
        match self.a.len().cmp(&self.b.len()) {
            Ordering::Greater => self.a.next_back(),
            Ordering::Equal if !self.from_a => self.a.next_back(),
            _ => self.b.next_back(),
        }
    }
}

impl<A, B> ExactSizeIterator for InterleaveIter<A, B>
where
    A: ExactSizeIterator,
    B: ExactSizeIterator<Item = A::Item>,
{
}
