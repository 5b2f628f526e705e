//! `Option`: one item or none.

use crate::iter::{convert::IntoParallelIterator, plumbing::Producer, sources::producer::drive_producer};
use std::option;

/// A parallel iterator over the value of an `Option`, by value.
#[derive(Debug, Clone)]
pub struct IntoIter<T>(Option<T>);

impl<T> From<Option<T>> for IntoIter<T> {
    fn from(value: Option<T>) -> Self {
        Self(value)
    }
}

impl<T: Send> Producer for IntoIter<T> {
    type Item = T;
    type IntoIter = option::IntoIter<T>;

    #[inline]
    fn len(&self) -> usize {
        usize::from(self.0.is_some())
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        assert!(mid <= Producer::len(&self), "split beyond the end of an option");
        if mid == 0 { (Self(None), self) } else { (self, Self(None)) }
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

drive_producer!([T: Send] IntoIter<T>, T, |this| Self(this.0.take()));

/// A parallel iterator over a shared reference to the value of an `Option`.
pub type Iter<'a, T> = IntoIter<&'a T>;

/// A parallel iterator over a mutable reference to the value of an `Option`.
pub type IterMut<'a, T> = IntoIter<&'a mut T>;

impl<T: Send> IntoParallelIterator for Option<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<'a, T: Sync> IntoParallelIterator for &'a Option<T> {
    type Iter = Iter<'a, T>;
    type Item = &'a T;

    #[inline]
    fn into_par_iter(self) -> Iter<'a, T> {
        IntoIter(self.as_ref())
    }
}

impl<'a, T: Send> IntoParallelIterator for &'a mut Option<T> {
    type Iter = IterMut<'a, T>;
    type Item = &'a mut T;

    #[inline]
    fn into_par_iter(self) -> IterMut<'a, T> {
        IntoIter(self.as_mut())
    }
}
