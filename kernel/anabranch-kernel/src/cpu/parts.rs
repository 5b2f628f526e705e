//! A lazy vector as parts, one for each block of a parallel loop.

use std::iter;

use anabranch::iter::plumbing::{Consumer, Drive, Producer, Progress, bridge};

use super::items::{Items, Part};
use crate::Item;
use crate::source::View;

/// The parts of a range of a view. Its length is the number of elements, and each block of the loop is one item.
pub(crate) struct Parts<'a, T, V>(pub(crate) Items<'a, T, V>);

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
    type IntoIter = iter::Once<Part<V>>;
    const IS_EXACT: bool = false;

    #[inline]
    fn len(&self) -> usize {
        Producer::len(&self.0)
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(mid);
        (Self(left), Self(right))
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        iter::once(self.0.into_part())
    }
}
