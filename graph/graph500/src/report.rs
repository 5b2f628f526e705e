//! The report of a run, and its official output format.

use std::fmt::{self, Write as _};

use crate::{BfsKind, PathReport, Spec, Summary, TepsSummary};

/// The figures of one search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchRecord {
    /// The start vertex.
    pub key: u64,
    /// The time of the search in the official protocol.
    pub seconds: f64,
    /// The number of input tuples in the component of the key.
    pub edges: u64,
    /// The number of reached vertices, including the key.
    pub reached: u64,
    /// The greatest distance from the key.
    pub depth: u32,
    /// The time of the validation, if the run validated this search.
    pub validation_seconds: Option<f64>,
    /// The time of the same search in the warm protocol.
    pub warm_seconds: f64,
}

impl SearchRecord {
    /// Returns the number of traversed edges per second.
    pub fn teps(&self) -> f64 {
        1.0 / self.seconds_per_edge()
    }

    /// Returns the time per edge in the official protocol.
    fn seconds_per_edge(&self) -> f64 {
        self.per_edge(self.seconds)
    }

    /// Returns the time per edge. Times below a nanosecond are rounded up, because a clock cannot measure them.
    fn per_edge(&self, seconds: f64) -> f64 {
        seconds.max(1e-9) / self.edges.max(1) as f64
    }
}

/// The result of a run.
///
/// Times and rates are those of the *official* protocol unless their name says *warm*. In the official protocol, a pass
/// over the tuples follows each search: its validation, or the count of its edges. So a search finds the caches cold.
/// In the warm protocol the same searches follow each other directly.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The problem: scale and edge factor.
    pub spec: Spec,
    /// The search kernel.
    pub bfs: BfsKind,
    /// The number of processes, each with a part of the graph.
    pub processes: usize,
    /// The number of threads of the pool, in each process.
    pub threads: usize,
    /// The time to generate the edge tuples.
    pub generation_seconds: f64,
    /// The time of kernel 1.
    pub construction_seconds: f64,
    /// The searches, in the order in which they ran.
    pub searches: Vec<SearchRecord>,
    /// The result of kernel 3, if it ran.
    pub paths: Option<PathReport>,
}

impl Report {
    /// Summarises the times of the searches, in seconds.
    pub fn time(&self) -> Summary {
        self.summary(|search| search.seconds)
    }

    /// Summarises the traversed edges of the searches.
    pub fn nedge(&self) -> Summary {
        self.summary(|search| search.edges as f64)
    }

    /// Summarises the times of the validations, in seconds. Returns `None` unless the run validated all searches.
    pub fn validation(&self) -> Option<Summary> {
        let seconds: Option<Vec<f64>> = self.searches.iter().map(|search| search.validation_seconds).collect();
        seconds.filter(|seconds| !seconds.is_empty()).map(|seconds| Summary::of(&seconds))
    }

    /// Summarises the times of the searches in the warm protocol, in seconds.
    pub fn warm_time(&self) -> Summary {
        self.summary(|search| search.warm_seconds)
    }

    /// Summarises traversed edges per second in the warm protocol.
    pub fn warm_teps(&self) -> TepsSummary {
        let times: Vec<f64> = self.searches.iter().map(|search| search.per_edge(search.warm_seconds)).collect();
        TepsSummary::of_seconds_per_edge(&times)
    }

    /// Summarises traversed edges per second in the official protocol.
    pub fn teps(&self) -> TepsSummary {
        let times: Vec<f64> = self.searches.iter().map(SearchRecord::seconds_per_edge).collect();
        TepsSummary::of_seconds_per_edge(&times)
    }

    fn summary(&self, of: impl Fn(&SearchRecord) -> f64) -> Summary {
        Summary::of(&self.searches.iter().map(of).collect::<Vec<_>>())
    }

    /// Returns the specification's `key: value` lines, with the names of the reference code 3.0.
    ///
    /// `num_mpi_processes` is 1 for a run without MPI, whatever the number of threads. Lines about validation appear
    /// only after a validation, and lines that begin with `sssp` only if kernel 3 ran. `construction_time` then
    /// contains its graph too. With a single search, deviations are 0. The reference code prints an exclamation mark
    /// before its harmonic mean; this text omits it, so that every value is a number.
    pub fn official(&self) -> String {
        let mut lines = Lines(String::new());
        lines.add("SCALE", self.spec.scale());
        lines.add("edgefactor", self.spec.edge_factor());
        lines.add("NBFS", self.searches.len());
        lines.add("graph_generation", Seconds(self.generation_seconds));
        lines.add("num_mpi_processes", self.processes);
        let paths = self.paths.as_ref();
        let weighted = paths.map_or(0.0, |paths| paths.construction_seconds);
        lines.add("construction_time", Seconds(self.construction_seconds + weighted));
        lines.summary("bfs  ", "time", &self.time(), Seconds);
        if let Some(paths) = paths {
            lines.summary("sssp ", "time", &paths.time(), Seconds);
        }
        lines.summary("", "nedge", &self.nedge(), Count);
        lines.rates("bfs  ", &self.teps());
        if let Some(paths) = paths {
            lines.rates("sssp ", &paths.teps());
        }
        if let Some(validation) = self.validation() {
            lines.summary("bfs  ", "validate", &validation, Seconds);
        }
        if let Some(validation) = paths.and_then(PathReport::validation) {
            lines.summary("sssp ", "validate", &validation, Seconds);
        }
        lines.0
    }
}

struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: impl fmt::Display) {
        // A write to a string does not fail.
        let _ = writeln!(self.0, "{:<31} {value}", format!("{name}:"));
    }

    fn summary<D: fmt::Display>(&mut self, prefix: &str, suffix: &str, summary: &Summary, show: impl Fn(f64) -> D) {
        for (name, value) in [
            ("min", summary.min),
            ("firstquartile", summary.first_quartile),
            ("median", summary.median),
            ("thirdquartile", summary.third_quartile),
            ("max", summary.max),
            ("mean", summary.mean),
            ("stddev", summary.stddev),
        ] {
            self.add(&format!("{prefix}{name}_{suffix}"), show(value));
        }
    }
}

impl Lines {
    fn rates(&mut self, prefix: &str, teps: &TepsSummary) {
        for (name, rate) in [
            ("min_TEPS", teps.min),
            ("firstquartile_TEPS", teps.first_quartile),
            ("median_TEPS", teps.median),
            ("thirdquartile_TEPS", teps.third_quartile),
            ("max_TEPS", teps.max),
            ("harmonic_mean_TEPS", teps.harmonic_mean),
            ("harmonic_stddev_TEPS", teps.harmonic_stddev),
        ] {
            self.add(&format!("{prefix}{name}"), Count(rate.round()));
        }
    }
}

/// Displays seconds with nine decimal places.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}", self.0)
    }
}

/// Displays a number with at most three decimal places.
struct Count(f64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 1000.0).round() / 1000.0)
    }
}
