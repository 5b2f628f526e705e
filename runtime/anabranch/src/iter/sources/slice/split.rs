//! Parts of slices whose lengths depend on the elements: they are found when a piece is cut.
//!
//! A piece of a slice ends after a separator, or else it is the last piece. The length of a piece is the number of its
//! elements, and one more for the last piece, so that a last piece without elements is not mistaken for a piece without
//! items.

use crate::iter::plumbing::{Consumer, Drive, Driven, Producer, bridge};
use std::{fmt, slice};

/// Defines parts of a slice. `$boundary` returns the index at which a piece may begin, at or after a given index, and
/// `$items` makes the std iterator over the parts of a piece; its last argument says whether the piece is the last
/// piece.
macro_rules! parts {
    (
        $doc:literal $name:ident, $producer:ident [$($mut:tt)?] $bound:ident, $cut:ident, $std:ident,
        [$($argument:ty),*], $boundary:expr, $items:expr
    ) => {
        #[doc = $doc]
        #[must_use = "parallel iterators are lazy and do nothing unless consumed"]
        pub struct $name<'data, T, P> {
            slice: &'data $($mut)? [T],
            predicate: P,
        }

        impl<'data, T, P> $name<'data, T, P> {
            pub(super) fn new(slice: &'data $($mut)? [T], predicate: P) -> Self {
                Self { slice, predicate }
            }
        }

        impl<T: fmt::Debug, P> fmt::Debug for $name<'_, T, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("slice", &self.slice).finish_non_exhaustive()
            }
        }

        impl<'data, T, P> Drive for $name<'data, T, P>
        where
            T: $bound,
            P: Fn($($argument),*) -> bool + Sync + Send,
        {
            type Item = &'data $($mut)? [T];

            fn drive<C: Consumer<Self::Item>>(
                self,
                consumer: &C,
                folder: C::Folder,
                at: C::Position,
            ) -> Driven<C, Self::Item> {
                bridge($producer::new(self.slice, &self.predicate), consumer, folder, at)
            }
        }

        struct $producer<'data, 'a, T, P> {
            slice: &'data $($mut)? [T],
            is_last: bool,
            predicate: &'a P,
        }

        impl<'data, 'a, T, P> $producer<'data, 'a, T, P> {
            fn new(slice: &'data $($mut)? [T], predicate: &'a P) -> Self {
                Self { slice, is_last: true, predicate }
            }
        }

        impl<'data, 'a, T, P> Producer for $producer<'data, 'a, T, P>
        where
            T: $bound,
            P: Fn($($argument),*) -> bool + Sync,
        {
            type Item = &'data $($mut)? [T];
            type IntoIter = slice::$std<'data, T, &'a P>;

            const IS_EXACT: bool = false;

            fn len(&self) -> usize {
                self.slice.len() + usize::from(self.is_last)
            }
            fn split_at(self, mid: usize) -> (Self, Self) {
                let Self { slice, is_last, predicate } = self;
                let boundary: Option<usize> = if mid > slice.len() { None } else { $boundary(&*slice, mid, predicate) };
                let (boundary, is_right_last) = boundary.map_or((slice.len(), false), |boundary| (boundary, is_last));
                let (left, right) = slice.$cut(boundary);
                (
                    Self { slice: left, is_last: is_last && !is_right_last, predicate },
                    Self { slice: right, is_last: is_right_last, predicate },
                )
            }
            fn into_iter(self) -> Self::IntoIter {
                $items(self.slice, self.is_last, self.predicate)
            }
        }
    };
}

/// Implements `Clone` for parts of a shared slice.
macro_rules! shared {
    ($($name:ident)*) => {$(
        impl<T, P: Clone> Clone for $name<'_, T, P> {
            fn clone(&self) -> Self {
                Self { slice: self.slice, predicate: self.predicate.clone() }
            }
        }
    )*};
}

/// Returns the index after the first separator at or after `from`.
fn after_separator<T>(slice: &[T], from: usize, is_separator: &impl Fn(&T) -> bool) -> Option<usize> {
    Some(from + slice[from..].iter().position(is_separator)? + 1)
}

