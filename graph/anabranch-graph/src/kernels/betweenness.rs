//! Betweenness centrality from some sources: the share of shortest paths that lead through each vertex.
//!
//! Source: Brandes, *A Faster Algorithm for Betweenness Centrality*, 2001, with the sources of the GAP benchmark suite.
//!
//! **Forward.** A breadth-first search counts the shortest paths to each vertex. A level *pushes* while its vertices
//! have fewer arcs than the unreached ones: it claims the unreached neighbours, and adds its counts to theirs.
//! Otherwise the unreached vertices *pull*: each sums the counts of its in-neighbours. All reached in-neighbours of an
//! unreached vertex are in the last level, so the sum needs no test if unreached vertices have the count 0. The new
//! counts are written after the level.
//!
//! **Backward.** The *dependency* of a vertex is the sum of `count(v) / count(w) * (1 + dependency(w))` over its
//! out-neighbours w in the next level. The kernel keeps `(1 + dependency) / count` of each vertex, and 0 where it is
//! not known yet. Out-neighbours are in the next level or in a level that is not known yet, so this sum needs no test
//! either. The new values are written after the level.
//!
//! **Scores** are the sums of the dependencies for all sources, in the unit of a [`Scale`].

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use anabranch::prelude::*;

use super::tools::atomics;
use super::{Cancel, KernelError, UNREACHED, VerifyError};
use crate::{Graph, Weight};

/// Vertices per piece of work.
const PIECE: usize = 64;

/// The unit of the scores, and whether the ends of a path count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scale {
    /// The share of the pairs of other vertices whose shortest paths lead through the vertex, from 0 to 1: as in
    /// networkx with `normalized=True`, its default. The ends of a path do not count.
    #[default]
    Normalized,
    /// The number of these pairs, in any order in an undirected graph: as in networkx with `normalized=False`.
    Pairs,
    /// As in GAP: the start of a path counts too, and the greatest score is 1.
    Gap,
}

/// Returns the betweenness centrality of each vertex, computed from the shortest paths that start at `sources`.
///
/// If these are not all vertices, the scores are estimates: each is multiplied by the other vertices where a path can
/// start, and divided by those of them that are sources (as in networkx 3.6). A vertex that is the only source has the
/// score 0. With [`Scale::Gap`] nothing is multiplied.
///
/// Takes time proportional to the vertices and arcs for each source. Counts of paths are `f64`: beyond 2^53 they are
/// rounded, and then the last digits of the scores may depend on the number of threads. From about 10^308 paths between
/// two vertices, which large grids have, the scores are not numbers.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::betweenness;
/// use anabranch_graph::kernels::betweenness::Scale;
/// let path = Graph::undirected([(0, 1), (1, 2)]);
/// let scores = |scale| betweenness(&path, &[0, 1, 2], scale, &()).unwrap();
/// assert_eq!(scores(Scale::Normalized), [0.0, 1.0, 0.0]);
/// assert_eq!(scores(Scale::Gap), [0.5, 1.0, 0.5]);
/// ```
///
/// # Errors
/// Returns [`KernelError::NoSuchVertex`] if the graph lacks a source, and [`KernelError::Cancelled`].
pub fn betweenness<W: Weight>(
    graph: &Graph<W>,
    sources: &[u32],
    scale: Scale,
    cancel: &dyn Cancel,
) -> Result<Vec<f64>, KernelError> {
    sources.iter().try_for_each(|&source| KernelError::check_vertex(graph, source))?;
    let scores = zeros(graph.num_vertices());
    for &source in sources {
        let mut paths = Paths::new(graph, cancel);
        paths.count(source);
        paths.accumulate(scale, &scores);
        KernelError::check(cancel)?;
    }
    let mut scores = scores.into_iter().map(|score| f64::from_bits(score.into_inner())).collect::<Vec<_>>();
    scale.apply(graph, sources, &mut scores);
    Ok(scores)
}

/// Returns the bits of `len` zeros.
fn zeros(len: usize) -> Vec<AtomicU64> {
    (0..len).into_par_iter().map(|_| AtomicU64::new(0)).collect()
}

/// Returns the number with the bits of `slot`.
#[inline]
fn load(slot: &AtomicU64) -> f64 {
    f64::from_bits(slot.load(Relaxed))
}

