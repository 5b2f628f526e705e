//! Direction-optimising breadth-first search: top-down while the frontier is small, bottom-up while
//! it is large.
//!
//! Source: Beamer, Asanović, Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012. The choice of first
//! neighbours and isolated vertices is from Yasui, Fujisawa, Goto, *NUMA-optimized Parallel Breadth-first Search*,
//! BigData 2013.
//!
//! **Top-down** visits the frontier, a queue, and claims each unvisited neighbour. **Bottom-up** visits the unvisited
//! vertices, and searches each one's neighbours for one in the frontier, a bitmap. It stops at the first. So in the
//! levels with most of a small-world graph it reads a few per cent of the edges. The search turns bottom-up once the
//! frontier has more than 1 / [`ALPHA`] of the unexplored edges. It turns top-down again once the frontier shrinks
//! below 1 / [`BETA`] of the vertices.
//!
//! **Encoding.** `visited` is a bitmap that initially contains the isolated vertices, which need no visit. The frontier
//! is `queue[..n]` or the bitmap `front`. A level writes the other queue or the bitmap `next`.
//! - Top-down, a thread claims a neighbour by setting its bit in `visited`, after a plain load that rules out most. The
//!   thread that set the bit writes the parent, and puts the neighbour into its own buffer. A full buffer is emptied
//!   into the shared queue. A long row is itself cut into pieces, because the first levels are often one hub.
//! - Bottom-up, one thread owns a block of 64-vertex words, and writes `visited`, `next` and parents without atomics.
//!   First all vertices of a word try their first neighbour, without a branch on the outcome. The parent is written in
//!   any case; a wrong one is overwritten later, or cleared at the end. The few remaining vertices search their rows.
//!
//! **Parents** are not cleared before a search. A reached vertex has its parent written, and an isolated one keeps its
//! initial -1. At the end the bitmap shows, 64 at a time, the vertices in neither set, and their parents become -1.
//!
//! **Orderings.** All atomics are relaxed: a claim hands over only the vertex, and the end of a parallel loop separates
//! levels.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize};

use anabranch::prelude::*;

use super::{Kernel, Reach, UNREACHED};
use crate::RunError;
use crate::bitmap::{self, contains, ones};
use crate::graph::Graph;
use crate::memory::{Shared, zeroed};
use crate::watch::Halt;

/// Turns bottom-up once the frontier has more than this fraction of the unexplored edges. Values from 14 to 60 perform
/// equally well.
const ALPHA: u64 = 30;
/// Turns top-down again once a shrinking frontier has fewer than this fraction of the vertices.
const BETA: u64 = 24;
/// Words of 64 vertices per bottom-up block.
const BLOCK: usize = 8;
/// Frontier vertices per top-down piece.
const PIECE: usize = 32;
/// Neighbours of one vertex per top-down piece.
const ROW_PIECE: usize = 2048;
/// Claimed vertices in a buffer before they enter the shared queue.
const BUFFER: usize = 512;

pub(super) struct Direction<'g> {
    graph: &'g Graph,
    visited: Vec<u64>,
    front: Vec<u64>,
    next: Vec<u64>,
    queue: Vec<u32>,
    next_queue: Vec<u32>,
    /// The root of the last search.
    root: u32,
}

/// The frontier of one level.
#[derive(Clone, Copy, Default)]
struct Frontier {
    vertices: u64,
    /// The sum of their degrees; computed top-down only.
    edges: u64,
}

impl<'g> Direction<'g> {
    pub(super) fn new(graph: &'g Graph) -> Result<Self, RunError> {
        let words = bitmap::words(graph.num_vertices);
        let what = "the search's bitmaps and queues";
        Ok(Direction {
            graph,
            visited: zeroed(what, words)?,
            front: zeroed(what, words)?,
            next: zeroed(what, words)?,
            queue: zeroed(what, graph.num_vertices)?,
            next_queue: zeroed(what, graph.num_vertices)?,
            root: 0,
        })
    }
}

impl Kernel for Direction<'_> {
    fn search(&mut self, root: u32, parents: &mut [i64], halt: &Halt<'_>) -> Reach {
        let graph = self.graph;
        let words = self.visited.par_chunks_mut(1 << 14).zip(graph.isolated.par_chunks(1 << 14));
        words.for_each(|(visited, isolated)| visited.copy_from_slice(isolated));
        // An isolated root is the one vertex with a parent that nothing else would clear.
        parents[std::mem::replace(&mut self.root, root) as usize] = UNREACHED;
        self.visited[(root / 64) as usize] |= 1 << (root % 64);
        parents[root as usize] = i64::from(root);
        self.queue[0] = root;

        let mut reach = Reach { reached: 1, depth: 0 };
        let mut unexplored = graph.num_arcs;
        let mut frontier = Frontier { vertices: 1, edges: u64::from(graph.degree(root)) };
        while frontier.vertices > 0 && !halt.is_cancelled() {
            if frontier.edges > unexplored / ALPHA {
                frontier = self.bottom_up_levels(frontier.vertices, &mut reach, parents, halt);
            } else {
                unexplored = unexplored.saturating_sub(frontier.edges);
                frontier = self.top_down(frontier.vertices, parents, halt);
                std::mem::swap(&mut self.queue, &mut self.next_queue);
                reach.level(frontier.vertices);
            }
        }
        self.clear_unreached(parents);
        reach
    }
}

