//! The fibers of a pool, and the threads that wait in it, for people to look at: the first thing one wants when a
//! program hangs.

use crate::{
    fiber::status::State,
    pool::{Pool, registry::Registry, worker::Worker},
};
use std::{fmt, panic::Location, sync::Arc};

/// What a fiber does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FiberState {
    /// It has not begun; any worker may take it.
    Unstarted,
    /// It can go on as soon as its worker comes to it.
    Ready,
    /// It runs.
    Running,
    /// It waits: [`FiberInfo::waits_for`] says for what.
    Waiting,
}

/// What is known of a fiber, or of a thread that waits, as of a moment ago. See [`Pool::fibers`].
#[derive(Debug, Clone)]
pub struct FiberInfo {
    name: Option<Arc<str>>,
    state: FiberState,
    waits_for: Option<&'static str>,
    location: Option<&'static Location<'static>>,
    worker: Option<usize>,
    is_thread: bool,
}

impl FiberInfo {
    /// Its name, if it has one. Of a thread: that of the thread.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What it does.
    pub fn state(&self) -> FiberState {
        self.state
    }

    /// What it waits for, if it does: `"sleep"`, say.
    pub fn waits_for(&self) -> Option<&'static str> {
        self.waits_for
    }

    /// Where in the program it waits.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// Whether it is no fiber but a thread that waits inside [`run`](crate::run).
    pub fn is_thread(&self) -> bool {
        self.is_thread
    }

    /// The worker on which it was started. `None` for what has not started, and for a thread that is not one of the
    /// pool's.
    pub fn worker(&self) -> Option<usize> {
        self.worker
    }
}

impl fmt::Display for FiberInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_thread { "thread " } else { "" };
        write!(f, "{kind}{}: ", self.name().unwrap_or("unnamed"))?;
        match (self.state, self.waits_for, self.location) {
            (FiberState::Unstarted, ..) => f.write_str("not started")?,
            (FiberState::Ready, ..) => f.write_str("ready")?,
            (FiberState::Running, ..) => f.write_str("running")?,
            (FiberState::Waiting, Some(what), Some(location)) => write!(f, "waits for {what} at {location}")?,
            (FiberState::Waiting, ..) => f.write_str("waits")?,
        }
        match self.worker {
            Some(worker) => write!(f, " (worker {worker})"),
            None => Ok(()),
        }
    }
}

fn list(registry: &Registry) -> Vec<FiberInfo> {
    let mut list = Vec::new();
    for worker in registry.workers() {
        worker.fibers.blocks.for_each(|fiber| {
            let card = fiber.card();
            let state = match fiber.state() {
                State::Idle => return,
                State::Running => FiberState::Running,
                State::Ready => FiberState::Ready,
                State::Suspended => FiberState::Waiting,
            };
            let reason = card.reason().filter(|_| state == FiberState::Waiting);
            list.push(FiberInfo {
                name: card.name(),
                state,
                waits_for: reason.map(|reason| *reason.what),
                location: reason.map(|reason| reason.at),
                worker: Some(worker.index),
                is_thread: false,
            });
        });
        if worker.card.state() == State::Suspended {
            let reason = worker.card.reason();
            list.push(FiberInfo {
                name: worker.card.name(),
                state: FiberState::Waiting,
                waits_for: reason.map(|reason| *reason.what),
                location: reason.map(|reason| reason.at),
                worker: worker.is_own.then_some(worker.index),
                is_thread: true,
            });
        }
    }
    for worker in registry.workers() {
        worker.fibers.jobs.for_each(|job| {
            list.push(FiberInfo {
                // SAFETY: it is in the queue, and stays while it is looked at.
                name: unsafe { job.name() },
                state: FiberState::Unstarted,
                waits_for: None,
                location: None,
                worker: None,
                is_thread: false,
            });
        });
    }
    list
}

impl Pool {
    /// The fibers that are under way, those that have not started, and the threads that wait inside [`run`](Self::run).
    /// A moment's picture, put together while they go on.
    ///
    /// Linear in the most fibers that there have been at a time. (A half of [`Cx::join`](crate::Cx::join) that was
    /// offered and taken back is counted among those that have not started until a worker comes across it.)
    ///
    /// ```
    /// use anabranch::FiberState;
    /// use std::time::Duration;
    ///
    /// let pool = anabranch::Pool::builder().threads(1).build()?;
    /// let sleeper = pool.spawn_named("sleeper", |cx| cx.sleep(Duration::from_secs(3600)));
    /// let fiber = loop {
    ///     if let Some(fiber) = pool.fibers().into_iter().find(|fiber| fiber.state() == FiberState::Waiting) {
    ///         break fiber;
    ///     }
    /// };
    /// assert_eq!((fiber.name(), fiber.waits_for()), (Some("sleeper"), Some("sleep")));
    /// println!("{fiber}"); // sleeper: waits for sleep at src/main.rs:4:49 (worker 0)
    /// # sleeper.cancel();
    /// # Ok::<(), anabranch::BuildError>(())
    /// ```
    pub fn fibers(&self) -> Vec<FiberInfo> {
        list(self.registry())
    }
}

/// As [`Pool::fibers`], of the pool that the caller is in, or else of the default one.
///
/// # Panics
/// Outside of any pool, when the default pool cannot be made.
#[track_caller]
pub fn fibers() -> Vec<FiberInfo> {
    match Worker::current().registry() {
        Some(registry) => list(registry),
        None => Pool::default().fibers(),
    }
}
