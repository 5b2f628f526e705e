//! Direction-optimising breadth-first search: top-down while the frontier is small, bottom-up while it is large.
//!
//! Source: Beamer, Asanović, Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012.
//!
//! **Top-down** visits the frontier, a queue, and claims each unvisited out-neighbour. **Bottom-up** visits the
//! unvisited vertices, and searches the in-neighbours of each for one in the frontier, a set. It stops at the first.
//! The search turns bottom-up once the frontier has more than 1 / `ALPHA` of the unexplored arcs. It turns top-down
//! again once a shrinking frontier has fewer than 1 / `BETA` of the vertices. A level of at most `NARROW` arcs is
//! top-down on one thread, and so costs nothing in proportion to the graph.
//!
//! **Encoding.** `visited` has one bit for each vertex. Top-down, a thread claims a vertex by setting its bit, and then
//! writes its parent and level. Bottom-up, one thread owns the vertices of a word of 64 bits, so it needs no claims.
//! Vertices without in-neighbours count as visited from the first bottom-up level on.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use anabranch::pool::current_num_threads;
use anabranch::prelude::*;

use super::tools::{VertexSet, append, atomics, is_skewed, ones, plain};
use super::{Cancel, KernelError, UNREACHED, VerifyError};
use crate::{Graph, Weight};

/// Turns bottom-up once the frontier has more than this fraction of the unexplored arcs.
const ALPHA: u64 = 15;
/// Turns top-down again once a shrinking frontier has fewer than this fraction of the vertices.
const BETA: usize = 18;
/// The maximum number of arcs of a level that runs on one thread. It takes about as long as waking another thread.
const NARROW: u64 = 8192;
/// Frontier vertices per top-down piece.
const PIECE: usize = 4;
/// Neighbours of one vertex per top-down piece.
const ROW_PIECE: usize = 512;
/// Words of 64 vertices per bottom-up piece.
const WORDS: usize = 16;

/// The result of [`bfs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bfs {
    /// The vertex from which the search reached each vertex. The root is its own parent, and a vertex that the root
    /// does not reach has [`UNREACHED`]. Of several possible parents, each may be here.
    pub parents: Vec<u32>,
    /// The number of edges between the root and each vertex, or [`UNREACHED`].
    pub levels: Vec<u32>,
}

/// Searches `graph` from `root`. Follows the direction of the edges.
///
/// Takes time proportional to the vertices and arcs in the worst case. The levels do not depend on the number of
/// threads; the parents may.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::{UNREACHED, bfs};
/// let found = bfs(&Graph::directed([(0, 1), (1, 2), (3, 0)]), 0, &())?;
/// assert_eq!(found.parents, [0, 0, 1, UNREACHED]);
/// assert_eq!(found.levels, [0, 1, 2, UNREACHED]);
/// # Ok::<(), anabranch_graph::kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::NoSuchVertex`] if the graph has no `root`, and [`KernelError::Cancelled`].
pub fn bfs<W: Weight>(graph: &Graph<W>, root: u32, cancel: &dyn Cancel) -> Result<Bfs, KernelError> {
    KernelError::check_vertex(graph, root)?;
    let mut search = Search::new(graph, cancel);
    search.run(root, u32::MAX);
    KernelError::check(cancel)?;
    Ok(Bfs { parents: plain(search.parents), levels: plain(search.levels) })
}

/// Returns the parents that a search of about `most_levels` levels finds.
pub(super) fn reach<W: Weight>(graph: &Graph<W>, root: u32, most_levels: u32, cancel: &dyn Cancel) -> Vec<AtomicU32> {
    let mut search = Search::new(graph, cancel);
    search.run(root, most_levels);
    search.parents
}

struct Search<'a, W> {
    graph: &'a Graph<W>,
    cancel: &'a dyn Cancel,
    parents: Vec<AtomicU32>,
    levels: Vec<AtomicU32>,
    visited: VertexSet,
    /// The vertices that one thread claims in a narrow level, with their parents.
    claims: Vec<(u32, u32)>,
    /// The level that is being found.
    level: u32,
}

/// The vertices that one piece has found, and the sum of their degrees.
#[derive(Default)]
struct Found {
    vertices: Vec<u32>,
    arcs: u64,
}

impl Found {
    fn append(self, other: Found) -> Found {
        Found { vertices: append(self.vertices, other.vertices), arcs: self.arcs + other.arcs }
    }
}

impl<'a, W: Weight> Search<'a, W> {
    fn new(graph: &'a Graph<W>, cancel: &'a dyn Cancel) -> Self {
        let num_vertices = graph.num_vertices();
        let unreached = || atomics(num_vertices, |_| UNREACHED);
        let visited = VertexSet::new(num_vertices);
        Search { graph, cancel, parents: unreached(), levels: unreached(), visited, claims: Vec::new(), level: 0 }
    }

