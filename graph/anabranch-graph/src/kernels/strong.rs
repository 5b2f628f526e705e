//! Strongly connected components: trimming, the component of a hub by two searches, and the rest by one thread.
//!
//! Sources: Slota, Rajamanickam, Madduri, *BFS and Coloring-based Parallel Algorithms for Strongly Connected Components
//! and Related Problems*, IPDPS 2014, for the order of the steps. Tarjan, *Depth-First Search and Linear Graph
//! Algorithms*, 1972, for the rest.
//!
//! **Steps.** A vertex without an arc from, or to, another remaining vertex is a component of its own, and is removed;
//! `TRIMS` rounds of this remove most of the small components of most graphs. Then the vertices that a hub reaches, and
//! that reach it, are its component, which in most graphs is the only large one. One thread divides what remains.

use anabranch::prelude::*;

use super::tools::{VertexSet, append};
use super::{Cancel, KernelError, VerifyError, connected_components};
use crate::{Graph, Weight};

/// Rounds of trimming. Each reads the rows of all remaining vertices up to their first remaining neighbour.
const TRIMS: usize = 3;
/// Frontier vertices per piece of work.
const PIECE: usize = 64;
/// Stands for "not visited yet", and for "not in a component yet".
const NONE: u32 = u32::MAX;

/// Returns, for each vertex of `graph`, the least vertex of its strongly connected component: the vertices that reach
/// each other. In an undirected graph these are the connected components.
///
/// Takes time proportional to the vertices and arcs. Only the component of a hub is found in parallel. The result does
/// not depend on the number of threads.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::strongly_connected_components;
/// let graph = Graph::directed([(1, 2), (2, 3), (3, 1), (0, 1), (3, 4)]);
/// assert_eq!(strongly_connected_components(&graph, &()).unwrap(), [0, 1, 1, 1, 4]);
/// ```
///
/// # Errors
/// Returns [`KernelError::Cancelled`].
pub fn strongly_connected_components<W: Weight>(
    graph: &Graph<W>,
    cancel: &dyn Cancel,
) -> Result<Vec<u32>, KernelError> {
    if !graph.is_directed() {
        return connected_components(graph, cancel);
    }
    let mut components: Vec<u32> = (0..graph.num_vertices()).into_par_iter().map(|_| NONE).collect();
    let mut remaining: Vec<u32> = (0..graph.num_vertices() as u32).into_par_iter().collect();
    for _ in 0..TRIMS {
        KernelError::check(cancel)?;
        let remains = |vertex: &u32| components[*vertex as usize] == NONE;
        let is_linked = |row: &[u32]| row.iter().any(remains);
        let (kept, trimmed): (Vec<u32>, Vec<u32>) = remaining
            .into_par_iter()
            .partition(|&vertex| is_linked(graph.out_neighbours(vertex)) && is_linked(graph.in_neighbours(vertex)));
        trimmed.iter().for_each(|&vertex| components[vertex as usize] = vertex);
        remaining = kept;
        if trimmed.is_empty() {
            break;
        }
    }
    let arcs = |vertex: u32| graph.out_neighbours(vertex).len() as u64 * graph.in_neighbours(vertex).len() as u64;
    if let Some(hub) = remaining.par_iter().copied().max_by_key(|&vertex| (arcs(vertex), vertex)) {
        let after = reach(&components, hub, cancel, |vertex| graph.out_neighbours(vertex));
        let before = reach(&components, hub, cancel, |vertex| graph.in_neighbours(vertex));
        let is_of_hub = |vertex: &u32| after.contains(*vertex) && before.contains(*vertex);
        let least = remaining.par_iter().copied().filter(is_of_hub).min().expect("the hub belongs to its component");
        remaining.iter().filter(|vertex| is_of_hub(vertex)).for_each(|&vertex| components[vertex as usize] = least);
    }
    KernelError::check(cancel)?;
    Rest::new(graph, &mut components).divide(&remaining, cancel)?;
    Ok(components)
}

/// Returns the vertices without a component that `root` reaches.
fn reach<'a>(
    components: &[u32],
    root: u32,
    cancel: &dyn Cancel,
    neighbours: impl Fn(u32) -> &'a [u32] + Sync,
) -> VertexSet {
    let reached = VertexSet::new(components.len());
    reached.insert(root);
    let mut frontier = vec![root];
    while !frontier.is_empty() && !cancel.is_cancelled() {
        let explore = |mut found: Vec<u32>, vertices: &[u32]| {
            let all = vertices.iter().flat_map(|&vertex| neighbours(vertex)).copied();
            found.extend(all.filter(|&neighbour| components[neighbour as usize] == NONE && reached.insert(neighbour)));
            found
        };
        frontier = frontier.par_chunks(PIECE).fold(Vec::new, explore).reduce(Vec::new, append);
    }
    reached
}

