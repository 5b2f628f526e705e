//! Graphs for shortest paths from many roots: the lightest edge of each row comes first.
//!
//! Most edges of a graph are on no shortest path, and these are the heavy ones. In a row by weight, a relaxation stops
//! at the first sum beyond the horizon, and the search for a parent ends after few edges. To order all rows takes about
//! as long as a search, so it pays off from a few roots on.

use anabranch::prelude::*;

use super::{Length, distances, tree};
use crate::Graph;
use crate::kernels::{Cancel, KernelError};
use crate::rows::Rows;
use crate::weight::sealed::Key;

/// Vertices whose rows one task orders.
const BLOCK: usize = 1 << 10;
/// Arcs of a row that is worth a parallel sort.
const LARGE_ROW: usize = 1 << 16;

/// A graph whose rows are by ascending weight, for shortest paths from many roots.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::{sssp, sssp::LightFirst};
/// let edges = [(0, 1, 9u32), (0, 2, 2), (2, 1, 3)];
/// let light_first = LightFirst::new(Graph::undirected_weighted(edges));
/// let distances = light_first.sssp(0, None, &()).unwrap();
/// assert_eq!(distances, sssp(&Graph::undirected_weighted(edges), 0, None, &()).unwrap());
/// assert_eq!(light_first.parents(0, &distances, &()).unwrap(), [0, 2, 0]);
/// ```
pub struct LightFirst<W> {
    graph: Graph<W>,
}

impl<W: Length> LightFirst<W> {
    /// Orders the rows of `graph`.
    ///
    /// # Complexity
    /// O(V + E log D) for the largest degree D. While it runs it takes 8 bytes an arc more, or 12 if `W` is `f64`.
    pub fn new(graph: Graph<W>) -> LightFirst<W> {
        let (num_vertices, num_arcs) = (graph.num_vertices(), graph.num_arcs() as usize);
        let starts = &graph.rows().0.starts;
        let (mut neighbours, mut weights) = (vec![0; num_arcs], vec![W::from_key(W::Key::default()); num_arcs]);
        let (mut neighbours_left, mut weights_left) = (&mut neighbours[..], &mut weights[..]);
        let mut blocks = Vec::with_capacity(num_vertices.div_ceil(BLOCK));
        for first in (0..num_vertices).step_by(BLOCK) {
            let end = (first + BLOCK).min(num_vertices);
            let len = starts[end].saturating_sub(starts[first]) as usize;
            let neighbours = neighbours_left.split_off_mut(..len).unwrap_or_default();
            let weights = weights_left.split_off_mut(..len).unwrap_or_default();
            blocks.push((first as u32..end as u32, neighbours, weights));
        }
        blocks.into_par_iter().for_each_init(Vec::new, |words, (vertices, neighbours, weights)| {
            let mut places = neighbours.iter_mut().zip(weights);
            for vertex in vertices {
                let row = graph.out_neighbours(vertex).iter().zip(graph.out_weights(vertex));
                words.clear();
                words.extend(row.map(|(&to, &weight)| weight.to_key().above(to)));
                if words.len() < LARGE_ROW {
                    words.sort_unstable();
                } else {
                    words.par_sort_unstable();
                }
                for (&word, (neighbour, weight)) in words.iter().zip(&mut places) {
                    let (to, key) = W::Key::split_above(word);
                    (*neighbour, *weight) = (to, W::from_key(key));
                }
            }
        });
        let (rows, incoming) = graph.into_rows();
        let rows = Rows { starts: rows.starts, neighbours: neighbours.into(), weights: weights.into() };
        LightFirst { graph: Graph::from_rows(rows, incoming) }
    }

    /// Returns the number of arcs, as [`Graph::num_arcs`].
    pub fn num_arcs(&self) -> u64 {
        self.graph.num_arcs()
    }

    /// Returns the distance of each vertex from `root`, as [`sssp`](super::sssp()).
    ///
    /// # Errors
    /// As [`sssp`](super::sssp()).
    pub fn sssp(&self, root: u32, delta: Option<f64>, cancel: &dyn Cancel) -> Result<Vec<W::Distance>, KernelError> {
        distances(&self.graph, true, root, delta, cancel)
    }

    /// Returns the parent of each vertex in a tree of shortest paths from `root`, as [`parents`](super::parents). Of
    /// several possible parents it takes that with the lightest edge if the graph is undirected.
    ///
    /// # Errors
    /// As [`parents`](super::parents).
    ///
    /// # Panics
    /// As [`parents`](super::parents).
    pub fn parents(&self, root: u32, distances: &[W::Distance], cancel: &dyn Cancel) -> Result<Vec<u32>, KernelError> {
        tree::parents(&self.graph, root, distances, cancel)
    }
}
