//! Overlapping windows of slices.

use crate::iter::{plumbing::Producer, sources::producer::drive_producer};
use std::{iter, slice};

/// Overlapping windows of a slice. [`par_windows`](super::ParallelSlice::par_windows) returns it.
#[derive(Debug)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Windows<'data, T> {
    slice: &'data [T],
    size: usize,
}

impl<'data, T> Windows<'data, T> {
    #[track_caller]
    pub(super) fn new(slice: &'data [T], size: usize) -> Self {
        assert!(size != 0, "the size of windows must not be zero");
        Self { slice, size }
    }
}

impl<T> Clone for Windows<'_, T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

/// Splits a slice so that the left part has the first `mid` windows of `size` elements, and the right one the others.
fn split_windows<T>(slice: &[T], size: usize, mid: usize) -> (&[T], &[T]) {
    let left = if mid == 0 { 0 } else { (mid + (size - 1)).min(slice.len()) };
    (&slice[..left], &slice[mid..])
}

impl<'data, T: Sync> Producer for Windows<'data, T> {
    type Item = &'data [T];
    type IntoIter = slice::Windows<'data, T>;

    #[inline]
    fn len(&self) -> usize {
        self.slice.len().saturating_sub(self.size - 1)
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = split_windows(self.slice, self.size, mid);
        (Self { slice: left, ..self }, Self { slice: right, ..self })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.slice.windows(self.size)
    }
}

drive_producer!(['data, T: Sync] Windows<'data, T>, &'data [T], |this| this.clone());

/// Overlapping windows of `N` elements. [`par_array_windows`](super::ParallelSlice::par_array_windows) returns it.
#[derive(Debug)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct ArrayWindows<'data, T, const N: usize>(&'data [T]);

impl<'data, T, const N: usize> ArrayWindows<'data, T, N> {
    pub(super) fn new(slice: &'data [T]) -> Self {
        const { assert!(N != 0, "the size of windows must not be zero") };
        Self(slice)
    }
}

impl<T, const N: usize> Clone for ArrayWindows<'_, T, N> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<'data, T: Sync, const N: usize> Producer for ArrayWindows<'data, T, N> {
    type Item = &'data [T; N];
    type IntoIter = iter::Map<slice::Windows<'data, T>, fn(&'data [T]) -> &'data [T; N]>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len().saturating_sub(N - 1)
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = split_windows(self.0, N, mid);
        (Self(left), Self(right))
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.windows(N).map(|window| window.try_into().expect("each window has N elements"))
    }
}

drive_producer!(['data, T: Sync, const N: usize] ArrayWindows<'data, T, N>, &'data [T; N], |this| this.clone());
