//! The methods of parallel iterators whose number of items is known.

#[cfg(doc)]
use crate::iter::ParallelIterator;
use crate::iter::{
    adapters::{
        Chunks, Enumerate, ExponentialBlocks, FoldChunks, FoldChunksWith, Interleave, InterleaveShortest, MaxLen,
        MinLen, Positions, Rev, Skip, StepBy, Take, UniformBlocks, Zip, ZipEq,
    },
    collect::in_place,
    convert::IntoParallelIterator,
    plumbing::{DriveIndexed, Span, bridge::run},
    terminal::find::{FindAny, FindFirst},
};
use std::cmp::Ordering;

/// The methods of parallel iterators whose number of items is known, and whose items can be produced from each index
/// on.
///
/// The [prelude](crate::prelude) also brings in [`len`](DriveIndexed::len).
pub trait IndexedParallelIterator: DriveIndexed {
    // ---- several iterators ----

    /// Pairs the items with those of `other`, up to the length of the shorter iterator.
    ///
    /// The items of the longer iterator that have no partner are not produced. A tuple of several iterators has
    /// [`into_par_iter`](IntoParallelIterator::into_par_iter), see [`MultiZip`](crate::iter::MultiZip).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let (a, b) = ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]);
    /// let dot: f64 = a.par_iter().zip(&b).map(|(a, b)| a * b).sum();
    /// assert_eq!(dot, 32.0);
    /// ```
    fn zip<Z>(self, other: Z) -> Zip<Self, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: DriveIndexed>,
    {
        Zip::new(self, other.into_par_iter())
    }

    /// Pairs the items with the items of `other`, which must have the same length.
    ///
    /// # Panics
    /// Panics when the lengths differ.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let (a, b) = ([1, 2, 3], [4, 5, 6]);
    /// assert_eq!(a.par_iter().zip_eq(&b).map(|(a, b)| a * b).sum::<i32>(), 32);
    /// ```
    #[track_caller]
    fn zip_eq<Z>(self, other: Z) -> ZipEq<Self, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: DriveIndexed>,
    {
        ZipEq::new(self, other.into_par_iter())
    }

    /// Yields the items of `self` and `other` alternately, and then the rest of the longer one.
    ///
    /// The number of items must fit into a `usize`, or the iterator panics when it is run.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let all: Vec<i32> = [1, 2].par_iter().interleave(&[10, 20, 30, 40]).copied().collect();
    /// assert_eq!(all, [1, 10, 2, 20, 30, 40]);
    /// ```
    fn interleave<I>(self, other: I) -> Interleave<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: DriveIndexed>,
    {
        Interleave::new(self, other.into_par_iter())
    }

    /// Yields the items of `self` and `other` alternately, until the iterator whose turn it is has no more items.
    ///
    /// The number of items must fit into a `usize`, or the iterator panics when it is run.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let all: Vec<i32> = [1, 2].par_iter().interleave_shortest(&[10, 20, 30, 40]).copied().collect();
    /// assert_eq!(all, [1, 10, 2, 20]);
    /// let all: Vec<i32> = [1, 2, 3].par_iter().interleave_shortest(&[10]).copied().collect();
    /// assert_eq!(all, [1, 10, 2]);
    /// ```
    fn interleave_shortest<I>(self, other: I) -> InterleaveShortest<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: DriveIndexed>,
    {
        InterleaveShortest::new(self, other.into_par_iter())
    }

    // ---- order and choice ----

    /// Pairs each item with its index.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut squares = [0; 5];
    /// squares.par_iter_mut().enumerate().for_each(|(index, square)| *square = index * index);
    /// assert_eq!(squares, [0, 1, 4, 9, 16]);
    /// ```
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// Yields the items from the last to the first.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let all: Vec<i32> = [1, 2, 3].par_iter().rev().copied().collect();
    /// assert_eq!(all, [3, 2, 1]);
    /// ```
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    /// Skips the first `n` items, or all if there are fewer.
    ///
    /// Skipped items are not produced. If the iterator owns its items, the skipped items are dropped on the calling
    /// thread.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3].par_iter().skip(1).sum::<i32>(), 5);
    /// assert_eq!([1, 2, 3].par_iter().skip(9).sum::<i32>(), 0);
    /// ```
    fn skip(self, n: usize) -> Skip<Self> {
        Skip::new(self, n)
    }

    /// Yields the first `n` items, or all if there are fewer.
    ///
    /// The other items are not produced. If the iterator owns its items, the skipped items are dropped on the calling
    /// thread.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3].par_iter().take(2).sum::<i32>(), 3);
    /// assert_eq!([1, 2, 3].par_iter().take(9).sum::<i32>(), 6);
    /// ```
    fn take(self, n: usize) -> Take<Self> {
        Take::new(self, n)
    }

