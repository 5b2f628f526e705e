//! Tuples of parallel iterators.
//!
//! The iterators of a tuple are paired from the left, `((a, b), c)`, so that the standard library's
//! [`Zip`](std::iter::Zip) iterates over slices with one index for all. [`FromNested`] turns the pairs into tuples.

use crate::iter::{
    adapters::zip::Zip,
    convert::{IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator},
    plumbing::{Drive, DriveIndexed, Producer, drive_indexed},
};
use std::{fmt, marker::PhantomData};

/// Iterates over the tuples of the items of several iterators, up to the length of the shortest one.
///
/// A tuple of up to twelve collections or parallel iterators of known length has `into_par_iter`. If all are
/// collections, it also has `par_iter` and `par_iter_mut`.
///
/// ```
/// use anabranch::prelude::*;
///
/// let (a, b, mut sums) = ([1, 2, 3], [10, 20, 30], [0; 3]);
/// (&a, &b, &mut sums).into_par_iter().for_each(|(a, b, sum)| *sum = a + b);
/// assert_eq!(sums, [11, 22, 33]);
///
/// let mut all = (a, b, sums);
/// all.par_iter_mut().for_each(|(a, _, sum)| std::mem::swap(a, sum));
/// assert_eq!(all.0, sums);
/// ```
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct MultiZip<I, T> {
    nested: I,
    tuple: PhantomData<fn() -> T>,
}

impl<I, T> MultiZip<I, T> {
    fn new(nested: I) -> Self {
        Self { nested, tuple: PhantomData }
    }
}

impl<I: Clone, T> Clone for MultiZip<I, T> {
    fn clone(&self) -> Self {
        Self::new(self.nested.clone())
    }
}

impl<I: fmt::Debug, T> fmt::Debug for MultiZip<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MultiZip").field(&self.nested).finish()
    }
}

/// A tuple into which nested pairs are turned.
pub trait FromNested<N> {
    /// Makes the tuple.
    fn from_nested(nested: N) -> Self;
}

impl<I: DriveIndexed, T: FromNested<I::Item> + Send> Drive for MultiZip<I, T> {
    drive_indexed!(T);
}

impl<I: DriveIndexed, T: FromNested<I::Item> + Send> DriveIndexed for MultiZip<I, T> {
    type Producer<'a>
        = MultiZip<I::Producer<'a>, T>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.nested.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        MultiZip::new(self.nested.producer())
    }
}

impl<P: Producer, T: FromNested<P::Item>> Producer for MultiZip<P, T> {
    type Item = T;
    type IntoIter = Tuples<P::IntoIter, T>;

    #[inline]
    fn len(&self) -> usize {
        self.nested.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.nested.split_at(mid);
        (Self::new(left), Self::new(right))
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        Tuples { nested: self.nested.into_iter(), tuple: PhantomData }
    }
    fn min_len(&self) -> usize {
        self.nested.min_len()
    }
    fn max_len(&self) -> usize {
        self.nested.max_len()
    }
}

/// Turns the items of `nested` into tuples.
pub struct Tuples<I, T> {
    nested: I,
    tuple: PhantomData<fn() -> T>,
}

impl<I: Iterator, T: FromNested<I::Item>> Iterator for Tuples<I, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.nested.next().map(T::from_nested)
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.nested.size_hint()
    }
    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.nested.nth(n).map(T::from_nested)
    }
    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        self.nested.fold(init, |state, item| f(state, T::from_nested(item)))
    }
}

impl<I: DoubleEndedIterator, T: FromNested<I::Item>> DoubleEndedIterator for Tuples<I, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.nested.next_back().map(T::from_nested)
    }
    #[inline]
    fn rfold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        self.nested.rfold(init, |state, item| f(state, T::from_nested(item)))
    }
}

impl<I: ExactSizeIterator, T: FromNested<I::Item>> ExactSizeIterator for Tuples<I, T> {}

/// Nests pairs from the left: `((a, b), c)` for `a b c`. The result is a type or a pattern.
macro_rules! nest {
    ($only:tt) => { $only };
    ($a:tt $b:tt $($rest:tt)*) => { nest!(($a, $b) $($rest)*) };
}

/// The type that [`zip_all`] returns.
macro_rules! zip_type {
    ($only:ty) => { $only };
    ($a:ty, $b:ty $(, $rest:ty)*) => { zip_type!(Zip<$a, $b> $(, $rest)*) };
}

macro_rules! zip_all {
    ($only:expr) => { $only };
    ($a:expr, $b:expr $(, $rest:expr)*) => { zip_all!(Zip::new($a, $b) $(, $rest)*) };
}

/// Implements the conversions for tuples with these type names, and for all shorter ones.
macro_rules! tuples {
    () => {};
    ($first:ident $($other:ident)*) => {
        tuples!(@one $first $($other)*);
        tuples!($($other)*);
    };
    (@one $($name:ident)+) => {
        impl<$($name),+> FromNested<nest!($($name)+)> for ($($name,)+) {
            #[inline(always)]
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn from_nested(nest!($($name)+): nest!($($name)+)) -> Self {
                ($($name,)+)
            }
        }

        impl<$($name),+> IntoParallelIterator for ($($name,)+)
        where
            $($name: IntoParallelIterator<Iter: DriveIndexed>,)+
        {
            type Iter = MultiZip<zip_type!($($name::Iter),+), Self::Item>;
            type Item = ($($name::Item,)+);

            #[allow(non_snake_case, reason = "a variable for each type")]
            fn into_par_iter(self) -> Self::Iter {
                let ($($name,)+) = self;
                MultiZip::new(zip_all!($($name.into_par_iter()),+))
            }
        }

        impl<'data, $($name),+> IntoParallelIterator for &'data ($($name,)+)
        where
            $($name: IntoParallelRefIterator<'data, Iter: DriveIndexed>,)+
        {
            type Iter = MultiZip<zip_type!($($name::Iter),+), Self::Item>;
            type Item = ($($name::Item,)+);

            #[allow(non_snake_case, reason = "a variable for each type")]
            fn into_par_iter(self) -> Self::Iter {
                let ($($name,)+) = self;
                MultiZip::new(zip_all!($($name.par_iter()),+))
            }
        }

        impl<'data, $($name),+> IntoParallelIterator for &'data mut ($($name,)+)
        where
            $($name: IntoParallelRefMutIterator<'data, Iter: DriveIndexed>,)+
        {
            type Iter = MultiZip<zip_type!($($name::Iter),+), Self::Item>;
            type Item = ($($name::Item,)+);

            #[allow(non_snake_case, reason = "a variable for each type")]
            fn into_par_iter(self) -> Self::Iter {
                let ($($name,)+) = self;
                MultiZip::new(zip_all!($($name.par_iter_mut()),+))
            }
        }
    };
}

tuples!(A B C D E F G H I J K L);
