//! The driver of the parallel loops: halving, and blocks that grow.
//!
//! A piece that is longer than a few blocks is cut in half and its right half forked. As long as it is not stolen, that
//! costs a nanosecond, and the right half is run afterwards as if it had never been forked, going on from the same
//! accumulator; so a loop makes about as many accumulators as there are steals. What is stolen is always the right half
//! of a piece, the biggest that is left.
//!
//! A short piece is run block by block, and between two blocks one load shows whether another thread asks for work;
//! then the rest is cut as well (lazy binary splitting: Tzannes, Caragea, Barua, Vishkin 2010). Blocks begin at one
//! item, so that two heavy items are two pieces, and double up to a few items, so that asking is cheap beside a cheap
//! item and quick beside a heavy one. Only long loops look at the clock, to find the number of items that makes asking
//! vanish in the noise.
//!
//! A short loop, which may well be one of millions in a recursion, keeps no record of its blocks. Halves are forked
//! down to the first item, and each half that comes back is as long as all that was done before it: where it is run as
//! one block, blocks double by themselves.
//!
//! An earlier driver split on demand only and forked nothing. Then the rest of a loop could not be raided, and two
//! items that wait for each other hung.

use crate::{
    fork::join::{Job, Outside, fork},
    iter::Splittable,
    pool::{handle::Pool, worker::Worker},
    sys::clock::Instant,
};
use std::time::Duration;

/// Up to here blocks double without a look at the clock.
const UNTIMED: usize = 16;

/// Loops up to this length never look at the clock: at a nanosecond an item it would be a tenth of the work.
const SHORT: usize = 4096;

/// A piece of at most this many blocks is not forked any further.
const BLOCKS_IN_A_LEAF: usize = 8;

/// How long a block should take: some hundred times the price of reading the clock, and short against the time in which
/// an idle thread gives up.
const TARGET: Duration = Duration::from_micros(10);

/// How long the blocks of a long loop are on this thread.
#[derive(Clone)]
struct Splitter {
    block: usize,
    /// Items since the clock was read.
    done: usize,
    since: Option<Instant>,
}

impl Splitter {
    fn new() -> Self {
        Self { block: 1, done: 0, since: None }
    }

    /// The length up to which a piece is not forked.
    #[inline]
    fn leaf(&self) -> usize {
        if self.block < UNTIMED { self.block } else { self.block.saturating_mul(BLOCKS_IN_A_LEAF) }
    }

    /// Notes a piece of `len` items.
    #[inline]
    fn advance(&mut self, len: usize) {
        self.done += len;
        if self.block < UNTIMED && self.since.is_none() {
            self.block *= 2;
        }
    }

    /// Called before a piece is forked, and not for each block, so the clock is read rarely.
    #[inline]
    fn adjust(&mut self) {
        if self.block >= UNTIMED || self.since.is_some() {
            self.follow(Instant::now());
        }
    }

    #[cold]
    fn follow(&mut self, now: Instant) {
        let done = std::mem::take(&mut self.done);
        let Some(since) = self.since.replace(now) else { return };
        let elapsed = now.duration_since(since).as_nanos().max(1);
        let fitting = (done as u128 * TARGET.as_nanos() / elapsed) as usize;
        // Not at one go: the items that were timed may have been the cheap ones.
        self.block = fitting.clamp(self.block / 4, self.block.saturating_mul(16)).max(1);
    }
}

/// Items, and how many there are.
///
/// The driver goes by this number alone, which gets smaller with each cut. So a wrong implementation of [`Splittable`]
/// cannot make a loop recurse deeper than the logarithm of the first length. For slices and ranges the compiler sees
/// that the check of a cut always succeeds.
struct Counted<S> {
    items: S,
    len: usize,
}

impl<S: Splittable> Counted<S> {
    #[inline]
    fn new(items: S) -> Self {
        Self { len: items.len(), items }
    }

    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.items.split_at(mid);
        let rest = self.len - mid;
        if left.len() != mid || right.len() != rest {
            wrong_cut(self.len, mid, left.len(), right.len());
        }
        (Self { items: left, len: mid }, Self { items: right, len: rest })
    }
}

#[cold]
#[inline(never)]
fn wrong_cut(len: usize, mid: usize, left: usize, right: usize) -> ! {
    panic!("a Splittable of {len} items, split at {mid}, gave pieces of {left} and {right}")
}

/// Folds the items, each stolen piece from an `identity` of its own, and combines the pieces in the order of the items.
pub(super) struct Reduction<'a, I, F, C> {
    pub(super) identity: &'a I,
    pub(super) fold: &'a F,
    pub(super) combine: &'a C,
}

/// A right half of a short loop.
struct Piece<'a, S, I, F, C> {
    items: Counted<S>,
    by: &'a Reduction<'a, I, F, C>,
}

impl<S, A, I, F, C> Job for Piece<'_, S, I, F, C>
where
    S: Splittable,
    A: Send,
    I: Fn() -> A + Sync,
    F: Fn(A, S) -> A + Sync,
    C: Fn(A, A) -> A + Sync,
{
    type Output = A;

    fn run(self) -> A {
        self.by.run_stolen(self.items)
    }
}

/// A right half of a long loop.
struct SplitPiece<'a, S, I, F, C> {
    piece: Piece<'a, S, I, F, C>,
    splitter: Splitter,
}

