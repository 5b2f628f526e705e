//! What several kernels need: arrays of atomics, sets of vertices, loops with a state for each thread, and the skew of
//! the degrees.
//!
//! **Orderings.** All atomics in the kernels are relaxed. A claim hands over only the value itself, and the end of a
//! parallel loop separates the phases of a kernel.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use anabranch::prelude::*;

use super::Cancel;
use crate::{Graph, Weight};

/// The least average degree at which an order by degree is worth its time, as in GAP.
const LEAST_AVERAGE_DEGREE: u64 = 10;
/// The degrees in a sample that estimates the skew.
const SAMPLES: usize = 1000;

/// Returns `len` atomics that contain the value of `init` for their index.
pub(super) fn atomics(len: usize, init: impl Fn(usize) -> u32 + Sync) -> Vec<AtomicU32> {
    (0..len).into_par_iter().map(|index| AtomicU32::new(init(index))).collect()
}

/// Returns the values of `atomics`.
pub(super) fn plain(atomics: Vec<AtomicU32>) -> Vec<u32> {
    // The standard library reuses the allocation.
    atomics.into_iter().map(AtomicU32::into_inner).collect()
}

/// A set of vertices that threads may change at the same time: one bit each, in words of 64.
pub(super) struct VertexSet(pub(super) Vec<AtomicU64>);

impl VertexSet {
    /// Returns the empty set for a graph of `num_vertices`.
    pub(super) fn new(num_vertices: usize) -> VertexSet {
        VertexSet((0..num_vertices.div_ceil(64)).into_par_iter().map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    pub(super) fn contains(&self, vertex: u32) -> bool {
        self.0[(vertex / 64) as usize].load(Relaxed) >> (vertex % 64) & 1 != 0
    }

    /// Adds `vertex`. Returns whether this call has added it.
    #[inline]
    pub(super) fn insert(&self, vertex: u32) -> bool {
        let (word, bit) = (&self.0[(vertex / 64) as usize], 1 << (vertex % 64));
        word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
    }
}

/// Returns the positions of the one bits of `word`, ascending.
#[inline]
pub(super) fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            bit
        })
    })
}

/// Appends the shorter of two lists to the longer one.
pub(super) fn append(mut a: Vec<u32>, mut b: Vec<u32>) -> Vec<u32> {
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    a.append(&mut b);
    a
}

/// Runs `work` on the blocks of `0..len`, which each hold `block` indices. Each of `states` belongs to one task, and a
/// task takes the next block once it has finished one. So a state is reused for many blocks, and expensive blocks do
/// not delay the others. No block begins after a request to stop.
pub(super) fn blocks<S: Send>(
    len: usize,
    block: usize,
    states: &mut [S],
    cancel: &dyn Cancel,
    work: impl Fn(&mut S, Range<usize>) + Sync,
) {
    let next = AtomicUsize::new(0);
    let run = |state: &mut S| {
        while !cancel.is_cancelled() {
            let start = next.fetch_add(block, Relaxed);
            if start >= len {
                return;
            }
            work(state, start..(start + block).min(len));
        }
    };
    if len <= block {
        states.iter_mut().take(1).for_each(run);
    } else {
        states.par_iter_mut().with_max_len(1).for_each(run);
    }
}

/// Returns one state for each thread of the current pool.
pub(super) fn states<S>(new: impl Fn() -> S) -> Vec<S> {
    std::iter::repeat_with(new).take(anabranch::pool::current_num_threads()).collect()
}

/// Returns whether few vertices have most edges: whether the mean degree is above 1.3 times the median.
pub(super) fn is_skewed<W: Weight>(graph: &Graph<W>) -> bool {
    let num_vertices = graph.num_vertices();
    if num_vertices == 0 || graph.num_edges() / (num_vertices as u64) < LEAST_AVERAGE_DEGREE {
        return false;
    }
    let step = (num_vertices / SAMPLES).max(1);
    let degrees = (0..num_vertices as u32).step_by(step).map(|vertex| graph.out_neighbours(vertex).len());
    let mut degrees: Vec<usize> = degrees.filter(|&degree| degree > 0).collect();
    degrees.sort_unstable();
    let mean = degrees.iter().sum::<usize>() as f64 / degrees.len().max(1) as f64;
    degrees.get(degrees.len() / 2).is_some_and(|&median| mean > 1.3 * median as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_visit_each_index_once() {
        for len in [0, 1, 7, 8, 9, 1000] {
            let mut sums = vec![(0, 0); 5];
            blocks(len, 8, &mut sums, &(), |sum, range| {
                sum.0 += range.len();
                sum.1 += range.sum::<usize>();
            });
            let total = sums.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            assert_eq!(total, (len, (0..len).sum()));
        }
    }

    #[test]
    fn insert_returns_true_once() {
        let set = VertexSet::new(130);
        assert!(set.insert(129) && !set.insert(129) && set.contains(129) && !set.contains(128));
        assert_eq!(ones(1 | 1 << 63).collect::<Vec<_>>(), [0, 63]);
    }
}
