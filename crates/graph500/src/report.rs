//! What a run reports, and how the benchmark wants it printed.

use std::fmt::{self, Write as _};

use crate::{BfsKind, Spec, Summary, TepsSummary};

/// One search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchRecord {
    /// Where it started.
    pub key: u64,
    /// How long it took.
    pub seconds: f64,
    /// Input tuples in the key's component.
    pub edges: u64,
    /// Vertices that it reached, the key included.
    pub reached: u64,
    /// Edges from the key to the farthest of them.
    pub depth: u32,
    /// How long its validation took, if it was validated.
    pub validation_seconds: Option<f64>,
}

impl SearchRecord {
    /// Traversed edges per second.
    pub fn teps(&self) -> f64 {
        1.0 / self.seconds_per_edge()
    }

    /// A clock has a shortest interval; below a nanosecond there is nothing to be told apart.
    fn seconds_per_edge(&self) -> f64 {
        self.seconds.max(1e-9) / self.edges.max(1) as f64
    }
}

/// A run's result.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was searched.
    pub spec: Spec,
    /// How it was searched.
    pub bfs: BfsKind,
    /// Threads of the pool that it ran on.
    pub threads: usize,
    /// How long it took to make the edge tuples.
    pub generation_seconds: f64,
    /// How long kernel 1 took.
    pub construction_seconds: f64,
    /// The searches, in the order in which they ran.
    pub searches: Vec<SearchRecord>,
}

impl Report {
    /// The searches' seconds.
    pub fn time(&self) -> Summary {
        self.summary(|search| search.seconds)
    }

    /// The searches' traversed edges.
    pub fn nedge(&self) -> Summary {
        self.summary(|search| search.edges as f64)
    }

    /// The validations' seconds, if all searches were validated.
    pub fn validation(&self) -> Option<Summary> {
        let seconds: Option<Vec<f64>> = self.searches.iter().map(|search| search.validation_seconds).collect();
        seconds.filter(|seconds| !seconds.is_empty()).map(|seconds| Summary::of(&seconds))
    }

    /// Traversed edges per second.
    pub fn teps(&self) -> TepsSummary {
        let times: Vec<f64> = self.searches.iter().map(SearchRecord::seconds_per_edge).collect();
        TepsSummary::of_seconds_per_edge(&times)
    }

    fn summary(&self, of: impl Fn(&SearchRecord) -> f64) -> Summary {
        Summary::of(&self.searches.iter().map(of).collect::<Vec<_>>())
    }

    /// The specification's `key: value` lines, named as the reference code 3.0 names them.
    ///
    /// `num_mpi_processes` is 1: there is one process, whatever the number of threads. Lines about
    /// validation are there only if there was one. With a single search, deviations are printed as
    /// 0. The exclamation mark that the reference code prints before its harmonic mean is left out,
    /// so that every value is a number.
    pub fn official(&self) -> String {
        let mut lines = Lines(String::new());
        lines.add("SCALE", self.spec.scale());
        lines.add("edgefactor", self.spec.edge_factor());
        lines.add("NBFS", self.searches.len());
        lines.add("graph_generation", Seconds(self.generation_seconds));
        lines.add("num_mpi_processes", 1);
        lines.add("construction_time", Seconds(self.construction_seconds));
        lines.summary("bfs  ", "time", &self.time(), Seconds);
        lines.summary("", "nedge", &self.nedge(), Count);
        let teps = self.teps();
        for (name, rate) in [
            ("min_TEPS", teps.min),
            ("firstquartile_TEPS", teps.first_quartile),
            ("median_TEPS", teps.median),
            ("thirdquartile_TEPS", teps.third_quartile),
            ("max_TEPS", teps.max),
            ("harmonic_mean_TEPS", teps.harmonic_mean),
            ("harmonic_stddev_TEPS", teps.harmonic_stddev),
        ] {
            lines.add(&format!("bfs  {name}"), Count(rate.round()));
        }
        if let Some(validation) = self.validation() {
            lines.summary("bfs  ", "validate", &validation, Seconds);
        }
        lines.0
    }
}

struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: impl fmt::Display) {
        // Writing to a string does not fail.
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

/// To the nanosecond.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}", self.0)
    }
}

/// Without a fraction where there is none.
struct Count(f64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 1000.0).round() / 1000.0)
    }
}
