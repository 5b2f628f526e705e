//! Parallel iterators over the items of a plain iterator.
//!
//! The iterator is behind a lock. A thread takes a batch of items under the lock and folds it outside. Each thread that
//! takes part keeps an open fork, whose job is to take part as well. So all idle threads take part.
//!
//! The iterator may fork while its thread holds the lock. A thread that waits for a fork runs only descendants of that
//! fork. The work of the other threads of the loop does not descend from it. So a thread never waits for a lock that it
//! holds itself.

use crate::{
    iter::{
        plumbing::{Consumer, Drive, Driven, Position, Progress, pair::drive_pair},
        terminal::for_each::ForEach,
    },
    sys::clock::Instant,
};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The duration of a batch that is neither too short nor too long: long relative to the cost of a lock.
const TARGET: Duration = Duration::from_micros(20);

/// The largest number of items in a batch.
const MAX_BATCH: usize = 4096;

/// Conversion of a plain iterator into a parallel one.
pub trait ParallelBridge: Sized {
    /// Returns a parallel iterator over the items of this iterator.
    ///
    /// One thread at a time calls [`next`](Iterator::next), and all threads process what it returns, in no particular
    /// order. [`IterBridge::ordered`] keeps the order. Prefer `par_iter` for collections that can be cut, and
    /// [`ParallelString`](crate::iter::ParallelString) for text.
    ///
    /// A thread takes several items at once if they are processed quickly, and if the iterator knows that it has that
    /// many: never more than the lower bound of [`size_hint`](Iterator::size_hint), or one. So `next` may wait for an
    /// item that depends on earlier items having been processed, as a channel's `next` may. [`IterBridge::max_batch`]
    /// allows larger batches.
    ///
    /// # Panics
    /// The method that runs the loop panics when `next` panics. No thread calls `next` again after that, nor after it
    /// has returned `None`.
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::sync::mpsc;
    ///
    /// let (sender, receiver) = mpsc::channel();
    /// std::thread::spawn(move || (1..=10).try_for_each(|i| sender.send(i)));
    /// assert_eq!(receiver.into_iter().par_bridge().map(|i| i * i).sum::<i32>(), 385);
    /// ```
    fn par_bridge(self) -> IterBridge<Self>;

    /// Returns a parallel iterator over the items of this iterator, in their order: short for
    /// `par_bridge().ordered()`, see [`IterBridge::ordered`].
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let lines = "b\na\nc".lines().par_bridge_ordered();
    /// assert_eq!(lines.map(str::to_owned).reduce(String::new, |a, b| a + &b), "bac");
    /// ```
    fn par_bridge_ordered(self) -> OrderedIterBridge<Self>;
}

impl<I: Iterator<Item: Send> + Send> ParallelBridge for I {
    fn par_bridge(self) -> IterBridge<I> {
        IterBridge { iter: self, max_batch: None }
    }
    fn par_bridge_ordered(self) -> OrderedIterBridge<I> {
        self.par_bridge().ordered()
    }
}

/// A parallel iterator over the items of a plain one, in no particular order.
/// [`par_bridge`](ParallelBridge::par_bridge) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct IterBridge<I> {
    iter: I,
    max_batch: Option<usize>,
}

impl<I> IterBridge<I> {
    /// Lets a thread take up to `max` items at once, whatever the iterator knows about their number.
    ///
    /// It does so if the items are processed quickly. Then the thread may hold items that it has not processed while it
    /// waits in `next`. With 1, a thread has processed an item before it takes the next item.
    ///
    /// # Panics
    /// Panics when `max` is zero.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let lines = "1\n2\n3".lines().par_bridge().max_batch(1000);
    /// assert_eq!(lines.map(|line| line.parse::<u32>().unwrap()).sum::<u32>(), 6);
    /// ```
    #[track_caller]
    pub fn max_batch(self, max: usize) -> Self {
        assert!(max > 0, "a batch has at least one item");
        Self { max_batch: Some(max), ..self }
    }

    /// Keeps the order of the items: that in which the iterator returns them. So `collect` has the order of the plain
    /// iterator, and `find_first` finds the first item.
    ///
    /// # Complexity
    /// A thread folds each batch for itself, unless it takes two batches in a row. So there are more folders than
    /// without this: closures such as the closure of [`map_init`](crate::iter::ParallelIterator) are called more often.
    /// A result is held back until all results in front of it are available.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let letters = ["a", "b", "c"].into_iter().par_bridge().ordered().map(str::to_owned);
    /// assert_eq!(letters.reduce(String::new, |a, b| a + &b), "abc");
    /// ```
    pub fn ordered(self) -> OrderedIterBridge<I> {
        OrderedIterBridge(self)
    }
}

