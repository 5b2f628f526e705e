//! Connected components by sampling: most vertices find their component from two of their edges.
//!
//! Source: Sutton, Ben-Nun, Barak, *Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling*
//! (Afforest), IPDPS 2018.
//!
//! **Encoding.** `parents` is a forest in which a parent is less than its child, and a root is its own parent. Linking
//! two vertices makes the greater of their roots a child of the less. Compressing makes each vertex a child of its
//! root. In the end the roots are the least vertices of the components, whatever the order of the links.
//!
//! **Sampling.** The first `ROUNDS` neighbours of each vertex are linked first. A vertex begins as a child of its first
//! neighbour, the least one, if that is less: this takes no link. After that, most vertices of most
//! graphs belong to one tree. The kernel estimates by `SAMPLES` which one, and skips its vertices when it links the
//! other neighbours: each edge out of the tree is also in the list of its other end. In a directed graph the other
//! vertices link their in-neighbours too, so the components are those of the graph without directions.
//!
//! **Search.** In a skewed undirected graph a breadth-first search from a hub reaches most vertices, and reads fewer
//! edges than the links of the sampling. There it finds the large tree instead, as in Slota, Rajamanickam, Madduri,
//! *BFS and Coloring-based Parallel Algorithms for Strongly Connected Components and Related Problems*, IPDPS 2014. It
//! ends after `MOST_LEVELS`, so that a long path does not delay it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

use anabranch::prelude::*;

use super::bfs::reach;
use super::tools::{atomics, is_skewed, plain};
use super::{Cancel, KernelError, UNREACHED, VerifyError};
use crate::{Graph, Weight};

/// Neighbours of each vertex that are linked before the sampling.
const ROUNDS: usize = 2;
/// Vertices whose tree is looked up to find the largest one.
const SAMPLES: usize = 1024;
/// Levels of the search from a hub.
const MOST_LEVELS: u32 = 64;
/// Vertices whose first neighbours are read before they are linked.
const GROUP: usize = 32;

/// Returns, for each vertex of `graph`, the least vertex of its component. In a directed graph these are the weakly
/// connected components.
///
/// Takes time almost proportional to the vertices and arcs in the worst case. The result does not depend on the number
/// of threads.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::connected_components;
/// let graph = Graph::directed([(0, 3), (2, 1), (3, 5)]);
/// assert_eq!(connected_components(&graph, &()).unwrap(), [0, 1, 1, 0, 4, 0]);
/// ```
///
/// # Errors
/// Returns [`KernelError::Cancelled`].
pub fn connected_components<W: Weight>(graph: &Graph<W>, cancel: &dyn Cancel) -> Result<Vec<u32>, KernelError> {
    let searches = !graph.is_directed() && is_skewed(graph);
    let (parents, largest, linked) = if searches {
        let (parents, root) = search_hub(graph, cancel);
        (parents, Some(root), 0)
    } else {
        let least = |vertex: u32| graph.out_neighbours(vertex).first().map_or(vertex, |&first| first.min(vertex));
        let parents = atomics(graph.num_vertices(), |vertex| least(vertex as u32));
        for_groups(&parents, cancel, |group| link_first(graph, &parents, group));
        compress_all(&parents, cancel);
        let largest = frequent_root(&parents);
        (parents, largest, ROUNDS)
    };
    let has_others = AtomicBool::new(false);
    for_groups(&parents, cancel, |group| {
        for vertex in group.filter(|&vertex| Some(parents[vertex as usize].load(Relaxed)) != largest) {
            has_others.store(true, Relaxed);
            let row = graph.out_neighbours(vertex);
            let reversed = if graph.is_directed() { graph.in_neighbours(vertex) } else { &[] };
            row.iter().skip(linked).chain(reversed).for_each(|&neighbour| link(&parents, vertex, neighbour));
        }
    });
    if has_others.into_inner() {
        compress_all(&parents, cancel);
    }
    KernelError::check(cancel)?;
    Ok(plain(parents))
}

/// Calls `work` for groups of vertices. A thread has adjacent groups, which it takes in ascending order: so most links
/// of near vertices are within the trees of one thread.
fn for_groups(parents: &[AtomicU32], cancel: &dyn Cancel, work: impl Fn(Range<u32>) + Sync) {
    (0..parents.len().div_ceil(GROUP)).into_par_iter().for_each(|group| {
        if !cancel.is_cancelled() {
            work((group * GROUP) as u32..((group + 1) * GROUP).min(parents.len()) as u32);
        }
    });
}

