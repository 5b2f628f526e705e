//! Kernel 1: from edge tuples to a [`Graph`], by ranking, partitioning and sorting in cache.
//!
//! 1. **Size.** The number of vertices is the largest label plus one. Kernel 1 has to find it. A run also narrows its
//!    tuples to eight bytes in this pass ([`narrow`]).
//! 2. **Count** ([`degrees`]). One pass over the tuples counts every label's neighbours.
//! 3. **Rank** ([`rank`]). A counting sort over degree classes numbers the vertices by descending degree. Isolated
//!    vertices are dropped.
//! 4. **Partition** ([`partition`]). Every tuple except self-loops becomes two arcs between ranks. One pass over the
//!    tuples groups the arcs by *band*, a range of neighbouring sources.
//! 5. **Sort** ([`sort`]). A band fits into cache. A radix sort in two scratch buffers sorts its arcs by (source,
//!    target). Duplicates are then adjacent and are dropped, and the rows are written back over the band itself.
//!
//! Each step is parallel over independent blocks, and the graph does not depend on the number of threads. The arcs
//! exist only once, and become the adjacency lists in place. Besides the tuples, the peak is 4 bytes an arc, or 6
//! beyond 2^22 connected vertices. The counters of step 2 are gone before the arcs are allocated, and never take more
//! than they.

mod bands;
pub(crate) mod degrees;
mod narrow;
mod partition;
pub(crate) mod rank;
pub(crate) mod sort;

use anabranch::prelude::*;

use crate::edge::Tuple;
use crate::graph::Graph;
use crate::memory::zeroed;
use crate::watch::Watch;
use crate::{Edge, Observer, Phase, RunError, Technique, Techniques};

pub(crate) use bands::Bands;
pub(crate) use narrow::NarrowEdges;
pub(crate) use partition::Partition;
pub(crate) use rank::no_label;

/// Tuples between two checks of the observer.
const BLOCK: usize = 1 << 14;

impl Graph {
    /// Kernel 1: builds the graph of `edges` in parallel.
    ///
    /// Runs in time O(N + M) for N vertices and M edges.
    ///
    /// ```
    /// use graph500::{Edge, Graph};
    /// let graph = Graph::build(&[Edge::new(0, 1), Edge::new(1, 2), Edge::new(2, 1), Edge::new(3, 3)], &())?;
    /// assert_eq!(graph.num_vertices(), 4);
    /// assert!(graph.neighbours(0).eq([1]));
    /// assert_eq!(graph.degree(1), 2);
    /// assert_eq!(graph.num_isolated(), 1);
    /// # Ok::<(), graph500::RunError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`RunError::TooManyVertices`] if a label is 2^32 or more, [`RunError::OutOfMemory`], or
    /// [`RunError::Cancelled`] if the observer cancels.
    pub fn build(edges: &[Edge], observer: &dyn Observer) -> Result<Graph, RunError> {
        Graph::build_with(edges, Techniques::default(), observer)
    }

    /// Builds the graph with these techniques. Its order of the vertices depends on them.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(edges: &[Edge], techniques: Techniques, observer: &dyn Observer) -> Result<Graph, RunError> {
        let watch = watch(edges.len(), observer);
        let num_vertices = num_vertices(edges, &watch)?;
        Graph::of_tuples(edges, num_vertices, techniques, watch)
    }

    /// Runs steps 2 to 5.
    pub(crate) fn of_tuples<T: Tuple>(
        edges: &[T],
        num_vertices: usize,
        techniques: Techniques,
        watch: Watch<'_>,
    ) -> Result<Graph, RunError> {
        let add = |degrees: &mut [u32], edge: &T| {
            let (a, b) = Tuple::low_ends(*edge);
            let arc = u32::from(a != b);
            degrees[a as usize] += arc;
            degrees[b as usize] += arc;
        };
        let degrees = degrees::count(edges, num_vertices, add, &watch)?;
        let rank::Order { ranks, labels, mut rows } = rank::rank(degrees, techniques.has(Technique::DegreeOrder))?;
        let bands = Bands::new(rows.len(), rows.len());
        let starts = bands.arc_starts(&rows)?;
        let mut partition = Partition::new(&bands, starts)?;
        let ends = |edge: &T| {
            let (a, b) = Tuple::low_ends(*edge);
            (ranks[a as usize], ranks[b as usize])
        };
        // Only a self-loop has two equal ranks, or two that stand for isolated vertices.
        let arcs = |a, b| if a == b { [None, None] } else { [Some((a, b)), Some((b, a))] };
        partition.add(edges, ends, arcs, &watch)?;
        let mut arcs = partition.finish();
        let first = sort::sort(&mut arcs, &mut rows, &bands, &watch)?;
        let num_arcs = rows.par_iter().map(|row| u64::from(row.len)).sum();
        let bases = bands.bases(&arcs.starts);
        let first_labels = first_labels(&labels, &first)?;
        let graph =
            Graph { num_arcs, start: 0, ranks, labels, bases, rows, neighbours: arcs.words, first, first_labels };
        watch.finish()?;
        Ok(graph)
    }
}

/// Returns the watch of kernel 1 for so many tuples.
pub(crate) fn watch(edges: usize, observer: &dyn Observer) -> Watch<'_> {
    Watch::new(observer, Phase::Construction, 3 * edges as u64)
}

/// Returns the label of each rank's first neighbour.
pub(crate) fn first_labels(labels: &[u32], first: &[u32]) -> Result<Vec<u32>, RunError> {
    let mut first_labels = zeroed::<u32>("the first neighbours", first.len())?;
    first_labels.par_iter_mut().zip(first).for_each(|(label, &first)| *label = labels[first as usize]);
    Ok(first_labels)
}

/// Returns the largest label plus one.
pub(crate) fn num_vertices(edges: &[Edge], watch: &Watch<'_>) -> Result<usize, RunError> {
    let larger = |largest: Option<u64>, edges: &[Edge]| {
        if watch.is_cancelled() {
            return largest;
        }
        let block = edges.iter().map(|edge| edge.ends().0.max(edge.ends().1)).max();
        largest.max(block)
    };
    let largest = edges.par_chunks(BLOCK).fold(|| None, larger).reduce(|| None, Option::max);
    watch.check()?;
    match largest {
        None => Ok(0),
        Some(label) if label < 1 << 32 => Ok(label as usize + 1),
        Some(label) => Err(RunError::TooManyVertices { label }),
    }
}
