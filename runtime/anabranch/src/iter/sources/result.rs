//! `Result`: one item if it is `Ok`, or none.

use crate::iter::{convert::IntoParallelIterator, sources::option};

/// A parallel iterator over the value of a `Result`, by value.
pub type IntoIter<T> = option::IntoIter<T>;

/// A parallel iterator over a shared reference to the value of a `Result`.
pub type Iter<'a, T> = option::Iter<'a, T>;

/// A parallel iterator over a mutable reference to the value of a `Result`.
pub type IterMut<'a, T> = option::IterMut<'a, T>;

impl<T: Send, E> IntoParallelIterator for Result<T, E> {
    type Iter = IntoIter<T>;
    type Item = T;

    #[inline]
    fn into_par_iter(self) -> IntoIter<T> {
        self.ok().into()
    }
}

impl<'a, T: Sync, E> IntoParallelIterator for &'a Result<T, E> {
    type Iter = Iter<'a, T>;
    type Item = &'a T;

    #[inline]
    fn into_par_iter(self) -> Iter<'a, T> {
        self.as_ref().ok().into()
    }
}

impl<'a, T: Send, E> IntoParallelIterator for &'a mut Result<T, E> {
    type Iter = IterMut<'a, T>;
    type Item = &'a mut T;

    #[inline]
    fn into_par_iter(self) -> IterMut<'a, T> {
        self.as_mut().ok().into()
    }
}
