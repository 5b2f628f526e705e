//! Collecting into two collections at once.
//!
//! The left collection gets a parallel iterator. When it drives that iterator with its consumer, the right collection
//! gets another parallel iterator, which remembers the left consumer. When the right collection drives that iterator
//! with its own consumer, both consumers are known, and the base is driven with the pair of them.

use crate::iter::{
    collect::{FromParallelIterator, ParallelExtend},
    convert::IntoParallelIterator,
    plumbing::{Consumer, Drive, Driven, Position, Progress},
};
use either::Either;

/// Tells to which of two collections an item goes, or parts of it.
pub(in crate::iter) trait Route<T>: Sync + Send {
    /// The items of the left collection.
    type Left: Send;
    /// The items of the right collection.
    type Right: Send;
    /// Whether each item goes to both.
    const BOTH: bool = false;

    /// Returns what the collections get.
    fn route(&self, item: T) -> (Option<Self::Left>, Option<Self::Right>);
}

/// Splits pairs.
pub(in crate::iter) struct Unzip;

impl<A: Send, B: Send> Route<(A, B)> for Unzip {
    type Left = A;
    type Right = B;
    const BOTH: bool = true;

    #[inline]
    fn route(&self, (a, b): (A, B)) -> (Option<A>, Option<B>) {
        (Some(a), Some(b))
    }
}

/// Separates the items for which a predicate holds from the others.
pub(in crate::iter) struct Partition<P>(pub(in crate::iter) P);

impl<T: Send, P: Fn(&T) -> bool + Sync + Send> Route<T> for Partition<P> {
    type Left = T;
    type Right = T;

    #[inline]
    fn route(&self, item: T) -> (Option<T>, Option<T>) {
        if (self.0)(&item) { (Some(item), None) } else { (None, Some(item)) }
    }
}

/// Maps each item to one of the sides.
pub(in crate::iter) struct PartitionMap<P>(pub(in crate::iter) P);

impl<T, L: Send, R: Send, P: Fn(T) -> Either<L, R> + Sync + Send> Route<T> for PartitionMap<P> {
    type Left = L;
    type Right = R;

    #[inline]
    fn route(&self, item: T) -> (Option<L>, Option<R>) {
        match (self.0)(item) {
            Either::Left(left) => (Some(left), None),
            Either::Right(right) => (None, Some(right)),
        }
    }
}

/// Adds the items of `base` to both collections.
#[track_caller]
pub(in crate::iter) fn extend<I, W, A, B>(base: I, route: W, left: &mut A, right: &mut B)
where
    I: Drive,
    W: Route<I::Item>,
    A: ParallelExtend<W::Left>,
    B: ParallelExtend<W::Right> + Send,
{
    left.par_extend(Left { base, route, right });
}

/// Makes two collections of the items of `base`.
#[track_caller]
pub(in crate::iter) fn collect<I, W, A, B>(base: I, route: W) -> (A, B)
where
    I: Drive,
    W: Route<I::Item>,
    A: ParallelExtend<W::Left> + Default,
    B: ParallelExtend<W::Right> + Default + Send,
{
    let (mut left, mut right) = (A::default(), B::default());
    extend(base, route, &mut left, &mut right);
    (left, right)
}

/// The parallel iterator that the left collection gets.
struct Left<'a, I, W, B> {
    base: I,
    route: W,
    right: &'a mut B,
}

impl<I, W, B> Drive for Left<'_, I, W, B>
where
    I: Drive,
    W: Route<I::Item>,
    B: ParallelExtend<W::Right> + Send,
{
    type Item = W::Left;

    fn drive<C: Consumer<W::Left>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, W::Left> {
        let Self { base, route, right } = self;
        // The folder need not be `Send`, and the iterator for the right side has to be.
        let before = consumer.complete(folder);
        let mut result = None;
        right.par_extend(Right { base, route, left: consumer, left_at: at, left_result: &mut result });
        Progress::Complete(match result {
            Some(result) => consumer.combine(before, result),
            None => before,
        })
    }
    fn opt_len(&self) -> Option<usize> {
        if W::BOTH { self.base.opt_len() } else { None }
    }
}

/// The parallel iterator that the right collection gets.
struct Right<'a, I, W, C, P, R> {
    base: I,
    route: W,
    left: &'a C,
    left_at: P,
    left_result: &'a mut Option<R>,
}

