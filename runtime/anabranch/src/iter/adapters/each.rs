//! Adapters that change each item on its own and keep no state:
//! [`inspect`](crate::iter::ParallelIterator::inspect), [`update`](crate::iter::ParallelIterator::update),
//! [`copied`](crate::iter::ParallelIterator::copied) and [`cloned`](crate::iter::ParallelIterator::cloned).
//!
//! They are [`Each`] with different steps. `map` is a type of its own, because its producer uses the iterator of std.

use crate::iter::plumbing::{Consumer, Drive, DriveIndexed, Driven, Producer, Visitor, delegate};

/// How an item changes.
pub trait Step<T>: Sync + Send {
    /// The type of the new item.
    type Output: Send;

    /// Returns what the item becomes.
    fn apply(&self, item: T) -> Self::Output;
}

/// Changes each item with a [`Step`].
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Each<I, S> {
    base: I,
    step: S,
}

impl<I, S> Each<I, S> {
    fn new(base: I, step: S) -> Self {
        Self { base, step }
    }
}

/// Passes a reference to each item to a closure.
#[derive(Clone)]
pub struct InspectItem<F>(F);

impl<T: Send, F: Fn(&T) + Sync + Send> Step<T> for InspectItem<F> {
    type Output = T;

    #[inline]
    fn apply(&self, item: T) -> T {
        (self.0)(&item);
        item
    }
}

/// Passes a mutable reference to each item to a closure.
#[derive(Clone)]
pub struct UpdateItem<F>(F);

impl<T: Send, F: Fn(&mut T) + Sync + Send> Step<T> for UpdateItem<F> {
    type Output = T;

    #[inline]
    fn apply(&self, mut item: T) -> T {
        (self.0)(&mut item);
        item
    }
}

/// Copies each item.
#[derive(Debug, Clone)]
pub struct CopyItem;

impl<T: Copy + Send> Step<&T> for CopyItem {
    type Output = T;

    #[inline]
    fn apply(&self, item: &T) -> T {
        *item
    }
}

/// Clones each item.
#[derive(Debug, Clone)]
pub struct CloneItem;

impl<T: Clone + Send> Step<&T> for CloneItem {
    type Output = T;

    #[inline]
    fn apply(&self, item: &T) -> T {
        item.clone()
    }
}

/// Shows each item to a closure. [`ParallelIterator::inspect`](crate::iter::ParallelIterator::inspect) returns it.
pub type Inspect<I, F> = Each<I, InspectItem<F>>;

/// Changes each item in place. [`ParallelIterator::update`](crate::iter::ParallelIterator::update) returns it.
pub type Update<I, F> = Each<I, UpdateItem<F>>;

/// Copies each item. [`ParallelIterator::copied`](crate::iter::ParallelIterator::copied) returns it.
pub type Copied<I> = Each<I, CopyItem>;

/// Clones each item. [`ParallelIterator::cloned`](crate::iter::ParallelIterator::cloned) returns it.
pub type Cloned<I> = Each<I, CloneItem>;

impl<I, F> Inspect<I, F> {
    pub(in crate::iter) fn inspect(base: I, inspect: F) -> Self {
        Self::new(base, InspectItem(inspect))
    }
}

impl<I, F> Update<I, F> {
    pub(in crate::iter) fn update(base: I, update: F) -> Self {
        Self::new(base, UpdateItem(update))
    }
}

impl<I> Copied<I> {
    pub(in crate::iter) fn copied(base: I) -> Self {
        Self::new(base, CopyItem)
    }
}

impl<I> Cloned<I> {
    pub(in crate::iter) fn cloned(base: I) -> Self {
        Self::new(base, CloneItem)
    }
}

debug_by_base!(Each<I, S>);

impl<I: Drive, S: Step<I::Item>> Drive for Each<I, S> {
    type Item = S::Output;

    fn drive<C: Consumer<S::Output>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, S::Output> {
        self.base.drive(&EachConsumer { base: consumer, step: &self.step }, folder, at)
    }
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
    fn accept<V: Visitor<S::Output>>(self, visitor: V) -> V::Output {
        self.base.accept(EachVisitor { visitor, step: self.step })
    }
}

struct EachConsumer<'a, C, S> {
    base: &'a C,
    step: &'a S,
}

impl<T, C: Consumer<S::Output>, S: Step<T>> Consumer<T> for EachConsumer<'_, C, S> {
    delegate!(C, self => self.base);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = T>) -> C::Folder {
        self.base.consume_iter(folder, items.map(|item| self.step.apply(item)))
    }
}

struct EachVisitor<V, S> {
    visitor: V,
    step: S,
}

impl<T, V: Visitor<S::Output>, S: Step<T>> Visitor<T> for EachVisitor<V, S> {
    type Output = V::Output;

    fn visit<I: Drive<Item = T>>(self, base: I) -> V::Output {
        self.visitor.visit(Each::new(base, self.step))
    }
    fn visit_indexed<I: DriveIndexed<Item = T>>(self, base: I) -> V::Output {
        self.visitor.visit_indexed(Each::new(base, self.step))
    }
}

impl<I: DriveIndexed, S: Step<I::Item>> DriveIndexed for Each<I, S> {
    type Producer<'a>
        = EachProducer<'a, I::Producer<'a>, S>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        EachProducer { base: self.base.producer(), step: &self.step }
    }
}

/// A piece of an [`Each`].
pub struct EachProducer<'a, P, S> {
    base: P,
    step: &'a S,
}

impl<'a, P: Producer, S: Step<P::Item>> Producer for EachProducer<'a, P, S> {
    type Item = S::Output;
    type IntoIter = EachIter<'a, P::IntoIter, S>;

    const IS_EXACT: bool = P::IS_EXACT;

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, ..self }, Self { base: right, ..self })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        EachIter { base: self.base.into_iter(), step: self.step }
    }
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}

/// The iterator over a piece of an [`Each`].
pub struct EachIter<'a, I, S> {
    base: I,
    step: &'a S,
}

impl<I: Iterator, S: Step<I::Item>> Iterator for EachIter<'_, I, S> {
    type Item = S::Output;

    #[inline]
    fn next(&mut self) -> Option<S::Output> {
        self.base.next().map(|item| self.step.apply(item))
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
    #[inline]
    fn fold<B, F: FnMut(B, S::Output) -> B>(self, init: B, mut f: F) -> B {
        self.base.fold(init, |accumulator, item| f(accumulator, self.step.apply(item)))
    }
}

impl<I: DoubleEndedIterator, S: Step<I::Item>> DoubleEndedIterator for EachIter<'_, I, S> {
    #[inline]
    fn next_back(&mut self) -> Option<S::Output> {
        self.base.next_back().map(|item| self.step.apply(item))
    }
    #[inline]
    fn rfold<B, F: FnMut(B, S::Output) -> B>(self, init: B, mut f: F) -> B {
        self.base.rfold(init, |accumulator, item| f(accumulator, self.step.apply(item)))
    }
}

impl<I: ExactSizeIterator, S: Step<I::Item>> ExactSizeIterator for EachIter<'_, I, S> {
    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
}