impl Scale {
    /// Turns sums of dependencies into scores.
    fn apply<W: Weight>(self, graph: &Graph<W>, sources: &[u32], scores: &mut [f64]) {
        if self == Scale::Gap {
            let greatest = scores.iter().copied().fold(0.0, f64::max);
            if greatest > 0.0 {
                scores.par_iter_mut().for_each(|score| *score /= greatest);
            }
            return;
        }
        let (others, used) = (scores.len() as f64 - 1.0, sources.len() as f64);
        // With fewer vertices no path has an inner one.
        if others < 2.0 || sources.is_empty() {
            return;
        }
        let pairs = match self {
            Scale::Pairs => others / if graph.is_directed() { 1.0 } else { 2.0 },
            _ => 1.0 / (others - 1.0),
        };
        let of_sources: Vec<f64> = sources.iter().map(|&source| scores[source as usize]).collect();
        scores.par_iter_mut().for_each(|score| *score *= pairs / used);
        for (&source, sum) in sources.iter().zip(of_sources) {
            scores[source as usize] = if used > 1.0 { sum * pairs / (used - 1.0) } else { 0.0 };
        }
    }
}

/// The shortest paths from one source.
struct Paths<'a, W> {
    graph: &'a Graph<W>,
    cancel: &'a dyn Cancel,
    /// The level of each vertex.
    levels: Vec<AtomicU32>,
    /// The bits of the number of shortest paths to each vertex.
    counts: Vec<AtomicU64>,
    /// The vertices of each level.
    order: Vec<Vec<u32>>,
}

/// A part of a level: vertices, and their counts of paths if they have not been written.
#[derive(Default)]
struct Level {
    vertices: Vec<u32>,
    counts: Vec<f64>,
    arcs: u64,
}

impl Level {
    fn append(mut self, mut other: Level) -> Level {
        self.vertices.append(&mut other.vertices);
        self.counts.append(&mut other.counts);
        self.arcs += other.arcs;
        self
    }
}

impl<'a, W: Weight> Paths<'a, W> {
    fn new(graph: &'a Graph<W>, cancel: &'a dyn Cancel) -> Self {
        let num_vertices = graph.num_vertices();
        let levels = atomics(num_vertices, |_| UNREACHED);
        Paths { graph, cancel, levels, counts: zeros(num_vertices), order: Vec::new() }
    }

    #[inline]
    fn count_of(&self, vertex: u32) -> f64 {
        load(&self.counts[vertex as usize])
    }

    fn degree(&self, vertex: u32) -> u64 {
        self.graph.out_neighbours(vertex).len() as u64
    }

    /// Counts the shortest paths from `source`.
    fn count(&mut self, source: u32) {
        self.levels[source as usize] = AtomicU32::new(0);
        self.counts[source as usize] = AtomicU64::new(1f64.to_bits());
        let mut frontier = Level { vertices: vec![source], counts: Vec::new(), arcs: self.degree(source) };
        let mut unexplored = self.graph.num_arcs();
        for level in 1.. {
            if frontier.vertices.is_empty() || self.cancel.is_cancelled() {
                return;
            }
            unexplored = unexplored.saturating_sub(frontier.arcs);
            let next = if frontier.arcs > unexplored { self.pull(level) } else { self.push(&frontier.vertices, level) };
            self.order.push(std::mem::replace(&mut frontier, next).vertices);
        }
    }

    /// Returns the next level. Its vertices have their counts.
    fn push(&self, frontier: &[u32], level: u32) -> Level {
        let claim = |vertex: u32| {
            let slot = &self.levels[vertex as usize];
            slot.load(Relaxed) == UNREACHED && slot.compare_exchange(UNREACHED, level, Relaxed, Relaxed).is_ok()
        };
        let add = |vertex: u32, count: f64| {
            let plus = |bits| Some((f64::from_bits(bits) + count).to_bits());
            let _ = self.counts[vertex as usize].fetch_update(Relaxed, Relaxed, plus);
        };
        let explore = |mut found: Level, vertices: &[u32]| {
            for &vertex in vertices {
                let count = self.count_of(vertex);
                for &neighbour in self.graph.out_neighbours(vertex) {
                    if claim(neighbour) {
                        found.vertices.push(neighbour);
                        found.arcs += self.degree(neighbour);
                    }
                    if self.levels[neighbour as usize].load(Relaxed) == level {
                        add(neighbour, count);
                    }
                }
            }
            found
        };
        frontier.par_chunks(PIECE).fold(Level::default, explore).reduce(Level::default, Level::append)
    }

    /// Returns the next level, and writes the counts of its vertices.
    fn pull(&self, level: u32) -> Level {
        let search = |mut found: Level, (piece, levels): (usize, &[AtomicU32])| {
            if self.cancel.is_cancelled() {
                return found;
            }
            for (index, slot) in levels.iter().enumerate() {
                if slot.load(Relaxed) != UNREACHED {
                    continue;
                }
                let vertex = (piece * PIECE + index) as u32;
                let count = sum(self.graph.in_neighbours(vertex), &self.counts);
                if count > 0.0 {
                    found.vertices.push(vertex);
                    found.counts.push(count);
                    found.arcs += self.degree(vertex);
                }
            }
            found
        };
        let pieces = self.levels.par_chunks(PIECE).enumerate();
        let found = pieces.fold(Level::default, search).reduce(Level::default, Level::append);
        found.vertices.par_iter().zip(&found.counts).for_each(|(&vertex, count)| {
            self.levels[vertex as usize].store(level, Relaxed);
            self.counts[vertex as usize].store(count.to_bits(), Relaxed);
        });
        found
    }

