//! Single-source shortest paths by delta-stepping, with fused buckets.
//!
//! Source: Meyer, Sanders, *Delta-stepping: a parallelizable shortest path algorithm*, 2003. The fusion is from Zhang,
//! Brahmakshatriya, Chen, Dhulipala, Kamil, Amarasinghe, Shun, *Optimizing Ordered Graph Algorithms with GraphIt*, CGO
//! 2020, as in GAP.
//!
//! **Buckets.** The bucket of a distance is its quotient by `delta`. The kernel relaxes the edges of one bucket's
//! vertices in parallel, in ascending order of the buckets. A relaxation may put vertices into the same bucket again.
//! A thread that has done so with few vertices relaxes them itself, without a round of all threads (fusion).
//!
//! **Horizon.** A vertex with many edges has a low distance in most graphs. So the kernel has most edges to offer long
//! before it has the first distances of the other vertices, and most of its offers are not the last ones. It therefore
//! relaxes first only the edges whose sums are below a *horizon*. Then all distances below it are final, and all others
//! still unknown. `horizon` says how the kernel goes on, on what fraction of the edges.
//!
//! **Encoding.** An entry is a vertex and the distance with which it entered its bucket. Once the vertex has a lower
//! distance the entry is stale, and the kernel skips it. Every decrease of a distance makes one entry. So each distance
//! that a vertex has is relaxed at most once. Each thread keeps `WINDOW` buckets, and all later entries in one list,
//! from which it fills the buckets again. So the memory does not depend on `delta`.
//!
//! **Widths.** Distances of whole numbers are kept in 32 bits. If a sum exceeds them, the kernel starts again with 64
//! bits. Those of floats are floats of the same width.

mod horizon;
mod length;
mod light_first;
mod tree;
mod verify;

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use anabranch::prelude::*;

pub use self::length::Length;
use self::length::{Label, Refused};
pub use self::light_first::LightFirst;
pub use self::tree::{parents, verify_parents};
pub use self::verify::verify;
use super::tools::states;
use super::{Cancel, KernelError};
use crate::Graph;

/// The buckets that a thread keeps apart.
const WINDOW: u64 = 1024;
/// Entries per piece of work.
const PIECE: usize = 64;
/// A thread relaxes as many entries of its own bucket without a new round.
const FUSED: usize = 1000;
/// The width of a bucket, in units of the mean weight per mean degree.
const DELTA_UNITS: f64 = 0.5;
/// The horizon, in the same units.
const HORIZON_UNITS: f64 = 8.0;
/// The vertices whose weights are in the sample that estimates the mean.
const SAMPLES: usize = 1000;

/// Returns the distance of each vertex from `root` in the direction of the edges, or [`Length::UNREACHED`].
///
/// `delta` is the width of a bucket. It changes only the time. With `None`, the kernel chooses it from the mean weight
/// and the mean degree. The distances do not depend on the number of threads.
///
/// Takes time proportional to the vertices and arcs on random graphs with a suitable `delta`; in the worst case a
/// vertex is relaxed for each distance that it has had.
///
/// ```
/// use anabranch_graph::Graph;
/// use anabranch_graph::kernels::{sssp, sssp::Length};
/// let graph = Graph::directed_weighted([(0, 1, 9u32), (0, 2, 2), (2, 1, 3), (3, 0, 1)]);
/// assert_eq!(sssp(&graph, 0, None, &()).unwrap(), [0, 5, 2, u32::UNREACHED]);
/// ```
///
/// # Errors
/// Returns [`KernelError::NoSuchVertex`] if the graph has no `root`, [`KernelError::BadWeight`] if the kernel meets a
/// weight that is negative or not a number, [`KernelError::BadParameter`] if `delta` is not above 0, and
/// [`KernelError::Cancelled`].
pub fn sssp<W: Length>(
    graph: &Graph<W>,
    root: u32,
    delta: Option<f64>,
    cancel: &dyn Cancel,
) -> Result<Vec<W::Distance>, KernelError> {
    distances(graph, false, root, delta, cancel)
}

/// Computes the distances from `root`. The rows may be by ascending weight.
fn distances<W: Length>(
    graph: &Graph<W>,
    is_light_first: bool,
    root: u32,
    delta: Option<f64>,
    cancel: &dyn Cancel,
) -> Result<Vec<W::Distance>, KernelError> {
    KernelError::check_vertex(graph, root)?;
    let unit = mean_weight_per_degree(graph);
    let delta = delta.unwrap_or(DELTA_UNITS * unit);
    if !(delta > 0.0 && delta.is_finite()) {
        return Err(KernelError::BadParameter { name: "delta", expected: "above 0", value: delta });
    }
    let horizon = horizon::distance_to_many_edges(graph, root) + HORIZON_UNITS * unit;
    W::distances(graph, root, Settings { delta, horizon, is_light_first }, cancel)
}

