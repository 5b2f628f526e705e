//! Draining items from a collection.

use crate::iter::plumbing::Drive;
use std::ops::RangeBounds;

/// Draining of a whole collection.
///
/// It is implemented for mutable references to `HashMap`, `HashSet` and `BinaryHeap`.
pub trait ParallelDrainFull {
    /// The parallel iterator.
    type Iter: Drive<Item = Self::Item>;
    /// The type of its items.
    type Item: Send;

    /// Returns a parallel iterator over all items, by value. The collection is empty afterwards, whatever becomes of
    /// the iterator.
    ///
    /// # Complexity
    /// The calling thread first moves all items into a vector.
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::collections::HashSet;
    ///
    /// let mut numbers = HashSet::from([1, 2, 3]);
    /// assert_eq!(numbers.par_drain().sum::<i32>(), 6);
    /// assert!(numbers.is_empty());
    /// ```
    fn par_drain(self) -> Self::Iter;
}

/// Draining of a range of a collection.
///
/// It is implemented for mutable references to `Vec`, `VecDeque` and `String`.
pub trait ParallelDrainRange<Idx = usize> {
    /// The parallel iterator.
    type Iter: Drive<Item = Self::Item>;
    /// The type of its items.
    type Item: Send;

    /// Returns a parallel iterator over the items in `range`, by value. All of them are removed from the collection,
    /// even items that the iterator does not reach because it ends early.
    ///
    /// If the iterator is forgotten, the collection remains valid. It is unspecified which items the collection then
    /// has.
    ///
    /// # Panics
    /// Panics when `range` is not within the collection, and for a `String` when it does not begin and end between two
    /// characters.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut numbers = vec![1, 2, 3, 4, 5];
    /// assert_eq!(numbers.par_drain(1..4).sum::<i32>(), 9);
    /// assert_eq!(numbers, [1, 5]);
    /// ```
    fn par_drain<R: RangeBounds<Idx>>(self, range: R) -> Self::Iter;
}
