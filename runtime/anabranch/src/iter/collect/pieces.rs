//! Collecting a sequence of unknown length: each piece becomes a collection of its own.

use crate::iter::{
    collect::in_place,
    plumbing::{Consumer, Drive, DriveIndexed, Visitor, bridge::run},
};
use std::{collections::LinkedList, marker::PhantomData};

/// Collects each piece of the sequence into a `C`. There are about as many pieces as other threads take.
struct Pieces<C>(PhantomData<fn() -> C>);

/// Collects the items of `iter` into collections in order.
#[track_caller]
pub(super) fn collect<C, I>(iter: I) -> LinkedList<C>
where
    I: Drive,
    C: Default + Extend<I::Item> + Send,
{
    run(iter, &Pieces(PhantomData), ())
}

impl<T, C: Default + Extend<T> + Send> Consumer<T> for Pieces<C> {
    type Folder = C;
    type Result = LinkedList<C>;
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) -> C {
        C::default()
    }
    #[inline]
    fn consume_iter(&self, mut folder: C, items: impl Iterator<Item = T>) -> C {
        folder.extend(items);
        folder
    }
    #[inline]
    fn complete(&self, folder: C) -> LinkedList<C> {
        LinkedList::from([folder])
    }
    #[inline]
    fn combine(&self, mut left: LinkedList<C>, mut right: LinkedList<C>) -> LinkedList<C> {
        left.append(&mut right);
        left
    }
    #[inline]
    fn is_full(&self, _: &C, (): ()) -> bool {
        false
    }
}

/// Collects the items into vectors, none of which is empty: one if the number of items is known.
#[track_caller]
pub(in crate::iter) fn to_vecs<I: Drive>(iter: I) -> LinkedList<Vec<I::Item>> {
    let vecs = iter.accept(ToVecs);
    vecs.into_iter().filter(|vec| !vec.is_empty()).collect()
}

struct ToVecs;

impl<T: Send> Visitor<T> for ToVecs {
    type Output = LinkedList<Vec<T>>;

    #[track_caller]
    fn visit<I: Drive<Item = T>>(self, iter: I) -> Self::Output {
        collect(iter)
    }
    #[track_caller]
    fn visit_indexed<I: DriveIndexed<Item = T>>(self, iter: I) -> Self::Output {
        let mut vec = Vec::new();
        in_place::extend(&mut vec, iter);
        LinkedList::from([vec])
    }
}
