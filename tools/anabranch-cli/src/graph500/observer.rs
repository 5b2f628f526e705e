//! Passes the phases of the benchmark to the progress display, and the request to stop to the benchmark.

use std::time::Duration;

use graph500::{Observer, Phase};

use crate::progress::Progress;
use crate::signals::Signals;

/// The names of the phases in the display, in order.
pub const NAMES: &[&str] = &[
    "generation",
    "construction",
    "searches",
    "validation",
    "warm searches",
    "weights",
    "weighted construction",
    "paths",
    "path validation",
];

/// The observer of one run.
pub struct Watcher<'a> {
    progress: &'a Progress,
    signals: &'a Signals,
}

impl<'a> Watcher<'a> {
    pub fn new(progress: &'a Progress, signals: &'a Signals) -> Self {
        Self { progress, signals }
    }
}

impl Observer for Watcher<'_> {
    fn begin(&self, phase: Phase, total: u64) {
        self.progress.begin(index(phase), total);
    }

    fn advance(&self, phase: Phase, done: u64) {
        self.progress.advance(index(phase), done);
    }

    fn end(&self, phase: Phase, elapsed: Duration) {
        self.progress.end(index(phase), elapsed);
    }

    fn is_cancelled(&self) -> bool {
        self.signals.is_interrupted()
    }
}

fn index(phase: Phase) -> usize {
    match phase {
        Phase::Generation => 0,
        Phase::Construction => 1,
        Phase::Search => 2,
        Phase::Validation => 3,
        Phase::WarmSearch => 4,
        Phase::Weights => 5,
        Phase::WeightedConstruction => 6,
        Phase::Paths => 7,
        Phase::PathValidation => 8,
    }
}
