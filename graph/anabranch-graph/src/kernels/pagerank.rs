//! PageRank by pulling: each vertex sums what its in-neighbours contribute.
//!
//! Source: Page, Brin, Motwani, Winograd, *The PageRank Citation Ranking*, 1999, with the parameters of networkx.
//!
//! **Iteration.** `score(v) = (1 - damping) / n + damping * sum of score(u) / out_degree(u) over the in-neighbours u`.
//! The iteration ends once the scores of one iteration differ by less than the tolerance in total from those before.
//! [`Dangling`] says where the scores of vertices without outgoing edges go.
//!
//! **Start.** If all arcs carry the same, a vertex has a score in proportion to its in-neighbours: nearly that of the
//! end in an undirected graph, where the stationary distribution of a random walk is the degree. So `score(v)` begins
//! as `(1 - damping) / n + damping * in_degree(v) * arc`. `arc` is such that the arcs carry as much as they do if each
//! vertex begins with `1 / n`: an error in the total would shrink by no more than `damping` in an iteration. Kronecker
//! graphs of the scales 18 and 20 take 4 and 5 iterations for a tolerance of 10^-4, and 9 and 8 if each vertex begins
//! with `1 / n`.
//!
//! **Encoding.** `contributions` has `score / out_degree` of each vertex. The vertices are in at most `STAGES`
//! ranges. The threads compute the scores of one range from all contributions, and only then replace the contributions
//! of the range. So a later range sees the new scores of the earlier ones (Gauss-Seidel), which takes fewer iterations
//! than to replace all at the end (Jacobi). The ranges and the order of every sum depend on the graph alone. So the
//! scores are identical for any number of threads.
//!
//! **Error.** An iteration reads each score once, either the new or the old one. So if it has changed the scores by
//! `change` in total, another one without ranges changes them by at most `damping * change`, and rounding: each sum of
//! `f64` has at most n terms. The fixed point is at most `damping / (1 - damping) * change` away in total.

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

/// The rounding of an iteration and of the verifier's, for each term of a sum, in total.
const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// Where the score of a vertex without outgoing edges goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dangling {
    /// To all vertices in equal parts, as in networkx. The scores sum to 1.
    Spread,
    /// Nowhere, as in GAP. The scores of a graph with such vertices sum to less than 1.
    Lost,
}

/// The parameters of [`pagerank`].
///
/// The default values find the ranks of networkx for a graph without weights and self-loops, more exactly than the
/// default values there: a damping of 0.85 meets the tolerance in at most 100 iterations on nearly every graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// The share of a score that comes from the in-neighbours, from 0 to 1: 0.85 by default.
    pub damping: f64,
    /// The total change of an iteration below which the scores are final: the sum of the absolute differences of all
    /// scores, which sum to 1. By default 10^-6. The tolerance of GAP means the same. That of networkx is for the mean
    /// score: it is multiplied by the number of vertices.
    pub tolerance: f64,
    /// The most iterations: 100 by default, as in networkx.
    pub max_iterations: u32,
    /// The contribution of vertices without outgoing edges: spread by default.
    pub dangling: Dangling,
}

impl Parameters {
    /// The parameters of GAP: at most 20 iterations, and a tolerance of 10^-4.
    pub const GAP: Parameters =
        Parameters { damping: 0.85, tolerance: 1e-4, max_iterations: 20, dangling: Dangling::Lost };
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters { damping: 0.85, tolerance: 1e-6, max_iterations: 100, dangling: Dangling::Spread }
    }
}

/// The result of [`pagerank`].
#[derive(Clone, Debug, PartialEq)]
pub struct PageRank {
    /// The score of each vertex.
    pub scores: Vec<f64>,
    /// The iterations that were run.
    pub iterations: u32,
    /// The total change of the scores in the last iteration.
    pub change: f64,
    /// Whether the last change is below the tolerance, so that the scores are final.
    pub converged: bool,
}

