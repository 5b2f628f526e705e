//! The tree-vector of the `imbl` crate. With the feature `imbl`.
//!
//! A piece is cut in logarithmic time, and shares the chunks of the vector with the other pieces.

use crate::iter::{convert::IntoParallelIterator, plumbing::Producer, sources::producer::drive_producer};
use imbl::{
    Vector,
    shared_ptr::DefaultSharedPtr,
    vector::{self, ConsumingIter, Focus},
};
use std::{fmt, mem};

/// A parallel iterator over references to the items of an `imbl::Vector`.
#[derive(Clone)]
pub struct Iter<'a, T: Clone>(Focus<'a, T, DefaultSharedPtr>);

impl<T: Clone> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("len", &self.0.len()).finish()
    }
}

/// With the feature `imbl`.
///
/// ```
/// use anabranch::prelude::*;
///
/// let numbers: imbl::Vector<u64> = (0..1000).collect();
/// assert_eq!(numbers.par_iter().sum::<u64>(), 499_500);
/// ```
impl<'a, T: Clone + Send + Sync> IntoParallelIterator for &'a Vector<T> {
    type Iter = Iter<'a, T>;
    type Item = &'a T;

    fn into_par_iter(self) -> Iter<'a, T> {
        Iter(self.focus())
    }
}

/// A parallel iterator over the items of an `imbl::Vector`, by value.
#[derive(Debug, Clone)]
pub struct IntoIter<T: Clone>(Vector<T>);

/// Items in chunks that another vector shares are cloned, and a cut may clone the chunks around it. All other items are
/// moved. With the feature `imbl`.
///
/// ```
/// use anabranch::prelude::*;
///
/// let words: imbl::Vector<String> = ["a", "b", "c"].into_iter().map(String::from).collect();
/// let words: Vec<String> = words.into_par_iter().map(|word| word + "!").collect();
/// assert_eq!(words, ["a!", "b!", "c!"]);
/// ```
impl<T: Clone + Send + Sync> IntoParallelIterator for Vector<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

/// Implements the producer of a parallel iterator that is cut as its field is cut.
macro_rules! producer {
    ([$($generics:tt)*] $name:ty, $item:ty, $iter:ty, $take:expr) => {
        impl<$($generics)*> Producer for $name {
            type Item = $item;
            type IntoIter = $iter;

            #[inline]
            fn len(&self) -> usize {
                self.0.len()
            }
            fn split_at(self, mid: usize) -> (Self, Self) {
                let (left, right) = self.0.split_at(mid);
                (Self(left), Self(right))
            }
            fn into_iter(self) -> $iter {
                self.0.into_iter()
            }
        }

        drive_producer!([$($generics)*] $name, $item, $take);
    };
}

producer!(['a, T: Clone + Send + Sync] Iter<'a, T>, &'a T, vector::Iter<'a, T, DefaultSharedPtr>, |this| this.clone());
producer!([T: Clone + Send + Sync] IntoIter<T>, T, ConsumingIter<T, DefaultSharedPtr>,
    |this| Self(mem::take(&mut this.0)));
