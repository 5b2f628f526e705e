//! Collections that are created from parallel iterators.

mod collections;
mod fallible;
#[cfg(feature = "imbl")]
mod imbl;
pub(super) mod in_place;
pub(super) mod pairs;
mod pieces;
#[cfg(all(test, not(shuttle)))]
mod tests;
mod text;
pub(super) mod unzip;
mod vec;

pub(super) use self::pieces::to_vecs;
use crate::iter::convert::IntoParallelIterator;
use either::Either;

/// A collection that can be created from a parallel iterator: see [`collect`](crate::iter::ParallelIterator::collect).
///
/// It is implemented for the collections of std, for `Option` and `Result` of a collection, for `()`, for pairs of
/// collections (see [`unzip`](crate::iter::ParallelIterator::unzip)), and with the feature `imbl` for `imbl::Vector`.
/// The items keep their order.
///
/// ```
/// use anabranch::prelude::*;
///
/// /// The sum of its items.
/// struct Total(u64);
///
/// impl FromParallelIterator<u64> for Total {
///     fn from_par_iter<I: IntoParallelIterator<Item = u64>>(items: I) -> Self {
///         Self(items.into_par_iter().sum())
///     }
/// }
///
/// let Total(total) = vec![1, 2, 3].into_par_iter().collect();
/// assert_eq!(total, 6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made of a parallel iterator over `{T}`",
    label = "cannot be collected from items of type `{T}`"
)]
pub trait FromParallelIterator<T: Send>: Sized {
    /// Creates the collection from the items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::collections::BTreeSet;
    ///
    /// let set = BTreeSet::from_par_iter(vec![3, 1, 3]);
    /// assert!(set.into_iter().eq([1, 3]));
    /// ```
    fn from_par_iter<I>(items: I) -> Self
    where
        I: IntoParallelIterator<Item = T>;

    /// Returns a function that turns a vector into the collection, if the collection is made from a vector anyway.
    #[doc(hidden)]
    fn of_vec() -> Option<fn(Vec<T>) -> Self> {
        None
    }
}

/// A collection to which the items of a parallel iterator can be added.
///
/// ```
/// use anabranch::prelude::*;
///
/// /// Counts the items.
/// #[derive(Default)]
/// struct Count(usize);
///
/// impl<T: Send> ParallelExtend<T> for Count {
///     fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
///         self.0 += items.into_par_iter().map(|_| 1usize).sum::<usize>();
///     }
/// }
///
/// let mut count = Count::default();
/// count.par_extend(vec!["a", "b"]);
/// assert_eq!(count.0, 2);
/// ```
pub trait ParallelExtend<T: Send> {
    /// Adds the items.
    ///
    /// If the parallel iterator panics, the collections of std keep what they contained before.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut squares = vec![0, 1, 4];
    /// squares.par_extend(vec![3, 4].into_par_iter().map(|i| i * i));
    /// assert_eq!(squares, [0, 1, 4, 9, 16]);
    /// ```
    fn par_extend<I>(&mut self, items: I)
    where
        I: IntoParallelIterator<Item = T>;

    /// Returns the collection if it is a vector, to which items can be written in place.
    #[doc(hidden)]
    fn as_vec(&mut self) -> Option<&mut Vec<T>> {
        None
    }
}

/// Adds the items to whichever collection it is.
impl<L, R, T> ParallelExtend<T> for Either<L, R>
where
    L: ParallelExtend<T>,
    R: ParallelExtend<T>,
    T: Send,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        match self {
            Either::Left(collection) => collection.par_extend(items),
            Either::Right(collection) => collection.par_extend(items),
        }
    }
}

/// Makes a collection by [`ParallelExtend`].
#[track_caller]
fn from_extend<C, I>(items: I) -> C
where
    C: ParallelExtend<I::Item> + Default,
    I: IntoParallelIterator,
{
    let mut collection = C::default();
    collection.par_extend(items);
    collection
}