impl<S, A, I, F, C> Job for SplitPiece<'_, S, I, F, C>
where
    S: Splittable,
    A: Send,
    I: Fn() -> A + Sync,
    F: Fn(A, S) -> A + Sync,
    C: Fn(A, A) -> A + Sync,
{
    type Output = A;

    fn run(mut self) -> A {
        let Piece { items, by } = self.piece;
        by.run_long(items, (by.identity)(), &mut self.splitter)
    }
}

impl<I, F, C> Reduction<'_, I, F, C> {
    /// Folds `items` into `acc`, in the pool that the caller is in or else in the default one. The fold is given whole
    /// blocks.
    #[inline]
    #[track_caller]
    pub(super) fn start<S, A>(&self, items: S, acc: A) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        self.begin(Counted::new(items), acc)
    }

    #[inline]
    #[track_caller]
    fn begin<S, A>(&self, items: Counted<S>, acc: A) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        if items.len <= 1 {
            return (self.fold)(acc, items.items);
        }
        if Worker::current().registry().is_none() {
            return self.start_outside((items, acc));
        }
        if items.len <= SHORT { self.run_short(items, acc) } else { self.run_long(items, acc, &mut Splitter::new()) }
    }

    /// Out of line, and handed what lies in memory, so that a loop in a pool does not save registers for it.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn start_outside<S, A>(&self, (items, acc): (Counted<S>, A)) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        Pool::default().install(|| self.begin(items, acc))
    }

    /// Begins a piece of a short loop on the thread that has stolen it.
    fn run_stolen<S, A>(&self, items: Counted<S>) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        let acc = (self.identity)();
        if items.len <= 1 { (self.fold)(acc, items.items) } else { self.run_short(items, acc) }
    }

    /// Runs a piece of a short loop of which this thread has done nothing yet. There are two items at least.
    fn run_short<S, A>(&self, items: Counted<S>, acc: A) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        let middle = items.len / 2;
        let (left, right) = items.split_at(middle);
        fork(
            move || if middle <= 1 { (self.fold)(acc, left.items) } else { self.run_short(left, acc) },
            Piece { items: right, by: self },
            |acc, piece| self.resume(piece.items, acc),
            |left, right| (self.combine)(left, right),
            Never,
        )
    }

    /// Runs a piece of a short loop that is as long as what this thread has just done of it, or one item longer.
    #[inline]
    fn resume<S, A>(&self, items: Counted<S>, acc: A) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        if items.len > UNTIMED || Worker::current().stack.is_requested() {
            return self.run_in_blocks((items, acc));
        }
        (self.fold)(acc, items.items)
    }

    /// Out of line, as most short loops do not get here.
    #[inline(never)]
    fn run_in_blocks<S, A>(&self, (mut items, mut acc): (Counted<S>, A)) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        loop {
            let len = items.len;
            if len <= 1 || len <= UNTIMED * BLOCKS_IN_A_LEAF && !Worker::current().stack.is_requested() {
                if len <= UNTIMED {
                    return (self.fold)(acc, items.items);
                }
                let (front, rest) = items.split_at(UNTIMED);
                acc = (self.fold)(acc, front.items);
                items = rest;
                continue;
            }
            let (left, right) = items.split_at(len / 2);
            let next = fork(
                || self.resume(left, acc),
                Piece { items: right, by: self },
                |left, piece| Ok((left, piece.items)),
                |left, right| Err((self.combine)(left, right)),
                Never,
            );
            match next {
                Ok(rest) => (acc, items) = rest,
                Err(whole) => return whole,
            }
        }
    }

    /// Runs a piece of a long loop.
    fn run_long<S, A>(&self, mut items: Counted<S>, mut acc: A, splitter: &mut Splitter) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        loop {
            let len = items.len;
            if len > splitter.leaf() {
                splitter.adjust();
            }
            if len <= 1 || len <= splitter.leaf() && !Worker::current().stack.is_requested() {
                let block = splitter.block;
                splitter.advance(block.min(len));
                if len <= block {
                    return (self.fold)(acc, items.items);
                }
                let (front, rest) = items.split_at(block);
                acc = (self.fold)(acc, front.items);
                items = rest;
                continue;
            }
            let (left, right) = items.split_at(len / 2);
            let piece = SplitPiece { piece: Piece { items: right, by: self }, splitter: splitter.clone() };
            let next = fork(
                || self.run_long(left, acc, splitter),
                piece,
                |left, paced| Ok((left, paced.piece.items)),
                |left, right| Err((self.combine)(left, right)),
                Never,
            );
            match next {
                Ok(rest) => (acc, items) = rest,
                Err(whole) => return whole,
            }
        }
    }
}

/// A loop enters a pool before it forks.
struct Never;

impl<A, J, R> Outside<A, J, R> for Never {
    #[cold]
    fn run(self, _: A, _: J) -> R {
        unreachable!("`start` has brought the thread into a pool")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_double_and_then_follow_the_clock() {
        let mut splitter = Splitter::new();
        let start = Instant::now();
        for expected in [1, 2, 4, 8, 16, 16] {
            assert_eq!(splitter.block, expected);
            splitter.advance(expected);
        }
        splitter.follow(start);
        splitter.advance(100);
        splitter.follow(start + TARGET);
        assert_eq!(splitter.block, 100, "as many items as fit into the target");
        splitter.advance(100);
        splitter.follow(start + 2 * TARGET + Duration::from_secs(1));
        assert_eq!(splitter.block, 25, "slow items make blocks shorter, in steps");
        splitter.advance(1_000_000);
        splitter.follow(start + 2 * TARGET + Duration::from_secs(1) + Duration::from_nanos(1));
        assert_eq!(splitter.block, 400, "quick ones make them longer, in steps");
    }
}
