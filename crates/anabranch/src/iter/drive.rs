//! The driver of the parallel loops: halving, and blocks of growing length.
//!
//! A piece that is longer than a few blocks is cut in half, and its right half is forked. A fork that is not stolen
//! costs a nanosecond. The thread then runs the right half as if it had never been forked, with the same accumulator.
//! So a loop makes about as many accumulators as there are steals. A thief always takes the right half of a piece, the
//! largest one that is left.
//!
//! A short piece runs block by block. Between two blocks one load shows whether another thread requests work. If so,
//! the rest is cut too (lazy binary splitting: Tzannes, Caragea, Barua, Vishkin 2010). The first block has one item, so
//! two heavy items are two pieces. Blocks double up to a few items, so the check is cheap relative to a cheap item and
//! quick relative to a heavy one. Only long loops read the clock, to find a block length that makes the cost of the
//! check negligible.
//!
//! A short loop may be one of millions in a recursion, so it keeps no record of its blocks. It forks halves down to the
//! first item. Each half that was not stolen is as long as everything before it. Running each as one block thus doubles
//! the blocks.
//!
//! An earlier driver split on demand only and forked nothing. Then no thief could raid the rest of a loop, and two
//! items that wait for each other hung.

use crate::{
    fork::join::{Job, Outside, fork},
    iter::Splittable,
    pool::{handle::Pool, worker::Worker},
    sys::clock::Instant,
};
use std::time::Duration;

/// The block length up to which blocks double without a clock read.
const UNTIMED: usize = 16;

/// Loops up to this length never read the clock: at a nanosecond per item that would be a tenth of the work.
const SHORT: usize = 4096;

/// A piece of at most this many blocks is not forked any further.
const BLOCKS_IN_A_LEAF: usize = 8;

/// The target duration of a block: some hundred times the cost of a clock read, and short relative to the time after
/// which an idle thread gives up.
const TARGET: Duration = Duration::from_micros(10);

/// The block length of a long loop on this thread.
#[derive(Clone)]
struct Splitter {
    block: usize,
    /// The number of items since the last clock read.
    done: usize,
    since: Option<Instant>,
}

impl Splitter {
    fn new() -> Self {
        Self { block: 1, done: 0, since: None }
    }

    /// Returns the length up to which a piece is not forked.
    #[inline]
    fn leaf(&self) -> usize {
        if self.block < UNTIMED { self.block } else { self.block.saturating_mul(BLOCKS_IN_A_LEAF) }
    }

    /// Counts a finished piece of `len` items.
    #[inline]
    fn advance(&mut self, len: usize) {
        self.done += len;
        if self.block < UNTIMED && self.since.is_none() {
            self.block *= 2;
        }
    }

    /// Adapts the block length. Called before a piece is forked, not for each block, so the clock is read rarely.
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
        // In several steps: the timed items may have been the cheap ones.
        self.block = fitting.clamp(self.block / 4, self.block.saturating_mul(16)).max(1);
    }
}

/// Items and their number.
///
/// The driver relies on this number alone, which decreases with each cut. So a wrong implementation of [`Splittable`]
/// cannot make a loop recurse deeper than the logarithm of the initial length. For slices and ranges the compiler sees
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

/// Folds the items, each stolen piece from its own `identity`, and combines the pieces in the order of the items.
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
    /// Folds `items` into `acc`, in the caller's pool or else in the default pool. The fold receives whole blocks.
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

    /// Out of line, with arguments in memory, so that a loop inside a pool does not save registers for it.
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

    /// Starts a piece of a short loop on the thread that has stolen it.
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

    /// Runs a piece of a short loop from its first item. It has at least two items.
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

    /// Runs a piece of a short loop that is as long as the part that this thread has just run, or one item longer.
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

    /// Out of line, because most short loops do not reach it.
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

/// An `Outside` that never runs: a loop enters a pool before it forks.
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