/// A parallel iterator over the items of a plain one, in their order. [`IterBridge::ordered`] returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct OrderedIterBridge<I>(IterBridge<I>);

/// A plain iterator that threads share.
struct Shared<I> {
    state: Mutex<State<I>>,
    max_batch: Option<usize>,
}

struct State<I> {
    /// `None` once it has ended or panicked.
    iter: Option<I>,
    /// The number of batches that were taken.
    batches: u64,
}

impl<I: Iterator> Shared<I> {
    fn new(bridge: IterBridge<I>) -> Self {
        Self { state: Mutex::new(State { iter: Some(bridge.iter), batches: 0 }), max_batch: bridge.max_batch }
    }

    fn has_ended(&self) -> bool {
        self.lock().iter.is_none()
    }

    /// Ends the loop for all threads.
    fn end(&self) {
        let iter = self.lock().iter.take();
        // Outside of the lock.
        drop(iter);
    }

    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The batches of one thread.
struct Batches<'a, I: Iterator> {
    shared: &'a Shared<I>,
    items: Vec<I::Item>,
    /// The length of the next batch.
    len: usize,
    since: Option<Instant>,
}

impl<'a, I: Iterator> Batches<'a, I> {
    fn new(shared: &'a Shared<I>) -> Self {
        Self { shared, items: Vec::new(), len: 1, since: None }
    }

    /// Takes the next batch into `self.items`. Calls `taken` with its number, under the lock, and returns what that
    /// returns. Returns `None` if there are no items left.
    fn take<R>(&mut self, taken: impl FnOnce(u64) -> R) -> Option<R> {
        // Before the lock: the wait for it is no reason for shorter batches.
        if let Some(since) = self.since.take() {
            let elapsed = since.elapsed();
            if elapsed < TARGET {
                self.len = (2 * self.len).min(MAX_BATCH);
            } else if elapsed > 4 * TARGET {
                self.len = (self.len / 2).max(1);
            }
        }
        let mut state = self.shared.lock();
        self.since = Some(Instant::now());
        // Taken out, so that an iterator that panics is not called again.
        let mut iter = state.iter.take()?;
        let len = self.len.min(self.shared.max_batch.unwrap_or_else(|| iter.size_hint().0.max(1)));
        self.items.extend(iter.by_ref().take(len));
        if self.items.len() == len {
            state.iter = Some(iter);
        }
        if self.items.is_empty() {
            return None;
        }
        state.batches += 1;
        Some(taken(state.batches - 1))
    }
}

impl<I: Iterator<Item: Send> + Send> Drive for IterBridge<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        Members(&Shared::new(self)).drive(consumer, folder, at)
    }
}

/// All threads that take part in an unordered loop, from the next one on.
struct Members<'a, I>(&'a Shared<I>);

impl<I: Iterator<Item: Send> + Send> Drive for Members<'_, I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        if self.0.has_ended() || consumer.is_full(&folder, at) {
            return Progress::Folding(folder);
        }
        // There is no order, so all members have the same position.
        drive_pair(Member(self.0), Self(self.0), consumer, folder, (at, at))
    }
}

/// A thread that takes part in an unordered loop.
struct Member<'a, I>(&'a Shared<I>);

impl<I: Iterator<Item: Send> + Send> Drive for Member<'_, I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, mut folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        let mut batches = Batches::new(self.0);
        while batches.take(|_| ()).is_some() {
            folder = consumer.consume_iter(folder, batches.items.drain(..));
            if consumer.is_full(&folder, at) {
                self.0.end();
                break;
            }
        }
        Progress::Folding(folder)
    }
}

impl<I: Iterator<Item: Send> + Send> Drive for OrderedIterBridge<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        let shared = Shared::new(self.0);
        let ordered = Ordered { shared: &shared, consumer, rest: Mutex::new(at), runs: Mutex::new(BTreeMap::new()) };
        // What the folder contains is in front of the first batch.
        ordered.add(Run { start: 0, end: 0, result: consumer.complete(folder) });
        OrderedMembers(&ordered).drive(&ForEach(|()| ()), (), ());
        let runs = ordered.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut results = runs.into_values().map(|run| run.result);
        let first = results.next().expect("the run of the caller's folder");
        Progress::Complete(results.fold(first, |left, right| consumer.combine(left, right)))
    }
}

