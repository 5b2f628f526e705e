//! A tree of shortest paths, computed from the distances.
//!
//! A vertex can have a parent if the parent's distance plus the edge is its distance. If the parent's distance is
//! lower, no cycle can arise. So such parents are chosen first, in parallel: of several, the first in the row of the
//! vertex, or the least in a directed graph. Vertices whose possible parents all have their own distance remain,
//! because the edges weigh 0 or vanish in a rounded sum. A plain search reaches these from the others.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

use super::Length;
use super::verify::Wide;
use crate::Graph;
use crate::kernels::tools::{atomics, blocks, plain, states};
use crate::kernels::{Cancel, KernelError, UNREACHED, VerifyError};

/// Vertices per block of work.
const BLOCK: usize = 256;

/// Returns the parent of each vertex in a tree of shortest paths from `root`. The root is its own parent, and an
/// unreached vertex has [`UNREACHED`].
///
/// Takes time proportional to the vertices and arcs. The parents do not depend on the number of threads.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::{sssp, sssp::parents};
/// let graph = Graph::directed_weighted([(0, 1, 9u32), (0, 2, 2), (2, 1, 3)]);
/// let distances = sssp(&graph, 0, None, &()).unwrap();
/// assert_eq!(parents(&graph, 0, &distances, &()).unwrap(), [0, 2, 0]);
/// ```
///
/// # Errors
/// Returns [`KernelError::NoSuchVertex`] if the graph has no `root`, and [`KernelError::Cancelled`].
///
/// # Panics
/// Panics if `distances` has another length than the graph has vertices. Distances that are not those of [`sssp`]
/// yield parents without a meaning.
///
/// [`sssp`]: super::sssp
pub fn parents<W: Length>(
    graph: &Graph<W>,
    root: u32,
    distances: &[W::Distance],
    cancel: &dyn Cancel,
) -> Result<Vec<u32>, KernelError> {
    KernelError::check_vertex(graph, root)?;
    let num_vertices = graph.num_vertices();
    assert_eq!(distances.len(), num_vertices, "a distance for each vertex");
    let parents = atomics(num_vertices, |_| UNREACHED);
    parents[root as usize].store(root, Relaxed);
    blocks(num_vertices, BLOCK, &mut states(|| ()), cancel, |(), range| {
        for vertex in range.map(|vertex| vertex as u32) {
            if !graph.is_directed() {
                if let Some(parent) = first_parent(graph, distances, vertex).filter(|_| vertex != root) {
                    parents[vertex as usize].store(parent, Relaxed);
                }
                continue;
            }
            for (child, is_farther) in children(graph, distances, vertex) {
                if is_farther && child != root {
                    parents[child as usize].fetch_min(vertex, Relaxed);
                }
            }
        }
    });
    KernelError::check(cancel)?;
    let mut parents = plain(parents);
    let is_reached = |vertex: &u32| distances[*vertex as usize] < W::UNREACHED;
    let remains = |vertex: &u32| is_reached(vertex) && parents[*vertex as usize] == UNREACHED;
    if (0..num_vertices as u32).any(|vertex| remains(&vertex)) {
        let mut queue: VecDeque<u32> =
            (0..num_vertices as u32).filter(|vertex| parents[*vertex as usize] != UNREACHED).collect();
        while let Some(vertex) = queue.pop_front() {
            for (child, _) in children(graph, distances, vertex) {
                if parents[child as usize] == UNREACHED {
                    parents[child as usize] = vertex;
                    queue.push_back(child);
                }
            }
        }
    }
    Ok(parents)
}

/// Returns the first neighbour nearer to the root that can be the parent of `vertex` in an undirected graph. Most rows
/// are not read to their end.
#[inline]
fn first_parent<W: Length>(graph: &Graph<W>, distances: &[W::Distance], vertex: u32) -> Option<u32> {
    let distance = distances[vertex as usize];
    if distance == W::UNREACHED {
        return None;
    }
    let mut row = graph.out_neighbours(vertex).iter().zip(graph.out_weights(vertex));
    let is_parent = |above: W::Distance, weight| above < distance && W::extend(above, weight) == distance;
    row.find(|&(&above, &weight)| is_parent(distances[above as usize], weight)).map(|(&above, _)| above)
}

/// Returns the vertices whose parent `vertex` can be, each with whether it is farther from the root.
fn children<'a, W: Length>(
    graph: &'a Graph<W>,
    distances: &'a [W::Distance],
    vertex: u32,
) -> impl Iterator<Item = (u32, bool)> + 'a {
    let distance = distances[vertex as usize];
    let row = graph.out_neighbours(vertex).iter().zip(graph.out_weights(vertex));
    row.filter_map(move |(&neighbour, &weight)| {
        let found = distances[neighbour as usize];
        let is_child = distance < W::UNREACHED && W::extend(distance, weight) == found;
        is_child.then_some((neighbour, distance < found))
    })
}

/// Checks that `parents` is a tree of shortest paths for `distances`, which [`verify`](super::verify) has accepted.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::sssp::verify_parents;
/// let graph = Graph::undirected_weighted([(0, 1, 1u32), (1, 2, 0)]);
/// assert!(verify_parents(&graph, 0, &[0, 1, 1], &[0, 0, 1]).is_ok());
/// assert!(verify_parents(&graph, 0, &[0, 1, 1], &[0, 2, 1]).is_err());
/// ```
///
/// # Errors
/// Returns the first vertex that is wrong.
pub fn verify_parents<W: Length>(
    graph: &Graph<W>,
    root: u32,
    distances: &[W::Distance],
    parents: &[u32],
) -> Result<(), VerifyError> {
    let num_vertices = graph.num_vertices();
    VerifyError::unless(parents.len() == num_vertices && distances.len() == num_vertices, || {
        format!("the result does not have {num_vertices} vertices")
    })?;
    let mut is_in_tree = vec![false; num_vertices];
    for vertex in 0..num_vertices as u32 {
        let parent = parents[vertex as usize];
        let is_child = || {
            let weight = graph.out_neighbours(parent).binary_search(&vertex).map(|at| graph.out_weights(parent)[at]);
            let (above, distance) =
                (Wide::new::<W>(distances[parent as usize]), Wide::new::<W>(distances[vertex as usize]));
            // One addition leads from one to the other.
            let is_near = |sum: Wide| sum < Wide::INFINITY && sum.distance(distance) <= W::ROUNDING * sum.rounded();
            weight.is_ok_and(|weight| is_near(above.plus(weight.into())))
        };
        let holds = if vertex == root {
            parent == root
        } else if distances[vertex as usize] < W::UNREACHED {
            (parent as usize) < num_vertices && is_child()
        } else {
            parent == UNREACHED
        };
        VerifyError::unless(holds, || format!("vertex {vertex} cannot have the parent {}", parent as i32))?;
        is_in_tree[vertex as usize] = vertex == root || parent == UNREACHED;
    }
    for vertex in 0..num_vertices as u32 {
        let mut path = Vec::new();
        let mut next = vertex;
        while !is_in_tree[next as usize] {
            path.push(next);
            VerifyError::unless(path.len() <= num_vertices, || {
                format!("the parents of vertex {vertex} do not lead to the root")
            })?;
            next = parents[next as usize];
        }
        path.into_iter().for_each(|vertex| is_in_tree[vertex as usize] = true);
    }
    Ok(())
}
