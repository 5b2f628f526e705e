//! The methods of mutable slices.

use crate::iter::sort::{cached_key::by_cached_key, stable::stable, unstable::unstable};
use std::cmp::Ordering;

use super::{ChunkByMut, ChunksExactMut, ChunksMut, RChunksExactMut, RChunksMut, SplitInclusiveMut, SplitMut};

/// Parallel iterators over mutable parts of a slice, and parallel sorting.
pub trait ParallelSliceMut<T: Send> {
    /// Returns the slice.
    fn as_parallel_slice_mut(&mut self) -> &mut [T];

    /// Returns the parts between elements for which `separator` returns `true`, without these elements. See
    /// [`slice::split_mut`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut items = [3, 1, 0, 5, 4];
    /// items.par_split_mut(|i| *i == 0).for_each(|part| part.sort());
    /// assert_eq!(items, [1, 3, 0, 4, 5]);
    /// ```
    fn par_split_mut<P>(&mut self, separator: P) -> SplitMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitMut::new(self.as_parallel_slice_mut(), separator)
    }

    /// Returns the parts that end with an element for which `separator` returns `true`, or with the slice. See
    /// [`slice::split_inclusive_mut`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut items = [3, 1, 0, 5, 4];
    /// items.par_split_inclusive_mut(|i| *i == 0).for_each(|part| part.reverse());
    /// assert_eq!(items, [0, 1, 3, 4, 5]);
    /// ```
    fn par_split_inclusive_mut<P>(&mut self, separator: P) -> SplitInclusiveMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusiveMut::new(self.as_parallel_slice_mut(), separator)
    }

    /// Returns chunks of `chunk_size` elements. The last chunk is shorter if `chunk_size` does not divide the length.
    ///
    /// # Panics
    /// Panics when `chunk_size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut rows = [3, 1, 2, 9, 8, 7];
    /// rows.par_chunks_mut(3).for_each(|row| row.sort());
    /// assert_eq!(rows, [1, 2, 3, 7, 8, 9]);
    /// ```
    #[track_caller]
    fn par_chunks_mut(&mut self, chunk_size: usize) -> ChunksMut<'_, T> {
        ChunksMut::new(self.as_parallel_slice_mut(), chunk_size)
    }

    /// Returns chunks of exactly `chunk_size` elements. [`ChunksExactMut::into_remainder`] returns the elements left
    /// over.
    ///
    /// # Panics
    /// Panics when `chunk_size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut items = [1, 2, 3, 4, 5];
    /// items.par_chunks_exact_mut(2).for_each(|chunk| chunk.reverse());
    /// assert_eq!(items, [2, 1, 4, 3, 5]);
    /// ```
    #[track_caller]
    fn par_chunks_exact_mut(&mut self, chunk_size: usize) -> ChunksExactMut<'_, T> {
        ChunksExactMut::new(self.as_parallel_slice_mut(), chunk_size)
    }

    /// Returns chunks of `chunk_size` elements, starting at the end of the slice. The last chunk is shorter if
    /// `chunk_size` does not divide the length.
    ///
    /// # Panics
    /// Panics when `chunk_size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut items = [1, 2, 3, 4, 5];
    /// items.par_rchunks_mut(2).for_each(|chunk| chunk.reverse());
    /// assert_eq!(items, [1, 3, 2, 5, 4]);
    /// ```
    #[track_caller]
    fn par_rchunks_mut(&mut self, chunk_size: usize) -> RChunksMut<'_, T> {
        RChunksMut::new(self.as_parallel_slice_mut(), chunk_size)
    }

    /// Returns chunks of exactly `chunk_size` elements, starting at the end of the slice.
    /// [`RChunksExactMut::into_remainder`] returns the elements left over.
    ///
    /// # Panics
    /// Panics when `chunk_size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut items = [1, 2, 3, 4, 5];
    /// items.par_rchunks_exact_mut(2).for_each(|chunk| chunk.fill(0));
    /// assert_eq!(items, [1, 0, 0, 0, 0]);
    /// ```
    #[track_caller]
    fn par_rchunks_exact_mut(&mut self, chunk_size: usize) -> RChunksExactMut<'_, T> {
        RChunksExactMut::new(self.as_parallel_slice_mut(), chunk_size)
    }

    /// Returns runs of elements: a run ends between two neighbours for which `pred` returns `false`. See
    /// [`slice::chunk_by_mut`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut items = [1, 2, 9, 3, 4];
    /// items.par_chunk_by_mut(|a, b| a <= b).for_each(|run| run.reverse());
    /// assert_eq!(items, [9, 2, 1, 4, 3]);
    /// ```
    fn par_chunk_by_mut<F>(&mut self, pred: F) -> ChunkByMut<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkByMut::new(self.as_parallel_slice_mut(), pred)
    }

    // ---- sort ----

    /// Sorts the slice in parallel, and keeps the order of equal items.
    ///
    /// The threads sort pieces with [`slice::sort`] and merge them, with a buffer as long as the slice. This takes
    /// *O*(*n* log *n*) comparisons. A slice that is already sorted, or strictly descending, takes *O*(*n*).
    /// [`par_sort_unstable`](Self::par_sort_unstable) is usually faster, and needs no buffer.
    ///
    /// # Panics
    /// Panics when a comparison panics, and may panic when [`Ord`] is not a total order. The slice then contains the
    /// same items in an unspecified order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut words = ["pear", "fig", "apple"];
    /// words.par_sort();
    /// assert_eq!(words, ["apple", "fig", "pear"]);
    /// ```
    #[track_caller]
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        stable(self.as_parallel_slice_mut(), T::cmp);
    }

    /// Sorts the slice in parallel with the comparison function `compare`, and keeps the order of equal items.
    ///
    /// See [`par_sort`](Self::par_sort).
    ///
    /// # Panics
    /// Panics when `compare` panics, and may panic when it is not a total order. The slice then contains the same items
    /// in an unspecified order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut numbers = [2.5, -1.0, 0.5];
    /// numbers.par_sort_by(|a: &f64, b| b.total_cmp(a));
    /// assert_eq!(numbers, [2.5, 0.5, -1.0]);
    /// ```
    #[track_caller]
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        stable(self.as_parallel_slice_mut(), compare);
    }

    /// Sorts the slice in parallel by a key, and keeps the order of items with equal keys.
    ///
    /// `key` is called for both items of each comparison. See [`par_sort`](Self::par_sort).
    ///
    /// # Panics
    /// Panics when `key` or the comparison panics, and may panic when [`Ord`] of the keys is not a total order. The
    /// slice then contains the same items in an unspecified order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut words = ["fig", "apple", "fir"];
    /// words.par_sort_by_key(|word| word.len());
    /// assert_eq!(words, ["fig", "fir", "apple"]);
    /// ```
    #[track_caller]
    fn par_sort_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        stable(self.as_parallel_slice_mut(), |a, b| key(a).cmp(&key(b)));
    }

    /// Sorts the slice in parallel by a key that is computed once for each item, and keeps the order of items with
    /// equal keys.
    ///
    /// For keys that are expensive to compute. The keys are computed and sorted in parallel, with memory for a key and
    /// an index per item. One thread then moves the items to their places.
    ///
    /// # Panics
    /// Panics when `key` or the comparison panics, and may panic when [`Ord`] of the keys is not a total order. Then
    /// the slice is as before.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut numbers = [10, 9, -5];
    /// numbers.par_sort_by_cached_key(|number| number.to_string());
    /// assert_eq!(numbers, [-5, 10, 9]);
    /// ```
    #[track_caller]
    fn par_sort_by_cached_key<K, F>(&mut self, key: F)
    where
        K: Ord + Send,
        F: Fn(&T) -> K + Sync,
    {
        by_cached_key(self.as_parallel_slice_mut(), key);
    }

    /// Sorts the slice in parallel, and does not keep the order of equal items.
    ///
    /// A quicksort that sorts short pieces with [`slice::sort_unstable`]. It takes *O*(*n* log *n*) comparisons, and
    /// *O*(*n*) if the slice is already sorted or strictly descending, or *O*(*n* log *k*) if it has *k* different
    /// items. It allocates nothing.
    ///
    /// # Panics
    /// Panics when a comparison panics, and may panic when [`Ord`] is not a total order. The slice then contains the
    /// same items in an unspecified order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut numbers = [4, -1, 3];
    /// numbers.par_sort_unstable();
    /// assert_eq!(numbers, [-1, 3, 4]);
    /// ```
    #[track_caller]
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        unstable(self.as_parallel_slice_mut(), T::cmp);
    }

    /// Sorts the slice in parallel with the comparison function `compare`, and does not keep the order of equal items.
    ///
    /// See [`par_sort_unstable`](Self::par_sort_unstable).
    ///
    /// # Panics
    /// Panics when `compare` panics, and may panic when it is not a total order. The slice then contains the same items
    /// in an unspecified order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut numbers = [4, -1, 3];
    /// numbers.par_sort_unstable_by(|a, b| b.cmp(a));
    /// assert_eq!(numbers, [4, 3, -1]);
    /// ```
    #[track_caller]
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        unstable(self.as_parallel_slice_mut(), compare);
    }

    /// Sorts the slice in parallel by a key, and does not keep the order of items with equal keys.
    ///
    /// `key` is called for both items of each comparison. See [`par_sort_unstable`](Self::par_sort_unstable).
    ///
    /// # Panics
    /// Panics when `key` or the comparison panics, and may panic when [`Ord`] of the keys is not a total order. The
    /// slice then contains the same items in an unspecified order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut numbers = [4i32, -1, 3];
    /// numbers.par_sort_unstable_by_key(|number| number.abs());
    /// assert_eq!(numbers, [-1, 3, 4]);
    /// ```
    #[track_caller]
    fn par_sort_unstable_by_key<K, F>(&mut self, key: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        unstable(self.as_parallel_slice_mut(), |a, b| key(a).cmp(&key(b)));
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    #[inline]
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
