//! The lengths of the blocks of a piece that several threads share.

use crate::{pool::worker::Worker, sys::clock::Instant};
use std::time::Duration;

/// The target duration of a block of a piece that is shared: some hundred times the cost of a clock read, and short
/// relative to the time after which an idle thread gives up.
const TARGET: Duration = Duration::from_micros(10);

/// A loop is cut at multiples of this number of items where the pieces are long. So the vector loads and stores of a
/// piece of an aligned slice do not straddle cache lines. A loop that changes `f32`s in place took 1.4 times as long.
const ALIGNMENT: usize = 16;

/// The lengths of the blocks of a piece that is shared.
pub(super) struct Blocks {
    pub(super) block: usize,
    /// The number of items since the last clock read.
    done: usize,
    since: Option<Instant>,
    /// The index of the next item in the loop, or that index plus a multiple of [`ALIGNMENT`].
    pub(super) offset: usize,
}

impl Blocks {
    pub(super) fn new(min: usize, offset: usize) -> Self {
        Self { block: min.max(1), done: 0, since: None, offset }
    }

    /// Changes a large number of items so that a cut after that many is at a multiple of [`ALIGNMENT`].
    pub(super) fn aligned(&self, items: usize) -> usize {
        if items <= 4 * ALIGNMENT {
            return items;
        }
        items - self.offset.wrapping_add(items) % ALIGNMENT
    }

    /// Returns whether to cut `len` items in half at a request. A pool that measures work and span requests always, and
    /// would cut each loop down to its items.
    pub(super) fn is_worth_halving(&self, len: usize) -> bool {
        len / 2 > self.block || !Worker::current().trace.measures()
    }

    /// Returns the length of the next block of a piece of `len` items.
    pub(super) fn next(&mut self, len: usize) -> usize {
        self.follow(Instant::now());
        let block = self.aligned(self.block);
        self.done += block.min(len);
        block
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
    fn blocks_follow_the_clock_from_the_first_one_on() {
        let mut blocks = Blocks::new(1, 0);
        let start = Instant::now();
        blocks.follow(start);
        assert_eq!(blocks.block, 1);
        blocks.done = 1;
        blocks.follow(start + 2 * TARGET);
        assert_eq!(blocks.block, 1, "an item that is longer than the target is a block");
        blocks.done = 1;
        blocks.follow(start + 2 * TARGET + TARGET / 16);
        assert_eq!(blocks.block, 16);
        let mut blocks = Blocks::new(16, 0);
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

    #[test]
    fn long_pieces_are_cut_at_aligned_indices() {
        for offset in [0, 1, 5, 16, 1000, usize::MAX] {
            let blocks = Blocks::new(1, offset);
            for items in 1..200 {
                let cut = blocks.aligned(items);
                assert!(cut <= items && cut + ALIGNMENT > items);
                assert!(items <= 4 * ALIGNMENT || offset.wrapping_add(cut).is_multiple_of(ALIGNMENT));
            }
        }
    }
}
