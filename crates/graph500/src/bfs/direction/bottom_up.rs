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

/// Runs one level from `front` to `next`. Returns the number of vertices found.
pub(super) fn level(
    graph: &Graph,
    front: &[u64],
    visited: &mut [u64],
    next: &mut [u64],
    tree: &mut [u32],
    halt: &Halt<'_>,
) -> u64 {
    let blocks = (visited.par_chunks_mut(BLOCK), next.par_chunks_mut(BLOCK), tree.par_chunks_mut(64 * BLOCK));
    let search = blocks.into_par_iter().enumerate().map(|(block, (visited, next, tree))| {
        if halt.is_cancelled() {
            return 0;
        }
        let mut found = 0;
        for (i, tree) in tree.chunks_mut(64).enumerate() {
            let word = Word { graph, front, start: ((block * BLOCK + i) * 64) as u32 };
            next[i] = word.search(visited[i], tree);
            visited[i] |= next[i];
            found += u64::from(next[i].count_ones());
        }
        found
    });
    search.sum()
}

/// The 64 ranks from `start`, and the frontier that they search for.
struct Word<'a> {
    graph: &'a Graph,
    front: &'a [u64],
    start: u32,
}

impl Word<'_> {
    /// Returns the unvisited vertices of the word that have a neighbour in the frontier, and writes their parents.
    #[inline]
    fn search(&self, visited: u64, tree: &mut [u32]) -> u64 {
        if visited == !0 {
            return 0;
        }
        let first = &self.graph.first[self.start as usize..][..tree.len()];
        let labels = &self.graph.first_labels[self.start as usize..][..tree.len()];
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
        let remaining = !visited & !found;
        if remaining == 0 { found } else { found | self.search_rows(remaining, tree) }
    }

    /// Searches the rows of the `remaining` vertices from the second neighbour on.
    fn search_rows(&self, remaining: u64, tree: &mut [u32]) -> u64 {
        let neighbours = &self.graph.neighbours[self.graph.bases[self.start as usize / 64] as usize..];
        let rows = &self.graph.rows[self.start as usize..][..tree.len()];
        let labels = &self.graph.labels;
        let (mut found, mut more) = (0, 0);
        for bit in ones(remaining) {
            let row = rows[bit as usize];
            // Without a second neighbour this reads the first one again, without effect.
            let neighbour = neighbours[row.offset as usize + usize::from(row.len > 1)];
            found |= u64::from(contains(self.front, neighbour)) << bit;
            more |= u64::from(row.len > 2) << bit;
        }
        for bit in ones(found) {
            let row = rows[bit as usize];
            let neighbour = neighbours[row.offset as usize + usize::from(row.len > 1)];
            tree[bit as usize] = labels[neighbour as usize];
        }
        for bit in ones(more & !found) {
            let row = rows[bit as usize];
            let row = &neighbours[row.offset as usize..][2..row.len as usize];
            if let Some(&neighbour) = row.iter().find(|&&neighbour| contains(self.front, neighbour)) {
                tree[bit as usize] = labels[neighbour as usize];
                found |= 1 << bit;
            }
        }
        found
    }
}
