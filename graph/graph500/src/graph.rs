//! The graph that kernel 1 builds and every kernel 2 reads: compressed sparse rows over relabelled vertices.
//!
//! **Ranks.** Kernel 1 orders the vertices by descending degree and numbers them in that order. A vertex's number is
//! its
//! *rank*; the input's number is its *label*. All tables except `ranks` are in ranks. Isolated vertices have the common
//! rank [`Graph::num_connected`], and no table has an entry for them. Hubs have small ranks, so most of what a search
//! tests lies in the first kilobytes of its bitmaps. Vertices of about equal degree keep the order of their labels, so
//! that a pass over the labels reads a table of ranks as a few ascending streams.
//!
//! **Rows.** There are no self-loops and duplicates (no search can use them). A row lists its neighbours by ascending
//! rank. A bottom-up search needs any neighbour in the frontier, and a hub is the most likely one (Yasui, Fujisawa,
//! Goto 2013). Each row's first neighbour is also in a separate array: most vertices need only it, and their rows are
//! never read.
//!
//! **Row index.** A row is an offset and a length of 32 bits each. The offset counts from the `base` that 64
//! neighbouring ranks share. So the index takes eight bytes per vertex, whatever the number of edges, and rows need not
//! be adjacent: kernel 1 sorts in place, and the space of duplicates stays unused.
//!
//! **Widths.** Internally, vertex numbers have 32 bits, which suffices for scales up to 32. Larger graphs are refused
//! ([`RunError::TooManyVertices`](crate::RunError)). Input tuples have 48 bits and output parents 64.

use std::sync::atomic::AtomicU32;

/// An undirected graph for searches. Built by [`Graph::build`].
pub struct Graph {
    /// The arcs; of all processes, if this is one process's part of a distributed graph.
    pub(crate) num_arcs: u64,
    /// The number that the vertex of row 0 has as a neighbour. It is 0 unless this is a part of a distributed graph.
    pub(crate) start: u32,
    /// The rank of each label; for an isolated vertex, the number of ranks.
    pub(crate) ranks: Vec<u32>,
    /// The label at each rank, and a number that is no connected vertex's label.
    pub(crate) labels: Vec<u32>,
    /// The start in `neighbours` from which the rows of 64 neighbouring ranks count.
    pub(crate) bases: Vec<u64>,
    pub(crate) rows: Vec<Row>,
    /// The ranks of the neighbours.
    pub(crate) neighbours: Vec<u32>,
    /// The first neighbour of each rank.
    pub(crate) first: Vec<u32>,
    /// The label of each rank's first neighbour.
    pub(crate) first_labels: Vec<u32>,
}

/// The place of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Row {
    pub(crate) offset: u32,
    pub(crate) len: u32,
}

/// A [`Row`] that threads write.
#[repr(C)]
pub(crate) struct AtomicRow {
    pub(crate) offset: AtomicU32,
    pub(crate) len: AtomicU32,
}

impl Graph {
    /// Returns the largest label in the input plus one.
    pub fn num_vertices(&self) -> u64 {
        self.ranks.len() as u64
    }

    /// Returns the number of directed edges without self-loops and duplicates: twice the undirected ones.
    pub fn num_arcs(&self) -> u64 {
        self.num_arcs
    }

    /// Returns the number of vertices with a neighbour other than themselves.
    pub fn num_connected(&self) -> u64 {
        self.num_ranks() as u64
    }

    /// Returns the number of vertices without a neighbour other than themselves.
    pub fn num_isolated(&self) -> u64 {
        self.num_vertices() - self.num_connected()
    }

    /// Returns whether `vertex` exists and has a neighbour other than itself.
    pub fn is_connected(&self, vertex: u64) -> bool {
        let rank = usize::try_from(vertex).ok().and_then(|vertex| self.ranks.get(vertex));
        rank.is_some_and(|&rank| (rank as usize) < self.num_ranks())
    }

    /// Returns the number of different neighbours of `vertex`, without itself.
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    pub fn degree(&self, vertex: u32) -> u32 {
        self.rows.get(self.ranks[vertex as usize] as usize).map_or(0, |row| row.len)
    }

    /// Returns the neighbours of `vertex`, by descending degree.
    ///
    /// Degrees count duplicates here. Beyond 64 only their six leading binary digits are compared.
    ///
    /// ```
    /// use graph500::{Edge, Graph};
    /// let graph = Graph::build(&[Edge::new(5, 1), Edge::new(5, 2), Edge::new(2, 7)], &())?;
    /// assert_eq!(graph.neighbours(5).collect::<Vec<_>>(), [2, 1]);
    /// # Ok::<(), graph500::RunError>(())
    /// ```
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    pub fn neighbours(&self, vertex: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let rank = self.ranks[vertex as usize];
        let row = if (rank as usize) < self.num_ranks() { self.row(rank) } else { &[] };
        row.iter().map(|&neighbour| self.labels[neighbour as usize])
    }

    /// Returns the number of ranks.
    #[inline]
    pub(crate) fn num_ranks(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number that isolated vertices have as their rank.
    #[inline]
    pub(crate) fn no_rank(&self) -> u32 {
        // Kernel 1 refuses graphs of 2^32 connected vertices.
        self.num_ranks() as u32
    }

    /// Returns a number that is no connected vertex's label. It stands for "no parent".
    #[inline]
    pub(crate) fn no_label(&self) -> u32 {
        self.labels.last().copied().unwrap_or_default()
    }

    /// Returns the row at a rank.
    #[inline]
    pub(crate) fn row(&self, rank: u32) -> &[u32] {
        let Row { offset, len } = self.rows[rank as usize];
        let start = self.bases[(rank / 64) as usize] as usize + offset as usize;
        &self.neighbours[start..start + len as usize]
    }

    /// Returns the length of the row at a rank.
    #[inline]
    pub(crate) fn row_len(&self, rank: u32) -> u32 {
        self.rows[rank as usize].len
    }
}
