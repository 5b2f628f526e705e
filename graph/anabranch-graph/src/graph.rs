//! The graph that all kernels read.

use std::fmt;

use anabranch::prelude::*;

use crate::Weight;
use crate::rows::{Arcs, Partition, Rows};

/// A directed or undirected graph, with weights of type `W`.
///
/// Vertices are the numbers from 0. A graph has no self-loops and no duplicate edges. A neighbour list is sorted by
/// vertex number. An undirected graph keeps each edge in the lists of both ends.
pub struct Graph<W = ()> {
    outgoing: Rows<W>,
    /// The reversed arcs of a directed graph.
    incoming: Option<Rows<()>>,
}

/// Which arcs the edges stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Each is an arc.
    Directed,
    /// Each is an arc in both directions.
    Undirected,
    /// Each is an arc, and the opposite arc is there too.
    Symmetric,
}

impl Graph {
    /// Builds an undirected graph of `edges`.
    ///
    /// ```
    /// use anabranch_graph::Graph;
    /// let graph = Graph::undirected([(0, 1), (1, 0), (2, 2)]);
    /// assert_eq!((graph.num_vertices(), graph.num_edges()), (3, 1));
    /// ```
    ///
    /// # Panics
    /// Panics if an edge has the vertex `u32::MAX`.
    pub fn undirected(edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
        Graph::undirected_weighted(edges.into_iter().map(|(from, to)| (from, to, ())))
    }

    /// Builds a directed graph of `edges`, each from its first vertex to its second.
    ///
    /// ```
    /// use anabranch_graph::Graph;
    /// let graph = Graph::directed([(0, 1), (2, 1)]);
    /// assert!(graph.out_neighbours(1).is_empty());
    /// assert_eq!(graph.in_neighbours(1), [0, 2]);
    /// ```
    ///
    /// # Panics
    /// Panics if an edge has the vertex `u32::MAX`.
    pub fn directed(edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
        Graph::directed_weighted(edges.into_iter().map(|(from, to)| (from, to, ())))
    }
}

impl<W: Weight> Graph<W> {
    /// Builds an undirected graph of `edges` with their weights. Of duplicates the lightest stays.
    ///
    /// ```
    /// use anabranch_graph::Graph;
    /// let graph = Graph::undirected_weighted([(0, 1, 9u32), (1, 0, 5)]);
    /// assert_eq!((graph.out_weights(0), graph.out_weights(1)), (&[5][..], &[5][..]));
    /// ```
    ///
    /// # Panics
    /// Panics if an edge has the vertex `u32::MAX`.
    ///
    /// # Complexity
    /// O(V + E log D) for the largest degree D. V is the largest number in an edge plus one, also if few numbers occur.
    pub fn undirected_weighted(edges: impl IntoIterator<Item = (u32, u32, W)>) -> Graph<W> {
        let edges: Vec<_> = edges.into_iter().collect();
        Graph::from_pieces(num_vertices(&edges), vec![edges], Direction::Undirected)
    }

    /// Builds an undirected graph of the edges in all `pieces` with their weights, in parallel. Of duplicates the
    /// lightest stays.
    ///
    /// ```
    /// use anabranch_graph::Graph;
    /// let graph = Graph::undirected_from_pieces(vec![vec![(0, 1, 0.5f32)], vec![(1, 0, 0.25), (1, 2, 1.0)]]);
    /// assert_eq!((graph.num_edges(), graph.out_weights(1)), (2, &[0.25, 1.0][..]));
    /// ```
    ///
    /// # Complexity
    /// O(V + E log E). At the peak it takes 24 bytes an edge, or 40 with weights (56 of `f64`), and 8 a vertex.
    pub fn undirected_from_pieces(pieces: Vec<Vec<(u32, u32, W)>>) -> Graph<W> {
        let largest = pieces.par_iter().map(|piece| num_vertices(piece)).reduce(|| 0, usize::max);
        Graph::from_pieces(largest, pieces, Direction::Undirected)
    }

