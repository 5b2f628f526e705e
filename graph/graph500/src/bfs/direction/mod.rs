//! Direction-optimising breadth-first search: top-down while the frontier is small, bottom-up while it is large.
//!
//! Source: Beamer, Asanović, Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012. The order by degree and
//! the choice of first neighbours are from Yasui, Fujisawa, Goto, *NUMA-optimized Parallel Breadth-first Search*,
//! BigData 2013.
//!
//! **Top-down** ([`top_down`]) visits the frontier, a queue, and claims each unvisited neighbour. **Bottom-up**
//! ([`bottom_up`]) visits the unvisited vertices, and searches each one's neighbours for one in the frontier, a bitmap.
//! It stops at the first. So in the levels with most of a small-world graph it reads a few per cent of the edges.
//!
//! **Direction.** The search turns bottom-up once the frontier has more than 1 / [`ALPHA`] of the unexplored edges. It
//! turns top-down again once the frontier is smaller than a fraction of what a bottom-up level reads: the unvisited
//! vertices, and the words of the bitmap. In a small-world graph few vertices are left by then, and the search ends
//! bottom-up.
//!
//! **Encoding.** `visited` is a bitmap of ranks. The frontier is a part of `queue` or the bitmap `front`. A vertex
//! enters the queue at most once in a search, so a level's vertices follow those of the levels before, and one array of
//! all vertices suffices.
//!
//! **The tree** is not cleared before a search. A reached vertex has its parent written. At the end the bitmap shows,
//! 64 at a time, the vertices that were not reached.
//!
//! **Orderings.** All atomics are relaxed: a claim hands over only the vertex, and the end of a parallel loop separates
//! levels.

pub(crate) mod bottom_up;
pub(crate) mod convert;
pub(crate) mod top_down;

use std::ops::Range;

use anabranch::prelude::*;

use super::{Kernel, Reach};
use crate::bitmap::{self, ones};
use crate::graph::Graph;
use crate::memory::zeroed;
use crate::watch::Halt;
use crate::{RunError, Technique, Techniques};

/// Turns bottom-up once the frontier has more than this fraction of the unexplored edges.
pub(crate) const ALPHA: u64 = 30;
/// Turns top-down once the frontier, so many times, is smaller than the unvisited vertices and the bitmap's words.
pub(crate) const BETA: u64 = 4;
/// Words of a bitmap that one task copies or clears.
const WORDS: usize = 1 << 14;

pub(super) struct Direction<'g> {
    graph: &'g Graph,
    techniques: Techniques,
    visited: Vec<u64>,
    front: Vec<u64>,
    next: Vec<u64>,
    queue: Vec<u32>,
}

/// A frontier in the queue.
pub(crate) struct Frontier {
    /// Its part of the queue.
    pub(crate) places: Range<usize>,
    /// The sum of its degrees.
    pub(crate) edges: u64,
    /// Messages to the owners of further vertices, in a distributed graph.
    pub(crate) remote: Vec<u64>,
}

impl<'g> Direction<'g> {
    pub(super) fn new(graph: &'g Graph, techniques: Techniques) -> Result<Self, RunError> {
        let vertices = graph.num_ranks();
        let words = bitmap::words(vertices);
        let what = "the search's bitmaps and queue";
        Ok(Direction {
            graph,
            techniques,
            visited: zeroed(what, words)?,
            front: zeroed(what, words)?,
            next: zeroed(what, words)?,
            queue: zeroed(what, vertices)?,
        })
    }

    /// Runs bottom-up levels while they are faster. Starts with `frontier`, and returns the frontier of the next level.
    fn bottom_up_levels(
        &mut self,
        frontier: Range<usize>,
        reach: &mut Reach,
        tree: &mut [u32],
        halt: &Halt<'_>,
    ) -> Range<usize> {
        convert::set_bits(&self.queue[frontier.clone()], &mut self.front);
        let words = self.visited.len() as u64;
        let tries_first = self.techniques.has(Technique::FirstNeighbours);
        let returns = self.techniques.has(Technique::ReturnTopDown);
        loop {
            let level = bottom_up::Level { graph: self.graph, front: &self.front, tries_first };
            let found = level.run(&mut self.visited, &mut self.next, tree, halt);
            if halt.is_cancelled() {
                // `next` has bits of an earlier level where this one was not run.
                return frontier.end..frontier.end;
            }
            std::mem::swap(&mut self.front, &mut self.next);
            reach.add_level(found);
            let unvisited = self.graph.num_connected() - reach.reached;
            if found == 0 || returns && found * BETA < unvisited + words {
                return convert::list_bits(&self.front, &mut self.queue, frontier.end);
            }
        }
    }
}

/// Writes `unreached` into the tree for each vertex that is not visited.
pub(crate) fn clear_unreached(visited: &[u64], tree: &mut [u32], unreached: u32) {
    visited.par_chunks(WORDS).zip(tree.par_chunks_mut(64 * WORDS)).for_each(|(visited, tree)| {
        for (i, &word) in visited.iter().enumerate().filter(|&(_, &word)| word != !0) {
            for bit in ones(!word) {
                tree[i * 64 + bit as usize] = unreached;
            }
        }
    });
}

impl Kernel for Direction<'_> {
    fn search(&mut self, root: u32, tree: &mut [u32], halt: &Halt<'_>) -> Reach {
        let graph = self.graph;
        let keeps_tree = self.techniques.has(Technique::KeptTree);
        if !keeps_tree {
            tree.par_chunks_mut(64 * WORDS).for_each(|tree| tree.fill(graph.no_label()));
        }
        bitmap::clear_to(&mut self.visited, graph.num_ranks());
        self.visited[(root / 64) as usize] |= 1 << (root % 64);
        tree[root as usize] = graph.labels[root as usize];
        self.queue[0] = root;

        let mut reach = Reach { reached: 1, depth: 0 };
        let mut unexplored = graph.num_arcs;
        let mut frontier = Frontier { places: 0..1, edges: u64::from(graph.row_len(root)), remote: Vec::new() };
        while !frontier.places.is_empty() && !halt.is_cancelled() {
            let places = if self.techniques.has(Technique::BottomUp) && frontier.edges > unexplored / ALPHA {
                self.bottom_up_levels(frontier.places, &mut reach, tree, halt)
            } else {
                unexplored = unexplored.saturating_sub(frontier.edges);
                frontier.places
            };
            frontier = top_down::level(graph, &mut self.visited, &mut self.queue, places, tree, halt);
            reach.add_level(frontier.places.len() as u64);
        }
        clear_unreached(&self.visited, tree, graph.no_label());
        reach
    }
}

impl Reach {
    pub(crate) fn add_level(&mut self, vertices: u64) {
        self.reached += vertices;
        self.depth += u32::from(vertices > 0);
    }
}
