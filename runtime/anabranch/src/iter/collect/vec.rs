//! Vectors, and the collections that are made from vectors.

use crate::iter::{
    adapters::Map,
    collect::{FromParallelIterator, ParallelExtend, from_extend, in_place, pieces},
    convert::IntoParallelIterator,
    plumbing::{Drive, DriveIndexed, Visitor},
};
use std::{
    collections::{BinaryHeap, LinkedList, VecDeque},
    convert,
    rc::Rc,
    sync::Arc,
};

/// If the number of items is known, each item is written directly to its place. Otherwise the threads collect pieces,
/// which are then appended.
impl<T: Send> ParallelExtend<T> for Vec<T> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        items.into_par_iter().accept(Extend(self));
    }
    fn as_vec(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}

struct Extend<'a, T>(&'a mut Vec<T>);

impl<T: Send> Visitor<T> for Extend<'_, T> {
    type Output = ();

    #[track_caller]
    fn visit<I: Drive<Item = T>>(self, iter: I) {
        append_all(self.0, pieces::collect(iter));
    }
    #[track_caller]
    fn visit_indexed<I: DriveIndexed<Item = T>>(self, iter: I) {
        in_place::extend(self.0, iter);
    }
}

/// Appends the pieces to `vec`. If `vec` is empty and too small, it takes over the first piece, which saves a copy.
fn append_all<T>(vec: &mut Vec<T>, pieces: LinkedList<Vec<T>>) {
    let mut missing: usize = pieces.iter().map(Vec::len).sum();
    let mut pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    if vec.capacity() < missing
        && vec.is_empty()
        && let Some(first) = pieces.next()
    {
        missing -= first.len();
        *vec = first;
    }
    vec.reserve(missing);
    pieces.for_each(|mut piece| vec.append(&mut piece));
}

/// Implements [`FromParallelIterator`] by making a vector first.
macro_rules! from_vec {
    ($($collection:ty $(where T: $bound:ident)?,)*) => {$(
        impl<T: Send $(+ $bound)?> FromParallelIterator<T> for $collection {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
                Vec::from_par_iter(items).into()
            }
            fn of_vec() -> Option<fn(Vec<T>) -> Self> {
                Some(Into::into)
            }
        }
    )*};
}

from_vec! { Box<[T]>, Rc<[T]>, Arc<[T]>, VecDeque<T>, BinaryHeap<T> where T: Ord, }

/// Implements [`ParallelExtend`] by making a vector first, and then the collection from it.
macro_rules! append_vec {
    ($($collection:ty $(where T: $bound:ident)?,)*) => {$(
        impl<T: Send $(+ $bound)?> ParallelExtend<T> for $collection {
            #[track_caller]
            fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
                self.append(&mut Vec::from_par_iter(items).into());
            }
        }
    )*};
}

append_vec! { VecDeque<T>, BinaryHeap<T> where T: Ord, }

/// Implements [`FromParallelIterator`] via [`ParallelExtend`].
macro_rules! from_extend {
    ($($collection:ty,)*) => {$(
        impl<T: Send> FromParallelIterator<T> for $collection {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
                from_extend(items)
            }
        }
    )*};
}

from_extend! { LinkedList<T>, }

impl<T: Send> FromParallelIterator<T> for Vec<T> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        from_extend(items)
    }
    fn of_vec() -> Option<fn(Self) -> Self> {
        Some(convert::identity)
    }
}

impl<T: Send> ParallelExtend<T> for LinkedList<T> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        for mut piece in pieces::collect::<LinkedList<T>, _>(items.into_par_iter()) {
            self.append(&mut piece);
        }
    }
}

/// Implements [`ParallelExtend`] for references to items that are copied.
macro_rules! extend_copied {
    ($($collection:ty $(where T: $bound:ident)?,)*) => {$(
        impl<'a, T: Copy + Send + Sync + 'a $(+ $bound)?> ParallelExtend<&'a T> for $collection {
            #[track_caller]
            fn par_extend<I: IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
                self.par_extend(Map::new(items.into_par_iter(), |item: &T| *item));
            }
        }
    )*};
}

extend_copied! { Vec<T>, VecDeque<T>, LinkedList<T>, BinaryHeap<T> where T: Ord, }
