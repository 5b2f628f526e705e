//! Core numbers by peeling: the vertices of the least degree go first, with all that this leaves at that degree.
//!
//! Source: Kabir, Madduri, *Parallel k-Core Decomposition on Multicore Platforms*, IPDPSW 2017. The serial algorithm is
//! that of Batagelj, Zaveršnik, *An O(m) Algorithm for Cores Decomposition of Networks*, 2003.
//!
//! **Encoding.** `degrees` has the degree of each vertex among those that remain, and of a vertex that was removed at
//! level k the number k, its core number. A thread that removes a vertex lowers the degrees of its neighbours above k.
//! The thread that takes a degree from k + 1 to k owns that vertex, which then belongs to the next frontier of the same
//! level. A thread that finds that another one has taken the degree to k restores it.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use anabranch::prelude::*;

use super::tools::{append, atomics, plain};
use super::{Cancel, KernelError, VerifyError};
use crate::{Graph, Weight};

/// Frontier vertices per piece of work.
const PIECE: usize = 64;

/// Returns the core number of each vertex: the greatest k such that the vertex belongs to a subgraph in which each
/// vertex has at least k neighbours.
///
/// In a directed graph the degree is the number of edges in both directions, as in networkx: an edge and its reverse
/// count twice.
///
/// Takes time proportional to the arcs, and to the vertices that remain at each level. The result does not depend on
/// the number of threads.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::core_numbers;
/// let triangle_with_a_tail = Graph::undirected([(0, 1), (1, 2), (2, 0), (2, 3)]);
/// assert_eq!(core_numbers(&triangle_with_a_tail, &()).unwrap(), [2, 2, 2, 1]);
/// ```
///
/// # Errors
/// Returns [`KernelError::Cancelled`].
pub fn core_numbers<W: Weight>(graph: &Graph<W>, cancel: &dyn Cancel) -> Result<Vec<u32>, KernelError> {
    let degrees = atomics(graph.num_vertices(), |vertex| neighbours(graph, vertex as u32).count() as u32);
    let degree = |vertex: u32| degrees[vertex as usize].load(Relaxed);
    let mut remaining: Vec<u32> = (0..graph.num_vertices() as u32).into_par_iter().collect();
    while let Some(level) = remaining.par_iter().map(|&vertex| degree(vertex)).min() {
        let mut frontier: Vec<u32> = remaining.par_iter().copied().filter(|&vertex| degree(vertex) == level).collect();
        while !frontier.is_empty() {
            let peel = |mut found: Vec<u32>, vertices: &[u32]| {
                if !cancel.is_cancelled() {
                    let all = vertices.iter().flat_map(|&vertex| neighbours(graph, vertex));
                    found.extend(all.filter(|&neighbour| lower(&degrees[neighbour as usize], level)));
                }
                found
            };
            frontier = frontier.par_chunks(PIECE).fold(Vec::new, peel).reduce(Vec::new, append);
        }
        KernelError::check(cancel)?;
        remaining = remaining.into_par_iter().filter(|&vertex| degree(vertex) > level).collect();
    }
    Ok(plain(degrees))
}

/// Returns the neighbours in both directions.
fn neighbours<W: Weight>(graph: &Graph<W>, vertex: u32) -> impl Iterator<Item = u32> {
    let reversed = if graph.is_directed() { graph.in_neighbours(vertex) } else { &[] };
    graph.out_neighbours(vertex).iter().chain(reversed).copied()
}

/// Lowers a degree above `level`. Returns whether this call has taken it to `level`.
#[inline]
fn lower(degree: &AtomicU32, level: u32) -> bool {
    if degree.load(Relaxed) <= level {
        return false;
    }
    let before = degree.fetch_sub(1, Relaxed);
    if before <= level {
        degree.fetch_add(1, Relaxed);
    }
    before == level + 1
}

/// Compares core numbers with those of a serial algorithm with a list of vertices for each degree.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::cores::verify;
/// let path = Graph::undirected([(0, 1), (1, 2)]);
/// assert!(verify(&path, &[1, 1, 1]).is_ok() && verify(&path, &[1, 2, 1]).is_err());
/// ```
///
/// # Errors
/// Returns the first vertex that is wrong.
pub fn verify<W: Weight>(graph: &Graph<W>, cores: &[u32]) -> Result<(), VerifyError> {
    VerifyError::compare("has the core number", cores, &serial(graph))
}

fn serial<W: Weight>(graph: &Graph<W>) -> Vec<u32> {
    let vertices = 0..graph.num_vertices() as u32;
    let mut degrees: Vec<u32> = vertices.map(|vertex| neighbours(graph, vertex).count() as u32).collect();
    let mut of_degree = vec![Vec::new(); degrees.iter().max().map_or(0, |&max| max as usize + 1)];
    (0..).zip(&degrees).for_each(|(vertex, &degree)| of_degree[degree as usize].push(vertex));
    let mut is_removed = vec![false; degrees.len()];
    for level in 0..of_degree.len() {
        while let Some(vertex) = of_degree[level].pop() {
            // A vertex is in the list of each degree that it has had.
            if degrees[vertex as usize] != level as u32 || std::mem::replace(&mut is_removed[vertex as usize], true) {
                continue;
            }
            for neighbour in neighbours(graph, vertex) {
                let degree = &mut degrees[neighbour as usize];
                if *degree > level as u32 {
                    *degree -= 1;
                    of_degree[*degree as usize].push(neighbour);
                }
            }
        }
    }
    degrees
}
