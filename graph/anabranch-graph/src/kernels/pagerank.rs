//! PageRank by pulling: each vertex sums what its in-neighbours contribute.
//!
//! Source: Page, Brin, Motwani, Winograd, *The PageRank Citation Ranking*, 1999, with the parameters of networkx.
//!
//! **Iteration.** `score(v) = (1 - damping) / n + damping * sum of score(u) / out_degree(u) over the in-neighbours u`.
//! The iteration ends once the scores of one iteration differ by less than the tolerance in total from those before.
//! [`Dangling`] says where the scores of vertices without outgoing edges go.
//!
//! **Start.** If all arcs carry the same, a vertex has a score in proportion to its in-neighbours: nearly that of the
//! end in an undirected graph that a random walk mixes quickly, because the stationary distribution is the degree. So
//! `score(v)` begins as `(1 - damping) / n + damping * in_degree(v) * arc`. `arc` is such that the arcs carry as much
//! as they do if each vertex begins with `1 / n`: an error in the total would shrink by no more than `damping` in an
//! iteration. In a graph with near neighbours only, such as a road network, a region keeps its score for many steps.
//! There the scores begin with `1 / n`. The kernel recognises such a graph because neighbours have similar degrees
//! (`is_local`).
//!
//! **Encoding.** `contributions` has `score / out_degree` of each vertex. An iteration has stages. The threads compute
//! the scores of one stage from all contributions, and only then replace the contributions of the stage. So a later
//! stage sees the new scores of the earlier ones (Gauss-Seidel), which takes fewer iterations than to replace all at
//! the end (Jacobi). A stage is a range of vertices; in a graph with near neighbours only, it is every `NEAR_STAGES`-th
//! piece of `PIECE` vertices, because in most files near vertices have near numbers. The stages and the order of every
//! sum depend on the graph alone. So the scores are identical for any number of threads. To read the contributions of
//! the own piece as soon as they are new takes fewer iterations yet, but each score then waits for the one before it.
//!
//! **Error.** An iteration reads each score once, either the new or the old one. So if it has changed the scores by
//! `change` in total, another one without stages changes them by at most `damping * change`, and rounding: each sum of
//! `f64` has at most n terms. The fixed point is at most `damping / (1 - damping) * change` away in total.

use anabranch::prelude::*;

use super::{Cancel, KernelError, VerifyError};
use crate::{Graph, Weight};

/// The stages of an iteration.
const STAGES: usize = 16;
/// The stages of an iteration in a graph with near neighbours only. Each reads most of the contributions.
const NEAR_STAGES: usize = 4;
/// The least number of pieces in a stage, which several threads share.
const MIN_PIECES: usize = 4;
/// Vertices in a piece of work. A part of the encoding: the changes are summed by pieces.
const PIECE: usize = 1024;
/// The length from which a row has several partial sums, so that the additions overlap.
const LONG_ROW: usize = 16;
/// The vertices in the sample that recognises a graph with near neighbours only.
const SAMPLES: usize = 1000;
/// The correlation of the degrees of neighbours above which the neighbours are near.
const LOCAL: f64 = 0.2;

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
    let is_local = is_local(graph);
    let start = |vertex| {
        let arcs = graph.in_neighbours(vertex).len() as f64;
        let score = if is_local { 1.0 / n } else { base + damping * arc * arcs };
        (score, score * share(graph, vertex))
    };
    let shares = vertices().map(|vertex| share(graph, vertex)).collect();
    let (scores, contributions) = vertices().map(start).unzip();
    let mut sweep =
        Sweep { graph, cancel, damping, base, shares, contributions, scores, changed: Vec::new(), is_local };
    let mut lost = sweep.dangling();
    let stages = (num_vertices.div_ceil(PIECE) / MIN_PIECES).clamp(1, if is_local { NEAR_STAGES } else { STAGES });
    let (mut iterations, mut change) = (0, if num_vertices > 0 { f64::INFINITY } else { 0.0 });
    let mut converged = num_vertices == 0;
    while iterations < max_iterations && !converged {
        sweep.base = (1.0 - damping) / n + spread * lost;
        let sums = (0..stages).map(|stage| sweep.stage(stage, stages));
        (change, lost) = sums.fold((0.0, 0.0), |sum, stage| (sum.0 + stage.0, sum.1 + stage.1));
        KernelError::check(cancel)?;
        iterations += 1;
        converged = change < tolerance;
    }
    Ok(PageRank { scores: sweep.scores, iterations, change, converged })
}