/// The data that the threads of an ordered loop share.
struct Ordered<'a, I: Iterator, C: Consumer<I::Item>> {
    shared: &'a Shared<I>,
    consumer: &'a C,
    /// The position of the items that no thread has taken. It is accessed under the lock of the iterator.
    rest: Mutex<C::Position>,
    /// The runs that are complete, by their ends. No two of them are neighbours.
    runs: Mutex<BTreeMap<u64, Run<C::Result>>>,
}

/// Neighbouring batches, by their numbers, and their result.
struct Run<R> {
    start: u64,
    end: u64,
    result: R,
}

impl<I: Iterator, C: Consumer<I::Item>> Ordered<'_, I, C> {
    /// Adds a run, once it is combined with its neighbours. That happens outside of the lock, as it may take long.
    fn add(&self, mut run: Run<C::Result>) {
        loop {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            let left = runs.remove(&run.start);
            let right = match runs.range(run.end + 1..).next() {
                Some((&end, right)) if right.start == run.end => runs.remove(&end),
                _ => None,
            };
            if left.is_none() && right.is_none() {
                runs.insert(run.end, run);
                return;
            }
            drop(runs);
            if let Some(left) = left {
                run = Run { start: left.start, result: self.consumer.combine(left.result, run.result), ..run };
            }
            if let Some(right) = right {
                run = Run { end: right.end, result: self.consumer.combine(run.result, right.result), ..run };
            }
        }
    }

    /// Returns the positions of the next batch and of those after it. The caller has the lock of the iterator.
    fn next_position(&self) -> (C::Position, C::Position) {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        // A small part of what is left, so that there are positions for millions of batches.
        let (here, after) = rest.split_at(1, 1 << 20);
        *rest = after;
        (here, after)
    }
}

/// All threads that take part in an ordered loop, from the next one on.
struct OrderedMembers<'a, I: Iterator, C: Consumer<I::Item>>(&'a Ordered<'a, I, C>);

impl<I: Iterator<Item: Send> + Send, C: Consumer<I::Item>> Drive for OrderedMembers<'_, I, C> {
    type Item = ();

    fn drive<U: Consumer<()>>(
        self,
        consumer: &U,
        folder: U::Folder,
        at: U::Position,
    ) -> Progress<U::Folder, U::Result> {
        if self.0.shared.has_ended() {
            return Progress::Folding(folder);
        }
        drive_pair(OrderedMember(self.0), Self(self.0), consumer, folder, (at, at))
    }
}

/// A thread that takes part in an ordered loop. It yields no items, as its results are in [`Ordered`].
struct OrderedMember<'a, I: Iterator, C: Consumer<I::Item>>(&'a Ordered<'a, I, C>);

impl<I: Iterator<Item: Send> + Send, C: Consumer<I::Item>> Drive for OrderedMember<'_, I, C> {
    type Item = ();

    fn drive<U: Consumer<()>>(self, _: &U, unit: U::Folder, _: U::Position) -> Progress<U::Folder, U::Result> {
        let Ordered { shared, consumer, .. } = *self.0;
        let mut batches = Batches::new(shared);
        let mut current: Option<(u64, u64, C::Folder)> = None;
        while let Some((number, (here, after))) = batches.take(|number| (number, self.0.next_position())) {
            let (start, folder) = match current.take() {
                Some((start, end, folder)) if end == number => (start, folder),
                other => {
                    self.complete(other);
                    (number, consumer.folder(here))
                }
            };
            let folder = consumer.consume_iter(folder, batches.items.drain(..));
            let is_full = consumer.is_full(&folder, after);
            current = Some((start, number + 1, folder));
            if is_full {
                shared.end();
                break;
            }
        }
        self.complete(current);
        Progress::Folding(unit)
    }
}

impl<I: Iterator, C: Consumer<I::Item>> OrderedMember<'_, I, C> {
    fn complete(&self, run: Option<(u64, u64, C::Folder)>) {
        if let Some((start, end, folder)) = run {
            self.0.add(Run { start, end, result: self.0.consumer.complete(folder) });
        }
    }
}
