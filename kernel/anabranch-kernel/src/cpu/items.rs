//! The elements of a lazy vector as a parallel iterator.

use std::marker::PhantomData;
use std::ops::Range;

use anabranch::iter::plumbing::{Drive, DriveIndexed, Producer, drive_indexed};

use crate::Item;
use crate::source::View;

/// The elements of a range of a view.
pub(crate) struct Items<'a, T, V> {
    view: V,
    range: Range<usize>,
    item: PhantomData<fn(&'a ()) -> T>,
}

impl<'a, T: Item, V: View<'a, T>> Items<'a, T, V> {
    pub(crate) fn new(view: V, range: Range<usize>) -> Self {
        Self { view, range, item: PhantomData }
    }

    /// Returns all elements as a part.
    #[inline]
    pub(crate) fn into_part(self) -> Part<V> {
        Part { start: self.range.start, len: self.range.len(), view: self.view.part(self.range) }
    }
}

impl<'a, T: Item, V: View<'a, T>> Drive for Items<'a, T, V> {
    drive_indexed!(T);
}

impl<'a, T: Item, V: View<'a, T>> DriveIndexed for Items<'a, T, V> {
    type Producer<'p>
        = Self
    where
        Self: 'p;

    #[inline]
    fn len(&self) -> usize {
        self.range.len()
    }
    #[inline]
    fn producer(&mut self) -> Self {
        Self::new(self.view.clone(), self.range.clone())
    }
}

impl<'a, T: Item, V: View<'a, T>> Producer for Items<'a, T, V> {
    type Item = T;
    type IntoIter = PartIter<'a, T, V>;

    #[inline]
    fn len(&self) -> usize {
        self.range.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let mid = self.range.start + mid;
        (Self::new(self.view.clone(), self.range.start..mid), Self::new(self.view, mid..self.range.end))
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        PartIter { indices: 0..self.range.len(), part: self.view.part(self.range), item: PhantomData }
    }
}

/// The elements of a block.
pub(crate) struct Part<V> {
    pub(crate) view: V,
    /// The number of the first element.
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// An iterator over the elements of a part.
pub(crate) struct PartIter<'a, T, V> {
    part: V,
    indices: Range<usize>,
    item: PhantomData<fn(&'a ()) -> T>,
}

impl<'a, T: Item, V: View<'a, T>> Iterator for PartIter<'a, T, V> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.indices.next().map(|index| self.part.get(index))
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.indices.nth(n).map(|index| self.part.get(index))
    }
    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        let Self { part, indices, .. } = self;
        indices.fold(init, |state, index| f(state, part.get(index)))
    }
}

impl<'a, T: Item, V: View<'a, T>> DoubleEndedIterator for PartIter<'a, T, V> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.indices.next_back().map(|index| self.part.get(index))
    }
    #[inline]
    fn rfold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        let Self { part, indices, .. } = self;
        indices.rfold(init, |state, index| f(state, part.get(index)))
    }
}

impl<'a, T: Item, V: View<'a, T>> ExactSizeIterator for PartIter<'a, T, V> {}
