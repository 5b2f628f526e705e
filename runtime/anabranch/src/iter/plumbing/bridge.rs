//! The driver of the parallel iterators.
//!
//! A thread runs a piece block by block. While it runs a block, the rest of the piece is one open fork. A fork that no
//! thread takes costs about a nanosecond. The thread then goes on with the rest as if it had never been forked, with
//! the same folder. So a loop makes about one folder for each steal.
//!
//! The first block has one item, so two heavy items are two pieces. Each further block multiplies the number of items
//! that have been run by `GROWTH`. As long as no thread takes work or requests it, there is nothing to balance, and the
//! only thing that matters is that a block is short relative to the time that the loop has already taken. So a short
//! loop reads no clock.
//!
//! As soon as a thread requests work, or the loop has become long, the thread *shares*: it cuts the rest in half, forks
//! the right half, and reads the clock to find blocks of a length that takes `blocks::TARGET` (lazy binary splitting:
//! Tzannes, Caragea, Barua, Vishkin 2010).
//!
//! A thief does so from the beginning: it forks the right half of what it has stolen. So the next thief, perhaps the
//! thread it has stolen from, finds a large piece of work too.
//!
//! Tried and dropped. (1) Splitting on demand only, without forks: then no thief could raid the rest of a loop, and two
//! items that wait for each other hung. (2) Forking halves down to the first item, and running each half that was not
//! stolen in blocks of 16 items: it keeps pieces balanced before anything is stolen, at the price of 60 ns for a loop
//! of a hundred items. (3) A thief that begins at the right end of what it has stolen, so that a long last item begins
//! early: a loop of 100,000 quick items took 1.5 times as long, and a search left the front of the sequence.

use crate::{
    fork::join::{Job, Outside, fork, join},
    iter::plumbing::{
        blocks::Blocks,
        consumer::{Consumer, Position, Progress},
        drive::Drive,
        producer::Producer,
    },
    pool::{handle::Pool, worker::Worker},
    trace::work_span,
};

/// The factor by which each block multiplies the number of items that a loop has run, as long as no thread requests
/// work.
const GROWTH: usize = 4;

/// The block length from which on a loop reads the clock.
const UNTIMED: usize = 4096;

/// The number of items of a block whose result is combined in a fixed order.
const DETERMINISTIC_BLOCK: usize = 1024;

/// Runs `iter` into `consumer`, in the caller's pool or else in the default pool.
///
/// # Panics
/// Panics when the default pool cannot be created, when `iter` or `consumer` panics, and when a producer cuts itself
/// elsewhere than requested.
#[inline]
#[track_caller]
pub(in crate::iter) fn run<I, C>(iter: I, consumer: &C, at: C::Position) -> C::Result
where
    I: Drive,
    C: Consumer<I::Item>,
{
    if Worker::current().registry().is_none() {
        return run_outside(iter, consumer, at);
    }
    iter.drive(consumer, consumer.folder(at), at).finish(consumer)
}

/// Not in [`run`], so that a loop inside a pool does not save registers for it.
#[cold]
#[inline(never)]
#[track_caller]
fn run_outside<I, C>(iter: I, consumer: &C, at: C::Position) -> C::Result
where
    I: Drive,
    C: Consumer<I::Item>,
{
    let _guest = Pool::enter_from_outside();
    iter.drive(consumer, consumer.folder(at), at).finish(consumer)
}

/// Folds the items of `producer`, in parallel if other threads are idle. `at` is the position of the producer's items.
///
/// # Panics
/// If the producer's iterator or the consumer panics, resumes one of the panics once all started pieces have ended.
/// Panics when the producer cuts itself elsewhere than requested. Outside of any pool, also panics when the default
/// pool cannot be created.
#[inline]
pub fn bridge<P, C>(producer: P, consumer: &C, folder: C::Folder, at: C::Position) -> Progress<C::Folder, C::Result>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let piece = Piece { items: Counted::new(producer), at, consumer };
    if C::IS_DETERMINISTIC { piece.run_deterministic(folder) } else { piece.run(folder) }
}

/// Items and their number.
///
/// The driver relies on this number alone, which decreases with each cut. So a wrong implementation of [`Producer`]
/// cannot make a loop recurse deeper than the logarithm of the initial length. For slices and ranges the compiler sees
/// that the check of a cut always succeeds.
pub(in crate::iter) struct Counted<P> {
    pub(in crate::iter) items: P,
    pub(in crate::iter) len: usize,
}

impl<P: Producer> Counted<P> {
    #[inline]
    pub(in crate::iter) fn new(items: P) -> Self {
        Self { len: items.len(), items }
    }