/// Makes each vertex a child of its root.
fn compress_all(parents: &[AtomicU32], cancel: &dyn Cancel) {
    for_groups(parents, cancel, |group| group.for_each(|vertex| compress(parents, vertex)));
}

/// Makes the vertices near a hub one tree. Returns the forest, and the root of this tree.
fn search_hub<W: Weight>(graph: &Graph<W>, cancel: &dyn Cancel) -> (Vec<AtomicU32>, u32) {
    let step = (graph.num_vertices() / SAMPLES).max(1);
    let sample = (0..graph.num_vertices() as u32).step_by(step);
    let hub = sample.max_by_key(|&vertex| graph.out_neighbours(vertex).len()).expect("a skewed graph has vertices");
    let mut parents = reach(graph, hub, MOST_LEVELS, cancel);
    let is_reached = |parent: &AtomicU32| parent.load(Relaxed) != UNREACHED;
    let root = parents.iter().position(is_reached).expect("the search reaches the hub") as u32;
    parents.par_iter_mut().enumerate().for_each(|(vertex, parent)| {
        *parent.get_mut() = if is_reached(parent) { root } else { vertex as u32 };
    });
    (parents, root)
}

/// Links the first neighbours of `vertices`, at most [`GROUP`]. A first neighbour that is less is the parent already.
///
/// The neighbours are read before the first link, so that the cache misses of the rows overlap: a link has
/// unpredictable branches. The vertices are compressed before, because the paths from them may be long.
fn link_first<W: Weight>(graph: &Graph<W>, parents: &[AtomicU32], vertices: Range<u32>) {
    let mut edges = [(0, 0); GROUP * ROUNDS];
    let mut len = 0;
    for vertex in vertices {
        let row = graph.out_neighbours(vertex);
        let is_linked = row.first().is_some_and(|&first| first < vertex);
        for &neighbour in row.iter().take(ROUNDS).skip(is_linked.into()) {
            edges[len] = (vertex, neighbour);
            len += 1;
        }
        compress(parents, vertex);
    }
    edges[..len].iter().for_each(|&(vertex, neighbour)| link(parents, vertex, neighbour));
}

/// Makes `a` and `b` members of one tree.
#[inline]
fn link(parents: &[AtomicU32], a: u32, b: u32) {
    let parent = |vertex: u32| parents[vertex as usize].load(Relaxed);
    let (mut a, mut b) = (parent(a), parent(b));
    while a != b {
        let (high, low) = (a.max(b), a.min(b));
        let above = parent(high);
        let is_linked = above == low
            || above == high && parents[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok();
        if is_linked {
            return;
        }
        a = parent(parent(high));
        b = parent(low);
    }
}

/// Makes `vertex` a child of its root.
#[inline]
fn compress(parents: &[AtomicU32], vertex: u32) {
    let parent = |vertex: u32| parents[vertex as usize].load(Relaxed);
    let old = parent(vertex);
    let mut root = old;
    while root != parent(root) {
        root = parent(root);
    }
    if root != old {
        parents[vertex as usize].store(root, Relaxed);
    }
}

/// Returns the most frequent parent in a sample: that of the largest tree, very likely.
fn frequent_root(parents: &[AtomicU32]) -> Option<u32> {
    let step = (parents.len() / SAMPLES).max(1);
    let mut counts = HashMap::new();
    for parent in parents.iter().step_by(step) {
        *counts.entry(parent.load(Relaxed)).or_insert(0) += 1;
    }
    counts.into_iter().max_by_key(|&(root, count)| (count, root)).map(|(root, _)| root)
}

/// Compares `components` with a plain search of each component.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::components::verify;
/// let graph = Graph::undirected([(0, 1), (2, 3)]);
/// assert!(verify(&graph, &[0, 0, 2, 2]).is_ok());
/// assert!(verify(&graph, &[0, 0, 0, 0]).is_err());
/// ```
///
/// # Errors
/// Returns the first vertex that is wrong.
pub fn verify<W: Weight>(graph: &Graph<W>, components: &[u32]) -> Result<(), VerifyError> {
    let num_vertices = graph.num_vertices();
    let mut least = vec![UNREACHED; num_vertices];
    for root in 0..num_vertices as u32 {
        let mut stack = if least[root as usize] == UNREACHED { vec![root] } else { Vec::new() };
        while let Some(vertex) = stack.pop() {
            if least[vertex as usize] == UNREACHED {
                least[vertex as usize] = root;
                stack.extend(graph.out_neighbours(vertex).iter().chain(graph.in_neighbours(vertex)));
            }
        }
    }
    VerifyError::compare("is in component", components, &least)
}
