//! [`reduce_with`](crate::iter::ParallelIterator::reduce_with) and the methods that use it: `reduce`, the minimum and
//! the maximum.

use crate::iter::plumbing::Consumer;
use std::cmp::Ordering;

/// Combines the items by a closure.
pub(in crate::iter) struct Reduce<F>(pub(in crate::iter) F);

impl<T: Send, F: Fn(T, T) -> T + Sync> Consumer<T> for Reduce<F> {
    type Folder = Option<T>;
    type Result = Option<T>;
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) -> Option<T> {
        None
    }
    #[inline]
    fn consume_iter(&self, folder: Option<T>, mut items: impl Iterator<Item = T>) -> Option<T> {
        // One loop for both cases: the compiler does not inline a large iterator into two.
        let first = match folder {
            Some(folder) => folder,
            None => items.next()?,
        };
        Some(items.fold(first, &self.0))
    }
    #[inline]
    fn complete(&self, folder: Option<T>) -> Option<T> {
        folder
    }
    #[inline]
    fn combine(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some((self.0)(left, right)),
            (left, right) => left.or(right),
        }
    }
    #[inline]
    fn is_full(&self, _: &Option<T>, (): ()) -> bool {
        false
    }
}

/// Returns a closure that returns the lesser of two items, and of equal ones the first.
#[inline]
pub(in crate::iter) fn lesser<T>(
    compare: impl Fn(&T, &T) -> Ordering + Sync + Send,
) -> impl Fn(T, T) -> T + Sync + Send {
    move |left, right| if compare(&left, &right).is_gt() { right } else { left }
}

/// Returns a closure that returns the greater of two items, and of equal ones the last.
#[inline]
pub(in crate::iter) fn greater<T>(
    compare: impl Fn(&T, &T) -> Ordering + Sync + Send,
) -> impl Fn(T, T) -> T + Sync + Send {
    move |left, right| if compare(&left, &right).is_gt() { left } else { right }
}
