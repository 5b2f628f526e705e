//! `Option` and `Result` of a collection, and `()`.

use crate::{
    iter::{
        collect::{FromParallelIterator, ParallelExtend},
        convert::IntoParallelIterator,
        plumbing::{Consumer, Drive, Driven, bridge::run},
        terminal::for_each::ForEach,
    },
    sys::sync::{AtomicBool, Mutex, Ordering, lock},
};
use std::sync::PoisonError;

/// Collects the values. If an item is an `Err`, the threads stop within a block, and the result is one of the errors,
/// not necessarily the first one.
///
/// ```
/// use anabranch::prelude::*;
///
/// let numbers = ["1", "2"].par_iter().map(|text| text.parse::<i32>()).collect::<Result<Vec<_>, _>>();
/// assert_eq!(numbers, Ok(vec![1, 2]));
/// assert!(["1", "x"].par_iter().map(|text| text.parse::<i32>()).collect::<Result<Vec<_>, _>>().is_err());
/// ```
impl<C, T, E> FromParallelIterator<Result<T, E>> for Result<C, E>
where
    C: FromParallelIterator<T>,
    T: Send,
    E: Send,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = Result<T, E>>>(items: I) -> Self {
        let failure = Failure::new();
        let values = Values { base: items.into_par_iter(), failure: &failure, split: |item| item };
        let collection = C::from_par_iter(values);
        failure.into_inner().map_or(Ok(collection), Err)
    }
}

/// Collects the values. If an item is `None`, the threads stop within a block, and the result is `None`.
///
/// ```
/// use anabranch::prelude::*;
///
/// let half = |number: &i32| (number % 2 == 0).then_some(number / 2);
/// assert_eq!([2, 4].par_iter().map(half).collect::<Option<Vec<_>>>(), Some(vec![1, 2]));
/// assert_eq!([2, 3].par_iter().map(half).collect::<Option<Vec<_>>>(), None);
/// ```
impl<C, T> FromParallelIterator<Option<T>> for Option<C>
where
    C: FromParallelIterator<T>,
    T: Send,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = Option<T>>>(items: I) -> Self {
        let failure = Failure::new();
        let values = Values { base: items.into_par_iter(), failure: &failure, split: |item: Option<T>| item.ok_or(()) };
        let collection = C::from_par_iter(values);
        (!failure.is_set()).then_some(collection)
    }
}

/// A failure that a thread found.
struct Failure<E> {
    is_set: AtomicBool,
    error: Mutex<Option<E>>,
}

impl<E> Failure<E> {
    fn new() -> Self {
        Self { is_set: AtomicBool::new(false), error: Mutex::new(None) }
    }

    #[inline]
    fn is_set(&self) -> bool {
        // Relaxed: it only tells the others to stop. The mutex orders the accesses to the error.
        self.is_set.load(Ordering::Relaxed)
    }

    /// Keeps `error` if it is the first one.
    #[cold]
    fn set(&self, error: E) {
        self.is_set.store(true, Ordering::Relaxed);
        let mut first = lock(&self.error);
        if first.is_none() {
            *first = Some(error);
        }
    }

    fn into_inner(self) -> Option<E> {
        self.error.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The values of the items of `base`, up to a failure.
struct Values<'a, I, E, S> {
    base: I,
    failure: &'a Failure<E>,
    /// Makes a value or an error of an item.
    split: S,
}

impl<I, T, E, S> Drive for Values<'_, I, E, S>
where
    I: Drive,
    S: Fn(I::Item) -> Result<T, E> + Sync + Send,
    T: Send,
    E: Send,
{
    type Item = T;

    fn drive<C: Consumer<T>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, T> {
        let Self { base, failure, split } = self;
        base.drive(&ValuesConsumer { base: consumer, failure, split: &split }, folder, at)
    }
}

struct ValuesConsumer<'a, C, E, S> {
    base: &'a C,
    failure: &'a Failure<E>,
    split: &'a S,
}

impl<I, T, E, S, C> Consumer<I> for ValuesConsumer<'_, C, E, S>
where
    C: Consumer<T>,
    S: Fn(I) -> Result<T, E> + Sync,
    E: Send,
{
    type Folder = C::Folder;
    type Result = C::Result;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    #[inline]
    fn folder(&self, at: C::Position) -> C::Folder {
        self.base.folder(at)
    }
    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = I>) -> C::Folder {
        let value = |item| (self.split)(item).map_err(|error| self.failure.set(error)).ok();
        self.base.consume_iter(folder, items.map_while(value))
    }
    #[inline]
    fn complete(&self, folder: C::Folder) -> C::Result {
        self.base.complete(folder)
    }
    #[inline]
    fn combine(&self, left: C::Result, right: C::Result) -> C::Result {
        self.base.combine(left, right)
    }
    #[inline]
    fn is_full(&self, folder: &C::Folder, rest: C::Position) -> bool {
        self.failure.is_set() || self.base.is_full(folder, rest)
    }
}

/// Runs the iterator and drops the items: for functions that are called for their effects, and for
/// `Result<(), E>`.
///
/// ```
/// use anabranch::prelude::*;
///
/// let check = |i: &i32| if *i < 3 { Ok(()) } else { Err(*i) };
/// assert_eq!([1, 2].par_iter().map(check).collect::<Result<(), i32>>(), Ok(()));
/// assert_eq!([1, 2, 3].par_iter().map(check).collect::<Result<(), i32>>(), Err(3));
/// ```
impl FromParallelIterator<()> for () {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = ()>>(items: I) {
        run(items.into_par_iter(), &ForEach(|()| ()), ());
    }
}

/// Runs the iterator and drops the items.
impl ParallelExtend<()> for () {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = ()>>(&mut self, items: I) {
        run(items.into_par_iter(), &ForEach(|()| ()), ());
    }
}