impl Reach {
    fn level(&mut self, vertices: u64) {
        self.reached += vertices;
        self.depth += u32::from(vertices > 0);
    }
}

/// The vertices that a top-down piece claimed, and the queue for them.
struct Claims {
    buffer: Vec<u32>,
    edges: u64,
}

/// The state that all top-down pieces share.
struct TopDown<'a> {
    graph: &'a Graph,
    visited: &'a [AtomicU64],
    parents: &'a [AtomicI64],
    queue: &'a [AtomicU32],
    tail: AtomicUsize,
}

impl TopDown<'_> {
    fn none(&self) -> Claims {
        Claims { buffer: Vec::new(), edges: 0 }
    }

    fn explore(&self, mut claims: Claims, vertex: u32) -> Claims {
        let row = self.graph.row(vertex);
        if row.len() <= 2 * ROW_PIECE {
            self.claim(&mut claims, vertex, row);
            return claims;
        }
        let fold = |mut claims, row: &[u32]| {
            self.claim(&mut claims, vertex, row);
            claims
        };
        let rest =
            row.par_chunks(ROW_PIECE).fold(|| self.none(), fold).reduce(|| self.none(), |a, b| self.combine(a, b));
        self.combine(claims, rest)
    }

    #[inline]
    fn claim(&self, claims: &mut Claims, vertex: u32, row: &[u32]) {
        for &neighbour in row {
            let word = &self.visited[(neighbour / 64) as usize];
            let bit = 1 << (neighbour % 64);
            if word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0 {
                self.parents[neighbour as usize].store(i64::from(vertex), Relaxed);
                claims.edges += u64::from(self.graph.degree(neighbour));
                self.push(&mut claims.buffer, neighbour);
            }
        }
    }

    #[inline]
    fn push(&self, buffer: &mut Vec<u32>, vertex: u32) {
        if buffer.len() == BUFFER {
            self.flush(buffer);
        } else if buffer.capacity() == 0 {
            buffer.reserve_exact(BUFFER);
        }
        buffer.push(vertex);
    }

    fn flush(&self, buffer: &mut Vec<u32>) {
        let start = self.tail.fetch_add(buffer.len(), Relaxed);
        for (place, &vertex) in self.queue[start..start + buffer.len()].iter().zip(&*buffer) {
            place.store(vertex, Relaxed);
        }
        buffer.clear();
    }

    fn combine(&self, mut a: Claims, mut b: Claims) -> Claims {
        a.edges += b.edges;
        self.flush(&mut b.buffer);
        a
    }
}

