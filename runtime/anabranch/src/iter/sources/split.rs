//! Splitting data with a closure.

use crate::iter::plumbing::{Consumer, Drive, Driven, Position, Progress, pair::drive_pair};
use std::{fmt, iter};

/// Returns a parallel iterator over parts of `data`.
///
/// `splitter` splits its argument in two, or returns it with `None` when it cannot be split further. It is called until
/// no part can be split further, whatever the pool, so the parts are the same in each run. `splitter` determines how
/// small they become: a part should take much longer than the call.
///
/// ```
/// use anabranch::iter::split;
/// use anabranch::prelude::*;
///
/// let halves = |range: std::ops::Range<u32>| {
///     let middle = range.start.midpoint(range.end);
///     if range.len() > 10 { (range.start..middle, Some(middle..range.end)) } else { (range, None) }
/// };
/// let sum: u32 = split(0..1000, halves).map(|part| part.sum::<u32>()).sum();
/// assert_eq!(sum, 499_500);
/// ```
pub fn split<D, S>(data: D, splitter: S) -> Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    Split { data, splitter }
}

/// A parallel iterator over parts of some data. [`split`] returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Split<D, S> {
    data: D,
    splitter: S,
}

impl<D: fmt::Debug, S> fmt::Debug for Split<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Split").field("data", &self.data).finish_non_exhaustive()
    }
}

impl<D, S> Drive for Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync + Send,
{
    type Item = D;

    fn drive<C: Consumer<D>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, D> {
        Part { data: self.data, splitter: &self.splitter }.drive(consumer, folder, at)
    }
}

struct Part<'a, D, S> {
    data: D,
    splitter: &'a S,
}

impl<D, S> Drive for Part<'_, D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    type Item = D;

    fn drive<C: Consumer<D>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, D> {
        if consumer.is_full(&folder, at) {
            return Progress::Folding(folder);
        }
        let splitter = self.splitter;
        match splitter(self.data) {
            (data, None) => Progress::Folding(consumer.consume_iter(folder, iter::once(data))),
            (left, Some(right)) => {
                let (left, right) = (Self { data: left, splitter }, Self { data: right, splitter });
                drive_pair(left, right, consumer, folder, at.split_at(1, 2))
            }
        }
    }
}
