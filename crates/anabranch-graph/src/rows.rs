//! Compressed sparse rows: for each vertex, its neighbours and the weights of the edges to them.

use crate::Weight;

/// The adjacency lists of all vertices, each sorted by neighbour.
pub(crate) struct Rows<W> {
    /// The start of each row, and the end of the last one.
    pub(crate) starts: Vec<u64>,
    pub(crate) neighbours: Vec<u32>,
    /// As long as `neighbours`.
    pub(crate) weights: Vec<W>,
}

impl<W: Weight> Rows<W> {
    /// Sorts `arcs` into rows. Of several arcs between the same vertices the lightest stays.
    pub(crate) fn new(num_vertices: usize, mut arcs: Vec<(u32, u32, W)>) -> Rows<W> {
        let key = |arc: &(u32, u32, W)| (arc.0, arc.1);
        arcs.sort_by(|a, b| {
            key(a).cmp(&key(b)).then_with(|| a.2.partial_cmp(&b.2).unwrap_or(std::cmp::Ordering::Equal))
        });
        arcs.dedup_by_key(|arc| key(arc));
        let mut starts = vec![0; num_vertices + 1];
        for arc in &arcs {
            starts[arc.0 as usize + 1] += 1;
        }
        for vertex in 0..num_vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let (neighbours, weights) = arcs.into_iter().map(|(_, target, weight)| (target, weight)).unzip();
        Rows { starts, neighbours, weights }
    }

    #[inline]
    pub(crate) fn range(&self, vertex: u32) -> std::ops::Range<usize> {
        self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize
    }
}
