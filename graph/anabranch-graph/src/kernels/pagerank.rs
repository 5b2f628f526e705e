//! PageRank by pulling: each vertex sums what its in-neighbours contribute.
//!
//! Source: Page, Brin, Motwani, Winograd, *The PageRank Citation Ranking*, 1999, with the parameters and the end of the
//! GAP benchmark suite.
//!
//! **Iteration.** `score(v) = (1 - damping) / n + damping * sum of score(u) / out_degree(u) over the in-neighbours u`.
//! The iteration ends once the scores of one iteration differ by less than the tolerance in total from those before.
//! A vertex without outgoing edges contributes to no vertex, as in GAP. So the scores of a graph with such vertices sum
//! to less than 1.
//!
//! **Start.** If all arcs carry the same, a vertex has a score in proportion to its in-neighbours: nearly that of the
//! end in an undirected graph, where the stationary distribution of a random walk is the degree. So `score(v)` begins
//! as `(1 - damping) / n + damping * in_degree(v) * arc`. `arc` is such that the arcs carry as much as they do if each
//! vertex begins with `1 / n`: an error in the total would shrink by no more than `damping` in an iteration. Kronecker
//! graphs of the scales 18 and 20 take 4 and 5 iterations, and 9 and 8 if each vertex begins with `1 / n`.
//!
//! **Encoding.** `contributions` has `score / out_degree` of each vertex. The vertices are in at most `STAGES`
//! ranges. The threads compute the scores of one range from all contributions, and only then replace the contributions
//! of the range. So a later range sees the new scores of the earlier ones (Gauss-Seidel), which takes fewer iterations
//! than to replace all at the end (Jacobi). The ranges and the order of every sum depend on the graph alone. So the
//! scores are identical for any number of threads.

use std::ops::Range;

use anabranch::prelude::*;

use super::{Cancel, KernelError, VerifyError};
use crate::{Graph, Weight};

/// The ranges of vertices that an iteration computes one after the other.
const STAGES: usize = 16;
/// The least number of vertices in a range: below it, the loops over the ranges would cost more than they save.
const LEAST_STAGE: usize = 1 << 12;
/// Vertices in a piece of work. A part of the encoding: the changes are summed by pieces.
const PIECE: usize = 512;

/// The parameters of [`pagerank`]. The default values are those of GAP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The share of a score that comes from the in-neighbours, from 0 to 1.
    pub damping: f32,
    /// The total change of an iteration below which the scores are final.
    pub tolerance: f64,
    /// The most iterations.
    pub max_iterations: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters { damping: 0.85, tolerance: 1e-4, max_iterations: 20 }
    }
}

/// The result of [`pagerank`].
#[derive(Clone, Debug, PartialEq)]
pub struct PageRank {
    /// The score of each vertex.
    pub scores: Vec<f32>,
    /// The iterations that were run.
    pub iterations: u32,
    /// The total change of the scores in the last iteration.
    pub change: f64,
}

/// Returns the PageRank scores of the vertices.
///
/// An iteration takes time proportional to the vertices and arcs.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::{pagerank, pagerank::Parameters};
/// let graph = Graph::directed([(0, 2), (1, 2), (2, 0)]);
/// let rank = pagerank(&graph, &Parameters::default(), &()).unwrap();
/// assert!(rank.scores[2] > rank.scores[0] && rank.scores[0] > rank.scores[1]);
/// ```
///
/// # Errors
/// Returns [`KernelError::BadParameter`] if the damping is outside its range or the tolerance is not a number, and
/// [`KernelError::Cancelled`].
pub fn pagerank<W: Weight>(
    graph: &Graph<W>,
    parameters: &Parameters,
    cancel: &dyn Cancel,
) -> Result<PageRank, KernelError> {
    let &Parameters { damping, tolerance, max_iterations } = parameters;
    if !(0.0..=1.0).contains(&damping) {
        let (name, expected) = ("the damping", "from 0 to 1");
        return Err(KernelError::BadParameter { name, expected, value: damping.into() });
    }
    if tolerance.is_nan() {
        let (name, expected) = ("the tolerance", "a number");
        return Err(KernelError::BadParameter { name, expected, value: tolerance });
    }
    let num_vertices = graph.num_vertices();
    let base = (1.0 - damping) / num_vertices as f32;
    let vertices = || (0..num_vertices as u32).into_par_iter();
    let contributing = vertices().filter(|&vertex| !graph.out_neighbours(vertex).is_empty()).count();
    let arc = contributing as f32 / num_vertices as f32 / graph.num_arcs().max(1) as f32;
    let start = |vertex| {
        let score = base + damping * arc * graph.in_neighbours(vertex).len() as f32;
        (score, contribution(score, graph.out_neighbours(vertex).len() as f32))
    };
    let (scores, contributions) = vertices().map(start).unzip();
    let mut sweep = Sweep { graph, cancel, damping, base, contributions, scores, changed: Vec::new() };
    let stage = num_vertices.div_ceil(STAGES).max(LEAST_STAGE);
    let (mut iterations, mut change) = (0, 0.0);
    while iterations < max_iterations && num_vertices > 0 {
        let starts = (0..num_vertices).step_by(stage);
        change = starts.map(|start| sweep.stage(start..(start + stage).min(num_vertices))).sum();
        KernelError::check(cancel)?;
        iterations += 1;
        if change < tolerance {
            break;
        }
    }
    Ok(PageRank { scores: sweep.scores, iterations, change })
}