/// What a run starts with.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The width of the buckets.
    delta: f64,
    /// Sums from here on are skipped at first.
    horizon: f64,
    /// Whether each row is by ascending weight.
    is_light_first: bool,
}

/// Returns the mean weight divided by the mean degree: the scale of the distances in a random graph.
fn mean_weight_per_degree<W: Length>(graph: &Graph<W>) -> f64 {
    let num_vertices = graph.num_vertices();
    let step = (num_vertices / SAMPLES).max(1);
    let rows = (0..num_vertices as u32).step_by(step).map(|vertex| graph.out_weights(vertex));
    let (sum, count) = rows
        .flat_map(|row| row.iter().step_by(row.len().div_ceil(8).max(1)))
        .fold((0.0, 0), |(sum, count), &weight| (sum + Into::<f64>::into(weight), count + 1));
    let mean = sum / f64::from(count.max(1));
    let degree = graph.num_arcs() as f64 / num_vertices as f64;
    let unit = mean / degree;
    if unit > 0.0 && unit.is_finite() { unit } else { 1.0 }
}

/// Computes the distances as labels of type `D`.
fn solve<W: Length, D: Label<W>>(
    graph: &Graph<W>,
    root: u32,
    settings: Settings,
    cancel: &dyn Cancel,
) -> Result<Vec<D>, Refused> {
    let labels: Vec<D::Slot> = (0..graph.num_vertices()).into_par_iter().map(|_| D::slot(D::UNREACHED)).collect();
    let Settings { delta, horizon, is_light_first } = settings;
    let (step, horizon) = (D::step(delta), D::width(horizon));
    let run = Run { graph, is_light_first, cancel, step, horizon, labels, refused: Mutex::new(None) };
    D::lower(&run.labels[root as usize], D::ZERO);
    let mut bins: Vec<Bins<D>> = states(Bins::default);
    bins[0].push(0, Entry { vertex: root, distance: D::ZERO });
    run.settle(&mut bins)?;
    let remaining = run.pass_horizon(&mut bins);
    // The rows of the remaining arcs are in the order of the vertices.
    let is_light_first = is_light_first && remaining.is_none();
    let run = Run { graph: remaining.as_ref().unwrap_or(graph), is_light_first, horizon: D::UNREACHED, ..run };
    run.settle(&mut bins)?;
    match run.refused.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(refused) => Err(refused),
        None => Ok(run.labels.into_par_iter().map(|slot| D::load(&slot)).collect()),
    }
}

/// A vertex, and the distance with which it entered its bucket.
#[derive(Clone, Copy)]
struct Entry<D> {
    vertex: u32,
    distance: D,
}

/// The buckets of one thread.
struct Bins<D> {
    /// The first of the buckets that are kept apart.
    base: u64,
    near: Vec<Vec<Entry<D>>>,
    far: Vec<Entry<D>>,
}

impl<D> Default for Bins<D> {
    fn default() -> Self {
        Bins { base: 0, near: Vec::new(), far: Vec::new() }
    }
}

impl<D> Bins<D> {
    #[inline]
    fn push(&mut self, bucket: u64, entry: Entry<D>) {
        let index = bucket - self.base;
        if index >= WINDOW {
            self.far.push(entry);
            return;
        }
        if index as usize >= self.near.len() {
            self.near.resize_with(index as usize + 1, Vec::new);
        }
        self.near[index as usize].push(entry);
    }

    /// Returns the first bucket from `bucket` on that has an entry.
    fn first_from(&self, bucket: u64) -> Option<u64> {
        let from = (bucket - self.base) as usize;
        let found = self.near.get(from..)?.iter().position(|entries| !entries.is_empty())?;
        Some(bucket + found as u64)
    }

    /// Returns the entries of `bucket`.
    fn bucket(&mut self, bucket: u64) -> &mut Vec<Entry<D>> {
        let index = (bucket - self.base) as usize;
        if index >= self.near.len() {
            self.near.resize_with(index + 1, Vec::new);
        }
        &mut self.near[index]
    }
}

struct Run<'a, W: Length, D: Label<W>> {
    graph: &'a Graph<W>,
    is_light_first: bool,
    cancel: &'a dyn Cancel,
    step: D::Step,
    /// Sums from here on are skipped.
    horizon: D,
    labels: Vec<D::Slot>,
    /// The first reason why these labels cannot be the result.
    refused: Mutex<Option<Refused>>,
}

