//! A lazy vector as parts, one for each block of a parallel loop.

use std::marker::PhantomData;
use std::ops::Range;

use anabranch::iter::plumbing::{Consumer, Drive, Producer, Progress, bridge};

use crate::Item;
use crate::source::View;

/// The parts of a range of a view. Its length is the number of elements, and each block of the loop is one item.
pub(crate) struct Parts<'a, T, V> {
    view: V,
    range: Range<usize>,
    item: PhantomData<fn(&'a ()) -> T>,
}

/// A part of a view, and the number of its elements.
pub(crate) struct Part<V> {
    pub(crate) view: V,
    pub(crate) len: usize,
}

impl<'a, T: Item, V: View<'a, T>> Parts<'a, T, V> {
    pub(crate) fn new(view: V, range: Range<usize>) -> Self {
        Self { view, range, item: PhantomData }
    }
}

impl<'a, T: Item, V: View<'a, T>> Drive for Parts<'a, T, V> {
    type Item = Part<V>;

    #[inline]
    fn drive<C: Consumer<Part<V>>>(
        self,
        consumer: &C,
        folder: C::Folder,
        at: C::Position,
    ) -> Progress<C::Folder, C::Result> {
        bridge(self, consumer, folder, at)
    }
}

impl<'a, T: Item, V: View<'a, T>> Producer for Parts<'a, T, V> {
    type Item = Part<V>;
    type IntoIter = std::iter::Once<Part<V>>;
    const IS_EXACT: bool = false;

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
        std::iter::once(Part { len: self.range.len(), view: self.view.part(self.range) })
    }
}
