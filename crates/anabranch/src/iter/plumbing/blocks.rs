//! The lengths of the blocks of a piece that several threads share.

use crate::sys::clock::Instant;
use std::time::Duration;

/// The block length of a piece that is shared, up to which blocks double without a clock read.
const UNTIMED_SHARED: usize = 16;

/// The target duration of a block of a piece that is shared: some hundred times the cost of a clock read, and short
/// relative to the time after which an idle thread gives up.
const TARGET: Duration = Duration::from_micros(10);

/// The lengths of the blocks of a piece that is shared.
pub(super) struct Blocks {
    pub(super) block: usize,
    /// The number of items since the last clock read.
    done: usize,
    since: Option<Instant>,
}

impl Blocks {
    pub(super) fn new(min: usize) -> Self {
        Self { block: min.max(1), done: 0, since: None }
    }

    /// Returns the length of the next block of a piece of `len` items.
    pub(super) fn next(&mut self, len: usize) -> usize {
        if self.block >= UNTIMED_SHARED || self.since.is_some() {
            self.follow(Instant::now());
        } else if self.done > 0 {
            self.block *= 2;
        }
        self.done += self.block.min(len);
        self.block
    }

    fn follow(&mut self, now: Instant) {
        let done = std::mem::take(&mut self.done);
        let Some(since) = self.since.replace(now) else { return };
        let elapsed = now.duration_since(since).as_nanos().max(1);
        let fitting = (done as u128 * TARGET.as_nanos() / elapsed) as usize;
        // In several steps: the timed items may have been the cheap ones.
        self.block = fitting.clamp(self.block / 4, self.block.saturating_mul(16)).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_double_and_then_follow_the_clock() {
        let mut blocks = Blocks::new(1);
        let start = Instant::now();
        for expected in [1, 2, 4, 8, 16] {
            assert_eq!(blocks.next(1 << 20), expected);
        }
        blocks.done = 0;
        blocks.follow(start);
        blocks.done = 100;
        blocks.follow(start + TARGET);
        assert_eq!(blocks.block, 100, "as many items as fit into the target");
        blocks.done = 100;
        blocks.follow(start + 2 * TARGET + Duration::from_secs(1));
        assert_eq!(blocks.block, 25, "slow items make blocks shorter, in steps");
        blocks.done = 1_000_000;
        blocks.follow(start + 2 * TARGET + Duration::from_secs(1) + Duration::from_nanos(1));
        assert_eq!(blocks.block, 400, "quick ones make them longer, in steps");
    }
}
