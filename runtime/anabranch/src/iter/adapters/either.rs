//! [`Either`] of two parallel iterators over items of the same type.

use crate::iter::plumbing::{Consumer, Drive, DriveIndexed, Driven, Producer, Visitor};
use either::Either::{self, Left, Right};

/// A parallel iterator over the items of whichever it is.
///
/// ```
/// use anabranch::{iter::Either, prelude::*};
///
/// fn in_order(items: &[u32], backwards: bool) -> impl IndexedParallelIterator<Item = &u32> {
///     let items = items.par_iter();
///     if backwards { Either::Left(items.rev()) } else { Either::Right(items) }
/// }
///
/// assert_eq!(in_order(&[1, 2, 3], true).collect::<Vec<_>>(), [&3, &2, &1]);
/// assert_eq!(in_order(&[1, 2, 3], false).collect::<Vec<_>>(), [&1, &2, &3]);
/// ```
impl<L, R> Drive for Either<L, R>
where
    L: Drive,
    R: Drive<Item = L::Item>,
{
    type Item = L::Item;

    fn drive<C: Consumer<L::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, L::Item> {
        match self {
            Left(iter) => iter.drive(consumer, folder, at),
            Right(iter) => iter.drive(consumer, folder, at),
        }
    }
    fn opt_len(&self) -> Option<usize> {
        match self {
            Left(iter) => iter.opt_len(),
            Right(iter) => iter.opt_len(),
        }
    }
    fn accept<V: Visitor<L::Item>>(self, visitor: V) -> V::Output {
        match self {
            Left(iter) => iter.accept(visitor),
            Right(iter) => iter.accept(visitor),
        }
    }
}

impl<L, R> DriveIndexed for Either<L, R>
where
    L: DriveIndexed,
    R: DriveIndexed<Item = L::Item>,
{
    type Producer<'a>
        = Either<L::Producer<'a>, R::Producer<'a>>
    where
        Self: 'a;

    fn len(&self) -> usize {
        match self {
            Left(iter) => iter.len(),
            Right(iter) => iter.len(),
        }
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        match self {
            Left(iter) => Left(iter.producer()),
            Right(iter) => Right(iter.producer()),
        }
    }
}

impl<P, Q> Producer for Either<P, Q>
where
    P: Producer,
    Q: Producer<Item = P::Item>,
{
    type Item = P::Item;
    type IntoIter = Either<P::IntoIter, Q::IntoIter>;

    const IS_EXACT: bool = P::IS_EXACT && Q::IS_EXACT;

    fn len(&self) -> usize {
        match self {
            Left(piece) => piece.len(),
            Right(piece) => piece.len(),
        }
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        match self {
            Left(piece) => {
                let (left, right) = piece.split_at(mid);
                (Left(left), Left(right))
            }
            Right(piece) => {
                let (left, right) = piece.split_at(mid);
                (Right(left), Right(right))
            }
        }
    }
    fn into_iter(self) -> Self::IntoIter {
        match self {
            Left(piece) => Left(piece.into_iter()),
            Right(piece) => Right(piece.into_iter()),
        }
    }
    fn min_len(&self) -> usize {
        match self {
            Left(piece) => piece.min_len(),
            Right(piece) => piece.min_len(),
        }
    }
    fn max_len(&self) -> usize {
        match self {
            Left(piece) => piece.max_len(),
            Right(piece) => piece.max_len(),
        }
    }
}
