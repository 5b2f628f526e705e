//! Breadth-first search by colouring: no queue, and every round visits every vertex.
//!
//! Source: the parallel Graph500 search that was written in Rust in 2012, months after the language's first release, to
//! try out its tasks:
//!
//! ```text
//! color the root gray, all others white
//! while there are gray vertices
//!     for each vertex v, in parallel
//!         white: gray if a neighbour is gray, that neighbour being the parent; else white
//!         gray:  black
//!         black: black
//! ```
//!
//! No vertex depends on another's new color, so the loop is parallel without changes. The work per round is O(N) plus
//! the rows of the vertices that are still white. Other algorithms visit only the frontier; this is the cost of
//! simplicity.
//!
//! Encoding: two color vectors with a byte per vertex. A round reads one and writes the other, and then they are
//! swapped. Only a vertex itself writes its parent.

use anabranch::prelude::*;

use super::{Kernel, Reach};
use crate::RunError;
use crate::graph::Graph;
use crate::watch::Halt;

/// Vertices per block.
const BLOCK: usize = 1 << 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shade {
    White,
    Gray,
    Black,
}

pub(super) struct Color<'g> {
    graph: &'g Graph,
    colors: Vec<Shade>,
    next: Vec<Shade>,
}

impl<'g> Color<'g> {
    pub(super) fn new(graph: &'g Graph) -> Result<Self, RunError> {
        let colors = vec![Shade::White; graph.num_ranks()];
        Ok(Color { graph, next: colors.clone(), colors })
    }
}

impl Kernel for Color<'_> {
    fn search(&mut self, root: u32, tree: &mut [u32], halt: &Halt<'_>) -> Reach {
        let unreached = self.graph.no_label();
        self.colors.par_chunks_mut(BLOCK).zip(tree.par_chunks_mut(BLOCK)).for_each(|(colors, tree)| {
            colors.fill(Shade::White);
            tree.fill(unreached);
        });
        self.colors[root as usize] = Shade::Gray;
        tree[root as usize] = self.graph.labels[root as usize];

        let mut reach = Reach { reached: 1, depth: 0 };
        loop {
            let turned_gray = self.round(tree, halt);
            std::mem::swap(&mut self.colors, &mut self.next);
            if turned_gray == 0 || halt.is_cancelled() {
                return reach;
            }
            reach.reached += turned_gray;
            reach.depth += 1;
        }
    }
}

impl Color<'_> {
    /// Computes the next color of every vertex. Returns the number of vertices that turned gray.
    fn round(&mut self, tree: &mut [u32], halt: &Halt<'_>) -> u64 {
        let (graph, colors) = (self.graph, &self.colors[..]);
        let blocks = (colors.par_chunks(BLOCK), self.next.par_chunks_mut(BLOCK), tree.par_chunks_mut(BLOCK));
        let turn = |block: usize, old: &[Shade], new: &mut [Shade], tree: &mut [u32]| {
            let mut turned_gray = 0;
            if halt.is_cancelled() {
                return turned_gray;
            }
            for (i, ((old, new), parent)) in old.iter().zip(new).zip(tree).enumerate() {
                *new = match old {
                    Shade::White => {
                        let row = graph.row((block * BLOCK + i) as u32);
                        match row.iter().find(|&&neighbour| colors[neighbour as usize] == Shade::Gray) {
                            Some(&neighbour) => {
                                *parent = graph.labels[neighbour as usize];
                                turned_gray += 1;
                                Shade::Gray
                            }
                            None => Shade::White,
                        }
                    }
                    Shade::Gray | Shade::Black => Shade::Black,
                };
            }
            turned_gray
        };
        blocks.into_par_iter().enumerate().map(|(block, (old, new, tree))| turn(block, old, new, tree)).sum()
    }
}
