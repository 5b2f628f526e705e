//! A thread of the program as one of a pool's own threads, until the pool or the thread ends.
//!
//! The thread holds the worker entry 0, and never runs the main loop. It works where it forks, and runs other work of
//! the pool where it waits, or in [`run_pending`](crate::pool::run_pending).
//!
//! | the thread is  | left by                                                                                        |
//! |----------------|------------------------------------------------------------------------------------------------|
//! | in the pool    | it drops the pool, or finds it closing, and has no fork and no `run` open there -> outside; it ends |
//! | outside        | `use_current_thread` of another pool -> in that one                                             |
//!
//! A thread that stays in a pool that has ended can fork and wait there, alone. A function that would queue work there
//! for other threads panics.
//!
//! Calls on the stack of the thread may still use the worker entry after it has left, so it keeps the memory of the
//! pool until it ends.

use crate::{
    pool::{registry::Registry, run_work::Work, stats::Phase, worker::Worker},
    sys::{sync::Arc, thread::thread_local},
};
use std::{cell::Cell, ptr};

thread_local! {
    /// The pools that have the calling thread, or have had it. The last one may have it now.
    static MEMBERSHIPS: Cell<Vec<Membership>> = const { Cell::new(Vec::new()) };
}

struct Membership {
    registry: Arc<Registry>,
    /// The worker entry outside of every pool, until the thread has left.
    outside: Option<*const Worker>,
}

impl Membership {
    /// Puts the thread outside of the pool.
    fn end(&mut self) {
        let Some(outside) = self.outside.take() else { return };
        let me = self.registry.worker(0);
        me.end_lease();
        // SAFETY: the worker entry outside of every pool is a static. The other one stays alive while `self` has the
        // registry, until the thread ends.
        unsafe { Worker::occupy(outside) };
        me.status.vacate();
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns whether the calling thread is a thread of the program that is in a pool.
pub(super) fn is_member() -> bool {
    let memberships = MEMBERSHIPS.replace(Vec::new());
    let is_member = memberships.iter().any(|membership| membership.outside.is_some());
    MEMBERSHIPS.set(memberships);
    is_member
}

/// Makes the calling thread, which is in no pool, the holder of the worker entry 0.
///
/// # Safety
/// No other thread holds that worker entry, or will.
pub(super) unsafe fn adopt(registry: &Registry) {
    let me = registry.worker(0);
    // If the thread ends and has no thread-locals any more, this panics.
    let mut memberships = MEMBERSHIPS.replace(Vec::new());
    // SAFETY: no other thread holds the worker entry, as the caller guarantees. `MEMBERSHIPS` keeps the registry
    // alive until the thread ends.
    let outside = Some(unsafe { Worker::occupy(me) });
    memberships.push(Membership { registry: registry.shared(), outside });
    MEMBERSHIPS.set(memberships);
    me.note_thread();
    me.status.activate();
    me.enter_phase(Phase::Working);
    registry.call_heartbeat();
    me.keep_own_index();
}

/// Puts the calling thread outside of this pool, which closes, if the thread is one of the program and has no fork
/// and no `run` open here. Returns whether it has left.
#[cold]
pub(super) fn release(registry: &Registry) -> bool {
    let me = Worker::current();
    if !me.is_of(registry) || me.wait.runs.get() > 0 || !me.lineage().is_null() || !me.compute.stack.newest().is_null()
    {
        return false;
    }
    if !with_membership(registry, |_| ()) {
        return false;
    }
    // No other thread answers these.
    while me.fork_join().answer_broadcast() {}
    with_membership(registry, Membership::end)
}

/// Calls `change` if this pool has the calling thread as one of the program. Returns whether it has.
fn with_membership(registry: &Registry, change: impl FnOnce(&mut Membership)) -> bool {
    let mut memberships = MEMBERSHIPS.replace(Vec::new());
    let last = memberships.last_mut().filter(|last| ptr::eq(&*last.registry, registry) && last.outside.is_some());
    let is_member = last.map(change).is_some();
    MEMBERSHIPS.set(memberships);
    is_member
}

/// Runs what only the calling thread can run, if it is one of the program in this pool, until the other threads
/// have no work left.
pub(super) fn wind_up(registry: &Registry) {
    let me = Worker::current();
    if !me.is_of(registry) {
        return;
    }
    let (mut is_long, index) = (false, me.compute.lease.get());
    loop {
        if me.fork_join().answer_broadcast() {
            continue;
        }
        if let Some(task) = me.compute.tasks.take_newest() {
            me.fork_join().run(Work::Task(task));
        } else if registry.ends() || registry.pool_threads.is_empty() {
            break;
        } else {
            me.park(&mut is_long);
        }
    }
    me.restore_lease(index);
}
