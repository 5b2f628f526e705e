//! Chunks of slices.

use crate::iter::{plumbing::Producer, sources::producer::drive_producer};
use std::{mem, slice};

/// Returns how many of `len` elements the first `count` chunks of `size` elements contain.
#[inline]
fn elements(count: usize, size: usize, len: usize) -> usize {
    count.saturating_mul(size).min(len)
}

/// Defines the chunks of a slice: the name, the type of the slice, the method of the slice that cuts it, the std
/// iterator and the method that makes it, whether the first chunk is at the front or at the back of the slice, and the
/// name of the field for the elements that fill no chunk, if there is one.
macro_rules! chunks {
    (
        $doc:literal $name:ident $slice:ty, $bound:ident, $cut:ident, $std:ident, $method:ident, $side:ident
        $(, $rest:ident)?
    ) => {
        #[doc = $doc]
        #[derive(Debug)]
        #[must_use = "parallel iterators are lazy and do nothing unless consumed"]
        pub struct $name<'data, T> {
            slice: $slice,
            size: usize,
            $($rest: $slice,)?
        }

        impl<'data, T: $bound> Producer for $name<'data, T> {
            type Item = $slice;
            type IntoIter = slice::$std<'data, T>;

            #[inline]
            fn len(&self) -> usize {
                self.slice.len().div_ceil(self.size)
            }
            #[inline]
            fn split_at(self, mid: usize) -> (Self, Self) {
                let (size, mid) = (self.size, elements(mid, self.size, self.slice.len()));
                let (left, right) = chunks!(@cut $side, self.slice, $cut, mid);
                (Self { slice: left, size $(, $rest: Default::default())? },
                 Self { slice: right, size $(, $rest: Default::default())? })
            }
            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.slice.$method(self.size)
            }
        }

        drive_producer!(['data, T: $bound] $name<'data, T>, $slice, |this| Self {
            slice: mem::take(&mut this.slice),
            size: this.size,
            $($rest: mem::take(&mut this.$rest),)?
        });
    };
    (@cut front, $slice:expr, $cut:ident, $mid:ident) => {
        $slice.$cut($mid)
    };
    (@cut back, $slice:expr, $cut:ident, $mid:ident) => {{
        let slice = $slice;
        let boundary = slice.len() - $mid;
        let (right, left) = slice.$cut(boundary);
        (left, right)
    }};
}

/// Implements `Clone` and the constructor of chunks of a shared slice.
macro_rules! shared {
    ($($name:ident)*) => {$(
        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                Self { ..*self }
            }
        }
    )*};
}

/// Implements the constructor of chunks that may be shorter at the end.
macro_rules! new {
    ($($name:ident: $slice:ty),*) => {$(
        impl<'data, T> $name<'data, T> {
            #[track_caller]
            pub(super) fn new(slice: $slice, size: usize) -> Self {
                assert!(size != 0, "the size of chunks must not be zero");
                Self { slice, size }
            }
        }
    )*};
}

chunks!("Chunks of a slice. [`par_chunks`](super::ParallelSlice::par_chunks) returns it."
    Chunks &'data [T], Sync, split_at, Chunks, chunks, front);
chunks!("Chunks of a mutable slice. [`par_chunks_mut`](super::ParallelSliceMut::par_chunks_mut) returns it."
    ChunksMut &'data mut [T], Send, split_at_mut, ChunksMut, chunks_mut, front);
chunks!("Chunks of a slice, from its end. [`par_rchunks`](super::ParallelSlice::par_rchunks) returns it."
    RChunks &'data [T], Sync, split_at, RChunks, rchunks, back);
chunks!("Chunks of a mutable slice, from its end. \
    [`par_rchunks_mut`](super::ParallelSliceMut::par_rchunks_mut) returns it."
    RChunksMut &'data mut [T], Send, split_at_mut, RChunksMut, rchunks_mut, back);
chunks!("Chunks of a slice that all have the same length. [`par_chunks_exact`](super::ParallelSlice::par_chunks_exact) \
    returns it." ChunksExact &'data [T], Sync, split_at, ChunksExact, chunks_exact, front, rest);
chunks!("Chunks of a mutable slice that all have the same length. \
    [`par_chunks_exact_mut`](super::ParallelSliceMut::par_chunks_exact_mut) returns it."
    ChunksExactMut &'data mut [T], Send, split_at_mut, ChunksExactMut, chunks_exact_mut, front, rest);
chunks!("Chunks of a slice that all have the same length, from its end. \
    [`par_rchunks_exact`](super::ParallelSlice::par_rchunks_exact) returns it."
    RChunksExact &'data [T], Sync, split_at, RChunksExact, rchunks_exact, back, rest);
chunks!("Chunks of a mutable slice that all have the same length, from its end. \
    [`par_rchunks_exact_mut`](super::ParallelSliceMut::par_rchunks_exact_mut) returns it."
    RChunksExactMut &'data mut [T], Send, split_at_mut, RChunksExactMut, rchunks_exact_mut, back, rest);

shared!(Chunks RChunks ChunksExact RChunksExact);
new!(Chunks: &'data [T], ChunksMut: &'data mut [T], RChunks: &'data [T], RChunksMut: &'data mut [T]);

/// Implements the constructor of chunks of the same length, from the front or from the back.
macro_rules! new_exact {
    ($name:ident, $slice:ty, $cut:ident, $side:ident) => {
        impl<'data, T> $name<'data, T> {
            #[track_caller]
            pub(super) fn new(slice: $slice, size: usize) -> Self {
                assert!(size != 0, "the size of chunks must not be zero");
                let full = slice.len() - slice.len() % size;
                let (slice, rest) = chunks!(@cut $side, slice, $cut, full);
                Self { slice, size, rest }
            }
        }
    };
}

new_exact!(ChunksExact, &'data [T], split_at, front);
new_exact!(ChunksExactMut, &'data mut [T], split_at_mut, front);
new_exact!(RChunksExact, &'data [T], split_at, back);
new_exact!(RChunksExactMut, &'data mut [T], split_at_mut, back);

/// Implements the methods for the elements that fill no chunk.
macro_rules! remainder {
    ($($name:ident)*) => {$(
        impl<'data, T> $name<'data, T> {
            /// Returns the elements that fill no chunk.
            pub fn remainder(&self) -> &'data [T] {
                self.rest
            }
        }
    )*};
}

/// Implements the methods for the elements of a mutable slice that fill no chunk.
macro_rules! remainder_mut {
    ($($name:ident)*) => {$(
        impl<'data, T> $name<'data, T> {
            /// Returns the elements that fill no chunk.
            pub fn into_remainder(self) -> &'data mut [T] {
                self.rest
            }

            /// Returns the elements that fill no chunk, for as long as the iterator is borrowed.
            pub fn remainder(&mut self) -> &mut [T] {
                self.rest
            }

            /// Returns the elements that fill no chunk. Later calls return an empty slice.
            pub fn take_remainder(&mut self) -> &'data mut [T] {
                mem::take(&mut self.rest)
            }
        }
    )*};
}

remainder!(ChunksExact RChunksExact);
remainder_mut!(ChunksExactMut RChunksExactMut);