impl<W: Length, D: Label<W>> Run<'_, W, D> {
    /// Relaxes the edges of all entries, bucket by bucket.
    fn settle(&self, bins: &mut [Bins<D>]) -> Result<(), Refused> {
        let mut frontier = Vec::new();
        let mut bucket = bins[0].base;
        while let Some(next) = self.next_bucket(bins, bucket) {
            if self.cancel.is_cancelled() {
                break;
            }
            bucket = next;
            frontier.clear();
            bins.iter_mut().for_each(|bins| frontier.append(bins.bucket(bucket)));
            self.round(&frontier, bucket, bins);
        }
        KernelError::check(self.cancel).map_err(Refused::Error)
    }

    /// Relaxes the edges of `frontier`, which is in `bucket`. Then each thread relaxes its own entries of this bucket
    /// while they are few.
    fn round(&self, frontier: &[Entry<D>], bucket: u64, bins: &mut [Bins<D>]) {
        let next = AtomicUsize::new(0);
        let work = |bins: &mut Bins<D>| {
            while !self.cancel.is_cancelled() {
                let start = next.fetch_add(PIECE, Relaxed);
                if start >= frontier.len() {
                    break;
                }
                let end = (start + PIECE).min(frontier.len());
                frontier[start..end].iter().for_each(|entry| self.relax(bins, entry));
            }
            while (1..FUSED).contains(&bins.bucket(bucket).len()) && !self.cancel.is_cancelled() {
                let entries = std::mem::take(bins.bucket(bucket));
                entries.iter().for_each(|entry| self.relax(bins, entry));
            }
        };
        if frontier.len() <= PIECE {
            bins.iter_mut().take(1).for_each(work);
        } else {
            bins.par_iter_mut().with_max_len(1).for_each(work);
        }
    }

    /// Relaxes the edges of a vertex unless its entry is stale.
    #[inline]
    fn relax(&self, bins: &mut Bins<D>, entry: &Entry<D>) {
        let &Entry { vertex, distance } = entry;
        if D::load(&self.labels[vertex as usize]) < distance {
            return;
        }
        let row = self.graph.out_neighbours(vertex).iter().zip(self.graph.out_weights(vertex));
        for (&neighbour, &weight) in row {
            match distance.plus(weight) {
                Some(sum) if sum < self.horizon => self.offer(bins, neighbour, sum),
                Some(_) if self.is_light_first => break,
                Some(_) => {}
                // A sum that is too large is beyond the horizon as well.
                None if self.horizon < D::UNREACHED && weight.into() >= 0.0 => {}
                None => self.refuse(vertex, neighbour, weight),
            }
        }
    }

    /// Lowers the label of `vertex` to `sum` if it is greater.
    #[inline]
    fn offer(&self, bins: &mut Bins<D>, vertex: u32, sum: D) {
        let label = &self.labels[vertex as usize];
        if sum < D::load(label) && D::lower(label, sum) {
            bins.push(sum.bucket(self.step), Entry { vertex, distance: sum });
        }
    }

    #[cold]
    fn refuse(&self, from: u32, to: u32, weight: W) {
        let weight: f64 = weight.into();
        let refused = if weight >= 0.0 {
            Refused::TooNarrow
        } else {
            Refused::Error(KernelError::BadWeight { from, to, weight })
        };
        self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(refused);
    }

    /// Returns the first bucket from `bucket` on that has an entry.
    fn next_bucket(&self, bins: &mut [Bins<D>], bucket: u64) -> Option<u64> {
        let near = bins.iter().filter_map(|bins| bins.first_from(bucket)).min();
        near.or_else(|| self.advance(bins))
    }

    /// Moves the window to the first bucket of the far entries. Returns this bucket, or `None` without any entry.
    fn advance(&self, bins: &mut [Bins<D>]) -> Option<u64> {
        let is_stale = |entry: &Entry<D>| D::load(&self.labels[entry.vertex as usize]) < entry.distance;
        bins.iter_mut().for_each(|bins| bins.far.retain(|entry| !is_stale(entry)));
        let entries = bins.iter().flat_map(|bins| &bins.far);
        let first = entries.map(|entry| entry.distance.bucket(self.step)).min()?;
        for bins in bins {
            bins.base = first;
            for entry in std::mem::take(&mut bins.far) {
                bins.push(entry.distance.bucket(self.step), entry);
            }
        }
        Some(first)
    }
}
