//! How a phase tells its observer where it stands, and learns that it is to stop.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::RunError;

/// The parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Making the edge tuples.
    Generation,
    /// Kernel 1: making the graph.
    Construction,
    /// Kernel 2: the searches.
    Search,
    /// Checking what the searches returned.
    Validation,
}

/// Is told how a run proceeds, and may cancel it. All methods may be called from any thread and do
/// nothing by default.
///
/// `()` is the observer that does not look.
pub trait Observer: Sync {
    /// `phase` begins, and is done after `total` units.
    fn begin(&self, phase: Phase, total: u64) {
        let _ = (phase, total);
    }

    /// `done` more units of `phase` are done. Called at most some thousand times a phase.
    fn advance(&self, phase: Phase, done: u64) {
        let _ = (phase, done);
    }

    /// `phase` is over and took `elapsed`.
    fn end(&self, phase: Phase, elapsed: Duration) {
        let _ = (phase, elapsed);
    }

    /// Whether to stop. Asked once per block of work, from all threads, so it should cost no more
    /// than an atomic load.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}

/// Asks an observer whether to stop, and remembers a yes: what is cancelled stays so.
pub(crate) struct Halt<'a> {
    observer: &'a dyn Observer,
    cancelled: AtomicBool,
}

impl<'a> Halt<'a> {
    pub(crate) fn new(observer: &'a dyn Observer) -> Halt<'a> {
        Halt { observer, cancelled: AtomicBool::new(false) }
    }

    /// Once true, always true.
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

    /// `Err` if anyone was told to stop, so that work that was skipped is never taken for done.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        if self.is_cancelled() { Err(RunError::Cancelled) } else { Ok(()) }
    }
}

/// One phase as its observer sees it.
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

    /// Ends the phase; says how long it took.
    pub(crate) fn finish(self) -> Result<Duration, RunError> {
        self.check()?;
        let elapsed = self.start.elapsed();
        self.halt.observer.end(self.phase, elapsed);
        Ok(elapsed)
    }
}
