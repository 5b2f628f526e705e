//! The methods of slices.

use super::{ArrayWindows, ChunkBy, Chunks, ChunksExact, RChunks, RChunksExact, Split, SplitInclusive, Windows};

/// Parallel iterators over parts of a slice.
pub trait ParallelSlice<T: Sync> {
    /// Returns the slice.
    fn as_parallel_slice(&self) -> &[T];

    /// Returns the parts between elements for which `separator` returns `true`, without these elements. See
    /// [`slice::split`].
    ///
    /// The parts are found in parallel: `separator` is called about twice for an element, in no particular order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 0, 3, 0].par_split(|i| *i == 0).map(|part| part.iter().sum()).collect();
    /// assert_eq!(sums, [3, 3, 0]);
    /// ```
    fn par_split<P>(&self, separator: P) -> Split<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        Split::new(self.as_parallel_slice(), separator)
    }

    /// Returns the parts that end with an element for which `separator` returns `true`, or with the slice. See
    /// [`slice::split_inclusive`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let lengths: Vec<usize> = [1, 2, 0, 3, 0].par_split_inclusive(|i| *i == 0).map(|part| part.len()).collect();
    /// assert_eq!(lengths, [3, 2]);
    /// ```
    fn par_split_inclusive<P>(&self, separator: P) -> SplitInclusive<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusive::new(self.as_parallel_slice(), separator)
    }

    /// Returns all runs of `window_size` adjacent elements. They overlap.
    ///
    /// # Panics
    /// Panics when `window_size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let is_sorted = [1, 2, 3].par_windows(2).map(|pair| u32::from(pair[0] > pair[1])).sum::<u32>() == 0;
    /// assert!(is_sorted);
    /// ```
    #[track_caller]
    fn par_windows(&self, window_size: usize) -> Windows<'_, T> {
        Windows::new(self.as_parallel_slice(), window_size)
    }

    /// Returns all runs of `N` adjacent elements. They overlap. An `N` of zero does not compile.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let products: Vec<i32> = [1, 2, 3].par_array_windows().map(|[a, b]| a * b).collect();
    /// assert_eq!(products, [2, 6]);
    /// ```
    fn par_array_windows<const N: usize>(&self) -> ArrayWindows<'_, T, N> {
        ArrayWindows::new(self.as_parallel_slice())
    }

    /// Returns chunks of `chunk_size` elements. The last chunk is shorter if `chunk_size` does not divide the length.
    ///
    /// # Panics
    /// Panics when `chunk_size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_chunks(2).map(|chunk| chunk.iter().sum()).collect();
    /// assert_eq!(sums, [3, 7, 5]);
    /// ```
    #[track_caller]
    fn par_chunks(&self, chunk_size: usize) -> Chunks<'_, T> {
        Chunks::new(self.as_parallel_slice(), chunk_size)
    }

    /// Returns chunks of exactly `chunk_size` elements. [`ChunksExact::remainder`] returns the elements left over.
    ///
    /// # Panics
    /// Panics when `chunk_size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let chunks = [1, 2, 3, 4, 5].par_chunks_exact(2);
    /// assert_eq!(chunks.remainder(), [5]);
    /// assert_eq!(chunks.map(|chunk| chunk[0] * chunk[1]).sum::<i32>(), 14);
    /// ```
    #[track_caller]
    fn par_chunks_exact(&self, chunk_size: usize) -> ChunksExact<'_, T> {
        ChunksExact::new(self.as_parallel_slice(), chunk_size)
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
    /// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_rchunks(2).map(|chunk| chunk.iter().sum()).collect();
    /// assert_eq!(sums, [9, 5, 1]);
    /// ```
    #[track_caller]
    fn par_rchunks(&self, chunk_size: usize) -> RChunks<'_, T> {
        RChunks::new(self.as_parallel_slice(), chunk_size)
    }

    /// Returns chunks of exactly `chunk_size` elements, starting at the end of the slice. [`RChunksExact::remainder`]
    /// returns the elements left over.
    ///
    /// # Panics
    /// Panics when `chunk_size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let chunks = [1, 2, 3, 4, 5].par_rchunks_exact(2);
    /// assert_eq!(chunks.remainder(), [1]);
    /// assert_eq!(chunks.map(|chunk| chunk[0] * chunk[1]).sum::<i32>(), 26);
    /// ```
    #[track_caller]
    fn par_rchunks_exact(&self, chunk_size: usize) -> RChunksExact<'_, T> {
        RChunksExact::new(self.as_parallel_slice(), chunk_size)
    }

    /// Returns runs of elements: a run ends between two neighbours for which `pred` returns `false`. See
    /// [`slice::chunk_by`].
    ///
    /// The runs are found in parallel: `pred` is called about twice for a pair, in no particular order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let runs: Vec<usize> = [1, 1, 2, 3, 3, 3].par_chunk_by(|a, b| a == b).map(|run| run.len()).collect();
    /// assert_eq!(runs, [2, 1, 3]);
    /// ```
    fn par_chunk_by<F>(&self, pred: F) -> ChunkBy<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkBy::new(self.as_parallel_slice(), pred)
    }
}

impl<T: Sync> ParallelSlice<T> for [T] {
    #[inline]
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}