/// Tarjan's algorithm on the vertices without a component, with a stack of its own in place of recursion.
struct Rest<'a, W> {
    graph: &'a Graph<W>,
    components: &'a mut [u32],
    /// The number of each vertex in the order of the search.
    order: Vec<u32>,
    /// The least number that a vertex reaches by its tree and one more arc.
    low: Vec<u32>,
    /// The vertices that were visited and have no component yet.
    open: Vec<u32>,
    /// The path from the root, with the number of arcs of each vertex that were followed.
    path: Vec<(u32, usize)>,
}

impl<'a, W: Weight> Rest<'a, W> {
    fn new(graph: &'a Graph<W>, components: &'a mut [u32]) -> Self {
        Rest { graph, components, order: Vec::new(), low: Vec::new(), open: Vec::new(), path: Vec::new() }
    }

    fn divide(mut self, vertices: &[u32], cancel: &dyn Cancel) -> Result<(), KernelError> {
        let mut visited = 0;
        for &root in vertices {
            if self.components[root as usize] != NONE {
                continue;
            }
            if self.order.is_empty() {
                self.order = vec![NONE; self.graph.num_vertices()];
                self.low = vec![NONE; self.graph.num_vertices()];
            }
            self.enter(root, &mut visited);
            while let Some((vertex, followed)) = self.path.last_mut() {
                let vertex = *vertex;
                if let Some(&next) = self.graph.out_neighbours(vertex).get(*followed) {
                    *followed += 1;
                    if self.components[next as usize] != NONE {
                        // It was removed before, or its component is complete.
                    } else if self.order[next as usize] == NONE {
                        self.enter(next, &mut visited);
                    } else {
                        self.reaches(vertex, self.order[next as usize]);
                    }
                } else {
                    self.path.pop();
                    self.leave(vertex);
                    KernelError::check(cancel)?;
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, vertex: u32, visited: &mut u32) {
        (self.order[vertex as usize], self.low[vertex as usize]) = (*visited, *visited);
        *visited += 1;
        self.open.push(vertex);
        self.path.push((vertex, 0));
    }

    fn reaches(&mut self, vertex: u32, number: u32) {
        let low = &mut self.low[vertex as usize];
        *low = number.min(*low);
    }

    /// Completes the component of a vertex that reaches nothing before it. Otherwise tells the vertex above.
    fn leave(&mut self, vertex: u32) {
        let low = self.low[vertex as usize];
        if low < self.order[vertex as usize] {
            let &(above, _) = self.path.last().expect("a vertex that reaches an earlier one is not the root");
            return self.reaches(above, low);
        }
        let first = self.open.iter().rposition(|&open| open == vertex).expect("its vertex is open");
        let members = self.open.split_off(first);
        let least = *members.iter().min().expect("it has its vertex");
        members.iter().for_each(|&member| self.components[member as usize] = least);
    }
}

/// Compares components with those of two serial depth-first searches, of which the second follows the arcs backwards
/// (Kosaraju, Sharir, 1981).
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::strong::verify;
/// let graph = Graph::directed([(0, 1), (1, 0), (1, 2)]);
/// assert!(verify(&graph, &[0, 0, 2]).is_ok() && verify(&graph, &[0, 0, 0]).is_err());
/// ```
///
/// # Errors
/// Returns the first vertex that is wrong.
pub fn verify<W: Weight>(graph: &Graph<W>, components: &[u32]) -> Result<(), VerifyError> {
    VerifyError::compare("has the component", components, &serial(graph))
}

fn serial<W: Weight>(graph: &Graph<W>) -> Vec<u32> {
    let num_vertices = graph.num_vertices();
    let mut is_visited = vec![false; num_vertices];
    let mut ended = Vec::with_capacity(num_vertices);
    for root in 0..num_vertices as u32 {
        let mut path = vec![(root, 0)];
        if std::mem::replace(&mut is_visited[root as usize], true) {
            continue;
        }
        while let Some((vertex, followed)) = path.last_mut() {
            if let Some(&next) = graph.out_neighbours(*vertex).get(*followed) {
                *followed += 1;
                if !std::mem::replace(&mut is_visited[next as usize], true) {
                    path.push((next, 0));
                }
            } else {
                ended.push(*vertex);
                path.pop();
            }
        }
    }
    let mut components = vec![NONE; num_vertices];
    for root in ended.into_iter().rev() {
        if components[root as usize] != NONE {
            continue;
        }
        let (mut members, mut next) = (vec![root], 0);
        components[root as usize] = root;
        while let Some(&vertex) = members.get(next) {
            next += 1;
            for &neighbour in graph.in_neighbours(vertex) {
                if components[neighbour as usize] == NONE {
                    components[neighbour as usize] = root;
                    members.push(neighbour);
                }
            }
        }
        let least = *members.iter().min().expect("it has the root");
        members.iter().for_each(|&member| components[member as usize] = least);
    }
    components
}