    /// Yields the first item, and then every `step`-th item.
    ///
    /// # Panics
    /// Panics when `step` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let some: Vec<i32> = [0, 1, 2, 3, 4, 5, 6].par_iter().step_by(3).copied().collect();
    /// assert_eq!(some, [0, 3, 6]);
    /// ```
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self> {
        StepBy::new(self, step)
    }

    // ---- chunks ----

    /// Yields the items in vectors of length `size`. The last vector may be shorter.
    ///
    /// For slices, `par_chunks` does the same without vectors. [`fold_chunks`](Self::fold_chunks) turns each chunk into
    /// one item without a vector.
    ///
    /// # Panics
    /// Panics when `size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let chunks: Vec<Vec<&i32>> = [1, 2, 3, 4, 5].par_iter().chunks(2).collect();
    /// assert_eq!(chunks, [vec![&1, &2], vec![&3, &4], vec![&5]]);
    /// ```
    #[track_caller]
    fn chunks(self, size: usize) -> Chunks<Self> {
        Chunks::new(self, size)
    }

    /// Folds the items of each chunk of length `size` using `op`, starting with a value that `identity` returns. The
    /// last chunk may be shorter.
    ///
    /// The chunks depend on `size` alone, whereas the pieces of `fold` depend on where other threads take work.
    ///
    /// # Panics
    /// Panics when `size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_iter().fold_chunks(2, || 0, |sum, item| sum + item).collect();
    /// assert_eq!(sums, [3, 7, 5]);
    /// ```
    #[track_caller]
    fn fold_chunks<T, ID, F>(self, size: usize, identity: ID, op: F) -> FoldChunks<Self, ID, F>
    where
        ID: Fn() -> T + Sync + Send,
        F: Fn(T, Self::Item) -> T + Sync + Send,
        T: Send,
    {
        FoldChunks::new(self, size, identity, op)
    }

    /// Folds the items of each chunk of length `size` using `op`, starting with a clone of `init`. The last chunk may
    /// be shorter.
    ///
    /// # Panics
    /// Panics when `size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_iter().fold_chunks_with(2, 100, |sum, item| sum + item).collect();
    /// assert_eq!(sums, [103, 107, 105]);
    /// ```
    #[track_caller]
    fn fold_chunks_with<T, F>(self, size: usize, init: T, op: F) -> FoldChunksWith<Self, T, F>
    where
        T: Send + Clone,
        F: Fn(T, Self::Item) -> T + Sync + Send,
    {
        FoldChunksWith::new(self, size, init, op)
    }

    // ---- how the loop is cut ----

    /// Sets the minimum length of pieces: the loop is not cut into pieces of fewer than `min` items.
    ///
    /// Most loops do not become faster with it: a loop is cut only when another thread takes work. It helps if each
    /// piece has a cost of its own, for example a state that `map_init` makes. Adapters that follow, such as
    /// [`chunks`](Self::chunks), convert the number. If two iterators are joined, for example with [`zip`](Self::zip),
    /// the greater minimum applies.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum: u64 = [1, 2, 3].par_iter().with_min_len(100).sum();
    /// assert_eq!(sum, 6);
    /// ```
    fn with_min_len(self, min: usize) -> MinLen<Self> {
        MinLen::new(self, min)
    }

    /// Sets the maximum number of items that a thread runs before other threads can take some of the rest.
    ///
    /// With it, the loop checks for requests after each `max` items. Most loops become slower with it: they find out by
    /// themselves how many items take some microseconds. It helps if the items' costs differ by orders of magnitude.
    /// Zero counts as one. A minimum of [`with_min_len`](Self::with_min_len) that is greater than `max` takes
    /// precedence.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum: u64 = [1, 2, 3].par_iter().with_max_len(1).sum();
    /// assert_eq!(sum, 6);
    /// ```
    fn with_max_len(self, max: usize) -> MaxLen<Self> {
        MaxLen::new(self, max)
    }

    /// Runs blocks of the items one after the other, each in parallel and twice as long as the block before.
    ///
    /// The first block has as many items as the pool has threads. So a search that ends early has run few unnecessary
    /// items, especially if the item is near the front. All threads wait for the end of a block.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let items: Vec<u32> = (0..1000).collect();
    /// assert_eq!(items.par_iter().by_exponential_blocks().map(|item| item % 10).sum::<u32>(), 4500);
    /// ```
    fn by_exponential_blocks(self) -> ExponentialBlocks<Self> {
        ExponentialBlocks::new(self)
    }

