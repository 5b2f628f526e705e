//! The graph that all kernels read.

use anabranch::prelude::*;

use crate::Weight;
use crate::files::assemble::Direction;
use crate::rows::Rows;

/// A directed or undirected graph, with weights of type `W`.
///
/// Vertices are the numbers from 0. A graph has no self-loops and no duplicate edges. A neighbour list is sorted by
/// vertex number. An undirected graph keeps each edge in the lists of both ends.
pub struct Graph<W = ()> {
    outgoing: Rows<W>,
    /// The reversed arcs of a directed graph.
    incoming: Option<Rows<()>>,
}

impl Graph {
    /// Builds an undirected graph of `edges`.
    ///
    /// ```
    /// use anabranch_graph::Graph;
    /// let graph = Graph::undirected([(0, 1), (1, 0), (2, 2)]);
    /// assert_eq!((graph.num_vertices(), graph.num_edges()), (3, 1));
    /// ```
    pub fn undirected(edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
        Graph::undirected_weighted(edges.into_iter().map(|(from, to)| (from, to, ())))
    }

    /// Builds a directed graph of `edges`, each from its first vertex to its second.
    ///
    /// ```
    /// use anabranch_graph::Graph;
    /// let graph = Graph::directed([(0, 1), (2, 1)]);
    /// assert_eq!(graph.out_neighbours(1), []);
    /// assert_eq!(graph.in_neighbours(1), [0, 2]);
    /// ```
    pub fn directed(edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
        Graph::directed_weighted(edges.into_iter().map(|(from, to)| (from, to, ())))
    }
}

impl<W: Weight> Graph<W> {
    /// Builds an undirected graph of `edges` with their weights. Of duplicates the lightest stays.
    pub fn undirected_weighted(edges: impl IntoIterator<Item = (u32, u32, W)>) -> Graph<W> {
        let edges: Vec<_> = edges.into_iter().collect();
        Graph::from_pieces(num_vertices(&edges), vec![edges], Direction::Undirected)
    }

    /// Builds a directed graph of `edges` with their weights. Of duplicates the lightest stays.
    pub fn directed_weighted(edges: impl IntoIterator<Item = (u32, u32, W)>) -> Graph<W> {
        let edges: Vec<_> = edges.into_iter().collect();
        Graph::from_pieces(num_vertices(&edges), vec![edges], Direction::Directed)
    }

    /// Builds a graph of the edges in `pieces`, whose ends are below `num_vertices`.
    pub(crate) fn from_pieces(num_vertices: usize, pieces: Vec<Vec<(u32, u32, W)>>, direction: Direction) -> Graph<W> {
        let edges = pieces.into_iter().flatten().filter(|edge| edge.0 != edge.1);
        let both = |(from, to, weight)| [(from, to, weight), (to, from, weight)];
        let edges: Vec<_> = match direction {
            Direction::Undirected => edges.flat_map(both).collect(),
            Direction::Directed | Direction::Symmetric => edges.collect(),
        };
        let incoming = (direction == Direction::Directed).then(|| {
            let reversed = edges.iter().map(|edge| (edge.1, edge.0, ())).collect();
            Rows::new(num_vertices, reversed)
        });
        Graph { outgoing: Rows::new(num_vertices, edges), incoming }
    }

    /// Returns whether the incoming arcs are the reversed outgoing ones. Compares sums over a hash of each arc, so it
    /// may overlook a difference, with a probability of about 2^-64.
    pub(crate) fn is_symmetric(&self) -> bool {
        let num_vertices = self.num_vertices() as u32;
        let sums = (0..num_vertices).into_par_iter().map(|vertex| {
            let outgoing = self.out_neighbours(vertex).iter().map(|&to| hash(vertex, to));
            let incoming = self.in_neighbours(vertex).iter().map(|&from| hash(from, vertex));
            outgoing.fold(0, u64::wrapping_add).wrapping_sub(incoming.fold(0, u64::wrapping_add))
        });
        sums.reduce(|| 0, u64::wrapping_add) == 0
    }

    /// Returns the number of vertices: the largest number in an edge plus one.
    pub fn num_vertices(&self) -> usize {
        self.outgoing.starts.len() - 1
    }

    /// Returns the number of edges. An undirected edge counts once.
    pub fn num_edges(&self) -> u64 {
        let arcs = self.outgoing.neighbours.len() as u64;
        if self.is_directed() { arcs } else { arcs / 2 }
    }

    /// Returns the number of entries in all lists of outgoing edges: an undirected edge counts twice.
    pub fn num_arcs(&self) -> u64 {
        self.outgoing.neighbours.len() as u64
    }

    /// Returns whether the edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.incoming.is_some()
    }

    /// Returns the vertices that edges lead to from `vertex`, ascending.
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    #[inline]
    pub fn out_neighbours(&self, vertex: u32) -> &[u32] {
        &self.outgoing.neighbours[self.outgoing.range(vertex)]
    }

    /// Returns the vertices from which edges lead to `vertex`, ascending. In an undirected graph these are the
    /// [`out_neighbours`](Graph::out_neighbours).
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    #[inline]
    pub fn in_neighbours(&self, vertex: u32) -> &[u32] {
        match &self.incoming {
            Some(rows) => &rows.neighbours[rows.range(vertex)],
            None => self.out_neighbours(vertex),
        }
    }

    /// Returns the weights of the outgoing edges of `vertex`, in the order of
    /// [`out_neighbours`](Graph::out_neighbours).
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    #[inline]
    pub fn out_weights(&self, vertex: u32) -> &[W] {
        &self.outgoing.weights[self.outgoing.range(vertex)]
    }
}

/// Returns the largest number in `edges` plus one.
fn num_vertices<W>(edges: &[(u32, u32, W)]) -> usize {
    edges.iter().map(|edge| edge.0.max(edge.1) as usize + 1).max().unwrap_or(0)
}

/// Returns a hash of an arc: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn hash(from: u32, to: u32) -> u64 {
    let mut word = (u64::from(from) << 32 | u64::from(to)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