/// Returns the PageRank scores of the vertices.
///
/// An iteration takes time proportional to the vertices and arcs. If the most iterations do not meet the tolerance, the
/// result says that it has not converged.
///
/// Each edge counts alike: a [`Graph`] has neither self-loops nor duplicate edges, as in GAP, and weights are not read.
/// networkx counts self-loops, and by default the weights of edges, and each edge of a multigraph.
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
    let &Parameters { damping, tolerance, max_iterations, dangling } = parameters;
    if !(0.0..=1.0).contains(&damping) {
        let (name, expected) = ("the damping", "from 0 to 1");
        return Err(KernelError::BadParameter { name, expected, value: damping });
    }
    if tolerance.is_nan() {
        let (name, expected) = ("the tolerance", "a number");
        return Err(KernelError::BadParameter { name, expected, value: tolerance });
    }
    let num_vertices = graph.num_vertices();
    let n = num_vertices as f64;
    let vertices = || (0..num_vertices as u32).into_par_iter();
    let num_dangling = vertices().filter(|&vertex| graph.out_neighbours(vertex).is_empty()).count() as f64;
    let spread = if dangling == Dangling::Spread { damping / n } else { 0.0 };
    let base = (1.0 - damping) / n + spread * num_dangling / n;
    let arc = (n - num_dangling) / n / graph.num_arcs().max(1) as f64;
    let start = |vertex| {
        let score = base + damping * arc * graph.in_neighbours(vertex).len() as f64;
        (score, contribution(score, graph.out_neighbours(vertex).len()))
    };
    let (scores, contributions) = vertices().map(start).unzip();
    let mut sweep = Sweep { graph, cancel, damping, base, contributions, scores, changed: Vec::new() };
    let mut lost = sweep.dangling();
    let stage = num_vertices.div_ceil(STAGES).max(LEAST_STAGE);
    let (mut iterations, mut change) = (0, if num_vertices > 0 { f64::INFINITY } else { 0.0 });
    let mut converged = num_vertices == 0;
    while iterations < max_iterations && !converged {
        sweep.base = (1.0 - damping) / n + spread * lost;
        let starts = (0..num_vertices).step_by(stage);
        let stages = starts.map(|start| sweep.stage(start..(start + stage).min(num_vertices)));
        (change, lost) = stages.fold((0.0, 0.0), |sum, stage| (sum.0 + stage.0, sum.1 + stage.1));
        KernelError::check(cancel)?;
        iterations += 1;
        converged = change < tolerance;
    }
    Ok(PageRank { scores: sweep.scores, iterations, change, converged })
}

/// Returns what a vertex gives to each of its out-neighbours. Without any, nothing reads the result.
#[inline]
fn contribution(score: f64, degree: usize) -> f64 {
    score / degree.max(1) as f64
}

struct Sweep<'a, W> {
    graph: &'a Graph<W>,
    cancel: &'a dyn Cancel,
    damping: f64,
    /// The part of a score that does not depend on the in-neighbours.
    base: f64,
    contributions: Vec<f64>,
    scores: Vec<f64>,
    /// The new contributions of a range.
    changed: Vec<f64>,
}

impl<W: Weight> Sweep<'_, W> {
    /// Returns the sum of the scores of vertices without outgoing edges.
    fn dangling(&self) -> f64 {
        let sum = |(piece, scores): (usize, &[f64])| -> f64 {
            let vertices = (piece * PIECE) as u32..;
            let dangling = vertices.zip(scores).filter(|(vertex, _)| self.graph.out_neighbours(*vertex).is_empty());
            dangling.map(|(_, score)| score).sum()
        };
        let sums: Vec<f64> = self.scores.par_chunks(PIECE).enumerate().map(sum).collect();
        sums.into_iter().sum()
    }

    /// Computes the scores of the vertices in `range`. Returns their total change, and the sum of the new scores of
    /// those without outgoing edges.
    fn stage(&mut self, range: Range<usize>) -> (f64, f64) {
        let (graph, contributions, cancel) = (self.graph, &self.contributions[..], self.cancel);
        let (base, damping) = (self.base, self.damping);
        self.changed.resize(range.len(), 0.0);
        let pieces = self.scores[range.clone()].par_chunks_mut(PIECE).zip(self.changed.par_chunks_mut(PIECE));
        let sweep = |(piece, (scores, changed)): (usize, (&mut [f64], &mut [f64]))| {
            let (mut change, mut dangling) = (0.0, 0.0);
            if cancel.is_cancelled() {
                return (change, dangling);
            }
            let first = range.start + piece * PIECE;
            for (index, (score, changed)) in scores.iter_mut().zip(changed).enumerate() {
                let vertex = (first + index) as u32;
                let new = base + damping * pull(graph.in_neighbours(vertex), contributions);
                change += (new - *score).abs();
                *score = new;
                let degree = graph.out_neighbours(vertex).len();
                dangling += if degree == 0 { new } else { 0.0 };
                *changed = contribution(new, degree);
            }
            (change, dangling)
        };
        let sums: Vec<(f64, f64)> = pieces.enumerate().map(sweep).collect();
        self.contributions[range].copy_from_slice(&self.changed);
        sums.into_iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1))
    }
}