    /// Runs blocks of `size` items one after the other, each in parallel.
    ///
    /// So the threads work near to each other in memory, and resources of an item can be freed before most of the other
    /// items are produced. All threads wait for the end of a block.
    ///
    /// # Panics
    /// Panics when `size` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let items: Vec<u32> = (0..1000).collect();
    /// assert_eq!(items.par_iter().by_uniform_blocks(100).map(|item| item % 10).sum::<u32>(), 4500);
    /// ```
    #[track_caller]
    fn by_uniform_blocks(self, size: usize) -> UniformBlocks<Self> {
        UniformBlocks::new(self, size)
    }

    // ---- positions ----

    /// Yields the indices of the items for which `predicate` returns `true`.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let even: Vec<usize> = [1, 2, 4, 5].par_iter().positions(|item| item % 2 == 0).collect();
    /// assert_eq!(even, [1, 2]);
    /// ```
    fn positions<P>(self, predicate: P) -> Positions<Self, P>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        Positions::new(self, predicate)
    }

    /// Returns the index of an item for which `predicate` returns `true`, not necessarily the first item.
    ///
    /// As soon as such an item is found, the other threads stop within a block.
    ///
    /// # Panics
    /// If `predicate` panics, resumes one of the panics once all started calls have ended.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let items = [1, 2, 4, 5];
    /// let index = items.par_iter().position_any(|item| item % 2 == 0).unwrap();
    /// assert!(index == 1 || index == 2);
    /// assert_eq!(items.par_iter().position_any(|item| *item == 3), None);
    /// ```
    #[track_caller]
    fn position_any<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        run(self.enumerate(), &FindAny::new(|(index, item)| predicate(item).then_some(index)), ())
    }

    /// Returns the index of the first item for which `predicate` returns `true`.
    ///
    /// As soon as such an item is found, threads that run later items stop within a block.
    ///
    /// # Panics
    /// If `predicate` panics, resumes one of the panics once all started calls have ended.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 4, 5].par_iter().position_first(|item| item % 2 == 0), Some(1));
    /// ```
    #[track_caller]
    fn position_first<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        run(self.enumerate(), &FindFirst::new(|(index, item)| predicate(item).then_some(index)), Span::WHOLE)
    }

    /// Returns the index of the last item for which `predicate` returns `true`.
    ///
    /// It searches from the end. As soon as such an item is found, threads that run earlier items stop within a block.
    ///
    /// # Panics
    /// If `predicate` panics, resumes one of the panics once all started calls have ended.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 4, 5].par_iter().position_last(|item| item % 2 == 0), Some(2));
    /// ```
    #[track_caller]
    fn position_last<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let last_first = self.enumerate().rev();
        run(last_first, &FindFirst::new(|(index, item)| predicate(item).then_some(index)), Span::WHOLE)
    }

    // ---- comparison ----

    /// Compares the items with the items of `other` in lexicographic order.
    ///
    /// The first two items that differ decide. If there are none, the shorter iterator is less. As soon as two differ,
    /// threads that compare later items stop within a block.
    ///
    /// # Panics
    /// If a comparison panics, resumes one of the panics once all started comparisons have ended.
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::cmp::Ordering;
    ///
    /// let items = [1, 2, 3];
    /// assert_eq!(items.par_iter().cmp(&[1, 3]), Ordering::Less);
    /// assert_eq!(items.par_iter().cmp(&[1, 2]), Ordering::Greater);
    /// assert_eq!(items.par_iter().cmp(&items), Ordering::Equal);
    /// ```
    #[track_caller]
    fn cmp<I>(self, other: I) -> Ordering
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: DriveIndexed>,
        Self::Item: Ord,
    {
        let other = other.into_par_iter();
        let by_len = self.len().cmp(&other.len());
        let differ = FindFirst::new(|(a, b): (Self::Item, Self::Item)| Some(a.cmp(&b)).filter(|order| order.is_ne()));
        run(self.zip(other), &differ, Span::WHOLE).unwrap_or(by_len)
    }

    /// Compares the items with the items of `other` in lexicographic order.
    ///
    /// The first two items that differ, or cannot be compared, decide. If there are none, the shorter iterator is less.
    /// As soon as two such items are found, threads that compare later items stop within a block.
    ///
    /// # Panics
    /// If a comparison panics, resumes one of the panics once all started comparisons have ended.
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::cmp::Ordering;
    ///
    /// assert_eq!([1.0, 2.0].par_iter().partial_cmp(&[1.0, 3.0]), Some(Ordering::Less));
    /// assert_eq!([1.0, f64::NAN].par_iter().partial_cmp(&[1.0, 3.0]), None);
    /// ```
    #[track_caller]
    fn partial_cmp<I>(self, other: I) -> Option<Ordering>
    where
        I: IntoParallelIterator<Iter: DriveIndexed>,
        Self::Item: PartialOrd<I::Item>,
    {
        let other = other.into_par_iter();
        let by_len = self.len().cmp(&other.len());
        let differ = FindFirst::new(|(a, b): (Self::Item, I::Item)| {
            Some(a.partial_cmp(&b)).filter(|order| *order != Some(Ordering::Equal))
        });
        run(self.zip(other), &differ, Span::WHOLE).unwrap_or(Some(by_len))
    }

    /// Returns whether `self` and `other` have the same number of items, and the items are equal.
    ///
    /// As soon as two differ, the other threads stop within a block.
    ///
    /// # Panics
    /// If a comparison panics, resumes one of the panics once all started comparisons have ended.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert!([1, 2].par_iter().eq(&[1, 2]));
    /// assert!(!([1, 2].par_iter().eq(&[1, 2, 3])));
    /// ```
    #[track_caller]
    fn eq<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: DriveIndexed>,
        Self::Item: PartialEq<I::Item>,
    {
        let other = other.into_par_iter();
        if self.len() != other.len() {
            return false;
        }
        let differ = FindAny::new(|(a, b): (Self::Item, I::Item)| (a != b).then_some(()));
        run(self.zip(other), &differ, ()).is_none()
    }

    /// Returns whether the items of `self` and `other`, or their numbers, differ. See [`eq`](Self::eq).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert!([1, 2].par_iter().ne(&[1, 3]));
    /// ```
    #[track_caller]
    fn ne<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: DriveIndexed>,
        Self::Item: PartialEq<I::Item>,
    {
        !IndexedParallelIterator::eq(self, other)
    }

    /// Returns whether the items are lexicographically less than the items of `other`. See
    /// [`partial_cmp`](Self::partial_cmp).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert!([1, 2].par_iter().lt(&[1, 3]));
    /// ```
    #[track_caller]
    fn lt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: DriveIndexed>,
        Self::Item: PartialOrd<I::Item>,
    {
        IndexedParallelIterator::partial_cmp(self, other).is_some_and(Ordering::is_lt)
    }

    /// Returns whether the items are lexicographically less than or equal to the items of `other`. See
    /// [`partial_cmp`](Self::partial_cmp).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert!([1, 2].par_iter().le(&[1, 2]));
    /// ```
    #[track_caller]
    fn le<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: DriveIndexed>,
        Self::Item: PartialOrd<I::Item>,
    {
        IndexedParallelIterator::partial_cmp(self, other).is_some_and(Ordering::is_le)
    }

    /// Returns whether the items are lexicographically greater than the items of `other`. See
    /// [`partial_cmp`](Self::partial_cmp).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert!([1, 3].par_iter().gt(&[1, 2]));
    /// ```
    #[track_caller]
    fn gt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: DriveIndexed>,
        Self::Item: PartialOrd<I::Item>,
    {
        IndexedParallelIterator::partial_cmp(self, other).is_some_and(Ordering::is_gt)
    }

    /// Returns whether the items are lexicographically greater than or equal to the items of `other`. See
    /// [`partial_cmp`](Self::partial_cmp).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert!([1, 2].par_iter().ge(&[1, 2]));
    /// ```
    #[track_caller]
    fn ge<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: DriveIndexed>,
        Self::Item: PartialOrd<I::Item>,
    {
        IndexedParallelIterator::partial_cmp(self, other).is_some_and(Ordering::is_ge)
    }

    // ---- collect ----

    /// Replaces the contents of `target` with the items. The memory of `target` is reused if it suffices.
    ///
    /// # Panics
    /// If an item panics, resumes one of the panics once all started items have ended. `target` is then empty.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut squares = vec![0; 100];
    /// [1, 2, 3].par_iter().map(|i| i * i).collect_into_vec(&mut squares);
    /// assert_eq!(squares, [1, 4, 9]);
    /// ```
    #[track_caller]
    fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
        target.clear();
        in_place::extend(target, self);
    }

    /// Replaces the contents of two vectors with the two parts of the pairs.
    ///
    /// Each part is written directly to its place. The memory of the vectors is reused if it suffices.
    ///
    /// # Panics
    /// If an item panics, resumes one of the panics once all started items have ended. The vectors are then empty.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let (mut numbers, mut halves) = (Vec::new(), Vec::new());
    /// [2, 4].par_iter().map(|i| (*i, i / 2)).unzip_into_vecs(&mut numbers, &mut halves);
    /// assert_eq!((numbers, halves), (vec![2, 4], vec![1, 2]));
    /// ```
    #[track_caller]
    fn unzip_into_vecs<A, B>(self, left: &mut Vec<A>, right: &mut Vec<B>)
    where
        Self: IndexedParallelIterator<Item = (A, B)>,
        A: Send,
        B: Send,
    {
        left.clear();
        right.clear();
        in_place::extend_both(left, right, self);
    }
}

impl<I: DriveIndexed> IndexedParallelIterator for I {}