    /// Splits as the producer does.
    ///
    /// # Panics
    /// Panics if the lengths of the parts are not those that [`Producer::split_at`] promises.
    #[inline]
    pub(in crate::iter) fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.items.split_at(mid);
        if P::IS_EXACT {
            let rest = self.len - mid;
            if left.len() != mid || right.len() != rest {
                wrong_cut(self.len, mid, left.len(), right.len());
            }
            return (Self { items: left, len: mid }, Self { items: right, len: rest });
        }
        let (left, right) = (Self::new(left), Self::new(right));
        if left.len < mid || left.len.checked_add(right.len) != Some(self.len) {
            wrong_cut(self.len, mid, left.len, right.len);
        }
        (left, right)
    }
}

#[cold]
#[inline(never)]
fn wrong_cut(len: usize, mid: usize, left: usize, right: usize) -> ! {
    panic!("a producer of length {len}, split at {mid}, gave pieces of {left} and {right}")
}

/// A part of a loop.
struct Piece<'a, P, C: Consumer<P::Item>>
where
    P: Producer,
{
    items: Counted<P>,
    at: C::Position,
    consumer: &'a C,
}

impl<P: Producer, C: Consumer<P::Item>> Job for Piece<'_, P, C> {
    type Output = C::Result;

    const IS_REST: bool = true;

    /// Runs a piece on the thread that has stolen it.
    #[inline]
    fn run(self, _: bool) -> C::Result {
        self.run_alone(true)
    }
}

/// The rest of a piece of which no other thread has a part.
struct Rest<'a, P: Producer, C: Consumer<P::Item>>(Piece<'a, P, C>);

impl<P: Producer, C: Consumer<P::Item>> Job for Rest<'_, P, C> {
    type Output = C::Result;

    /// [`Piece::run`] looks for requests before each block.
    const LOOKS_FOR_REQUESTS: bool = false;
    const STAYS_IN_REGISTERS: bool = true;

    #[inline]
    fn run(self, is_migrated: bool) -> C::Result {
        Job::run(self.0, is_migrated)
    }
}

/// The outcome of the fork of the rest.
enum Next<S, F, R> {
    /// No thread has taken the rest.
    Rest(S, F),
    /// A thread has taken it, and this is the result of all.
    Complete(R),
}

