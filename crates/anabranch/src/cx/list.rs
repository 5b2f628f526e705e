//! A listing of the fibers of a pool and of the threads that wait in it, to find out why a program hangs.

use crate::{
    fiber::{status::State, task::Job},
    pool::{Pool, registry::Registry},
};
use std::{fmt, panic::Location, sync::Arc};

/// The state of a fiber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FiberState {
    /// It has not started; any worker may take it.
    Unstarted,
    /// It is ready: its worker has yet to resume it.
    Ready,
    /// It runs.
    Running,
    /// It waits: [`FiberInfo::waits_for`] returns for what.
    Waiting,
}

/// A snapshot of a fiber, or of a thread that waits. See [`Pool::fibers`].
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
    /// Returns the name of the fiber or thread, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns its state.
    pub fn state(&self) -> FiberState {
        self.state
    }

    /// Returns what it waits for, if it waits: for example `"sleep"`.
    pub fn waits_for(&self) -> Option<&'static str> {
        self.waits_for
    }

    /// Returns where in the program it waits.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// Returns whether it is not a fiber but a thread that waits inside [`run`](crate::run).
    pub fn is_thread(&self) -> bool {
        self.is_thread
    }

    /// Returns the index of the worker that started it. Returns `None` if it has not started, or if it is a thread that
    /// does not belong to the pool.
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
        let mut push = |job: Job| {
            list.push(FiberInfo {
                // SAFETY: the job is in the queue, so it has not been run, and it stays there during this call.
                name: unsafe { job.name() },
                state: FiberState::Unstarted,
                waits_for: None,
                location: None,
                worker: None,
                is_thread: false,
            });
        };
        worker.fibers.jobs.for_each(&mut push);
        worker.placed().for_each(push);
    }
    list
}

impl Pool {
    /// Returns the started fibers, those that have not started, and the threads that wait inside [`run`](Self::run).
    /// They continue meanwhile, so the list is not one consistent snapshot.
    ///
    /// Linear in the largest number of fibers that there have been at a time. (A half of [`Cx::join`](crate::Cx::join)
    /// that was offered and taken back counts as not started until a worker discards it.)
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

/// Returns the fibers of the pool that the caller is in, or else of the default one, as [`Pool::fibers`] does.
///
/// # Panics
/// Panics outside of any pool when the default pool cannot be created.
#[track_caller]
pub fn fibers() -> Vec<FiberInfo> {
    list(Pool::of_caller())
}