    /// Searches until no vertex remains. Begins no level, or succession of levels bottom-up, after `most_levels`.
    fn run(&mut self, root: u32, most_levels: u32) {
        self.visited.insert(root);
        self.parents[root as usize] = AtomicU32::new(root);
        self.levels[root as usize] = AtomicU32::new(0);
        let mut unexplored = self.graph.num_arcs();
        let mut frontier = Found { vertices: vec![root], arcs: self.degree(root) };
        let mut isolated_are_visited = false;
        while !frontier.vertices.is_empty() && self.level < most_levels && !self.cancel.is_cancelled() {
            unexplored = unexplored.saturating_sub(frontier.arcs);
            if frontier.arcs <= NARROW {
                self.level += 1;
                frontier = self.top_down_alone(&frontier);
            } else if frontier.arcs > unexplored / ALPHA {
                if !std::mem::replace(&mut isolated_are_visited, true) {
                    self.visit_isolated();
                }
                frontier = self.bottom_up_levels(&frontier);
            } else {
                self.level += 1;
                frontier = match current_num_threads() {
                    1 => self.top_down_alone(&frontier),
                    _ => self.top_down(&frontier.vertices),
                };
            }
        }
    }

    fn degree(&self, vertex: u32) -> u64 {
        self.graph.out_neighbours(vertex).len() as u64
    }

    /// Returns the vertices of the next level. One thread claims them, without atomic operations, and without a branch
    /// on whether a vertex has been visited.
    fn top_down_alone(&mut self, frontier: &Found) -> Found {
        let (graph, visited, claims) = (self.graph, &mut self.visited.0[..], &mut self.claims);
        // The loop also writes a vertex that has already been visited, so the array has one more place.
        if claims.len() <= frontier.arcs as usize {
            claims.resize(frontier.arcs as usize + 1, (0, 0));
        }
        let mut len = 0;
        for &vertex in &frontier.vertices {
            for &neighbour in graph.out_neighbours(vertex) {
                let (word, bit) = (visited[(neighbour / 64) as usize].get_mut(), 1 << (neighbour % 64));
                claims[len] = (neighbour, vertex);
                len += usize::from(*word & bit == 0);
                *word |= bit;
            }
        }
        let mut found = Found { vertices: Vec::with_capacity(len), arcs: 0 };
        for &(vertex, parent) in &claims[..len] {
            *self.parents[vertex as usize].get_mut() = parent;
            *self.levels[vertex as usize].get_mut() = self.level;
            found.arcs += graph.out_neighbours(vertex).len() as u64;
            found.vertices.push(vertex);
        }
        found
    }

    /// Returns the vertices of the next level.
    fn top_down(&self, frontier: &[u32]) -> Found {
        let explore = |mut found: Found, vertices: &[u32]| {
            for &vertex in vertices {
                let row = self.graph.out_neighbours(vertex);
                if row.len() <= 2 * ROW_PIECE {
                    self.claim(&mut found, vertex, row);
                } else {
                    let claim = |mut found: Found, row: &[u32]| {
                        self.claim(&mut found, vertex, row);
                        found
                    };
                    let pieces = row.par_chunks(ROW_PIECE).fold(Found::default, claim);
                    found = found.append(pieces.reduce(Found::default, Found::append));
                }
                if self.cancel.is_cancelled() {
                    break;
                }
            }
            found
        };
        frontier.par_chunks(PIECE).fold(Found::default, explore).reduce(Found::default, Found::append)
    }

    /// Claims the unvisited vertices of a part of the row of `vertex`.
    #[inline]
    fn claim(&self, found: &mut Found, vertex: u32, row: &[u32]) {
        for &neighbour in row {
            if self.visited.insert(neighbour) {
                self.parents[neighbour as usize].store(vertex, Relaxed);
                self.levels[neighbour as usize].store(self.level, Relaxed);
                found.arcs += self.degree(neighbour);
                found.vertices.push(neighbour);
            }
        }
    }

    /// Marks the vertices that no edge leads to, and the bits beyond the last vertex, as visited.
    fn visit_isolated(&mut self) {
        let graph = self.graph;
        let num_vertices = graph.num_vertices();
        self.visited.0.par_iter_mut().enumerate().for_each(|(index, word)| {
            for bit in ones(!*word.get_mut()) {
                let vertex = index * 64 + bit as usize;
                if vertex >= num_vertices || graph.in_neighbours(vertex as u32).is_empty() {
                    *word.get_mut() |= 1 << bit;
                }
            }
        });
    }

    /// Runs bottom-up levels while the frontier is large. Returns the last frontier.
    fn bottom_up_levels(&mut self, frontier: &Found) -> Found {
        let num_vertices = self.graph.num_vertices();
        let (mut front, mut next) = (VertexSet::new(num_vertices), VertexSet::new(num_vertices));
        frontier.vertices.par_iter().for_each(|&vertex| _ = front.insert(vertex));
        let mut before = frontier.vertices.len();
        let tries_first = is_skewed(self.graph);
        loop {
            self.level += 1;
            let found = self.bottom_up(&front, &mut next, tries_first);
            std::mem::swap(&mut front, &mut next);
            if found == 0 || (found < before && found < num_vertices / BETA) || self.cancel.is_cancelled() {
                return self.members(&front);
            }
            before = found;
        }
    }

