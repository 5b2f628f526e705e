//! Compressed sparse rows: for each vertex, its neighbours and the weights of the edges to them.

mod partition;

use crate::Weight;
pub(crate) use partition::{Arcs, Partition};

/// The adjacency lists of all vertices, each sorted by neighbour.
pub(crate) struct Rows<W> {
    /// The start of each row, and the end of the last one.
    pub(crate) starts: Vec<u64>,
    pub(crate) neighbours: Vec<u32>,
    /// As long as `neighbours`.
    pub(crate) weights: Vec<W>,
}

impl<W: Weight> Rows<W> {
    #[inline]
    pub(crate) fn range(&self, vertex: u32) -> std::ops::Range<usize> {
        self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize
    }
}
