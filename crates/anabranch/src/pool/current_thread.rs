//! A thread of the program as one of a pool's own threads, for the rest of its life.
//!
//! The thread holds the worker entry 0, and never runs the main loop. It works where it forks, and runs other work of
//! the pool where it waits, or by [`run_pending`](crate::run_pending). Calls on its stack may use the worker entry at
//! any time, so the thread keeps the pool's memory until it ends, also if the pool is dropped before.

use crate::{
    pool::{registry::Registry, stats::Phase, worker::Worker},
    sys::{sync::Arc, thread::thread_local},
};
use std::cell::Cell;

thread_local! {
    /// The pool that has the calling thread.
    static MEMBERSHIP: Cell<Option<Membership>> = const { Cell::new(None) };
}

struct Membership {
    registry: Arc<Registry>,
    outside: *const Worker,
}

impl Drop for Membership {
    fn drop(&mut self) {
        let me = self.registry.worker(0);
        me.end_lease();
        // SAFETY: the worker entry outside of every pool is a static. The thread ends, so no call on its stack uses the
        // other one.
        unsafe { Worker::occupy(self.outside) };
        me.status.vacate();
    }
}

impl Registry {
    /// Makes the calling thread, which is in no pool, the holder of the worker entry 0.
    ///
    /// # Safety
    /// No other thread holds that worker entry, or will.
    pub(super) unsafe fn adopt_current_thread(&self) {
        let me = self.worker(0);
        // SAFETY: no other thread holds the worker entry, as the caller guarantees. `MEMBERSHIP` keeps the registry
        // alive until the thread is back on its outer worker entry.
        let outside = unsafe { Worker::occupy(me) };
        // If the thread ends and has no thread-locals any more, this panics and drops the membership again.
        MEMBERSHIP.set(Some(Membership { registry: self.shared(), outside }));
        me.note_thread();
        me.status.activate();
        me.enter_phase(Phase::Working);
        self.call_heartbeat();
        me.keep_own_index();
    }
}
