//! Passes the phases of reading and writing to the progress display.

use std::sync::OnceLock;
use std::time::Instant;

use anabranch_graph::{Observer, Phase};

use crate::progress::Progress;
use crate::signals::Signals;

const NAMES: &[&str] = &["reading", "construction", "writing", "analysis"];
/// The index of the analysis, which is no phase of the library.
const ANALYSIS: usize = 3;

/// The display of one run. Dropping this removes it.
pub struct Watcher {
    progress: Progress,
    begun: [OnceLock<Instant>; 4],
}

impl Watcher {
    pub fn new(signals: &Signals) -> Watcher {
        Watcher { progress: Progress::start(NAMES, signals), begun: Default::default() }
    }

    /// Runs `work` as the phase that analyses a graph.
    pub fn analysis<R>(&self, work: impl FnOnce() -> R) -> R {
        self.start(ANALYSIS, 0);
        let result = work();
        self.finish(ANALYSIS);
        result
    }

    fn start(&self, phase: usize, total: u64) {
        let _ = self.begun[phase].set(Instant::now());
        self.progress.begin(phase, total);
    }

    fn finish(&self, phase: usize) {
        if let Some(begun) = self.begun[phase].get() {
            self.progress.end(phase, begun.elapsed());
        }
    }
}

impl Observer for Watcher {
    fn begin(&self, phase: Phase, total: u64) {
        self.start(index(phase), total);
    }

    fn advance(&self, phase: Phase, done: u64) {
        self.progress.advance(index(phase), done);
    }

    fn end(&self, phase: Phase) {
        self.finish(index(phase));
    }
}

fn index(phase: Phase) -> usize {
    match phase {
        Phase::Read => 0,
        Phase::Build => 1,
        Phase::Write => 2,
    }
}
