//! Slices.

mod chunks;
mod parallel_slice;
mod parallel_slice_mut;
mod split;
mod windows;

pub use self::{
    chunks::{Chunks, ChunksExact, ChunksExactMut, ChunksMut, RChunks, RChunksExact, RChunksExactMut, RChunksMut},
    parallel_slice::ParallelSlice,
    parallel_slice_mut::ParallelSliceMut,
    split::{ChunkBy, ChunkByMut, Split, SplitInclusive, SplitInclusiveMut, SplitMut},
    windows::{ArrayWindows, Windows},
};

use crate::iter::{convert::IntoParallelIterator, plumbing::Producer, sources::producer::drive_producer};
use std::{mem, slice};

/// A parallel iterator over shared references to the items of a slice.
#[derive(Debug)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Iter<'data, T>(&'data [T]);

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data [T] {
    type Iter = Iter<'data, T>;
    type Item = &'data T;

    #[inline]
    fn into_par_iter(self) -> Iter<'data, T> {
        Iter(self)
    }
}

drive_producer!(['data, T: Sync] Iter<'data, T>, &'data T, |this| this.clone());

impl<'data, T: Sync> Producer for Iter<'data, T> {
    type Item = &'data T;
    type IntoIter = slice::Iter<'data, T>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(mid);
        (Self(left), Self(right))
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A parallel iterator over mutable references to the items of a slice.
#[derive(Debug)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct IterMut<'data, T>(&'data mut [T]);

impl<'data, T: Send> IntoParallelIterator for &'data mut [T] {
    type Iter = IterMut<'data, T>;
    type Item = &'data mut T;

    #[inline]
    fn into_par_iter(self) -> IterMut<'data, T> {
        IterMut(self)
    }
}

drive_producer!(['data, T: Send] IterMut<'data, T>, &'data mut T, |this| Self(mem::take(&mut this.0)));

impl<'data, T: Send> Producer for IterMut<'data, T> {
    type Item = &'data mut T;
    type IntoIter = slice::IterMut<'data, T>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at_mut(mid);
        (Self(left), Self(right))
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

/// Implements [`IntoParallelIterator`] for references to collections that are slices.
macro_rules! references {
    ($([$($generics:tt)*] $collection:ty;)*) => {$(
        impl<'data, T: Sync, $($generics)*> IntoParallelIterator for &'data $collection {
            type Iter = Iter<'data, T>;
            type Item = &'data T;

            #[inline]
            fn into_par_iter(self) -> Iter<'data, T> {
                Iter(self)
            }
        }

        impl<'data, T: Send, $($generics)*> IntoParallelIterator for &'data mut $collection {
            type Iter = IterMut<'data, T>;
            type Item = &'data mut T;

            #[inline]
            fn into_par_iter(self) -> IterMut<'data, T> {
                IterMut(self)
            }
        }
    )*};
}

references! {
    [] Vec<T>;
    [] Box<[T]>;
    [const N: usize] [T; N];
}
