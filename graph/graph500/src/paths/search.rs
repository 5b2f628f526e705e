//! The weighted graph, and the search in it.

use anabranch::prelude::*;
use anabranch_graph::kernels::sssp::LightFirst;
use anabranch_graph::kernels::{self, KernelError};

use crate::graph::Graph;
use crate::memory::zeroed;
use crate::watch::{Halt, Watch};
use crate::{Observer, Phase, RunError, UNREACHED, WeightedEdge};

/// Tuples of a piece of construction.
const PIECE: usize = 1 << 18;
/// Labels that one task translates.
const TRANSLATED: usize = 1 << 13;

/// The graph of kernel 3: the lightest of the tuples between two vertices, and no self-loops.
pub struct WeightedGraph<'g> {
    order: &'g Graph,
    graph: LightFirst<f32>,
}

impl<'g> WeightedGraph<'g> {
    /// Builds the graph of `edges` in parallel. `order` must be the graph that kernel 1 has built of the same tuples.
    ///
    /// ```
    /// use graph500::{Edge, Graph, WeightedEdge, WeightedGraph};
    /// let edge = Edge::new(0, 1);
    /// let order = Graph::build(&[edge], &())?;
    /// let graph = WeightedGraph::build(&order, &[WeightedEdge { edge, weight: 0.5 }], &())?;
    /// assert_eq!(graph.num_arcs(), 2);
    /// # Ok::<(), graph500::RunError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`RunError::TooManyVertices`] if a tuple has an end that is not a vertex of `order`, and
    /// [`RunError::Cancelled`] if the observer cancels.
    ///
    /// # Complexity
    /// Time O(N + M log M). At the peak 40 bytes a tuple, besides the tuples.
    pub fn build(
        order: &'g Graph,
        edges: &[WeightedEdge],
        observer: &dyn Observer,
    ) -> Result<WeightedGraph<'g>, RunError> {
        let watch = Watch::new(observer, Phase::WeightedConstruction, edges.len() as u64);
        let rank = |label: u64| {
            let rank = usize::try_from(label).ok().and_then(|label| order.ranks.get(label));
            rank.copied().ok_or(RunError::TooManyVertices { label })
        };
        let piece = |edges: &[WeightedEdge]| {
            watch.check()?;
            let mut piece = Vec::with_capacity(edges.len());
            for &WeightedEdge { edge, weight } in edges {
                let (a, b) = edge.ends();
                let (rank_a, rank_b) = (rank(a)?, rank(b)?);
                // An isolated vertex has self-loops alone in the tuples of `order`.
                if a != b && rank_a.max(rank_b) < order.no_rank() {
                    piece.push((rank_a, rank_b, weight));
                }
            }
            watch.advance(edges.len() as u64);
            Ok(piece)
        };
        let pieces: Result<Vec<_>, RunError> =
            edges.par_chunks(PIECE).map(piece).collect::<Vec<_>>().into_iter().collect();
        let graph = LightFirst::new(anabranch_graph::Graph::undirected_from_pieces(pieces?));
        watch.finish()?;
        Ok(WeightedGraph { order, graph })
    }

    /// Returns the number of directed edges without self-loops and duplicates: twice the undirected ones.
    pub fn num_arcs(&self) -> u64 {
        self.graph.num_arcs()
    }
}

/// Kernel 3 with its memory, which computes shortest paths from one root after the other.
///
/// ```
/// use graph500::{Edge, Graph, PathSearch, WeightedEdge, WeightedGraph};
/// let edges = [(0, 1, 0.5), (1, 2, 0.25), (0, 2, 0.875)];
/// let edges = edges.map(|(a, b, weight)| WeightedEdge { edge: Edge::new(a, b), weight });
/// let order = Graph::build(&edges.map(|weighted| weighted.edge), &())?;
/// let graph = WeightedGraph::build(&order, &edges, &())?;
/// let mut search = PathSearch::new(&graph)?;
/// search.run(0, &())?;
/// assert_eq!((search.parents(), search.distances()), (&[0, 0, 1][..], &[0.0, 0.5, 0.75][..]));
/// # Ok::<(), graph500::RunError>(())
/// ```
pub struct PathSearch<'g> {
    graph: &'g WeightedGraph<'g>,
    parents: Vec<i64>,
    distances: Vec<f32>,
}

impl<'g> PathSearch<'g> {
    /// Allocates the memory for the results.
    ///
    /// # Errors
    /// Returns [`RunError::OutOfMemory`].
    pub fn new(graph: &'g WeightedGraph<'g>) -> Result<PathSearch<'g>, RunError> {
        let vertices = graph.order.ranks.len();
        let (parents, distances) = (zeroed("the parents", vertices)?, zeroed("the distances", vertices)?);
        Ok(PathSearch { graph, parents, distances })
    }

    /// Computes the paths from `root`. The benchmark times exactly this call.
    ///
    /// # Errors
    /// Returns [`RunError::Cancelled`] if the observer cancels, and [`RunError::BadWeight`] if the kernel meets a
    /// weight that is negative or not a number.
    ///
    /// # Panics
    /// Panics if there is no vertex `root`.
    pub fn run(&mut self, root: u64, observer: &dyn Observer) -> Result<(), RunError> {
        let WeightedGraph { order, graph } = self.graph;
        assert!(root < order.num_vertices(), "there is no vertex {root}");
        let halt = Halt::new(observer);
        let rank = order.ranks[root as usize];
        let (distances, tree) = if rank == order.no_rank() {
            (Vec::new(), Vec::new())
        } else {
            let distances = graph.sssp(rank, None, &halt).map_err(refused)?;
            let tree = graph.parents(rank, &distances, &halt).map_err(refused)?;
            (distances, tree)
        };
        halt.check()?;
        let parts = self.parents.par_chunks_mut(TRANSLATED).zip(self.distances.par_chunks_mut(TRANSLATED));
        parts.zip(order.ranks.par_chunks(TRANSLATED)).for_each(|((parents, to), ranks)| {
            for ((parent, to), &rank) in parents.iter_mut().zip(to).zip(ranks) {
                // Isolated vertices are behind the end.
                let above = tree.get(rank as usize).copied().unwrap_or(kernels::UNREACHED);
                *to = distances.get(rank as usize).copied().unwrap_or(f32::INFINITY);
                *parent = order.labels.get(above as usize).map_or(UNREACHED, |&label| label.into());
            }
        });
        (self.parents[root as usize], self.distances[root as usize]) = (root as i64, 0.0);
        Ok(())
    }

    /// Returns the tree of the last run: every vertex's parent, or [`UNREACHED`].
    pub fn parents(&self) -> &[i64] {
        &self.parents
    }

    /// Returns the distances of the last run. A vertex that was not reached is infinitely far.
    pub fn distances(&self) -> &[f32] {
        &self.distances
    }
}

fn refused(error: KernelError) -> RunError {
    match error {
        KernelError::BadWeight { weight, .. } => RunError::BadWeight { weight: weight as f32 },
        _ => RunError::Cancelled,
    }
}