impl Direction<'_> {
    /// Runs one level from `queue` to `next_queue`.
    fn top_down(&mut self, vertices: u64, parents: &mut [i64], halt: &Halt<'_>) -> Frontier {
        let queue = &self.queue[..vertices as usize];
        let step = TopDown {
            graph: self.graph,
            visited: self.visited.shared(),
            parents: parents.shared(),
            queue: self.next_queue.shared(),
            tail: AtomicUsize::new(0),
        };
        let fold = |claims, vertices: &[u32]| {
            if halt.is_cancelled() {
                return claims;
            }
            vertices.iter().fold(claims, |claims, &vertex| step.explore(claims, vertex))
        };
        let mut claims =
            queue.par_chunks(PIECE).fold(|| step.none(), fold).reduce(|| step.none(), |a, b| step.combine(a, b));
        step.flush(&mut claims.buffer);
        Frontier { vertices: step.tail.into_inner() as u64, edges: claims.edges }
    }

    /// Runs bottom-up levels while they are faster; starts and ends with `queue`.
    fn bottom_up_levels(&mut self, vertices: u64, reach: &mut Reach, parents: &mut [i64], halt: &Halt<'_>) -> Frontier {
        self.queue_to_bitmap(vertices);
        let few = self.graph.num_vertices as u64 / BETA;
        let mut before = vertices;
        loop {
            let found = self.bottom_up(parents, halt);
            std::mem::swap(&mut self.front, &mut self.next);
            reach.level(found);
            if found == 0 || (found < before && found <= few) || halt.is_cancelled() {
                return self.bitmap_to_queue(found);
            }
            before = found;
        }
    }

    /// Runs one level from `front` to `next`. Returns the number of vertices found.
    fn bottom_up(&mut self, parents: &mut [i64], halt: &Halt<'_>) -> u64 {
        let (graph, front) = (self.graph, &self.front[..]);
        let words = self.visited.par_chunks_mut(BLOCK).zip(self.next.par_chunks_mut(BLOCK));
        let vertices = graph.first.par_chunks(64 * BLOCK).zip(parents.par_chunks_mut(64 * BLOCK));
        let search = |block: usize, visited: &mut [u64], next: &mut [u64], first: &[u32], parents: &mut [i64]| {
            let mut found = 0;
            if halt.is_cancelled() {
                return found;
            }
            let words = visited.iter_mut().zip(next).zip(first.chunks(64).zip(parents.chunks_mut(64)));
            for (i, ((visited, next), (first, parents))) in words.enumerate() {
                let rows = graph.rows_of_word(block * BLOCK + i);
                *next = bottom_up_word(front, *visited, rows, first, parents);
                *visited |= *next;
                found += u64::from(next.count_ones());
            }
            found
        };
        words
            .zip(vertices)
            .enumerate()
            .map(|(block, ((visited, next), (first, parents)))| search(block, visited, next, first, parents))
            .sum()
    }

    fn queue_to_bitmap(&mut self, vertices: u64) {
        self.front.par_chunks_mut(1 << 14).for_each(|words| words.fill(0));
        let front = self.front.shared();
        self.queue[..vertices as usize].par_chunks(1 << 10).for_each(|vertices| {
            for vertex in vertices {
                front[(vertex / 64) as usize].fetch_or(1 << (vertex % 64), Relaxed);
            }
        });
    }

    /// Converts `front` to `queue`.
    fn bitmap_to_queue(&mut self, vertices: u64) -> Frontier {
        if vertices == 0 {
            return Frontier::default();
        }
        let step = TopDown {
            graph: self.graph,
            visited: &[],
            parents: &[],
            queue: self.queue.shared(),
            tail: AtomicUsize::new(0),
        };
        let fold = |mut claims: Claims, (block, words): (usize, &[u64])| {
            for (i, &word) in words.iter().enumerate() {
                for bit in ones(word) {
                    step.push(&mut claims.buffer, (block * BLOCK + i) as u32 * 64 + bit);
                }
            }
            claims
        };
        let blocks = self.front.par_chunks(BLOCK).enumerate();
        let mut claims = blocks.fold(|| step.none(), fold).reduce(|| step.none(), |a, b| step.combine(a, b));
        step.flush(&mut claims.buffer);
        // The frontier is small enough for top-down, so the next level is top-down, and its edges need no count.
        Frontier { vertices: step.tail.into_inner() as u64, edges: 0 }
    }

    fn clear_unreached(&mut self, parents: &mut [i64]) {
        self.visited.par_chunks(1 << 12).zip(parents.par_chunks_mut(64 << 12)).for_each(|(visited, parents)| {
            for (i, &word) in visited.iter().enumerate().filter(|&(_, &word)| word != !0) {
                for bit in ones(!word) {
                    parents[i * 64 + bit as usize] = UNREACHED;
                }
            }
        });
    }
}

/// Returns the unvisited vertices of one word that have a neighbour in `front`.
///
/// The first two neighbours are tried without a branch on the outcome, so that the many cache misses of a word overlap.
/// A vertex without a neighbour in `front` gets a wrong parent, and stays unvisited.
#[inline]
fn bottom_up_word(
    front: &[u64],
    visited: u64,
    (starts, lists): (&[u32], &[u32]),
    first: &[u32],
    parents: &mut [i64],
) -> u64 {
    let mut found = 0;
    for bit in ones(!visited) {
        let neighbour = first[bit as usize];
        parents[bit as usize] = i64::from(neighbour);
        found |= u64::from(contains(front, neighbour)) << bit;
    }
    let mut more = 0;
    for bit in ones(!visited & !found) {
        let (start, end) = (starts[bit as usize] as usize, starts[bit as usize + 1] as usize);
        // Without a second neighbour this reads a position that is always in the cache, without effect.
        let has_second = end - start > 1;
        let neighbour = lists[(start + 1) * usize::from(has_second)];
        parents[bit as usize] = i64::from(neighbour);
        found |= u64::from(has_second & contains(front, neighbour)) << bit;
        more |= u64::from(end - start > 2) << bit;
    }
    for bit in ones(more & !found) {
        let (start, end) = (starts[bit as usize] as usize, starts[bit as usize + 1] as usize);
        let row = &lists[start + 2..end];
        if let Some(&neighbour) = row.iter().find(|&&neighbour| contains(front, neighbour)) {
            parents[bit as usize] = i64::from(neighbour);
            found |= 1 << bit;
        }
    }
    found
}