impl<I, W, C> Drive for Right<'_, I, W, C, C::Position, C::Result>
where
    I: Drive,
    W: Route<I::Item>,
    C: Consumer<W::Left>,
{
    type Item = W::Right;

    fn drive<D: Consumer<W::Right>>(
        self,
        consumer: &D,
        folder: D::Folder,
        at: D::Position,
    ) -> Progress<D::Folder, D::Result> {
        let both = Both { left: self.left, right: consumer, route: &self.route };
        let folder = (self.left.folder(self.left_at), folder);
        match self.base.drive(&both, folder, BothAt(self.left_at, at)) {
            Progress::Folding((left, right)) => {
                *self.left_result = Some(self.left.complete(left));
                Progress::Folding(right)
            }
            Progress::Complete((left, right)) => {
                *self.left_result = Some(left);
                Progress::Complete(right)
            }
        }
    }
    fn opt_len(&self) -> Option<usize> {
        if W::BOTH { self.base.opt_len() } else { None }
    }
}

/// Folds items on both sides.
struct Both<'a, C, D, W> {
    left: &'a C,
    right: &'a D,
    route: &'a W,
}

#[derive(Clone, Copy)]
struct BothAt<A, B>(A, B);

impl<A: Position, B: Position> Position for BothAt<A, B> {
    #[inline]
    fn split_at(self, mid: usize, len: usize) -> (Self, Self) {
        let (left_a, right_a) = self.0.split_at(mid, len);
        let (left_b, right_b) = self.1.split_at(mid, len);
        (Self(left_a, left_b), Self(right_a, right_b))
    }
}

impl<T, C, D, W> Consumer<T> for Both<'_, C, D, W>
where
    W: Route<T>,
    C: Consumer<W::Left>,
    D: Consumer<W::Right>,
{
    type Folder = (C::Folder, D::Folder);
    type Result = (C::Result, D::Result);
    type Position = BothAt<C::Position, D::Position>;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC || D::IS_DETERMINISTIC;

    #[inline]
    fn folder(&self, at: Self::Position) -> Self::Folder {
        (self.left.folder(at.0), self.right.folder(at.1))
    }
    #[inline]
    fn consume_iter(&self, folder: Self::Folder, items: impl Iterator<Item = T>) -> Self::Folder {
        items.fold(folder, |(left, right), item| {
            let (to_left, to_right) = self.route.route(item);
            let left =
                if W::BOTH || to_left.is_some() { self.left.consume_iter(left, to_left.into_iter()) } else { left };
            let right = if W::BOTH || to_right.is_some() {
                self.right.consume_iter(right, to_right.into_iter())
            } else {
                right
            };
            (left, right)
        })
    }
    #[inline]
    fn complete(&self, (left, right): Self::Folder) -> Self::Result {
        (self.left.complete(left), self.right.complete(right))
    }
    #[inline]
    fn combine(&self, left: Self::Result, right: Self::Result) -> Self::Result {
        (self.left.combine(left.0, right.0), self.right.combine(left.1, right.1))
    }
    #[inline]
    fn is_full(&self, (left, right): &Self::Folder, rest: Self::Position) -> bool {
        self.left.is_full(left, rest.0) && self.right.is_full(right, rest.1)
    }
}

/// Adds each item to one of two collections.
impl<L, R, X, Y> ParallelExtend<Either<L, R>> for (X, Y)
where
    L: Send,
    R: Send,
    X: ParallelExtend<L> + Send,
    Y: ParallelExtend<R> + Send,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = Either<L, R>>>(&mut self, items: I) {
        extend(items.into_par_iter(), PartitionMap(|item| item), &mut self.0, &mut self.1);
    }
}

/// Makes two collections, of the left items and of the right ones.
///
/// ```
/// use anabranch::{iter::Either, prelude::*};
///
/// let parse = |text: &&str| text.parse::<i32>().map_or_else(Either::Right, Either::Left);
/// let (numbers, errors): (Vec<_>, Vec<_>) = ["1", "x", "2"].par_iter().map(parse).collect();
/// assert_eq!((numbers, errors.len()), (vec![1, 2], 1));
/// ```
impl<L, R, X, Y> FromParallelIterator<Either<L, R>> for (X, Y)
where
    L: Send,
    R: Send,
    X: FromParallelIterator<L> + Send,
    Y: FromParallelIterator<R> + Send,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = Either<L, R>>>(items: I) -> Self {
        make(items.into_par_iter(), PartitionMap(|item| item))
    }
}

/// A collection that is extended once, which makes it.
struct Made<C>(Option<C>);

impl<C> Default for Made<C> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Send, C: FromParallelIterator<T>> ParallelExtend<T> for Made<C> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        self.0 = Some(C::from_par_iter(items));
    }
}

/// Makes two collections of the items of `base`.
#[track_caller]
pub(super) fn make<I, W, X, Y>(base: I, route: W) -> (X, Y)
where
    I: Drive,
    W: Route<I::Item>,
    X: FromParallelIterator<W::Left>,
    Y: FromParallelIterator<W::Right> + Send,
{
    let (left, right): (Made<X>, Made<Y>) = collect(base, route);
    let left = left.0.expect("the left collection was extended");
    (left, right.0.expect("the left collection did not consume its parallel iterator"))
}
