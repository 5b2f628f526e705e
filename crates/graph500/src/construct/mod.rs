//! Kernel 1: from edge tuples to a [`Graph`], by partitioning, ranking and sorting in cache.
//!
//! 1. **Size.** The number of vertices is the largest label plus one. Kernel 1 has to find it.
//! 2. **Partition** ([`partition`]). Every tuple except self-loops becomes two arcs. The arcs are grouped by *band*,
//!    the high bits of their source, in one counting pass and one writing pass over the tuples.
//! 3. **Rank** ([`rank`]). Within a band, counters in cache find every vertex's degree. A counting sort over degree
//!    classes ranks the vertices by descending degree.
//! 4. **Sort** ([`sort`]). A band fits into cache. A radix sort in two scratch buffers sorts its arcs by (source, rank
//!    of the target). Duplicates are then adjacent and are dropped, and the rows are written back over the band itself.
//!
//! Each step is parallel over independent blocks, and its result does not depend on the number of threads. The arcs
//! exist only once, and become the adjacency lists in place. Besides the tuples, the peak is 4 bytes an arc, or 6
//! beyond 2^22 vertices.

mod partition;
mod rank;
mod sort;

use anabranch::prelude::*;

use crate::graph::Graph;
use crate::memory::zeroed;
use crate::watch::Watch;
use crate::{Edge, Observer, Phase, RunError, bitmap};

pub(crate) use partition::Layout;

/// Tuples between two checks of the observer, where a pass is not cut otherwise.
const BLOCK: usize = 1 << 16;

impl Graph {
    /// Kernel 1: builds the graph of `edges` in parallel.
    ///
    /// ```
    /// use graph500::{Edge, Graph};
    /// let graph = Graph::build(&[Edge::new(0, 1), Edge::new(1, 2), Edge::new(2, 1), Edge::new(3, 3)], &())?;
    /// assert_eq!(graph.num_vertices(), 4);
    /// assert_eq!(graph.row(0), [1]);
    /// assert_eq!(graph.degree(1), 2);
    /// assert_eq!(graph.num_isolated(), 1);
    /// # Ok::<(), graph500::RunError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`RunError::TooManyVertices`] if a label is 2^32 or more, [`RunError::OutOfMemory`], or
    /// [`RunError::Cancelled`] if the observer cancels.
    pub fn build(edges: &[Edge], observer: &dyn Observer) -> Result<Graph, RunError> {
        let watch = Watch::new(observer, Phase::Construction, 3 * edges.len() as u64);
        let num_vertices = num_vertices(edges, &watch)?;
        let layout = Layout::new(num_vertices, edges.len());
        let mut arcs = partition::partition(edges, &layout, &watch)?;
        let mut rows = zeroed::<u32>("the row index", num_vertices + layout.bands)?;
        let ranks = rank::rank(&arcs, &mut rows, &layout, &watch)?;
        let mut first = zeroed::<u32>("the first neighbours", num_vertices)?;
        let mut isolated = zeroed::<u64>("the isolated vertices", bitmap::words(num_vertices))?;
        let num_arcs = sort::sort(&mut arcs, &ranks, &mut rows, &mut first, &mut isolated, &layout, &watch)?;
        if num_vertices % 64 != 0 {
            isolated[num_vertices / 64] |= !0 << (num_vertices % 64);
        }
        let graph = Graph {
            num_vertices,
            num_arcs,
            shift: layout.shift,
            bands: arcs.bands,
            rows,
            neighbours: arcs.words,
            first,
            isolated,
        };
        watch.finish()?;
        Ok(graph)
    }
}

/// Returns the largest label plus one.
fn num_vertices(edges: &[Edge], watch: &Watch<'_>) -> Result<usize, RunError> {
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