impl<'a, P: Producer, C: Consumer<P::Item>> Piece<'a, P, C> {
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (at_left, at_right) = self.at.split_at(mid, self.items.len);
        let (left, right) = self.items.split_at(mid);
        (Self { items: left, at: at_left, ..self }, Self { items: right, at: at_right, ..self })
    }

    /// Folds all items of the piece on this thread.
    #[inline]
    fn consume(self, folder: C::Folder) -> C::Folder {
        self.consumer.consume_iter(folder, self.items.items.into_iter())
    }

    /// Like [`consume`](Self::consume), compiled once for all long blocks.
    #[inline(never)]
    fn consume_out_of_line(self, folder: C::Folder) -> C::Folder {
        self.consume(folder)
    }

    /// Runs a piece of which no other thread has a part.
    #[inline]
    fn run(mut self, mut folder: C::Folder) -> Progress<C::Folder, C::Result> {
        let min = self.items.items.min_len().max(1);
        let most = longest_block(self.items.len).max(min);
        let (mut block, mut done) = (min, 0);
        if self.items.items.max_len() < self.items.len {
            return self.run_long((folder, block, done));
        }
        while self.items.len > block && self.items.len - block >= min {
            if block >= UNTIMED || Worker::current().compute.stack.is_requested() {
                return self.run_long((folder, block, done));
            }
            let consumer = self.consumer;
            let (front, rest) = self.split_at(block);
            let next = fork(
                move || front.consume(folder),
                Rest(rest),
                |folder, Rest(rest)| Next::Rest(rest, folder),
                |folder, result| Next::Complete(consumer.combine(consumer.complete(folder), result)),
                Never,
            );
            match next {
                Next::Rest(rest, next) => (self, folder) = (rest, next),
                Next::Complete(result) => return Progress::Complete(result),
            }
            if self.consumer.is_full(&folder, self.at) {
                return Progress::Folding(folder);
            }
            done += block;
            block = (done * (GROWTH - 1)).min(most);
        }
        Progress::Folding(self.consume(folder))
    }

    /// Goes on with a piece that is long, or when another thread requests work.
    ///
    /// Out of line, with arguments in memory, so that a short loop does not save registers for it.
    #[cold]
    #[inline(never)]
    fn run_long(self, (folder, block, done): (C::Folder, usize, usize)) -> Progress<C::Folder, C::Result> {
        if Worker::current().registry().is_none() {
            let _guest = Pool::enter_from_outside();
            return self.run(folder);
        }
        let is_requested = Worker::current().compute.stack.is_requested();
        let mut blocks = Blocks::new(self.items.items.min_len(), done);
        if !is_requested {
            blocks.block = block;
        }
        // A pool that measures work and span learns where the loop ends.
        let outer = Worker::current().trace.measures().then(work_span::open_forks);
        let progress = self.share(folder, &mut blocks, is_requested);
        if let Some(outer) = outer {
            work_span::close_forks(outer);
        }
        progress
    }

    /// Runs a piece of which other threads may have a part, or which is long. `is_requested`: it is cut in half at
    /// first.
    fn share(
        mut self,
        mut folder: C::Folder,
        blocks: &mut Blocks,
        mut is_requested: bool,
    ) -> Progress<C::Folder, C::Result> {
        let (min, max) = (self.items.items.min_len().max(1), self.items.items.max_len());
        let most = longest_block(self.items.len).min(max).max(min);
        loop {
            let len = self.items.len;
            if self.consumer.is_full(&folder, self.at) {
                return Progress::Folding(folder);
            }
            let halves = is_requested && len / 2 >= min && len > 1 && blocks.is_worth_halving(len);
            let cut = if halves { blocks.aligned(len / 2).max(min) } else { blocks.next(len).clamp(min, most) };
            if len <= cut || len - cut < min {
                return Progress::Folding(self.consume_out_of_line(folder));
            }
            let (offset, consumer) = (blocks.offset, self.consumer);
            let (left, right) = self.split_at(cut);
            let front = || match halves {
                true => {
                    Worker::current().fork_join().wake_helpers_for_loop(len - cut);
                    left.share(folder, blocks, false)
                }
                false => Progress::Folding(left.consume_out_of_line(folder)),
            };
            let next = fork(
                front,
                right,
                |left, right| match left {
                    Progress::Folding(folder) => Next::Rest(right, folder),
                    Progress::Complete(left) => Next::Complete(consumer.combine(left, right.run_alone(false))),
                },
                |left, right| Next::Complete(consumer.combine(left.finish(consumer), right)),
                Never,
            );
            blocks.offset = offset.wrapping_add(cut);
            match next {
                Next::Rest(rest, next) => (self, folder) = (rest, next),
                Next::Complete(result) => return Progress::Complete(result),
            }
            is_requested = Worker::current().compute.stack.is_requested();
        }
    }

    /// Runs a piece with a folder of its own. `is_requested`: it is cut in half at first.
    fn run_alone(self, is_requested: bool) -> C::Result {
        let consumer = self.consumer;
        let mut blocks = Blocks::new(self.items.items.min_len(), 0);
        let folder = consumer.folder(self.at);
        self.share(folder, &mut blocks, is_requested).finish(consumer)
    }

    /// Runs a piece whose results are combined along a tree that depends on the length alone.
    fn run_deterministic(self, folder: C::Folder) -> Progress<C::Folder, C::Result> {
        let consumer = self.consumer;
        // A new folder for each block: the caller's one may contain items.
        let before = consumer.complete(folder);
        Progress::Complete(consumer.combine(before, self.run_tree()))
    }

    fn run_tree(self) -> C::Result {
        let consumer = self.consumer;
        if self.items.len <= DETERMINISTIC_BLOCK {
            return consumer.complete(self.consume_with_own_folder());
        }
        // The largest power of two blocks that leaves something.
        let blocks = self.items.len.div_ceil(DETERMINISTIC_BLOCK);
        let mid = blocks.next_power_of_two() / 2 * DETERMINISTIC_BLOCK;
        let (left, right) = self.split_at(mid);
        if right.items.len == 0 {
            return consumer.complete(left.consume_with_own_folder());
        }
        let (left, right) = join(|| left.run_tree(), || right.run_tree());
        consumer.combine(left, right)
    }

    fn consume_with_own_folder(self) -> C::Folder {
        let folder = self.consumer.folder(self.at);
        if self.consumer.is_full(&folder, self.at) { folder } else { self.consume(folder) }
    }
}

/// Returns the length of the longest block of a piece: one and a half times the share of each of up to 16 threads.
///
/// However many items were cheap, the next ones may be expensive, and a thread that comes while a block runs can take
/// only what follows it. With one or two threads the growth of the blocks alone keeps to the limit.
#[inline]
fn longest_block(len: usize) -> usize {
    let doublings = Worker::current().compute.threads_log2.clamp(1, 4);
    (len - len / 4) >> (doublings - 1)
}

/// An `Outside` that never runs: a loop enters a pool before it forks.
pub(super) struct Never;

impl<A, J, R> Outside<A, J, R> for Never {
    #[cold]
    fn run(self, _: A, _: J) -> R {
        unreachable!("the loop has brought the thread into a pool")
    }
}
