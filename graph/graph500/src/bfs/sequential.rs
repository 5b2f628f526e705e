//! The textbook breadth-first search: a queue, one thread. The baseline for the others.
//!
//! Source: any textbook, e.g. Cormen, Leiserson, Rivest, Stein, *Introduction to Algorithms*, "Breadth-first search".
//!
//! Encoding: no colors; a vertex has been visited if it has a parent. The queue is an array that every reached vertex
//! enters once. Nothing is removed; `head` follows the end. A level ends at the position where the queue ended when the
//! level began.

use super::{Kernel, Reach};
use crate::RunError;
use crate::graph::Graph;
use crate::memory::zeroed;
use crate::watch::Halt;

/// Vertices between two checks of the observer.
const BLOCK: usize = 1 << 12;

pub(super) struct Sequential<'g> {
    graph: &'g Graph,
    queue: Vec<u32>,
}

impl<'g> Sequential<'g> {
    pub(super) fn new(graph: &'g Graph) -> Result<Self, RunError> {
        Ok(Sequential { graph, queue: zeroed("the queue", graph.num_ranks())? })
    }
}

impl Kernel for Sequential<'_> {
    fn search(&mut self, root: u32, tree: &mut [u32], halt: &Halt<'_>) -> Reach {
        let (labels, unreached) = (&self.graph.labels, self.graph.no_label());
        tree.fill(unreached);
        tree[root as usize] = labels[root as usize];
        self.queue[0] = root;
        let (mut head, mut tail) = (0, 1);
        let (mut depth, mut level_end) = (0, 1);
        while head < tail {
            if head == level_end {
                depth += 1;
                level_end = tail;
            }
            if head % BLOCK == 0 && halt.is_cancelled() {
                break;
            }
            let vertex = self.queue[head];
            head += 1;
            for &neighbour in self.graph.row(vertex) {
                let parent = &mut tree[neighbour as usize];
                if *parent == unreached {
                    *parent = labels[vertex as usize];
                    self.queue[tail] = neighbour;
                    tail += 1;
                }
            }
        }
        Reach { reached: tail as u64, depth }
    }
}
