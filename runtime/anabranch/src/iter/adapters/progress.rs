//! [`progress`](crate::iter::ParallelIterator::progress).
//!
//! A block may be as short as one item of some microseconds, and a report is as expensive as an update of shared
//! counters. So a piece adds up its blocks, and reports when [`INTERVAL`] has passed. A producer has no place for a
//! sum, so its iterators report at their ends.

use crate::{
    iter::plumbing::{Consumer, Drive, DriveIndexed, Driven, Producer, Progress, Visitor},
    sys::clock::Instant,
};
use std::{mem, time::Duration};

/// The time between two reports of a piece.
const INTERVAL: Duration = Duration::from_millis(1);

/// Reports how many items have been consumed.
/// [`ParallelIterator::progress`](crate::iter::ParallelIterator::progress) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Reported<I, F> {
    base: I,
    report: F,
}

impl<I, F> Reported<I, F> {
    pub(in crate::iter) fn new(base: I, report: F) -> Self {
        Self { base, report }
    }
}

debug_by_base!(Reported<I, F>);

impl<I: Drive, F: Fn(usize) + Sync + Send> Drive for Reported<I, F> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        let reported = ReportedConsumer { base: consumer, report: &self.report };
        let folder = ReportedFolder { base: folder, count: 0, since: None };
        match self.base.drive(&reported, folder, at) {
            Progress::Folding(folder) => Progress::Folding(reported.finish(folder)),
            Progress::Complete(result) => Progress::Complete(result),
        }
    }
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
    fn accept<V: Visitor<I::Item>>(self, visitor: V) -> V::Output {
        self.base.accept(ReportedVisitor { visitor, report: self.report })
    }
}

struct ReportedConsumer<'a, C, F> {
    base: &'a C,
    report: &'a F,
}

struct ReportedFolder<F> {
    base: F,
    /// The number of items that were not reported yet.
    count: usize,
    /// When the piece reported last.
    since: Option<Instant>,
}

impl<C, F: Fn(usize)> ReportedConsumer<'_, C, F> {
    /// Reports what is left.
    #[inline]
    fn finish<B>(&self, folder: ReportedFolder<B>) -> B {
        if folder.count > 0 {
            (self.report)(folder.count);
        }
        folder.base
    }
}

impl<T, C: Consumer<T>, F: Fn(usize) + Sync> Consumer<T> for ReportedConsumer<'_, C, F> {
    type Folder = ReportedFolder<C::Folder>;
    type Result = C::Result;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    #[inline]
    fn folder(&self, at: C::Position) -> Self::Folder {
        ReportedFolder { base: self.base.folder(at), count: 0, since: None }
    }
    #[inline]
    fn consume_iter(&self, mut folder: Self::Folder, items: impl Iterator<Item = T>) -> Self::Folder {
        let mut count = folder.count;
        folder.base = self.base.consume_iter(folder.base, items.inspect(|_| count += 1));
        let now = Instant::now();
        if count > 0 && folder.since.is_none_or(|since| now.duration_since(since) >= INTERVAL) {
            (self.report)(mem::take(&mut count));
            folder.since = Some(now);
        }
        ReportedFolder { count, ..folder }
    }
    #[inline]
    fn complete(&self, folder: Self::Folder) -> C::Result {
        self.base.complete(self.finish(folder))
    }
    #[inline]
    fn combine(&self, left: C::Result, right: C::Result) -> C::Result {
        self.base.combine(left, right)
    }
    #[inline]
    fn is_full(&self, folder: &Self::Folder, rest: C::Position) -> bool {
        self.base.is_full(&folder.base, rest)
    }
}

struct ReportedVisitor<V, F> {
    visitor: V,
    report: F,
}

impl<T, V: Visitor<T>, F: Fn(usize) + Sync + Send> Visitor<T> for ReportedVisitor<V, F> {
    type Output = V::Output;

    fn visit<I: Drive<Item = T>>(self, base: I) -> V::Output {
        self.visitor.visit(Reported::new(base, self.report))
    }
    fn visit_indexed<I: DriveIndexed<Item = T>>(self, base: I) -> V::Output {
        self.visitor.visit_indexed(Reported::new(base, self.report))
    }
}

impl<I: DriveIndexed, F: Fn(usize) + Sync + Send> DriveIndexed for Reported<I, F> {
    type Producer<'a>
        = ReportedProducer<'a, I::Producer<'a>, F>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        ReportedProducer { base: self.base.producer(), report: &self.report }
    }
}

/// A piece of a [`Reported`].
pub struct ReportedProducer<'a, P, F> {
    base: P,
    report: &'a F,
}

impl<'a, P: Producer, F: Fn(usize) + Sync> Producer for ReportedProducer<'a, P, F> {
    type Item = P::Item;
    type IntoIter = ReportedIter<'a, P::IntoIter, F>;

    const IS_EXACT: bool = P::IS_EXACT;

    fn len(&self) -> usize {
        self.base.len()
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(mid);
        (Self { base: left, ..self }, Self { base: right, ..self })
    }
    fn into_iter(self) -> Self::IntoIter {
        ReportedIter { base: self.base.into_iter(), count: Count { count: 0, report: self.report } }
    }
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}

/// The iterator over a piece of a [`Reported`]. It reports at its end, or when it is dropped earlier.
pub struct ReportedIter<'a, I, F: Fn(usize)> {
    base: I,
    count: Count<'a, F>,
}

struct Count<'a, F: Fn(usize)> {
    count: usize,
    report: &'a F,
}

impl<F: Fn(usize)> Count<'_, F> {
    fn report(&mut self) {
        let count = mem::take(&mut self.count);
        if count > 0 {
            (self.report)(count);
        }
    }

    /// Counts an item, or reports at the end.
    #[inline]
    fn see<T>(&mut self, item: Option<T>) -> Option<T> {
        match item {
            Some(_) => self.count += 1,
            None => self.report(),
        }
        item
    }
}

impl<F: Fn(usize)> Drop for Count<'_, F> {
    fn drop(&mut self) {
        // A second panic would abort the process.
        if !std::thread::panicking() {
            self.report();
        }
    }
}

impl<I: Iterator, F: Fn(usize)> Iterator for ReportedIter<'_, I, F> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.count.see(self.base.next())
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
    #[inline]
    fn fold<B, G: FnMut(B, I::Item) -> B>(mut self, init: B, f: G) -> B {
        // Not `self.count`, as the loop would write that one for each item.
        let mut count = 0;
        let result = self.base.inspect(|_| count += 1).fold(init, f);
        self.count.count += count;
        self.count.report();
        result
    }
}

impl<I: DoubleEndedIterator, F: Fn(usize)> DoubleEndedIterator for ReportedIter<'_, I, F> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        self.count.see(self.base.next_back())
    }
    #[inline]
    fn rfold<B, G: FnMut(B, I::Item) -> B>(mut self, init: B, f: G) -> B {
        let mut count = 0;
        let result = self.base.rev().inspect(|_| count += 1).fold(init, f);
        self.count.count += count;
        self.count.report();
        result
    }
}

impl<I: ExactSizeIterator, F: Fn(usize)> ExactSizeIterator for ReportedIter<'_, I, F> {
    fn len(&self) -> usize {
        self.base.len()
    }
}
