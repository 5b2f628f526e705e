//! Work from outside of the pool, and detached tasks.

use crate::{
    fork::task::Tasks,
    sys::sync::{AtomicUsize, Ordering},
};

/// See the [module](self).
pub(crate) struct Injected {
    /// Tasks from outside of the pool.
    pub(crate) tasks: Tasks,
    /// The number of detached tasks that have not ended.
    detached: AtomicUsize,
    /// The number of turns that were taken.
    turns: AtomicUsize,
}

impl Injected {
    pub(super) fn new() -> Self {
        Self { tasks: Tasks::new(), detached: AtomicUsize::new(0), turns: AtomicUsize::new(0) }
    }

    /// Returns a number that grows by one with each call: whose turn it is among the workers.
    pub(crate) fn next_turn(&self) -> usize {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a detached task that is about to be enqueued.
    pub(crate) fn add_detached(&self) {
        self.detached.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the end of a detached task. Returns whether it was the last one.
    pub(super) fn remove_detached(&self) -> bool {
        self.detached.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Returns whether detached tasks are left.
    pub(super) fn has_detached(&self) -> bool {
        self.detached.load(Ordering::Relaxed) > 0
    }
}
