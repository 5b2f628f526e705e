//! The memory that a run will take, computed before it starts.

use crate::bfs::BfsKind;
use crate::construct::Bands;
use crate::edge::NarrowEdge;
use crate::run::Config;
use crate::{Spec, WeightedEdge, generator, validate};

/// The memory in use at the peak of a run.
///
/// The peak is the end of kernel 1 or, with few edges per vertex, the searches. The program itself and small buffers, a
/// few megabytes, are not counted.
///
/// ```
/// use graph500::{BfsKind, Config, MemoryPlan, Spec};
/// let spec = Spec::new(26, 16, 1)?;
/// let config = Config::official(spec);
/// let plan = MemoryPlan::of(&config);
/// assert_eq!(plan.stages().iter().map(|(_, bytes)| bytes).sum::<u64>(), plan.peak());
/// assert!(plan.peak() < 28_000_000_000);
/// # Ok::<(), graph500::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    stages: Vec<(&'static str, u64)>,
}

impl MemoryPlan {
    /// Computes the plan of `config`.
    pub fn of(config: &Config) -> MemoryPlan {
        let (vertices, edges) = (config.spec.num_vertices(), config.spec.num_edges());
        let connected = connected(&config.spec);
        let arcs = 2 * edges;
        let bitmap = connected.div_ceil(64) * 8;
        let common = [
            ("edge tuples", edges * size_of::<NarrowEdge>() as u64),
            ("adjacency lists", arcs * 4),
            ("row index", connected * 8 + bitmap),
            ("first neighbours", connected * 8),
            ("vertex order", vertices * 4 + connected * 4),
        ];
        let kernel = match config.bfs {
            BfsKind::Sequential => connected * 4,
            BfsKind::Color => connected * 2,
            BfsKind::Direction => connected * 4 + bitmap * 3,
        };
        let is_packed = Bands::new(connected as usize, connected as usize).is_packed();
        let construction = [("arc sources", if is_packed { 0 } else { arcs * 2 })];
        let search = [
            ("parents", vertices * 8),
            ("search", connected * 4 + kernel),
            ("validation", if config.validate { validate::bytes(vertices) } else { 0 }),
        ];
        let paths = [
            ("weighted tuples", edges * size_of::<WeightedEdge>() as u64),
            ("weighted arcs", edges * 40),
            ("weighted rows", connected * 8),
        ];
        let total = |part: &[(&str, u64)]| part.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let more = if total(&construction) >= total(&search) { &construction[..] } else { &search[..] };
        let mut stages: Vec<_> = common.iter().chain(more).copied().collect();
        // Kernel 3 keeps the graph, and has other tuples.
        if config.sssp && total(&stages) < total(&common[1..]) + total(&paths) {
            stages = common[1..].iter().chain(&paths).copied().collect();
        }
        let stages = stages.into_iter().filter(|&(_, bytes)| bytes > 0).collect();
        MemoryPlan { stages }
    }

    /// Computes the plan of each of `processes` processes that share the problem, see
    /// [`distributed`](crate::distributed).
    ///
    /// ```
    /// use graph500::{Config, MemoryPlan, Spec};
    /// let config = Config::official(Spec::new(30, 16, 1)?);
    /// assert!(MemoryPlan::of_process(&config, 16).peak() < MemoryPlan::of(&config).peak() / 5);
    /// # Ok::<(), graph500::SpecError>(())
    /// ```
    pub fn of_process(config: &Config, processes: u64) -> MemoryPlan {
        let (vertices, edges) = (config.spec.num_vertices(), config.spec.num_edges());
        let share = |total: u64| total.div_ceil(processes);
        // The labels are random, so that shares of vertices and arcs are about equal.
        let connected = share(connected(&config.spec)).next_multiple_of(64);
        let numbers = connected * processes;
        let arcs = 2 * share(edges);
        // The tuples of others with an end that this process owns.
        let part = 1.0 / processes as f64;
        let received = edges as f64 * (2.0 * part - part * part) * (1.0 - part);
        let is_packed = Bands::new(connected as usize, numbers as usize).is_packed();
        let common = [
            ("edge tuples", share(edges) * size_of::<crate::Edge>() as u64),
            ("adjacency lists", arcs * 4),
            ("row index", connected * 8 + connected / 8),
            ("first neighbours", connected * 8),
            ("labels", numbers * 4),
            ("vertex order", share(vertices) * 4),
        ];
        let construction = [
            ("received tuples", received as u64 * 8),
            ("ranks of all", vertices * 4),
            ("arc sources", if is_packed { 0 } else { arcs * 2 }),
        ];
        let search = [
            ("parents", share(vertices) * 8),
            ("search", connected * 8 + numbers / 4 + connected / 8),
            ("validation", validate::bytes(vertices) + 8 * (vertices + share(vertices))),
        ];
        let total = |part: &[(&str, u64)]| part.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let more = if total(&construction) >= total(&search) { &construction } else { &search };
        let stages = common.iter().chain(more).copied().filter(|&(_, bytes)| bytes > 0).collect();
        MemoryPlan { stages }
    }

    /// Returns the parts with their bytes, all in memory at the same time.
    pub fn stages(&self) -> &[(&'static str, u64)] {
        &self.stages
    }

    /// Returns the sum of all parts, in bytes.
    pub fn peak(&self) -> u64 {
        self.stages.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Returns how many vertices have neighbours: the expected number, and four times the square root of all vertices on
/// top.
///
/// A vertex whose number has k one bits, before the labels are permuted, is a given end of a tuple with probability
/// (C + D)^k (A + B)^(scale - k).
fn connected(spec: &Spec) -> u64 {
    let (scale, ends) = (spec.scale(), 2.0 * spec.num_edges() as f64);
    let mut vertices = 1.0;
    let mut expected = 0.0;
    for ones in 0..=scale {
        let end = generator::UPPER_HALF.powi((scale - ones) as i32) * (1.0 - generator::UPPER_HALF).powi(ones as i32);
        expected -= vertices * (ends * (-end).ln_1p()).exp_m1();
        vertices *= f64::from(scale - ones) / f64::from(ones + 1);
    }
    let deviations = 4.0 * (spec.num_vertices() as f64).sqrt();
    ((expected + deviations) as u64).min(spec.num_vertices())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, generate};

    #[test]
    fn planned_vertices_are_the_connected_ones() {
        for (scale, factor) in [(1, 1), (6, 16), (12, 1), (14, 16), (15, 64)] {
            for seed in 0..4 {
                let spec = Spec::new(scale, factor, seed).unwrap();
                let graph = Graph::build(&generate(&spec, &()).unwrap(), &()).unwrap();
                let (planned, real) = (connected(&spec), graph.num_connected());
                let slack = 8.0 * (spec.num_vertices() as f64).sqrt();
                assert!(planned >= real && (planned - real) as f64 <= slack, "{scale}: {planned} for {real}");
            }
        }
    }
}
