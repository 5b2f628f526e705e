//! A level bottom-up: every unvisited vertex searches its neighbours for one in the frontier.
//!
//! One thread owns a block of 64-vertex words, and writes `visited`, `next` and the tree without atomics. First all
//! vertices of a word try their first neighbour, without a branch on the outcome, so that the cache misses of a word
//! overlap. The parent is written in any case; a wrong one is overwritten later, or cleared at the end of the search.
//! Then the remaining vertices try their second neighbour in the same way. The few that remain search their rows.

use anabranch::prelude::*;

use crate::bitmap::{contains, ones};
use crate::graph::Graph;
use crate::watch::Halt;

/// Words of 64 vertices per block.
const BLOCK: usize = 16;

/// What all blocks of a level read.
pub(crate) struct Level<'a> {
    pub(crate) graph: &'a Graph,
    /// The frontier.
    pub(crate) front: &'a [u64],
    /// Whether all vertices of a word first try their first neighbours.
    pub(crate) tries_first: bool,
}

impl Level<'_> {
    /// Runs the level. Sets the vertices that it finds in `next` and `visited`, and returns their number.
    pub(crate) fn run(&self, visited: &mut [u64], next: &mut [u64], tree: &mut [u32], halt: &Halt<'_>) -> u64 {
        let blocks = (visited.par_chunks_mut(BLOCK), next.par_chunks_mut(BLOCK), tree.par_chunks_mut(64 * BLOCK));
        let search = blocks.into_par_iter().enumerate().map(|(block, (visited, next, tree))| {
            if halt.is_cancelled() {
                return 0;
            }
            let mut found = 0;
            for (i, tree) in tree.chunks_mut(64).enumerate() {
                next[i] = self.search((block * BLOCK + i) * 64, visited[i], tree);
                visited[i] |= next[i];
                found += u64::from(next[i].count_ones());
            }
            found
        });
        search.sum()
    }

    /// Searches the word of 64 ranks from `start`. Returns the unvisited vertices that have a neighbour in the
    /// frontier, and writes their parents.
    #[inline]
    fn search(&self, start: usize, visited: u64, tree: &mut [u32]) -> u64 {
        if visited == !0 {
            return 0;
        }
        let found = if self.tries_first { self.try_first(start, visited, tree) } else { 0 };
        let remaining = !visited & !found;
        if remaining == 0 { found } else { found | self.search_rows(start, remaining, tree) }
    }

    #[inline]
    fn try_first(&self, start: usize, visited: u64, tree: &mut [u32]) -> u64 {
        let first = &self.graph.first[start..][..tree.len()];
        let labels = &self.graph.first_labels[start..][..tree.len()];
        let mut found = 0;
        if visited == 0 {
            tree.copy_from_slice(labels);
            for (bit, &neighbour) in first.iter().enumerate() {
                found |= u64::from(contains(self.front, neighbour)) << bit;
            }
        } else {
            for bit in ones(!visited) {
                tree[bit as usize] = labels[bit as usize];
                found |= u64::from(contains(self.front, first[bit as usize])) << bit;
            }
        }
        found
    }

    /// Searches the rows of the `remaining` vertices, from the second neighbour on if the first has been tried.
    fn search_rows(&self, start: usize, remaining: u64, tree: &mut [u32]) -> u64 {
        let Graph { bases, rows, neighbours, labels, .. } = self.graph;
        let neighbours = &neighbours[bases[start / 64] as usize..];
        let rows = &rows[start..][..tree.len()];
        let tried = u32::from(self.tries_first);
        // Without a second neighbour this reads the first one again, without effect.
        let next = |bit: u32| {
            let row = rows[bit as usize];
            neighbours[(row.offset + tried.min(row.len - 1)) as usize]
        };
        let (mut found, mut more) = (0, 0);
        for bit in ones(remaining) {
            found |= u64::from(contains(self.front, next(bit))) << bit;
            more |= u64::from(rows[bit as usize].len > tried + 1) << bit;
        }
        for bit in ones(found) {
            tree[bit as usize] = labels[next(bit) as usize];
        }
        for bit in ones(more & !found) {
            let row = rows[bit as usize];
            let row = &neighbours[row.offset as usize..][tried as usize + 1..row.len as usize];
            if let Some(&neighbour) = row.iter().find(|&&neighbour| contains(self.front, neighbour)) {
                tree[bit as usize] = labels[neighbour as usize];
                found |= 1 << bit;
            }
        }
        found
    }
}
