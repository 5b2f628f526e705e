//! The graph that all kernels read.

use crate::Weight;
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
        Graph::from_pieces(num_vertices(&edges), vec![edges], false)
    }

    /// Builds a directed graph of `edges` with their weights. Of duplicates the lightest stays.
    pub fn directed_weighted(edges: impl IntoIterator<Item = (u32, u32, W)>) -> Graph<W> {
        let edges: Vec<_> = edges.into_iter().collect();
        Graph::from_pieces(num_vertices(&edges), vec![edges], true)
    }

    /// Builds a graph of the edges in `pieces`, whose ends are below `num_vertices`.
    pub(crate) fn from_pieces(num_vertices: usize, pieces: Vec<Vec<(u32, u32, W)>>, is_directed: bool) -> Graph<W> {
        let edges = pieces.into_iter().flatten().filter(|edge| edge.0 != edge.1);
        if is_directed {
            let edges: Vec<_> = edges.collect();
            let reversed = edges.iter().map(|edge| (edge.1, edge.0, ())).collect();
            let incoming = Some(Rows::new(num_vertices, reversed));
            return Graph { outgoing: Rows::new(num_vertices, edges), incoming };
        }
        let both = |(from, to, weight)| [(from, to, weight), (to, from, weight)];
        Graph { outgoing: Rows::new(num_vertices, edges.flat_map(both).collect()), incoming: None }
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