    /// Builds a directed graph of `edges` with their weights. Of duplicates the lightest stays.
    ///
    /// ```
    /// use anabranch_graph::Graph;
    /// let graph = Graph::directed_weighted([(0, 1, 0.5f32), (1, 0, 2.0)]);
    /// assert_eq!((graph.out_weights(0), graph.out_weights(1)), (&[0.5][..], &[2.0][..]));
    /// ```
    ///
    /// # Panics
    /// Panics if an edge has the vertex `u32::MAX`.
    ///
    /// # Complexity
    /// As for [`undirected_weighted`](Graph::undirected_weighted).
    pub fn directed_weighted(edges: impl IntoIterator<Item = (u32, u32, W)>) -> Graph<W> {
        let edges: Vec<_> = edges.into_iter().collect();
        Graph::from_pieces(num_vertices(&edges), vec![edges], Direction::Directed)
    }

    /// Builds a graph of the edges in `pieces`, whose ends are below `num_vertices`, in parallel. At the peak an
    /// undirected graph takes 24 bytes an edge, or 40 with weights (56 of `f64`), a directed one 20 or 28 (40), and 8
    /// or 16 a vertex.
    pub(crate) fn from_pieces(num_vertices: usize, pieces: Vec<Vec<(u32, u32, W)>>, direction: Direction) -> Graph<W> {
        let incoming = (direction == Direction::Directed)
            .then(|| Partition::new(num_vertices, &pieces, Arcs::Backward, |_| ()).into_rows());
        let arcs = if direction == Direction::Undirected { Arcs::Both } else { Arcs::Forward };
        let partition = Partition::new(num_vertices, &pieces, arcs, |weight: W| weight);
        drop(pieces);
        Graph { outgoing: partition.into_rows(), incoming }
    }

    pub(crate) fn from_rows(outgoing: Rows<W>, incoming: Option<Rows<()>>) -> Graph<W> {
        Graph { outgoing, incoming }
    }

    /// Returns the parts that [`from_rows`](Self::from_rows) takes.
    pub(crate) fn into_rows(self) -> (Rows<W>, Option<Rows<()>>) {
        (self.outgoing, self.incoming)
    }

    /// Returns the outgoing rows, and the incoming ones of a directed graph.
    pub(crate) fn rows(&self) -> (&Rows<W>, Option<&Rows<()>>) {
        (&self.outgoing, self.incoming.as_ref())
    }

    /// Checks the whole graph, in parallel: the starts of the rows, that each row ascends, has only vertices and no
    /// self-loop, and that incoming arcs match the outgoing ones (this by a hash). Only a graph that was mapped from a
    /// file can be damaged.
    ///
    /// ```
    /// use anabranch_graph::Graph;
    /// assert!(Graph::undirected([(0, 1), (1, 2)]).verify().is_ok());
    /// ```
    ///
    /// # Errors
    /// Returns what is wrong.
    ///
    /// # Complexity
    /// O(V + E).
    pub fn verify(&self) -> Result<(), DamagedGraph> {
        verify_rows(&self.outgoing)?;
        self.incoming.as_ref().map_or(Ok(()), verify_rows)?;
        if !self.is_symmetric() {
            return Err(DamagedGraph("the incoming arcs do not match the outgoing ones".to_owned()));
        }
        Ok(())
    }

    /// Returns whether the incoming arcs are the reversed outgoing ones, in an undirected graph with equal weights.
    /// Compares sums over a hash of each arc, so it may overlook a difference, with a probability of about 2^-64.
    pub(crate) fn is_symmetric(&self) -> bool {
        let num_vertices = self.num_vertices() as u32;
        let sums = (0..num_vertices).into_par_iter().map(|vertex| {
            // The incoming rows of a directed graph have no weights.
            let weights = if self.is_directed() { &[] } else { self.out_weights(vertex) };
            let weight = |index: usize| weights.get(index).map_or(0, |weight| weight.to_key().into());
            let outgoing = self.out_neighbours(vertex).iter().enumerate();
            let incoming = self.in_neighbours(vertex).iter().enumerate();
            let outgoing = outgoing.map(|(index, &to)| hash(vertex, to, weight(index))).fold(0, u64::wrapping_add);
            let incoming = incoming.map(|(index, &from)| hash(from, vertex, weight(index))).fold(0, u64::wrapping_add);
            outgoing.wrapping_sub(incoming)
        });
        sums.reduce(|| 0, u64::wrapping_add) == 0
    }

