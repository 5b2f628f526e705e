//! What may make a program stand still, told while it runs: a fiber that keeps its thread from the others that are
//! bound to it.

use crate::sys::diagnostics;
use std::{fmt, panic::Location, sync::Arc, time::Duration};

/// What kind of hazard it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HazardKind {
    /// A fiber waits inside of [`run`](crate::run), which blocks its thread. Told once for each pool, at once.
    RunOnFiber,
    /// A fiber has blocked its thread for a second, in a lock of the standard library perhaps, while others are bound
    /// to it. Told once for each time that the thread stands still.
    BlockedThread,
}

/// A fiber that keeps its thread from others; see [`Builder::on_hazard`](crate::Builder::on_hazard).
#[derive(Debug, Clone)]
pub struct Hazard {
    pub(crate) kind: HazardKind,
    pub(crate) fiber: Option<Arc<str>>,
    pub(crate) worker: usize,
    pub(crate) others: usize,
    pub(crate) at: Option<&'static Location<'static>>,
    pub(crate) lasted: Duration,
}

impl Hazard {
    /// What it is about.
    pub fn kind(&self) -> HazardKind {
        self.kind
    }

    /// The name of the fiber that has the thread, if it has one.
    pub fn fiber(&self) -> Option<&str> {
        self.fiber.as_deref()
    }

    /// The worker whose thread it is.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// How many other fibers are bound to that thread.
    pub fn others(&self) -> usize {
        self.others
    }

    /// Where in the program the fiber waits, if that is known.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.at
    }
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, others, worker) = (self.fiber().unwrap_or("unnamed"), self.others, self.worker);
        match self.kind {
            HazardKind::RunOnFiber => {
                write!(f, "fiber `{name}` waits inside of `run`")?;
                if let Some(at) = self.at {
                    write!(f, " at {at}")?;
                }
                write!(
                    f,
                    ", which blocks its thread (worker {worker}, {others} other fibers): it never ends if it waits for one of \
                     these. Pass down the fiber's own `Cx` instead"
                )
            }
            HazardKind::BlockedThread => write!(
                f,
                "fiber `{name}` has blocked its thread for {:?}, and {others} other fibers are bound to the same thread \
                 (worker {worker}). Is a lock of the standard library held across a wait? See the documentation of `Cx`",
                self.lasted
            ),
        }
    }
}

/// Where there is no handler: a line on the standard error stream.
pub(crate) fn print(hazard: &Hazard) {
    // Under shuttle there are thousands of pools, and threads stand still by chance.
    if !cfg!(shuttle) {
        diagnostics::warn(format_args!("{hazard}"));
    }
}
