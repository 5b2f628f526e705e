//! The graph that kernel 1 builds and every kernel 2 reads: compressed sparse rows with three side
//! tables.
//!
//! The vertices keep their input labels; nothing is renamed, so that a search writes its output
//! where it belongs without a translation. What is rearranged lies within the rows:
//! - self-loops and duplicates are gone (no search can use them),
//! - a row lists its neighbours by descending degree. A bottom-up search looks for any neighbour in
//!   the frontier, and a hub is the likeliest to be there (Yasui, Fujisawa, Goto 2013),
//! - each row's first neighbour also lies in an array of its own, which is read in vertex order:
//!   most vertices are settled by it and their rows never touched,
//! - isolated vertices are known in a bitmap, so that no search tries to reach them.
//!
//! **Row index.** Vertices come in *bands* of 2^shift neighbouring labels. A band's rows lie
//! together, a 64-bit offset per band says where, and offsets within the band have 32 bits: four
//! bytes a vertex whatever the number of edges. Each band has one offset more than vertices, so
//! that a row's end is always the next entry, and bands need not touch: kernel 1 sorts each band
//! where it lies, and what duplicates leave behind at its end stays unused.
//!
//! **Widths.** Inside, vertex numbers have 32 bits, which serves scales up to 32; larger graphs are
//! refused ([`RunError::TooManyVertices`](crate::RunError)). Input tuples have 48 bits and output
//! parents 64.

use crate::bitmap;

/// An undirected graph, ready to be searched. Built by [`Graph::build`].
pub struct Graph {
    pub(crate) num_vertices: usize,
    pub(crate) num_arcs: u64,
    /// Binary logarithm of the vertices in a band; at least 6, so that a band is whole words of a
    /// bitmap.
    pub(crate) shift: u32,
    /// Where each band begins in `neighbours`, and where the last one ends.
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
    /// One more than the largest label in the input.
    pub fn num_vertices(&self) -> u64 {
        self.num_vertices as u64
    }

    /// Directed edges without self-loops and duplicates: twice the undirected ones.
    pub fn num_arcs(&self) -> u64 {
        self.num_arcs
    }

    /// Different neighbours of `vertex`, other than itself.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn degree(&self, vertex: u32) -> u32 {
        self.row(vertex).len() as u32
    }

    /// The neighbours of `vertex`, by descending degree.
    ///
    /// Degrees count duplicates here, and beyond 64 only their five leading binary digits after the
    /// first are looked at.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[inline]
    pub fn row(&self, vertex: u32) -> &[u32] {
        let band = (vertex >> self.shift) as usize;
        let entry = vertex as usize + band;
        let start = self.bands[band] as usize;
        &self.neighbours[start + self.rows[entry] as usize..start + self.rows[entry + 1] as usize]
    }

    /// The rows of 64 neighbouring vertices: where each starts and, with the next, ends, and the
    /// lists of their band that this refers to.
    #[inline]
    pub(crate) fn rows_of_word(&self, word: usize) -> (&[u32], &[u32]) {
        let band = (word * 64) >> self.shift;
        let entry = word * 64 + band;
        let starts = &self.rows[entry..(entry + 65).min(self.rows.len())];
        (starts, &self.neighbours[self.bands[band] as usize..self.bands[band + 1] as usize])
    }

    /// How many vertices have no neighbour but perhaps themselves.
    pub fn num_isolated(&self) -> u64 {
        let padding = self.isolated.len() * 64 - self.num_vertices;
        bitmap::count(&self.isolated) - padding as u64
    }

    /// Whether `vertex` exists and has a neighbour other than itself.
    pub fn is_connected(&self, vertex: u64) -> bool {
        vertex < self.num_vertices as u64 && !bitmap::contains(&self.isolated, vertex as u32)
    }
}
