//! Hazards that may make a program hang or slow, reported while it runs: a fiber keeps the thread to which other fibers
//! are bound.

use crate::{sys::diagnostics, wait::suspend::WaitReason};
use std::{fmt, panic::Location, sync::Arc, time::Duration};

/// The kind of a hazard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HazardKind {
    /// A fiber waits inside [`run`](crate::run), which blocks its thread. Reported immediately, once for each pool.
    RunOnFiber,
    /// A fiber has blocked its thread for a second, for example in a lock of the standard library, while other fibers
    /// are bound to the thread. Reported once each time that the thread is blocked.
    BlockedThread,
    /// A fiber has computed for a second of CPU time without waiting, while other fibers of its thread are ready.
    /// Reported once for each pool. Fibers that have not started do not wait for it: they start on other threads.
    LongComputation,
}

/// A fiber that blocks the thread to which other fibers are bound; see
/// [`Builder::on_hazard`](crate::Builder::on_hazard).
#[derive(Debug, Clone)]
pub struct Hazard {
    pub(crate) kind: HazardKind,
    pub(crate) fiber: Option<Arc<str>>,
    pub(crate) worker: usize,
    pub(crate) others: usize,
    /// Where the fiber was spawned.
    pub(crate) spawned_at: Option<&'static Location<'static>>,
    /// The wait, if it is known.
    pub(crate) waits: Option<WaitReason>,
    pub(crate) lasted: Duration,
}

impl Hazard {
    /// Returns the kind of the hazard.
    pub fn kind(&self) -> HazardKind {
        self.kind
    }

    /// Returns the name of the fiber that blocks the thread, if it has one.
    pub fn fiber(&self) -> Option<&str> {
        self.fiber.as_deref()
    }

    /// Returns the index of the worker whose thread is blocked.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Returns how many other fibers are bound to that thread.
    pub fn others(&self) -> usize {
        self.others
    }

    /// Returns the place in the program where the fiber waits, if it is known.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.waits.map(|reason| reason.at)
    }

    /// Returns the place in the program where the fiber was spawned, if it is known.
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.spawned_at
    }
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, others, worker, lasted) = (self.fiber().unwrap_or("unnamed"), self.others, self.worker, self.lasted);
        write!(f, "fiber `{name}`")?;
        // The place of a wait is known only for a wait inside of `run`.
        if let (None, Some(at)) = (self.waits, self.spawned_at) {
            write!(f, " (spawned at {at})")?;
        }
        match self.kind {
            HazardKind::RunOnFiber => {
                // A wait of a thread without a `Cx` has the name of the function that was called.
                let blocking = self.waits.filter(|reason| reason.what.contains("_blocking"));
                write!(f, " waits inside of `{}`", blocking.map_or("run", |reason| reason.what))?;
                if let Some(at) = self.location() {
                    write!(f, " at {at}")?;
                }
                let advice = match blocking {
                    Some(_) => "Call the function without `_blocking`, with the fiber's own `Cx`,",
                    None => "Pass down the fiber's own `Cx`",
                };
                write!(
                    f,
                    ", which blocks its thread (worker {worker}, {others} other fibers): it never ends if it waits for \
                     one of these. {advice} instead"
                )
            }
            HazardKind::BlockedThread => write!(
                f,
                " has blocked its thread for {lasted:.1?}, and {others} other fibers are bound to the same thread \
                 (worker {worker}). It may wait in the system, or for a lock of the standard library that is held \
                 across a wait. Wait in `Cx::blocking`, and hold locks of `anabranch::sync` across waits"
            ),
            HazardKind::LongComputation => write!(
                f,
                " has computed for {lasted:.1?} without a wait, while some of the {others} other fibers of its thread \
                 are ready (worker {worker}). Compute in `Cx::blocking`, or call `Cx::yield_now` now and then"
            ),
        }
    }
}

/// Writes a line to the standard error stream, if there is no handler.
pub(crate) fn print(hazard: &Hazard) {
    // Under shuttle there are thousands of pools, and threads block at random.
    if !cfg!(shuttle) {
        diagnostics::warn(format_args!("{hazard}"));
    }
}