    /// Adds the dependency of each vertex to its score.
    fn accumulate(&self, scale: Scale, scores: &[AtomicU64]) {
        let factors = zeros(scores.len());
        // Only GAP counts the source, which is the first level.
        let first = usize::from(scale != Scale::Gap);
        for (depth, vertices) in self.order.iter().enumerate().skip(first).rev() {
            let is_last = depth + 1 == self.order.len();
            let dependency = |&vertex: &u32| {
                let is_leaf = is_last || self.cancel.is_cancelled();
                let sum = if is_leaf { 0.0 } else { sum(self.graph.out_neighbours(vertex), &factors) };
                sum * self.count_of(vertex)
            };
            let dependencies: Vec<f64> = vertices.par_iter().map(dependency).collect();
            vertices.par_iter().zip(&dependencies).for_each(|(&vertex, dependency)| {
                let factor = (1.0 + dependency) / self.count_of(vertex);
                factors[vertex as usize].store(factor.to_bits(), Relaxed);
                // A vertex is in one level, so no other thread changes its score.
                let score = &scores[vertex as usize];
                score.store((load(score) + dependency).to_bits(), Relaxed);
            });
        }
    }
}

/// Returns the sum of the values of `row`.
#[inline]
fn sum(row: &[u32], values: &[AtomicU64]) -> f64 {
    let value = |&vertex: &u32| load(&values[vertex as usize]);
    let (chunks, rest) = row.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, vertex)| *sum += value(vertex));
    }
    sums.into_iter().sum::<f64>() + rest.iter().map(value).sum::<f64>()
}

/// Compares `scores` with a plain serial computation from the same sources. They may differ by 10^-6 of the greatest
/// score, for the order of additions.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::betweenness::{Scale, betweenness, verify};
/// let path = Graph::undirected([(0, 1), (1, 2), (2, 3)]);
/// let mut scores = betweenness(&path, &[0, 3], Scale::Normalized, &()).unwrap();
/// assert!(verify(&path, &[0, 3], Scale::Normalized, &scores).is_ok());
/// scores[1] = 0.5;
/// assert!(verify(&path, &[0, 3], Scale::Normalized, &scores).is_err());
/// ```
///
/// # Errors
/// Returns the first vertex that is wrong.
///
/// # Panics
/// Panics if the graph lacks a source.
pub fn verify<W: Weight>(graph: &Graph<W>, sources: &[u32], scale: Scale, scores: &[f64]) -> Result<(), VerifyError> {
    let num_vertices = graph.num_vertices();
    VerifyError::unless(scores.len() == num_vertices, || format!("the result does not have {num_vertices} vertices"))?;
    let mut expected = vec![0.0; num_vertices];
    for &source in sources {
        let own = expected[source as usize];
        add_dependencies(graph, source, &mut expected);
        if scale != Scale::Gap {
            expected[source as usize] = own;
        }
    }
    scale.apply(graph, sources, &mut expected);
    let greatest = expected.iter().copied().fold(0.0, f64::max);
    for (vertex, (found, expected)) in scores.iter().zip(&expected).enumerate() {
        VerifyError::unless((found - expected).abs() <= 1e-6 * greatest, || {
            format!("vertex {vertex} has the score {found} instead of {expected}")
        })?;
    }
    Ok(())
}

/// Adds the dependencies of all vertices on the paths from `source`, serially.
fn add_dependencies<W: Weight>(graph: &Graph<W>, source: u32, scores: &mut [f64]) {
    let mut levels = vec![UNREACHED; scores.len()];
    let (mut counts, mut dependencies) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
    (levels[source as usize], counts[source as usize]) = (0, 1.0);
    let mut order = vec![source];
    let mut next = 0;
    while let Some(&vertex) = order.get(next) {
        next += 1;
        for &neighbour in graph.out_neighbours(vertex) {
            if levels[neighbour as usize] == UNREACHED {
                levels[neighbour as usize] = levels[vertex as usize] + 1;
                order.push(neighbour);
            }
            if levels[neighbour as usize] == levels[vertex as usize] + 1 {
                counts[neighbour as usize] += counts[vertex as usize];
            }
        }
    }
    for &vertex in order.iter().rev() {
        for &neighbour in graph.out_neighbours(vertex) {
            if levels[neighbour as usize] == levels[vertex as usize] + 1 {
                let share = counts[vertex as usize] / counts[neighbour as usize];
                dependencies[vertex as usize] += share * (1.0 + dependencies[neighbour as usize]);
            }
        }
        scores[vertex as usize] += dependencies[vertex as usize];
    }
}
