//! The driver of the parallel loops: halving, with leaves that grow.
//!
//! A piece that is longer than a leaf is cut in half and its right half forked. As long as nobody takes it, that costs a
//! nanosecond, and the right half is run afterwards as if it had never been forked, going on from the same accumulator; so a
//! loop makes about as many accumulators as there are steals. What is stolen is always the right half of a piece, the
//! biggest that is left.
//!
//! Leaves begin at one item, so that two heavy items are two pieces, and double from leaf to leaf, so that the forks are lost
//! in the noise: at first blindly, up to a size that is still quick for items of a microsecond, then by the clock. A leaf
//! that finds somebody asking for work is cut in any case (lazy binary splitting: Tzannes, Caragea, Barua, Vishkin 2010).

use crate::{
    iter::Splittable,
    join::{Forked, Job, fork},
    pool::{handle::Pool, worker::Worker},
};
use std::time::{Duration, Instant};

/// Up to here leaves double without a look at the clock.
const UNTIMED: usize = 256;

/// How long a leaf should take: some thousand times a fork, some hundred times the price of reading the clock, and short
/// against the time in which an idle thread gives up.
const TARGET: Duration = Duration::from_micros(10);

/// How long leaves are on this thread.
#[derive(Clone)]
struct Pace {
    leaf: usize,
    /// Items since the clock was read.
    done: usize,
    since: Option<Instant>,
}

impl Pace {
    fn new() -> Self {
        Self { leaf: 1, done: 0, since: None }
    }

    /// Notes a leaf of `len` items.
    #[inline]
    fn advance(&mut self, len: usize) {
        self.done += len;
        if self.since.is_none() && self.leaf < UNTIMED {
            self.leaf *= 2;
        }
    }

    /// A piece is longer than a leaf: is a leaf long enough? The clock is read here and not in each leaf, so a loop that is
    /// over soon does not read it at all.
    #[inline]
    fn adjust(&mut self) {
        if self.since.is_some() || self.leaf >= UNTIMED {
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
        self.leaf = fitting.clamp(self.leaf / 4, self.leaf.saturating_mul(16)).max(1);
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
    /// Folds `items` into `acc`, in the pool that the caller is in or else in the default one. The fold is given whole leaves.
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
        let run = || self.run(items, acc, &mut Pace::new());
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
            if len > pace.leaf {
                pace.adjust();
            }
            let is_leaf = len <= pace.leaf && !Worker::current().stack.is_asked();
            if is_leaf || len <= 1 {
                let acc = (self.fold)(acc, items);
                pace.advance(len);
                return acc;
            }
            let (left, right) = items.split_at(len / 2);
            let piece = Piece { items: right, pace: pace.clone(), by: self };
            match fork(|| self.run(left, acc, pace), piece) {
                Forked::Own(left, piece) => (acc, items) = (left, piece.items),
                Forked::Stolen(left, right) => return (self.combine)(left, right),
                Forked::Outside(..) => unreachable!("`start` has brought the thread into a pool"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_double_and_then_follow_the_clock() {
        let mut pace = Pace::new();
        let start = Instant::now();
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 256] {
            assert_eq!(pace.leaf, expected);
            pace.advance(expected);
        }
        pace.follow(start);
        pace.advance(1000);
        pace.follow(start + TARGET);
        assert_eq!(pace.leaf, 1000, "as many items as fit into the target");
        pace.advance(1000);
        pace.follow(start + 2 * TARGET + Duration::from_secs(1));
        assert_eq!(pace.leaf, 250, "slow items make leaves shorter, in steps");
        pace.advance(1_000_000);
        pace.follow(start + 2 * TARGET + Duration::from_secs(1) + Duration::from_nanos(1));
        assert_eq!(pace.leaf, 4000, "quick ones make them longer, in steps");
    }
}
