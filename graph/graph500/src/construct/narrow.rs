//! Narrows the tuples: drops the high halves of their ends, which are zero in a graph of at most 2^32 vertices.
//!
//! This frees a third of the tuples' memory before the arcs are allocated. Threads move the tuples to the front in
//! rounds. If the first k tuples are narrow, the bytes of k / 2 more narrow ones are free behind them. So a round moves
//! k / 2 tuples in parallel.

use std::ops::{Deref, DerefMut};

use anabranch::prelude::*;

use super::BLOCK;
use crate::Edge;
use crate::edge::NarrowEdge;
use crate::memory::into_words;

/// Words of 32 bits in a tuple, the low halves of its ends first, and in a narrow one.
const WIDE: usize = 3;
const NARROW: usize = 2;

/// Tuples of eight bytes. The words of all tuples are in one array, because that is the type of the memory.
pub(crate) struct NarrowEdges {
    pub(crate) words: Vec<u32>,
}

impl NarrowEdges {
    /// Narrows `edges` in their memory. Returns the largest label plus one too. All labels are below 2^32.
    pub(crate) fn new(edges: Vec<Edge>) -> (NarrowEdges, usize) {
        let total = edges.len();
        let mut words = into_words(edges);
        let mut done = total.min(BLOCK);
        let mut largest = None;
        for tuple in 0..done {
            let ends = [words[WIDE * tuple], words[WIDE * tuple + 1]];
            words[NARROW * tuple..][..NARROW].copy_from_slice(&ends);
            largest = largest.max(ends.into_iter().max());
        }
        while done < total {
            let next = total.min(done + done / 2);
            let (front, rest) = words.split_at_mut(WIDE * done);
            let to = front[NARROW * done..NARROW * next].par_chunks_mut(NARROW * BLOCK);
            let from = rest[..WIDE * (next - done)].par_chunks(WIDE * BLOCK);
            let moved = to.zip(from).map(|(to, from)| {
                for (to, from) in to.as_chunks_mut::<NARROW>().0.iter_mut().zip(from.as_chunks::<WIDE>().0) {
                    to.copy_from_slice(&from[..NARROW]);
                }
                to.iter().copied().max()
            });
            largest = largest.max(moved.reduce(|| None, Option::max));
            done = next;
        }
        words.truncate(NARROW * total);
        words.shrink_to_fit();
        (NarrowEdges { words }, largest.map_or(0, |label| label as usize + 1))
    }
}

impl Deref for NarrowEdges {
    type Target = [NarrowEdge];

    fn deref(&self) -> &[NarrowEdge] {
        self.words.as_chunks().0
    }
}

impl DerefMut for NarrowEdges {
    fn deref_mut(&mut self) -> &mut [NarrowEdge] {
        self.words.as_chunks_mut().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_tuples_have_the_same_ends_in_the_same_order() {
        for len in [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 7] {
            let ends = |tuple: u32| [tuple.wrapping_mul(0x9e37_79b9), !tuple];
            let wide = (0..len as u32).map(ends).map(|[a, b]| Edge::new(a.into(), b.into())).collect();
            let (narrow, num_vertices) = NarrowEdges::new(wide);
            assert!(narrow.iter().copied().eq((0..len as u32).map(ends)));
            assert_eq!(num_vertices, if len == 0 { 0 } else { 1 << 32 });
        }
    }
}
