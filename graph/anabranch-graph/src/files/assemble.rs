//! Builds graphs from the parsed blocks of a file.

use anabranch::prelude::*;

use super::Input;
use super::compact::Numbering;
use super::edge_list::Block;
use super::error::{Fault, ReadErrorKind};
use super::observer::{Observer, Phase, Watch};
use crate::graph::Direction;
use crate::{Graph, Labels, Weight};

/// Graphs with at most this many vertices may have any number of edges.
const FREE_VERTICES: u64 = 1 << 20;
/// Larger ones may have this many vertices per edge, so that a short file causes no large allocation.
const MOST_VERTICES_PER_EDGE: u64 = 16;

/// Edges piece by piece: their vertices and weights.
pub(crate) type Pieces<W> = Vec<Vec<(u32, u32, W)>>;

/// The edges of a file.
pub(crate) struct Edges<W> {
    num_vertices: usize,
    labels: Labels,
    pieces: Pieces<W>,
}

impl<W: Weight> Edges<W> {
    pub(crate) fn from_pieces(num_vertices: usize, labels: Labels, pieces: Vec<Vec<(u32, u32, W)>>) -> Edges<W> {
        Edges { num_vertices, labels, pieces }
    }

    /// Returns the edges of a file whose header says how many vertices there are.
    pub(crate) fn counted(blocks: Vec<Block<u32, W>>, num_vertices: u64) -> Result<Edges<W>, Fault> {
        let pieces: Vec<_> = blocks.into_iter().map(|block| block.edges).collect();
        let found = count(&pieces);
        if num_vertices >= u64::from(u32::MAX) || num_vertices > plausible_vertices(found) {
            let message = format!("the header says {num_vertices} vertices, too many for {found} edges");
            return Err(Fault::new(ReadErrorKind::TooLarge, message));
        }
        Ok(Edges { num_vertices: num_vertices as usize, labels: Labels::from_one(), pieces })
    }

    /// Returns edges whose labels are the vertices.
    pub(crate) fn plain(blocks: Vec<Block<u32, W>>) -> Result<Edges<W>, Fault> {
        let largest = blocks.iter().filter(|block| !block.edges.is_empty()).map(|block| block.largest).max();
        let num_vertices = largest.map_or(0, |largest| largest + 1);
        let pieces: Vec<_> = blocks.into_iter().map(|block| block.edges).collect();
        let num_edges = count(&pieces);
        if num_vertices > plausible_vertices(num_edges) {
            let message = format!(
                "the largest vertex is {}, but there are only {num_edges} edges; compact the labels",
                num_vertices - 1
            );
            return Err(Fault::new(ReadErrorKind::TooLarge, message));
        }
        Ok(Edges { num_vertices: num_vertices as usize, labels: Labels::identity(), pieces })
    }

    /// Numbers the labels that occur, in ascending order. `first` is the label of a 0 in the blocks.
    pub(crate) fn compact(blocks: Vec<Block<u64, W>>, first: u64) -> Result<Edges<W>, Fault> {
        let numbering = Numbering::new(&blocks);
        let translate = |block: Block<u64, W>| {
            let edges = block.edges.into_iter();
            edges.map(|(from, to, weight)| (numbering.number(from), numbering.number(to), weight)).collect()
        };
        let pieces = blocks.into_par_iter().map(translate).collect();
        let mut table = numbering.into_table();
        if table.len() >= u32::MAX as usize {
            let message = format!("there are {} vertices, but a graph has fewer than {}", table.len(), u32::MAX);
            return Err(Fault::new(ReadErrorKind::TooLarge, message));
        }
        table.iter_mut().for_each(|label| *label += first);
        Ok(Edges { num_vertices: table.len(), labels: Labels::from_table(table), pieces })
    }

    /// Returns the number of vertices, the labels, and the edges piece by piece.
    pub(crate) fn into_parts(self) -> (usize, Labels, Pieces<W>) {
        (self.num_vertices, self.labels, self.pieces)
    }

    /// Builds the graph.
    pub(crate) fn into_input(self, direction: Direction, observer: &dyn Observer) -> Result<Input<W>, Fault> {
        let watch = Watch::begin(observer, Phase::Build, 0);
        let graph = Graph::from_pieces(self.num_vertices, self.pieces, direction);
        if direction == Direction::Symmetric && !graph.is_symmetric() {
            let message = "an edge of this undirected graph is not in the lists of both its ends with the same weight";
            return Err(Fault::malformed(message));
        }
        watch.end();
        Ok(Input { graph, labels: self.labels })
    }
}

fn count<E>(pieces: &[Vec<E>]) -> u64 {
    pieces.iter().map(|piece| piece.len() as u64).sum()
}

/// Returns the largest number of vertices that a file with `num_edges` edges may have.
pub(crate) fn plausible_vertices(num_edges: u64) -> u64 {
    num_edges.saturating_mul(MOST_VERTICES_PER_EDGE).max(FREE_VERTICES)
}
