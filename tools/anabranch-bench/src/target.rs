//! The targets of a workload: what its figures should reach.

use serde::Serialize;

/// What the variants of anabranch should reach in a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Target<K> {
    /// The target in words.
    pub text: String,
    /// The number of threads of the judged variants, or `None` for all variants of anabranch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// The limits. One of them has to be kept.
    pub limits: Vec<Limit<K>>,
}

/// An upper limit of a workload's value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit<K> {
    /// The median of the ratio to the value of another peer in the same round.
    Ratio {
        /// The other peer.
        to: K,
        /// Its number of threads; `None`: that of the judged variant, or else the only one of that peer.
        threads: Option<usize>,
        /// The greatest ratio.
        most: f64,
    },
    /// The difference of the medians, in the workload's unit.
    Above {
        /// The other peer.
        to: K,
        /// The greatest difference.
        most: f64,
    },
    /// The median, in the workload's unit.
    Value {
        /// The greatest median.
        most: f64,
    },
}

impl<K> Target<K> {
    /// Creates a target for all variants of anabranch, with one limit.
    pub fn new(text: impl Into<String>, limit: Limit<K>) -> Target<K> {
        Target { text: text.into(), threads: None, limits: vec![limit] }
    }

    /// Adds a limit, which may be kept in place of the others.
    pub fn or(mut self, limit: Limit<K>) -> Target<K> {
        self.limits.push(limit);
        self
    }

    /// Restricts the target to the variants with this number of threads.
    pub fn with_threads(mut self, threads: usize) -> Target<K> {
        self.threads = Some(threads);
        self
    }
}

/// A target for several workloads together: the geometric mean of the ratios to another peer.
#[derive(Clone, Copy, Debug)]
pub struct MeanTarget<K> {
    /// The target in words.
    pub text: &'static str,
    /// The workloads, all of which have to run.
    pub workloads: &'static [&'static str],
    /// The other peer.
    pub to: K,
    /// The greatest mean.
    pub most: f64,
}
