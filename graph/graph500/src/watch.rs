//! Reports of a phase to its observer, and the observer's request to stop.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::RunError;

/// The parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Generation of the edge tuples.
    Generation,
    /// Kernel 1: construction of the graph.
    Construction,
    /// Kernel 2: the searches.
    Search,
    /// Validation of the searches.
    Validation,
    /// The same searches again, back to back.
    WarmSearch,
    /// Generation of the tuples and their weights for kernel 3.
    Weights,
    /// Construction of the graph with weights.
    WeightedConstruction,
    /// Kernel 3: the shortest paths.
    Paths,
    /// Validation of the shortest paths.
    PathValidation,
}

/// Receives the progress of a run, and may cancel it. The run calls the methods from any thread. By default they do
/// nothing.
///
/// `()` is an observer that ignores everything.
pub trait Observer: Sync {
    /// Reports that `phase` begins, with `total` units of work.
    fn begin(&self, phase: Phase, total: u64) {
        let _ = (phase, total);
    }

    /// Reports that `done` more units of `phase` are complete. The run calls this at most some thousand times per
    /// phase.
    fn advance(&self, phase: Phase, done: u64) {
        let _ = (phase, done);
    }

    /// Reports that `phase` has ended and took `elapsed`.
    fn end(&self, phase: Phase, elapsed: Duration) {
        let _ = (phase, elapsed);
    }

    /// Returns whether the run shall stop. All threads call this once per block of work, so it should cost no more than
    /// an atomic load.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}

/// Asks an observer whether to stop, and remembers the answer: a cancelled run stays cancelled.
pub(crate) struct Halt<'a> {
    observer: &'a dyn Observer,
    cancelled: AtomicBool,
}

impl<'a> Halt<'a> {
    pub(crate) fn new(observer: &'a dyn Observer) -> Halt<'a> {
        Halt { observer, cancelled: AtomicBool::new(false) }
    }

    /// Returns whether the run shall stop. Once this has returned `true`, it always does.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        if self.cancelled.load(Relaxed) {
            return true;
        }
        let cancelled = self.observer.is_cancelled();
        if cancelled {
            self.cancelled.store(true, Relaxed);
        }
        cancelled
    }

    /// Returns an error if the run shall stop, so that work that a thread has skipped does not count as done.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        if self.is_cancelled() { Err(RunError::Cancelled) } else { Ok(()) }
    }
}

#[cfg(feature = "sssp")]
impl anabranch_graph::kernels::Cancel for Halt<'_> {
    fn is_cancelled(&self) -> bool {
        Halt::is_cancelled(self)
    }
}

/// A running phase: reports its progress to the observer, and asks whether to stop.
pub(crate) struct Watch<'a> {
    halt: Halt<'a>,
    phase: Phase,
    start: Instant,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(observer: &'a dyn Observer, phase: Phase, total: u64) -> Watch<'a> {
        observer.begin(phase, total);
        Watch { halt: Halt::new(observer), phase, start: Instant::now() }
    }

    pub(crate) fn advance(&self, done: u64) {
        self.halt.observer.advance(self.phase, done);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.halt.is_cancelled()
    }

    pub(crate) fn check(&self) -> Result<(), RunError> {
        self.halt.check()
    }

    /// Ends the phase, and returns its duration.
    pub(crate) fn finish(self) -> Result<Duration, RunError> {
        self.check()?;
        let elapsed = self.start.elapsed();
        self.halt.observer.end(self.phase, elapsed);
        Ok(elapsed)
    }
}

/// Returns the result of `work`, and the time that it took.
pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}
