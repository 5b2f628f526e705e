//! Compressed sparse rows: for each vertex, its neighbours and the weights of the edges to them.

mod partition;

use crate::Weight;
use crate::array::Array;
pub(crate) use partition::{Arcs, Partition};

/// The adjacency lists of all vertices, each sorted by neighbour.
pub(crate) struct Rows<W> {
    /// The start of each row, and the end of the last one.
    pub(crate) starts: Array<u64>,
    pub(crate) neighbours: Array<u32>,
    /// As long as `neighbours`.
    pub(crate) weights: Array<W>,
}

impl<W: Weight> Rows<W> {
    /// Returns the positions of a row. In a damaged file they may be anything.
    #[inline]
    pub(crate) fn range(&self, vertex: u32) -> std::ops::Range<usize> {
        self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize
    }
}

impl Rows<()> {
    pub(crate) fn unweighted(starts: Array<u64>, neighbours: Array<u32>) -> Rows<()> {
        let weights = vec![(); neighbours.len()].into();
        Rows { starts, neighbours, weights }
    }
}
