//! Double-ended queues.

use crate::iter::{
    convert::IntoParallelIterator,
    plumbing::Producer,
    sources::{
        drain::ParallelDrainRange,
        producer::{Exact, drive_field, drive_producer},
        vec,
    },
};
use std::{collections::VecDeque, iter::Chain, marker::PhantomData, mem, ops::RangeBounds, slice};

/// A parallel iterator over the items of a `VecDeque`, by value.
#[derive(Debug, Clone)]
pub struct IntoIter<T> {
    items: vec::IntoIter<T>,
}

impl<T: Send> IntoParallelIterator for VecDeque<T> {
    type Iter = IntoIter<T>;
    type Item = T;

    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter { items: Vec::from(self).into_par_iter() }
    }
}

drive_field!([T: Send] IntoIter<T>, T, items: vec::IntoIter<T>);

/// A parallel iterator over references to the items of a `VecDeque`.
#[derive(Debug)]
pub struct Iter<'a, T>(&'a [T], &'a [T]);

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0, self.1)
    }
}

/// A parallel iterator over mutable references to the items of a `VecDeque`.
#[derive(Debug)]
pub struct IterMut<'a, T>(&'a mut [T], &'a mut [T]);

/// Implements the parallel iterator over the two slices of a queue.
macro_rules! two_slices {
    ($name:ident [$($mut:tt)?] $bound:ident, $as_slices:ident, $cut:ident, $std:ident, $iter:ident, $take:expr) => {
        impl<'a, T: $bound> IntoParallelIterator for &'a $($mut)? VecDeque<T> {
            type Iter = $name<'a, T>;
            type Item = &'a $($mut)? T;

            #[inline]
            fn into_par_iter(self) -> $name<'a, T> {
                let (front, back) = self.$as_slices();
                $name(front, back)
            }
        }

        impl<'a, T: $bound> Producer for $name<'a, T> {
            type Item = &'a $($mut)? T;
            type IntoIter = Exact<Chain<slice::$std<'a, T>, slice::$std<'a, T>>>;

            #[inline]
            fn len(&self) -> usize {
                self.0.len() + self.1.len()
            }
            #[inline]
            fn split_at(self, mid: usize) -> (Self, Self) {
                let front = self.0.len();
                let (left_front, right_front) = self.0.$cut(mid.min(front));
                let (left_back, right_back) = self.1.$cut(mid.saturating_sub(front));
                (Self(left_front, left_back), Self(right_front, right_back))
            }
            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                Exact::new(self.0.$iter().chain(self.1.$iter()))
            }
        }

        drive_producer!(['a, T: $bound] $name<'a, T>, &'a $($mut)? T, $take);
    };
}

two_slices!(Iter [] Sync, as_slices, split_at, Iter, iter, |this| this.clone());
two_slices!(IterMut [mut] Send, as_mut_slices, split_at_mut, IterMut, iter_mut,
    |this| Self(mem::take(&mut this.0), mem::take(&mut this.1)));

/// A parallel iterator that drains items from a `VecDeque`. [`par_drain`](ParallelDrainRange::par_drain) returns it.
///
/// The calling thread first moves the items into a vector.
#[derive(Debug)]
pub struct Drain<'a, T> {
    items: vec::IntoIter<T>,
    /// The items have left the queue, but it cannot be used earlier than it could if they had not.
    _queue: PhantomData<&'a mut T>,
}

impl<'a, T: Send> ParallelDrainRange<usize> for &'a mut VecDeque<T> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'a, T> {
        Drain { items: self.drain(range).collect::<Vec<_>>().into_par_iter(), _queue: PhantomData }
    }
}

drive_field!(['a, T: Send] Drain<'a, T>, T, items: vec::IntoIter<T>);