/// Returns what a vertex gives to each of its out-neighbours. Without any, nothing reads the result.
#[inline]
fn contribution(score: f32, degree: f32) -> f32 {
    score / degree.max(1.0)
}

struct Sweep<'a, W> {
    graph: &'a Graph<W>,
    cancel: &'a dyn Cancel,
    damping: f32,
    base: f32,
    contributions: Vec<f32>,
    scores: Vec<f32>,
    /// The new contributions of a range.
    changed: Vec<f32>,
}

impl<W: Weight> Sweep<'_, W> {
    /// Computes the scores of the vertices in `range`. Returns their total change.
    fn stage(&mut self, range: Range<usize>) -> f64 {
        let (graph, contributions, cancel) = (self.graph, &self.contributions[..], self.cancel);
        let (base, damping) = (self.base, self.damping);
        self.changed.resize(range.len(), 0.0);
        let pieces = self.scores[range.clone()].par_chunks_mut(PIECE).zip(self.changed.par_chunks_mut(PIECE));
        let sweep = |(piece, (scores, changed)): (usize, (&mut [f32], &mut [f32]))| {
            let mut change = 0.0;
            if cancel.is_cancelled() {
                return change;
            }
            let first = range.start + piece * PIECE;
            for (index, (score, changed)) in scores.iter_mut().zip(changed).enumerate() {
                let vertex = (first + index) as u32;
                let new = base + damping * pull(graph.in_neighbours(vertex), contributions);
                change += f64::from((new - *score).abs());
                *score = new;
                *changed = contribution(new, graph.out_neighbours(vertex).len() as f32);
            }
            change
        };
        let changes: Vec<f64> = pieces.enumerate().map(sweep).collect();
        self.contributions[range].copy_from_slice(&self.changed);
        changes.into_iter().sum()
    }
}

/// Returns the sum of the contributions of `row`.
///
/// Several partial sums let the additions overlap.
#[inline]
fn pull(row: &[u32], contributions: &[f32]) -> f32 {
    let (chunks, rest) = row.as_chunks::<8>();
    let mut sums = [0.0f32; 8];
    for chunk in chunks {
        for (sum, &neighbour) in sums.iter_mut().zip(chunk) {
            *sum += contributions[neighbour as usize];
        }
    }
    let rest: f32 = rest.iter().map(|&neighbour| contributions[neighbour as usize]).sum();
    sums.into_iter().sum::<f32>() + rest
}

/// Runs one plain serial iteration that pushes, and compares its scores with those of `rank`.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::pagerank::{Parameters, pagerank, verify};
/// let graph = Graph::undirected([(0, 1), (1, 2), (2, 0), (2, 3)]);
/// let mut rank = pagerank(&graph, &Parameters::default(), &()).unwrap();
/// assert!(verify(&graph, &rank, &Parameters::default()).is_ok());
/// rank.scores[0] += 0.01;
/// assert!(verify(&graph, &rank, &Parameters::default()).is_err());
/// ```
///
/// # Errors
/// Returns an error if the total change is not below the tolerance of `parameters`. A result of the most iterations
/// that has not reached the tolerance is wrong for this reason too.
pub fn verify<W: Weight>(graph: &Graph<W>, rank: &PageRank, parameters: &Parameters) -> Result<(), VerifyError> {
    let num_vertices = graph.num_vertices();
    VerifyError::unless(rank.scores.len() == num_vertices, || {
        format!("the result does not have {num_vertices} vertices")
    })?;
    let damping = f64::from(parameters.damping);
    let mut scores = vec![(1.0 - damping) / num_vertices as f64; num_vertices];
    for vertex in 0..num_vertices {
        let row = graph.out_neighbours(vertex as u32);
        for &neighbour in row {
            scores[neighbour as usize] += damping * f64::from(rank.scores[vertex]) / row.len() as f64;
        }
    }
    let change: f64 = scores.iter().zip(&rank.scores).map(|(new, &old)| (new - f64::from(old)).abs()).sum();
    VerifyError::unless(num_vertices == 0 || change < parameters.tolerance, || {
        format!("one more iteration changes the scores by {change:e}, not by less than {:e}", parameters.tolerance)
    })
}
