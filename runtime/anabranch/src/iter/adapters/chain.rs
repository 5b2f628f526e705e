//! [`chain`](crate::iter::ParallelIterator::chain).

use crate::iter::plumbing::{Consumer, Drive, DriveIndexed, Driven, Position, Producer, Visitor, pair::drive_pair};
use std::iter;

/// Yields the items of one iterator, then the items of another iterator.
/// [`ParallelIterator::chain`](crate::iter::ParallelIterator::chain) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Chain<A, B> {
    a: A,
    b: B,
}

impl<A, B> Chain<A, B> {
    pub(in crate::iter) fn new(a: A, b: B) -> Self {
        Self { a, b }
    }
}

impl<A, B> Drive for Chain<A, B>
where
    A: Drive,
    B: Drive<Item = A::Item>,
{
    type Item = A::Item;

    fn drive<C: Consumer<A::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, A::Item> {
        // In proportion, so that a chain of many parts has a position for each.
        let lens = (self.a.opt_len(), self.opt_len());
        let (mid, len) = if let (Some(mid), Some(len)) = lens { (mid, len) } else { (1, 2) };
        drive_pair(self.a, self.b, consumer, folder, at.split_at(mid, len))
    }
    fn opt_len(&self) -> Option<usize> {
        self.a.opt_len()?.checked_add(self.b.opt_len()?)
    }
    fn accept<V: Visitor<A::Item>>(self, visitor: V) -> V::Output {
        self.a.accept(VisitA { visitor, b: self.b })
    }
}

/// Finds out whether the first iterator of a chain is indexed.
struct VisitA<V, B> {
    visitor: V,
    b: B,
}

impl<T, V: Visitor<T>, B: Drive<Item = T>> Visitor<T> for VisitA<V, B> {
    type Output = V::Output;

    fn visit<A: Drive<Item = T>>(self, a: A) -> V::Output {
        self.visitor.visit(Chain::new(a, self.b))
    }
    fn visit_indexed<A: DriveIndexed<Item = T>>(self, a: A) -> V::Output {
        self.b.accept(VisitB { visitor: self.visitor, a })
    }
}

/// Finds out whether the second one is.
struct VisitB<V, A> {
    visitor: V,
    a: A,
}

impl<T, V: Visitor<T>, A: DriveIndexed<Item = T>> Visitor<T> for VisitB<V, A> {
    type Output = V::Output;

    fn visit<B: Drive<Item = T>>(self, b: B) -> V::Output {
        self.visitor.visit(Chain::new(self.a, b))
    }
    fn visit_indexed<B: DriveIndexed<Item = T>>(self, b: B) -> V::Output {
        self.visitor.visit_indexed(Chain::new(self.a, b))
    }
}

impl<A, B> DriveIndexed for Chain<A, B>
where
    A: DriveIndexed,
    B: DriveIndexed<Item = A::Item>,
{
    type Producer<'a>
        = ChainProducer<A::Producer<'a>, B::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.a.len().checked_add(self.b.len()).expect("a chain has at most `usize::MAX` items")
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        _ = self.len();
        ChainProducer { a: self.a.producer(), b: self.b.producer() }
    }
}

/// A piece of a [`Chain`]. One of its parts may be empty.
pub struct ChainProducer<A, B> {
    a: A,
    b: B,
}

impl<A, B> Producer for ChainProducer<A, B>
where
    A: Producer<IntoIter: DoubleEndedIterator + ExactSizeIterator>,
    B: Producer<Item = A::Item, IntoIter: DoubleEndedIterator + ExactSizeIterator>,
{
    type Item = A::Item;
    type IntoIter = ChainIter<A::IntoIter, B::IntoIter>;

    #[inline]
    fn len(&self) -> usize {
        self.a.len() + self.b.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let a_mid = self.a.len().min(mid);
        let (a_left, a_right) = self.a.split_at(a_mid);
        let (b_left, b_right) = self.b.split_at(mid - a_mid);
        (Self { a: a_left, b: b_left }, Self { a: a_right, b: b_right })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        ChainIter(self.a.into_iter().chain(self.b.into_iter()))
    }
    fn min_len(&self) -> usize {
        self.a.min_len().max(self.b.min_len())
    }
    fn max_len(&self) -> usize {
        self.a.max_len().min(self.b.max_len())
    }
}

/// An [`iter::Chain`] whose length fits into a `usize`.
pub struct ChainIter<A, B>(iter::Chain<A, B>);

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for ChainIter<A, B> {
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        self.0.next()
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
    #[inline]
    fn nth(&mut self, n: usize) -> Option<A::Item> {
        self.0.nth(n)
    }
    #[inline]
    fn fold<R, F: FnMut(R, A::Item) -> R>(self, init: R, f: F) -> R {
        self.0.fold(init, f)
    }
}

impl<A, B> DoubleEndedIterator for ChainIter<A, B>
where
    A: DoubleEndedIterator,
    B: DoubleEndedIterator<Item = A::Item>,
{
    #[inline]
    fn next_back(&mut self) -> Option<A::Item> {
        self.0.next_back()
    }
    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<A::Item> {
        self.0.nth_back(n)
    }
    #[inline]
    fn rfold<R, F: FnMut(R, A::Item) -> R>(self, init: R, f: F) -> R {
        self.0.rfold(init, f)
    }
}

impl<A: ExactSizeIterator, B: ExactSizeIterator<Item = A::Item>> ExactSizeIterator for ChainIter<A, B> {}