/// Returns the index of the first element, at or after `from`, that begins a run.
fn run_start<T>(slice: &[T], from: usize, is_same: &impl Fn(&T, &T) -> bool) -> Option<usize> {
    let from = from.max(1);
    let pairs = slice.get(from - 1..)?.windows(2);
    Some(from + { pairs }.position(|pair| !is_same(&pair[0], &pair[1]))?)
}

/// Returns the parts of a piece between separators. A piece that is not the last piece ends with a separator, after
/// which it has no part.
macro_rules! between {
    ($split:ident) => {
        |slice, is_last: bool, predicate| {
            let mut parts = <[_]>::$split(slice, predicate);
            if !is_last {
                parts.next_back();
            }
            parts
        }
    };
}

parts!("Parts of a slice between separators. [`par_split`](super::ParallelSlice::par_split) returns it."
    Split, SplitProducer [] Sync, split_at, Split, [&T], after_separator,
    between!(split));
parts!("Parts of a mutable slice between separators. \
    [`par_split_mut`](super::ParallelSliceMut::par_split_mut) returns it."
    SplitMut, SplitMutProducer [mut] Send, split_at_mut, SplitMut, [&T], after_separator,
    between!(split_mut));
parts!("Parts of a slice that end with separators. \
    [`par_split_inclusive`](super::ParallelSlice::par_split_inclusive) returns it."
    SplitInclusive, SplitInclusiveProducer [] Sync, split_at, SplitInclusive, [&T], after_separator,
    |slice, _, predicate| <[_]>::split_inclusive(slice, predicate));
parts!("Parts of a mutable slice that end with separators. \
    [`par_split_inclusive_mut`](super::ParallelSliceMut::par_split_inclusive_mut) returns it."
    SplitInclusiveMut, SplitInclusiveMutProducer [mut] Send, split_at_mut, SplitInclusiveMut, [&T], after_separator,
    |slice, _, predicate| <[_]>::split_inclusive_mut(slice, predicate));
parts!("Runs of a slice. [`par_chunk_by`](super::ParallelSlice::par_chunk_by) returns it."
    ChunkBy, ChunkByProducer [] Sync, split_at, ChunkBy, [&T, &T], run_start,
    |slice, _, predicate| <[_]>::chunk_by(slice, predicate));
parts!("Runs of a mutable slice. [`par_chunk_by_mut`](super::ParallelSliceMut::par_chunk_by_mut) returns it."
    ChunkByMut, ChunkByMutProducer [mut] Send, split_at_mut, ChunkByMut, [&T, &T], run_start,
    |slice, _, predicate| <[_]>::chunk_by_mut(slice, predicate));

shared!(Split SplitInclusive ChunkBy);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iter::sources::random_cuts::{Random, cut};

    #[test]
    fn parts_of_slices_are_found_at_cuts() {
        for seed in 0..2000 {
            let mut random = Random(seed);
            let (len, below) = (random.below(20), 1 + random.below(4));
            let mut items: Vec<usize> = (0..len).map(|_| random.below(below)).collect();
            let is_zero = |item: &usize| *item == 0;
            let is_same = |a: &usize, b: &usize| a == b;
            let same = |cut: Vec<&[usize]>, plain: Vec<&[usize]>| assert_eq!(cut, plain, "with the seed {seed}");
            same(cut(SplitProducer::new(&items, &is_zero), &mut random), items.split(is_zero).collect());
            same(
                cut(SplitInclusiveProducer::new(&items, &is_zero), &mut random),
                items.split_inclusive(is_zero).collect(),
            );
            same(cut(ChunkByProducer::new(&items, &is_same), &mut random), items.chunk_by(is_same).collect());
            let mut plain = items.clone();
            assert_eq!(
                cut(SplitMutProducer::new(&mut items, &is_zero), &mut random),
                plain.split_mut(is_zero).collect::<Vec<_>>()
            );
            assert_eq!(
                cut(SplitInclusiveMutProducer::new(&mut items, &is_zero), &mut random),
                plain.split_inclusive_mut(is_zero).collect::<Vec<_>>()
            );
            assert_eq!(
                cut(ChunkByMutProducer::new(&mut items, &is_same), &mut random),
                plain.chunk_by_mut(is_same).collect::<Vec<_>>()
            );
        }
    }
}