/// Returns the sum of the contributions of `row`.
///
/// Several partial sums let the additions overlap.
#[inline]
fn pull(row: &[u32], contributions: &[f64]) -> f64 {
    let (chunks, rest) = row.as_chunks::<8>();
    let mut sums = [0.0f64; 8];
    for chunk in chunks {
        for (sum, &neighbour) in sums.iter_mut().zip(chunk) {
            *sum += contributions[neighbour as usize];
        }
    }
    let rest: f64 = rest.iter().map(|&neighbour| contributions[neighbour as usize]).sum();
    sums.into_iter().sum::<f64>() + rest
}

/// Runs one plain serial iteration that pushes, and compares its scores with those of `rank`.
///
/// It may change them by `damping` times the last change of `rank` in total, and by the rounding of sums of n terms.
/// Whether that is below the tolerance must be what `rank` says.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::pagerank::{Parameters, pagerank, verify};
/// let graph = Graph::undirected([(0, 1), (1, 2), (2, 0), (2, 3)]);
/// let mut rank = pagerank(&graph, &Parameters::default(), &()).unwrap();
/// assert!(verify(&graph, &rank, &Parameters::default()).is_ok());
/// rank.scores[0] += 0.00001;
/// assert!(verify(&graph, &rank, &Parameters::default()).is_err());
/// ```
///
/// # Errors
/// Returns an error if the total change is larger, or if `rank` has converged and its change is not below the tolerance
/// of `parameters`, or the other way round.
pub fn verify<W: Weight>(graph: &Graph<W>, rank: &PageRank, parameters: &Parameters) -> Result<(), VerifyError> {
    let num_vertices = graph.num_vertices();
    VerifyError::unless(rank.scores.len() == num_vertices, || {
        format!("the result does not have {num_vertices} vertices")
    })?;
    let &Parameters { damping, tolerance, .. } = parameters;
    VerifyError::unless(rank.converged == (num_vertices == 0 || rank.change < tolerance), || {
        let said = if rank.converged { "has" } else { "has not" };
        format!(
            "the last change was {:e} for a tolerance of {tolerance:e}, but the result {said} converged",
            rank.change
        )
    })?;
    let n = num_vertices as f64;
    let mut scores = vec![(1.0 - damping) / n; num_vertices];
    let mut dangling = 0.0;
    for (vertex, &score) in rank.scores.iter().enumerate() {
        let row = graph.out_neighbours(vertex as u32);
        for &neighbour in row {
            scores[neighbour as usize] += damping * score / row.len() as f64;
        }
        dangling += if row.is_empty() { score } else { 0.0 };
    }
    let spread = if parameters.dangling == Dangling::Spread { damping * dangling / n } else { 0.0 };
    let change: f64 = scores.iter().zip(&rank.scores).map(|(new, &old)| (new + spread - old).abs()).sum();
    let bound = damping * rank.change + ROUNDING * (n + 16.0);
    VerifyError::unless(num_vertices == 0 || change <= bound, || {
        format!("one more iteration changes the scores by {change:e}, not by at most {bound:e}")
    })
}
