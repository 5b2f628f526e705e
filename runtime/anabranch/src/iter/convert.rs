//! Conversions into parallel iterators.

use crate::iter::plumbing::Drive;

/// Conversion into a parallel iterator.
///
/// ```
/// use anabranch::prelude::*;
///
/// let total: u32 = vec![1, 2, 3].into_par_iter().sum();
/// assert_eq!(total, 6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be turned into a parallel iterator",
    label = "not a parallel iterator, nor a collection of which one can be made",
    note = "for a plain iterator, write `.par_bridge()`"
)]
pub trait IntoParallelIterator {
    /// The parallel iterator.
    type Iter: Drive<Item = Self::Item>;
    /// The type of its items.
    type Item: Send;

    /// Makes a parallel iterator.
    fn into_par_iter(self) -> Self::Iter;
}

impl<I: Drive> IntoParallelIterator for I {
    type Iter = I;
    type Item = I::Item;

    #[inline]
    fn into_par_iter(self) -> I {
        self
    }
}

/// Conversion of a shared reference into a parallel iterator, most often over references.
///
/// It is implemented for each type whose shared reference implements [`IntoParallelIterator`].
pub trait IntoParallelRefIterator<'data> {
    /// The parallel iterator.
    type Iter: Drive<Item = Self::Item>;
    /// The type of its items.
    type Item: Send + 'data;

    /// Makes a parallel iterator over references to the items of `self`.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let words = ["to", "be"];
    /// assert_eq!(words.par_iter().map(|word| word.len()).sum::<usize>(), 4);
    /// ```
    fn par_iter(&'data self) -> Self::Iter;
}

impl<'data, I: 'data + ?Sized> IntoParallelRefIterator<'data> for I
where
    &'data I: IntoParallelIterator,
{
    type Iter = <&'data I as IntoParallelIterator>::Iter;
    type Item = <&'data I as IntoParallelIterator>::Item;

    #[inline]
    fn par_iter(&'data self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// Conversion of a mutable reference into a parallel iterator, most often over mutable references.
///
/// It is implemented for each type whose mutable reference implements [`IntoParallelIterator`].
pub trait IntoParallelRefMutIterator<'data> {
    /// The parallel iterator.
    type Iter: Drive<Item = Self::Item>;
    /// The type of its items.
    type Item: Send + 'data;

    /// Makes a parallel iterator over mutable references to the items of `self`.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut items = [1, 2, 3];
    /// items.par_iter_mut().for_each(|item| *item *= 10);
    /// assert_eq!(items, [10, 20, 30]);
    /// ```
    fn par_iter_mut(&'data mut self) -> Self::Iter;
}

impl<'data, I: 'data + ?Sized> IntoParallelRefMutIterator<'data> for I
where
    &'data mut I: IntoParallelIterator,
{
    type Iter = <&'data mut I as IntoParallelIterator>::Iter;
    type Item = <&'data mut I as IntoParallelIterator>::Item;

    #[inline]
    fn par_iter_mut(&'data mut self) -> Self::Iter {
        self.into_par_iter()
    }
}