    /// Finds the next level of `front`, and writes it to `next`. Returns the number of its vertices.
    ///
    /// If it `tries_first`, each vertex tries its first neighbour without a branch on the outcome, so that the cache
    /// misses of the rows overlap. This pays if hubs are in `front`; otherwise it reads most rows twice.
    fn bottom_up(&mut self, front: &VertexSet, next: &mut VertexSet, tries_first: bool) -> usize {
        let (graph, level, cancel) = (self.graph, self.level, self.cancel);
        let words = self.visited.0.par_chunks_mut(WORDS).zip(next.0.par_chunks_mut(WORDS));
        let results = self.parents.par_chunks_mut(64 * WORDS).zip(self.levels.par_chunks_mut(64 * WORDS));
        let search = |(piece, ((visited, next), (parents, levels)))| {
            let (visited, next): (&mut [_], &mut [_]) = (visited, next);
            let (parents, levels): (&mut [AtomicU32], &mut [AtomicU32]) = (parents, levels);
            if cancel.is_cancelled() {
                return 0;
            }
            let mut count = 0;
            for (index, (visited, next)) in visited.iter_mut().zip(next).enumerate() {
                let row = |bit: u32| graph.in_neighbours(((piece * WORDS + index) * 64) as u32 + bit);
                let mut found = 0;
                let mut set_parent = |bit: u32, parent| {
                    let vertex = index * 64 + bit as usize;
                    *parents[vertex].get_mut() = parent;
                    *levels[vertex].get_mut() = level;
                };
                let unvisited = !*AtomicU64::get_mut(visited);
                if tries_first {
                    for bit in ones(unvisited) {
                        let is_found = row(bit).first().is_some_and(|&neighbour| front.contains(neighbour));
                        found |= u64::from(is_found) << bit;
                    }
                    ones(found).for_each(|bit| set_parent(bit, row(bit)[0]));
                }
                for bit in ones(unvisited & !found) {
                    if let Some(&parent) = row(bit).iter().find(|&&neighbour| front.contains(neighbour)) {
                        set_parent(bit, parent);
                        found |= 1 << bit;
                    }
                }
                *AtomicU64::get_mut(visited) |= found;
                *AtomicU64::get_mut(next) = found;
                count += found.count_ones() as usize;
            }
            count
        };
        words.zip(results).enumerate().map(search).sum()
    }

    /// Returns the vertices of `set`.
    fn members(&self, set: &VertexSet) -> Found {
        let collect = |mut found: Found, (index, word): (usize, &AtomicU64)| {
            for bit in ones(word.load(Relaxed)) {
                let vertex = (index * 64) as u32 + bit;
                found.arcs += self.degree(vertex);
                found.vertices.push(vertex);
            }
            found
        };
        set.0.par_iter().enumerate().fold(Found::default, collect).reduce(Found::default, Found::append)
    }
}

/// Compares `found` with a plain search by a queue: equal levels, and parents that are one level above by an edge.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::bfs::{bfs, verify};
/// let graph = Graph::undirected([(0, 1), (1, 2)]);
/// let mut found = bfs(&graph, 0, &()).unwrap();
/// assert!(verify(&graph, 0, &found).is_ok());
/// found.parents[2] = 0;
/// assert!(verify(&graph, 0, &found).is_err());
/// ```
///
/// # Errors
/// Returns the first vertex that is wrong.
///
/// # Panics
/// Panics if the graph has no `root`.
pub fn verify<W: Weight>(graph: &Graph<W>, root: u32, found: &Bfs) -> Result<(), VerifyError> {
    let num_vertices = graph.num_vertices();
    VerifyError::unless(found.parents.len() == num_vertices && found.levels.len() == num_vertices, || {
        format!("the result does not have {num_vertices} vertices")
    })?;
    let levels = serial_levels(graph, root);
    for (vertex, (&level, &parent)) in levels.iter().zip(&found.parents).enumerate() {
        VerifyError::unless(found.levels[vertex] == level, || {
            format!("vertex {vertex} has level {} instead of {level}", found.levels[vertex] as i32)
        })?;
        let holds = match level {
            UNREACHED => parent == UNREACHED,
            0 => parent == vertex as u32,
            _ => {
                levels.get(parent as usize).is_some_and(|&above| above == level - 1)
                    && graph.out_neighbours(parent).binary_search(&(vertex as u32)).is_ok()
            }
        };
        VerifyError::unless(holds, || format!("vertex {vertex} cannot have the parent {}", parent as i32))?;
    }
    Ok(())
}

/// Returns the levels that a plain search by a queue finds.
fn serial_levels<W: Weight>(graph: &Graph<W>, root: u32) -> Vec<u32> {
    let mut levels = vec![UNREACHED; graph.num_vertices()];
    levels[root as usize] = 0;
    let mut queue = VecDeque::from([root]);
    while let Some(vertex) = queue.pop_front() {
        for &neighbour in graph.out_neighbours(vertex) {
            if levels[neighbour as usize] == UNREACHED {
                levels[neighbour as usize] = levels[vertex as usize] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    levels
}
