//! The driver of the parallel loops: halving, and blocks that grow.
//!
//! A piece that is longer than a few blocks is cut in half and its right half forked. As long as nobody takes it, that costs
//! a nanosecond, and the right half is run afterwards as if it had never been forked, going on from the same accumulator; so
//! a loop makes about as many accumulators as there are steals. What is stolen is always the right half of a piece, the
//! biggest that is left.
//!
//! A short piece is run block by block, and between two blocks one load tells whether somebody asks for work; then the rest
//! is cut as well (lazy binary splitting: Tzannes, Caragea, Barua, Vishkin 2010). Blocks begin at one item, so that two heavy
//! items are two pieces, and double up to a few items, so that asking is cheap beside a cheap item and quick beside a heavy
//! one. Only long loops look at the clock, to find the number of items that makes asking vanish in the noise.

use crate::{
    iter::Splittable,
    join::{Job, fork},
    pool::{handle::Pool, worker::Worker},
};
use std::time::{Duration, Instant};

/// Up to here blocks double without a look at the clock.
const UNTIMED: usize = 16;

/// Loops up to this length never look at the clock: at a nanosecond an item it would be a tenth of the work.
const SHORT: usize = 4096;

/// A piece of at most this many blocks is not forked any further.
const BLOCKS_IN_A_LEAF: usize = 8;

/// How long a block should take: some hundred times the price of reading the clock, and short against the time in which an
/// idle thread gives up.
const TARGET: Duration = Duration::from_micros(10);

/// How long blocks are on this thread.
#[derive(Clone)]
struct Pace {
    block: usize,
    is_timed: bool,
    /// Items since the clock was read.
    done: usize,
    since: Option<Instant>,
}

impl Pace {
    fn new(len: usize) -> Self {
        Self { block: 1, is_timed: len > SHORT, done: 0, since: None }
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
        if self.is_timed && (self.block >= UNTIMED || self.since.is_some()) {
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

/// Folds the items, each stolen piece from an `identity` of its own, and combines the pieces in the order of the items.
pub(super) struct Reduction<'a, I, F, C> {
    pub(super) identity: &'a I,
    pub(super) fold: &'a F,
    pub(super) combine: &'a C,
}

/// A right half that was forked.
struct Piece<'a, S, I, F, C> {
    items: S,
    pace: Pace,
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

    fn run(mut self) -> A {
        self.by.run(self.items, (self.by.identity)(), &mut self.pace)
    }
}

impl<I, F, C> Reduction<'_, I, F, C> {
    /// Folds `items` into `acc`, in the pool that the caller is in or else in the default one. The fold is given whole blocks.
    pub(super) fn start<S, A>(&self, items: S, acc: A) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        if items.len() <= 1 {
            return (self.fold)(acc, items);
        }
        let run = || {
            let mut pace = Pace::new(items.len());
            self.run(items, acc, &mut pace)
        };
        if Worker::current().registry().is_none() { Pool::default().install(run) } else { run() }
    }

    fn run<S, A>(&self, mut items: S, mut acc: A, pace: &mut Pace) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        loop {
            let len = items.len();
            if len > pace.leaf() {
                pace.adjust();
            }
            if len <= 1 || len <= pace.leaf() && !Worker::current().stack.is_asked() {
                let block = pace.block;
                pace.advance(block.min(len));
                if len <= block {
                    return (self.fold)(acc, items);
                }
                let (front, rest) = items.split_at(block);
                acc = (self.fold)(acc, front);
                items = rest;
                continue;
            }
            let (left, right) = items.split_at(len / 2);
            let piece = Piece { items: right, pace: pace.clone(), by: self };
            let next = fork(
                || self.run(left, acc, pace),
                piece,
                |left, piece| Ok((left, piece.items)),
                |left, right| Err((self.combine)(left, right)),
                |_, _| unreachable!("`start` has brought the thread into a pool"),
            );
            match next {
                Ok(rest) => (acc, items) = rest,
                Err(all) => return all,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_double_and_then_follow_the_clock() {
        let mut pace = Pace::new(SHORT + 1);
        let start = Instant::now();
        for expected in [1, 2, 4, 8, 16, 16] {
            assert_eq!(pace.block, expected);
            pace.advance(expected);
        }
        pace.follow(start);
        pace.advance(100);
        pace.follow(start + TARGET);
        assert_eq!(pace.block, 100, "as many items as fit into the target");
        pace.advance(100);
        pace.follow(start + 2 * TARGET + Duration::from_secs(1));
        assert_eq!(pace.block, 25, "slow items make blocks shorter, in steps");
        pace.advance(1_000_000);
        pace.follow(start + 2 * TARGET + Duration::from_secs(1) + Duration::from_nanos(1));
        assert_eq!(pace.block, 400, "quick ones make them longer, in steps");
    }

    #[test]
    fn a_short_loop_does_not_look_at_the_clock() {
        let mut pace = Pace::new(SHORT);
        (0..100).for_each(|_| {
            pace.adjust();
            pace.advance(1);
        });
        assert_eq!((pace.block, pace.since), (UNTIMED, None));
    }
}
