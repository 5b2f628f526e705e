//! The driver of the parallel loops: lazy splitting.
//!
//! A piece is run through in blocks; between two blocks the driver asks whether some thread wants work, which is one load.
//! If so, it cuts the rest in half and forks: the right half goes to the thread that asked, the left one goes on here. So
//! a loop makes about as many pieces as there are steals (lazy binary splitting: Tzannes, Caragea, Barua, Vishkin 2010).
//! Blocks grow until asking is lost in the noise: they double up to a size that is still quick for items of a microsecond,
//! then follow the clock.

use crate::{iter::Splittable, join::join, pool::worker::Worker};
use std::time::{Duration, Instant};

/// Up to here blocks double without a look at the clock.
const UNTIMED: usize = 256;

/// How long a timed block should take: some hundred times the price of asking and of reading the clock, and short against
/// the time in which an idle thread gives up.
const TARGET: Duration = Duration::from_micros(10);

/// The size of the next block.
struct Blocks {
    size: usize,
    since: Option<Instant>,
}

impl Blocks {
    fn new() -> Self {
        Self { size: 1, since: None }
    }

    fn next(&mut self) -> usize {
        let size = self.size;
        if self.size < UNTIMED {
            self.size *= 2;
            return size;
        }
        let now = Instant::now();
        if let Some(since) = self.since.replace(now) {
            let elapsed = now.duration_since(since);
            if elapsed * 2 < TARGET {
                // Far too short is corrected in few steps, yet not in one: the first items may have been the cheap ones.
                let factor = TARGET.as_nanos() / elapsed.as_nanos().max(1);
                self.size = self.size.saturating_mul(factor.min(16) as usize);
            } else if elapsed > TARGET * 2 {
                self.size = (self.size / 2).max(UNTIMED / 16);
            }
        }
        self.size
    }
}

/// Folds the items, each piece from an `identity` of its own, and combines the pieces in the order of the items.
pub(super) struct Reduction<'a, I, F, C> {
    pub(super) identity: &'a I,
    pub(super) fold: &'a F,
    pub(super) combine: &'a C,
}

impl<I, F, C> Reduction<'_, I, F, C> {
    /// Runs through `rest`, going on from `acc`. The fold is given whole blocks.
    pub(super) fn run<S, A>(&self, mut rest: S, mut acc: A) -> A
    where
        S: Splittable,
        A: Send,
        I: Fn() -> A + Sync,
        F: Fn(A, S) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        let mut blocks = Blocks::new();
        loop {
            let len = rest.len();
            // Outside of every pool the answer is yes as well: the fork brings the thread into the default pool.
            if len > 1 && Worker::current().stack.is_asked() {
                let (left, right) = rest.split_at(len / 2);
                let (a, b) = join(|| self.run(left, acc), || self.run(right, (self.identity)()));
                return (self.combine)(a, b);
            }
            let block = blocks.next();
            if block >= len {
                return (self.fold)(acc, rest);
            }
            let (front, back) = rest.split_at(block);
            acc = (self.fold)(acc, front);
            rest = back;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_double_and_then_follow_the_clock() {
        let mut blocks = Blocks::new();
        let sizes: Vec<_> = (0..9).map(|_| blocks.next()).collect();
        assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
        std::thread::sleep(TARGET * 3);
        assert_eq!(blocks.next(), 128, "a block that took too long makes the next one shorter");
    }
}
