//! What the programs compute. Each peer has the same loops, with its own parallel iterators, `join` and sort.

use std::ops::Range;

/// The steps after which [`collatz`] gives up.
const MOST_STEPS: u32 = 2_000;

/// A computation with its data.
#[derive(Clone, Debug)]
pub enum Task {
    /// A parallel loop over these numbers, of some 0.3 us each.
    Loop(Range<u32>),
    /// A tree of joins of this depth, whose leaves take some 10 ns each.
    Tree(u32),
    /// A sort of these numbers.
    Sort(Vec<u32>),
}

impl Task {
    /// Returns a loop that takes about `micros` on so many cores.
    pub fn looping(micros: u64, cores: usize) -> Task {
        // Small numbers have short sequences.
        let first = 1_000_000;
        let count = (micros * cores as u64 * 3).clamp(1, u64::from(u32::MAX - first) / 2);
        Task::Loop(first..first + count as u32)
    }

    /// Returns a tree of joins that takes about `micros` on so many cores.
    pub fn tree(micros: u64, cores: usize) -> Task {
        let leaves = micros * cores as u64 * 1_000 / 14;
        Task::Tree(leaves.max(2).ilog2())
    }

    /// Returns a sort of so many random numbers.
    pub fn sort(count: usize) -> Task {
        let mut random = fastrand::Rng::with_seed(7);
        Task::Sort((0..count).map(|_| random.u32(..)).collect())
    }
}

/// Returns the number of steps from `n` to 1.
// One copy for all peers: of two that were inlined, the compiler gave one branches, and the other conditional moves.
#[inline(never)]
pub fn collatz(mut n: u32) -> u32 {
    for step in 0..MOST_STEPS {
        if n <= 1 {
            return step;
        }
        n = if n.is_multiple_of(2) { n / 2 } else { n.wrapping_mul(3).wrapping_add(1) };
    }
    MOST_STEPS
}

/// Returns the value of a leaf of the tree.
pub fn leaf(seed: u64) -> u64 {
    (0..8).fold(seed, |x, _| x.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(27))
}

/// Returns one number for a sorted vector.
///
/// # Panics
/// Panics if the vector is not sorted.
pub fn of_sorted(sorted: &[u32]) -> u64 {
    // All pairs would take as long as a part of the sort.
    let few: Vec<u32> = sorted.iter().copied().step_by(sorted.len() / 1_000 + 1).collect();
    assert!(few.is_sorted(), "the sort sorts");
    few.into_iter().map(u64::from).sum()
}