/// Returns whether the degrees of neighbours are correlated.
///
/// A sample estimates how much of an excess of score remains where it is in one step: the Rayleigh quotient of a step
/// for the difference between equal scores and those in proportion to the degrees.
fn is_local<W: Weight>(graph: &Graph<W>) -> bool {
    let num_vertices = graph.num_vertices();
    let mean = graph.num_arcs() as f64 / num_vertices as f64;
    let excess = |vertex: u32| {
        let difference = 1.0 - graph.in_neighbours(vertex).len() as f64 / mean;
        difference * share(graph, vertex)
    };
    let (mut remaining, mut total) = (0.0, 0.0);
    for vertex in (0..num_vertices as u32).step_by((num_vertices / SAMPLES).max(1)) {
        let row = graph.in_neighbours(vertex);
        let here = excess(vertex);
        for &neighbour in row.iter().step_by(row.len().div_ceil(8).max(1)) {
            remaining += here * excess(neighbour);
            total += here * here;
        }
    }
    remaining > LOCAL * total
}

/// Returns the part of its score that a vertex gives to each of its out-neighbours. Without any, this is 0.
#[inline]
fn share<W: Weight>(graph: &Graph<W>, vertex: u32) -> f64 {
    match graph.out_neighbours(vertex).len() {
        0 => 0.0,
        degree => 1.0 / degree as f64,
    }
}

struct Sweep<'a, W> {
    graph: &'a Graph<W>,
    cancel: &'a dyn Cancel,
    damping: f64,
    /// The part of a score that does not depend on the in-neighbours.
    base: f64,
    /// The reciprocal of each out-degree, or 0: a product takes less time than a quotient.
    shares: Vec<f64>,
    contributions: Vec<f64>,
    scores: Vec<f64>,
    /// The new contributions of a stage.
    changed: Vec<f64>,
    /// Whether a stage has pieces far from each other.
    is_local: bool,
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

    /// Computes the scores of the pieces of a stage. Returns their total change, and the sum of the new scores of
    /// vertices without outgoing edges.
    fn stage(&mut self, stage: usize, stages: usize) -> (f64, f64) {
        let (graph, contributions, cancel) = (self.graph, &self.contributions[..], self.cancel);
        let (base, damping, shares) = (self.base, self.damping, &self.shares[..]);
        let len = self.scores.len().div_ceil(PIECE).div_ceil(stages);
        let (start, step) = if self.is_local { (stage, stages) } else { (stage * len, 1) };
        let scores: Vec<&mut [f64]> = self.scores.chunks_mut(PIECE).skip(start).step_by(step).take(len).collect();
        self.changed.resize(scores.len() * PIECE, 0.0);
        let sweep = |(index, (scores, changed)): (usize, (&mut [f64], &mut [f64]))| {
            let (mut change, mut dangling) = (0.0, 0.0);
            if cancel.is_cancelled() {
                return (change, dangling);
            }
            let first = (start + index * step) * PIECE;
            let shares = &shares[first..][..scores.len()];
            for (index, ((score, changed), share)) in scores.iter_mut().zip(changed).zip(shares).enumerate() {
                let new = base + damping * pull(graph.in_neighbours((first + index) as u32), contributions);
                change += (new - *score).abs();
                *score = new;
                dangling += if *share == 0.0 { new } else { 0.0 };
                *changed = new * share;
            }
            (change, dangling)
        };
        let work = scores.into_par_iter().zip(self.changed.par_chunks_mut(PIECE)).enumerate();
        let sums: Vec<(f64, f64)> = work.map(sweep).collect();
        let contributions = self.contributions.chunks_mut(PIECE).skip(start).step_by(step);
        for (contributions, changed) in contributions.zip(self.changed.chunks(PIECE)) {
            contributions.copy_from_slice(&changed[..contributions.len()]);
        }
        sums.into_iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1))
    }
}

/// Returns the sum of the contributions of `row`.
#[inline]
fn pull(row: &[u32], contributions: &[f64]) -> f64 {
    let contribution = |&neighbour: &u32| contributions[neighbour as usize];
    if row.len() < LONG_ROW {
        return row.iter().map(contribution).sum();
    }
    let (chunks, rest) = row.as_chunks::<8>();
    let mut sums = [0.0f64; 8];
    for chunk in chunks {
        for (sum, neighbour) in sums.iter_mut().zip(chunk) {
            *sum += contribution(neighbour);
        }
    }
    sums.into_iter().sum::<f64>() + rest.iter().map(contribution).sum::<f64>()
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