    /// Returns the number of vertices: what the header of a file says, or the largest number in an edge plus one.
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
        self.outgoing.neighbours.get(self.outgoing.range(vertex)).unwrap_or_else(|| damaged(vertex))
    }

    /// Returns the vertices from which edges lead to `vertex`, ascending. In an undirected graph these are the
    /// [`out_neighbours`](Graph::out_neighbours).
    ///
    /// # Panics
    /// Panics if there is no such vertex.
    #[inline(always)]
    pub fn in_neighbours(&self, vertex: u32) -> &[u32] {
        match &self.incoming {
            Some(rows) => rows.neighbours.get(rows.range(vertex)).unwrap_or_else(|| damaged(vertex)),
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
        self.outgoing.weights.get(self.outgoing.range(vertex)).unwrap_or_else(|| damaged(vertex))
    }
}

/// Returns the largest number in `edges` plus one.
#[track_caller]
fn num_vertices<W>(edges: &[(u32, u32, W)]) -> usize {
    let largest = edges.iter().map(|edge| edge.0.max(edge.1)).max();
    // The number of vertices has 32 bits too, and the kernels use the largest number for "no vertex".
    assert_ne!(largest, Some(u32::MAX), "a vertex is less than 4294967295");
    largest.map_or(0, |largest| largest as usize + 1)
}

/// Prints the sizes alone, as a graph may have many edges.
impl<W: Weight> fmt::Debug for Graph<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("is_directed", &self.is_directed())
            .field("num_vertices", &self.num_vertices())
            .field("num_edges", &self.num_edges())
            .finish_non_exhaustive()
    }
}

/// What is wrong with a graph from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedGraph(String);

impl fmt::Display for DamagedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the graph is damaged: {}; copy or convert its file again", self.0)
    }
}

impl std::error::Error for DamagedGraph {}

fn verify_rows<W: Weight>(rows: &Rows<W>) -> Result<(), DamagedGraph> {
    let num_arcs = rows.neighbours.len() as u64;
    if rows.starts.first() != Some(&0) || rows.starts.last() != Some(&num_arcs) {
        return Err(DamagedGraph("the rows do not cover the arcs".to_owned()));
    }
    let num_vertices = rows.starts.len() as u32 - 1;
    let fault = |vertex: u32| {
        let (Some(row), Some(weights)) =
            (rows.neighbours.get(rows.range(vertex)), rows.weights.get(rows.range(vertex)))
        else {
            return Some(vertex);
        };
        let is_sound = row.is_sorted_by(|a, b| a < b)
            && row.last().is_none_or(|&last| last < num_vertices)
            && row.binary_search(&vertex).is_err()
            && weights.iter().all(|&weight| weight.partial_cmp(&weight).is_some());
        (!is_sound).then_some(vertex)
    };
    match (0..num_vertices).into_par_iter().filter_map(fault).min() {
        Some(vertex) => Err(DamagedGraph(format!("the row of vertex {vertex} is wrong"))),
        None => Ok(()),
    }
}

/// Panics, since a mapped file has no such row.
#[cold]
#[track_caller]
fn damaged(vertex: u32) -> ! {
    panic!("the row of vertex {vertex} is not in the graph: its file is damaged, which `Graph::verify` finds")
}

/// Returns a hash of an arc.
fn hash(from: u32, to: u32, weight: u64) -> u64 {
    mix(mix(u64::from(from) << 32 | u64::from(to)).wrapping_add(weight))
}

/// The step and the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(word: u64) -> u64 {
    let mut word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
