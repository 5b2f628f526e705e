//! Types that a parallel loop can iterate over.

use std::{fmt, ops::Range, slice};

/// A sequence of known length that can be cut in two and iterated from front to back.
///
/// It is implemented for ranges of integers, shared and mutable slices, [`chunks`], [`chunks_mut`], and pairs of these.
/// A pair iterates over both side by side, and is as long as the shorter one.
///
/// ```
/// use anabranch::Splittable;
///
/// let (left, right) = (10..20u32).split_at(4);
/// assert_eq!((left, right), (10..14, 14..20));
/// ```
#[allow(clippy::len_without_is_empty, reason = "only the driver of the loops calls this")]
#[diagnostic::on_unimplemented(
    message = "no parallel loop runs over `{Self}`",
    label = "not a slice, a range `a..b`, `chunks(..)`, or a pair of these",
    note = "for a vector or an array, write `&items[..]`, or `&mut items[..]` to change the items",
    note = "for `a..=b`, write `a..b + 1`",
    note = "for a map, a set or an iterator, collect it into a `Vec` first, then write `&items[..]`"
)]
pub trait Splittable: Send + Sized {
    /// The argument of the loop's body.
    type Item;
    /// The iterator over a piece on one thread.
    type IntoIter: Iterator<Item = Self::Item>;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Splits into the first `mid` items and the others.
    ///
    /// The loops compare the lengths of both parts with the requested ones, and panic when one differs.
    ///
    /// # Panics
    /// Panics when `mid` is greater than the length.
    fn split_at(self, mid: usize) -> (Self, Self);

    /// Returns an iterator over the items in order.
    fn into_seq(self) -> Self::IntoIter;
}

macro_rules! impl_ranges {
    ($($int:ty),*) => {$(
        impl Splittable for Range<$int> {
            type Item = $int;
            type IntoIter = Self;

            #[inline]
            fn len(&self) -> usize {
                if self.start >= self.end {
                    return 0;
                }
                // The difference of two signed numbers may not fit their type, but it fits the unsigned one.
                usize::try_from(self.end.abs_diff(self.start)).expect("a parallel loop has at most usize::MAX items")
            }

            #[inline]
            fn split_at(self, mid: usize) -> (Self, Self) {
                assert!(mid <= Splittable::len(&self), "split beyond the end of a range");
                // `mid` is at most the length, so the sum is at most `end`, even if `mid` wraps in a signed type.
                let middle = self.start.wrapping_add(mid as $int);
                (self.start..middle, middle..self.end.max(middle))
            }

            #[inline]
            fn into_seq(self) -> Self {
                self
            }
        }
    )*};
}

impl_ranges!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl<'a, T: Sync> Splittable for &'a [T] {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    #[inline]
    fn len(&self) -> usize {
        <[T]>::len(self)
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        <[T]>::split_at(self, mid)
    }
    #[inline]
    fn into_seq(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Send> Splittable for &'a mut [T] {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    #[inline]
    fn len(&self) -> usize {
        <[T]>::len(self)
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        self.split_at_mut(mid)
    }
    #[inline]
    fn into_seq(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<A: Splittable, B: Splittable> Splittable for (A, B) {
    type Item = (A::Item, B::Item);
    type IntoIter = std::iter::Zip<A::IntoIter, B::IntoIter>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len().min(self.1.len())
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (a, c) = self.0.split_at(mid);
        let (b, d) = self.1.split_at(mid);
        ((a, b), (c, d))
    }
    #[inline]
    fn into_seq(self) -> Self::IntoIter {
        self.0.into_seq().zip(self.1.into_seq())
    }
}

/// Chunks of a slice; see [`chunks`].
#[derive(Clone)]
pub struct Chunks<'a, T> {
    slice: &'a [T],
    size: usize,
}

/// Chunks of a mutable slice; see [`chunks_mut`].
pub struct ChunksMut<'a, T> {
    slice: &'a mut [T],
    size: usize,
}

/// Returns the chunks of `size` elements of a slice. The last one is shorter if `size` does not divide the length.
///
/// # Panics
/// Panics when `size` is zero.
///
/// ```
/// use anabranch::{chunks, par_map};
///
/// let sums = par_map(chunks(&[1, 2, 3, 4, 5], 2), |run| run.iter().sum::<i32>());
/// assert_eq!(sums, [3, 7, 5]);
/// ```
pub fn chunks<T: Sync>(slice: &[T], size: usize) -> Chunks<'_, T> {
    assert!(size > 0, "chunks of no elements");
    Chunks { slice, size }
}

/// Returns the chunks of `size` elements of a mutable slice. The last one is shorter if `size` does not divide the
/// length.
///
/// # Panics
/// Panics when `size` is zero.
///
/// ```
/// use anabranch::{chunks_mut, par_for_each};
///
/// let mut rows = [3, 1, 2, 9, 8, 7];
/// par_for_each(chunks_mut(&mut rows, 3), |row| row.sort());
/// assert_eq!(rows, [1, 2, 3, 7, 8, 9]);
/// ```
pub fn chunks_mut<T: Send>(slice: &mut [T], size: usize) -> ChunksMut<'_, T> {
    assert!(size > 0, "chunks of no elements");
    ChunksMut { slice, size }
}

impl<'a, T: Sync> Splittable for Chunks<'a, T> {
    type Item = &'a [T];
    type IntoIter = slice::Chunks<'a, T>;

    #[inline]
    fn len(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.slice.split_at(boundary(self.slice.len(), mid, self.size));
        (Self { slice: left, ..self }, Self { slice: right, ..self })
    }
    #[inline]
    fn into_seq(self) -> Self::IntoIter {
        self.slice.chunks(self.size)
    }
}

impl<'a, T: Send> Splittable for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    type IntoIter = slice::ChunksMut<'a, T>;

    #[inline]
    fn len(&self) -> usize {
        self.slice.len().div_ceil(self.size)
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        let boundary = boundary(self.slice.len(), mid, self.size);
        let (left, right) = self.slice.split_at_mut(boundary);
        (Self { slice: left, size: self.size }, Self { slice: right, size: self.size })
    }
    #[inline]
    fn into_seq(self) -> Self::IntoIter {
        self.slice.chunks_mut(self.size)
    }
}

/// Returns the index of the element at which chunk `mid` begins.
fn boundary(len: usize, mid: usize, size: usize) -> usize {
    assert!(mid <= len.div_ceil(size), "split beyond the last run");
    mid.saturating_mul(size).min(len)
}

impl<T> fmt::Debug for Chunks<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("elements", &self.slice.len()).field("size", &self.size).finish()
    }
}

impl<T> fmt::Debug for ChunksMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunksMut").field("elements", &self.slice.len()).field("size", &self.size).finish()
    }
}
