//! The graph that kernel 1 builds and every kernel 2 reads: compressed sparse rows with three additional tables.
//!
//! The vertices keep their input labels, so that a search writes its output without a translation. Only the rows are
//! rearranged:
//! - there are no self-loops and duplicates (no search can use them),
//! - a row lists its neighbours by descending degree. A bottom-up search needs any neighbour in the frontier, and a hub
//!   is the most likely one (Yasui, Fujisawa, Goto 2013),
//! - each row's first neighbour is also in a separate array, which is read in vertex order: most vertices need only it,
//!   and their rows are never touched,
//! - a bitmap marks isolated vertices, so that no search tries to reach them.
//!
//! **Row index.** Vertices are in *bands* of 2^shift neighbouring labels. A band's rows are contiguous and start at a
//! 64-bit offset. Offsets within the band have 32 bits: four bytes per vertex, whatever the number of edges. Each band
//! has one offset more than vertices, so that a row's end is always the next entry. Bands need not be adjacent: kernel
//! 1 sorts each band in place, and the space of its duplicates stays unused.
//!
//! **Widths.** Internally, vertex numbers have 32 bits, which suffices for scales up to 32. Larger graphs are refused
//! ([`RunError::TooManyVertices`](crate::RunError)). Input tuples have 48 bits and output parents 64.

use crate::bitmap;

/// An undirected graph for searches. Built by [`Graph::build`].
pub struct Graph {
    pub(crate) num_vertices: usize,
    pub(crate) num_arcs: u64,
    /// The binary logarithm of the vertices in a band; at least 6, so that a band is whole words of a bitmap.
    pub(crate) shift: u32,
    /// The start of each band in `neighbours`, and the end of the last one.
    pub(crate) bands: Vec<u64>,
    /// For each band, 2^shift + 1 offsets into the band.
    pub(crate) rows: Vec<u32>,
    pub(crate) neighbours: Vec<u32>,
    /// The first neighbour of each vertex; an isolated vertex has itself.
    pub(crate) first: Vec<u32>,
    /// Isolated vertices, and the bits beyond the last vertex.
    pub(crate) isolated: Vec<u64>,
}

impl Graph {
    /// Returns the largest label in the input plus one.
    pub fn num_vertices(&self) -> u64 {
        self.num_vertices as u64
    }

    /// Returns the number of directed edges without self-loops and duplicates: twice the undirected ones.
    pub fn num_arcs(&self) -> u64 {
        self.num_arcs
    }

    /// Returns the number of different neighbours of `vertex`, without itself.
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    pub fn degree(&self, vertex: u32) -> u32 {
        self.row(vertex).len() as u32
    }

    /// Returns the neighbours of `vertex`, by descending degree.
    ///
    /// Degrees count duplicates here. Beyond 64 only their six leading binary digits are compared.
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    #[inline]
    pub fn row(&self, vertex: u32) -> &[u32] {
        let band = (vertex >> self.shift) as usize;
        let entry = vertex as usize + band;
        let start = self.bands[band] as usize;
        &self.neighbours[start + self.rows[entry] as usize..start + self.rows[entry + 1] as usize]
    }

    /// Returns the rows of 64 neighbouring vertices, and the lists of their band. The offsets are the start of each row
    /// and, with the next one, its end.
    #[inline]
    pub(crate) fn rows_of_word(&self, word: usize) -> (&[u32], &[u32]) {
        let band = (word * 64) >> self.shift;
        let entry = word * 64 + band;
        let starts = &self.rows[entry..(entry + 65).min(self.rows.len())];
        (starts, &self.neighbours[self.bands[band] as usize..self.bands[band + 1] as usize])
    }

    /// Returns the number of vertices without a neighbour other than themselves.
    pub fn num_isolated(&self) -> u64 {
        let padding = self.isolated.len() * 64 - self.num_vertices;
        bitmap::count(&self.isolated) - padding as u64
    }

    /// Returns whether `vertex` exists and has a neighbour other than itself.
    pub fn is_connected(&self, vertex: u64) -> bool {
        vertex < self.num_vertices as u64 && !bitmap::contains(&self.isolated, vertex as u32)
    }
}
