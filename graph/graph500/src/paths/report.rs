//! The figures of kernel 3.

use crate::{Summary, TepsSummary};

/// The figures of the paths from one key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRecord {
    /// The start vertex.
    pub key: u64,
    /// The time of the search.
    pub seconds: f64,
    /// The number of input tuples in the component of the key.
    pub edges: u64,
    /// The number of reached vertices, including the key.
    pub reached: u64,
    /// The greatest finite distance.
    pub farthest: f32,
    /// The time of the validation, if the run validated these paths.
    pub validation_seconds: Option<f64>,
}

impl PathRecord {
    /// Returns the number of traversed edges per second.
    pub fn teps(&self) -> f64 {
        1.0 / self.seconds_per_edge()
    }

    fn seconds_per_edge(&self) -> f64 {
        // A clock cannot measure less than a nanosecond.
        self.seconds.max(1e-9) / self.edges.max(1) as f64
    }
}

/// The result of kernel 3.
#[derive(Clone, Debug, PartialEq)]
pub struct PathReport {
    /// The time to generate the tuples with their weights.
    pub generation_seconds: f64,
    /// The time to build the graph with weights, besides kernel 1 of the breadth-first search.
    pub construction_seconds: f64,
    /// The searches, in the order in which they ran.
    pub searches: Vec<PathRecord>,
}

impl PathReport {
    /// Summarises the times of the searches, in seconds.
    pub fn time(&self) -> Summary {
        Summary::of(&self.searches.iter().map(|search| search.seconds).collect::<Vec<_>>())
    }

    /// Summarises traversed edges per second.
    pub fn teps(&self) -> TepsSummary {
        TepsSummary::of_seconds_per_edge(&self.searches.iter().map(PathRecord::seconds_per_edge).collect::<Vec<_>>())
    }

    /// Summarises the times of the validations, in seconds. Returns `None` unless the run validated all searches.
    pub fn validation(&self) -> Option<Summary> {
        let seconds: Option<Vec<f64>> = self.searches.iter().map(|search| search.validation_seconds).collect();
        seconds.filter(|seconds| !seconds.is_empty()).map(|seconds| Summary::of(&seconds))
    }
}
