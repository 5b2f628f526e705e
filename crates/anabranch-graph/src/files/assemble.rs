//! Builds graphs from the parsed blocks of a file.

use anabranch::prelude::*;

use super::Input;
use super::edge_list::Block;
use super::error::{Fault, ReadErrorKind};
use super::observer::{Observer, Phase, Watch};
use crate::{Graph, Labels, Weight};

/// Graphs with at most this many vertices may have any number of edges.
const FREE_VERTICES: u64 = 1 << 24;
/// Larger ones may have this many vertices per edge, so that a short file causes no large allocation.
const MOST_VERTICES_PER_EDGE: u64 = 16;

/// The edges of a file.
pub(crate) struct Edges<W> {
    num_vertices: usize,
    labels: Labels,
    pieces: Vec<Vec<(u32, u32, W)>>,
}

impl<W: Weight> Edges<W> {
    /// Returns edges whose labels are the vertices.
    pub(crate) fn plain(blocks: Vec<Block<u32, W>>) -> Result<Edges<W>, Fault> {
        let largest = blocks.iter().filter(|block| !block.edges.is_empty()).map(|block| block.largest).max();
        let num_vertices = largest.map_or(0, |largest| largest + 1);
        let pieces: Vec<_> = blocks.into_iter().map(|block| block.edges).collect();
        let num_edges = pieces.iter().map(|piece| piece.len() as u64).sum();
        if num_vertices > plausible_vertices(num_edges) {
            let message = format!(
                "the largest vertex is {}, but there are only {num_edges} edges; compact the labels",
                num_vertices - 1
            );
            return Err(Fault::new(ReadErrorKind::TooLarge, message));
        }
        Ok(Edges { num_vertices: num_vertices as usize, labels: Labels::identity(), pieces })
    }

    /// Numbers the labels that occur, in ascending order.
    pub(crate) fn compact(blocks: Vec<Block<u64, W>>) -> Result<Edges<W>, Fault> {
        let mut table: Vec<u64> =
            blocks.iter().flat_map(|block| block.edges.iter().flat_map(|edge| [edge.0, edge.1])).collect();
        table.par_sort_unstable();
        table.dedup();
        let find = |label: u64| table.partition_point(|&other| other < label) as u32;
        let translate = |block: Block<u64, W>| {
            block.edges.into_iter().map(|(from, to, weight)| (find(from), find(to), weight)).collect()
        };
        let pieces = blocks.into_par_iter().map(translate).collect();
        Ok(Edges { num_vertices: table.len(), labels: Labels::from_table(table), pieces })
    }

    /// Builds the graph.
    pub(crate) fn into_input(self, is_directed: bool, observer: &dyn Observer) -> Input<W> {
        let watch = Watch::begin(observer, Phase::Build, 0);
        let graph = Graph::from_pieces(self.num_vertices, self.pieces, is_directed);
        watch.end();
        Input { graph, labels: self.labels }
    }
}

/// Returns the largest number of vertices that a file with `num_edges` edges may have.
pub(crate) fn plausible_vertices(num_edges: u64) -> u64 {
    num_edges.saturating_mul(MOST_VERTICES_PER_EDGE).max(FREE_VERTICES)
}
