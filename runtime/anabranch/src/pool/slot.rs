//! The slot of a worker: a thread that parks, blocks or yields lends it to another thread.

use crate::{
    pool::{stats::Phase, worker::Worker},
    sys::{
        parker::Parker,
        sync::{Ordering, fence},
        thread,
    },
    trace::State,
    wait::current_stack,
};
use std::time::Duration;

/// How long a thread waits before it makes sure that the pool has a heartbeat worker: its slot is free, and all other
/// threads may be blocked. From then on it parks until it is woken. If no thread can be the heartbeat worker, the
/// waiting thread searches itself at this interval: what it waits for may wait for work that no other thread takes.
const LONG_WAIT: Duration = Duration::from_millis(5);

impl Worker {
    /// Parks, and lends the slot meanwhile. May return early. Gives the thread's index back, which the wait restores at
    /// its end.
    ///
    /// Publishes all forks of this thread first: no thief raids a thread that waits, and what it waits for may wait for
    /// one of these forks, or of the tasks that were spawned here, in turn. The thread that ends the wait unparks it,
    /// and the heartbeat worker finds a thread for the work that others may have to do before.
    pub(super) fn park(&self, is_long: &mut bool) {
        if self.fork_join().publish_all() || !self.compute.tasks.is_empty() {
            self.announce();
        }
        let Some(registry) = self.registry() else { return };
        self.trace.state(State::JoinParked);
        if *is_long && registry.sleep.begin_long_wait(self.index) {
            self.lend_slot(false, || self.parking.park(None));
            registry.sleep.end_long_wait(self.index);
        } else if !self.lend_slot(false, || self.parking.park(Some(LONG_WAIT))) {
            *is_long = true;
            registry.ensure_heartbeat();
        }
    }

    /// Parks at another parker than the worker entry's, for at most `most`. Lends the slot meanwhile, unless the thread
    /// is inside compute code. It runs no work here, so it needs a heartbeat worker only for its slot, once. A thread
    /// of the pool's own has broadcasts to answer, which wake it at that parker too. The fiber or thread that parks is
    /// in the middle of its wait, so the broadcasts must not use its waiter.
    pub(crate) fn park_beside(&self, parker: &Parker, most: Option<Duration>, is_long: &mut bool) {
        let bound = if *is_long { most } else { Some(most.map_or(LONG_WAIT, |most| most.min(LONG_WAIT))) };
        let index = self.compute.lease.get();
        let holds = self.is_inside_compute();
        let is_woken = self.parking.while_parked_at(parker, || {
            current_stack::apart(|| self.fork_join().answer_broadcast())
                || self.fibers.stack_requests.is_asked()
                || self.lend_slot(holds, || self.parking.reactor.park(parker, bound))
        });
        if !is_woken
            && !*is_long
            && let Some(registry) = self.registry()
        {
            *is_long = true;
            registry.ensure_heartbeat();
        }
        self.restore_lease(index);
    }

    /// Yields to other threads, and lends the slot and the thread's index meanwhile: this thread may be waiting, by
    /// yielding, for work that it has forked.
    pub(crate) fn yield_slot(&self) {
        self.fork_join().publish_all();
        let index = self.compute.lease.get();
        self.end_lease();
        self.status.wait();
        thread::yield_now();
        self.take_slot_again();
        self.restore_lease(index);
    }

    /// Runs a call that blocks this thread, and lends the slot and publishes all forks meanwhile. If the call turns out
    /// to compute, sysmon takes back the slot of a worker. A guest is in no pool meanwhile, so it enters one again for
    /// what the call forks, and waits for a slot.
    pub(crate) fn while_blocked<R>(&self, call: impl FnOnce() -> R) -> R {
        /// Also when the call unwinds.
        struct TakeBack<'a>(&'a Worker);

        impl Drop for TakeBack<'_> {
            fn drop(&mut self) {
                // SAFETY: this thread holds the worker entry. The call that entered it is further down the stack, and
                // keeps it alive.
                unsafe { Worker::occupy(self.0) };
                self.0.take_slot_again();
            }
        }

        self.fork_join().publish_all();
        self.announce();
        let _take_back = TakeBack(self);
        if self.is_own {
            self.status.lend();
        } else {
            self.release_slot();
            Worker::leave();
        }
        call()
    }

    /// Releases the slot for a wait.
    pub(super) fn release_slot(&self) {
        self.status.wait();
        if let Some(registry) = self.registry() {
            registry.note_free_slot();
        }
    }

    /// Makes sure that another thread takes the work in this worker's queues, which the worker itself will not run.
    pub(crate) fn announce(&self) {
        if self.fork_join().has_work()
            && let Some(registry) = self.registry()
        {
            registry.announce_work();
        }
    }

    pub(super) fn take_slot_again(&self) {
        self.status.activate();
        if let Some(registry) = self.registry() {
            registry.call_heartbeat();
        }
    }

    /// Returns whether the thread runs an item of a loop, or another piece of compute work that has forks left or that
    /// another thread waits for.
    fn is_inside_compute(&self) -> bool {
        !self.compute.stack.newest().is_null() || !self.lineage().is_null()
    }

    /// Returns whether the thread, which has a slot, is a guest or runs compute work, as seen by another thread. A
    /// worker that owns fibers may just run one of them.
    pub(super) fn is_inside_compute_or_guest(&self) -> bool {
        !self.is_own || !self.owns_fibers() || !self.compute.stack.newest().is_null()
    }

    /// Parks, and lends the slot meanwhile unless the thread `holds` it.
    fn lend_slot(&self, holds: bool, park: impl FnOnce() -> bool) -> bool {
        self.counters.parks.add(1);
        let phase = self.counters.phase();
        let enter = |phase| {
            if self.is_own {
                self.counters.enter(phase);
            }
        };
        enter(Phase::Parked);
        self.end_lease();
        if holds {
            self.status.hold();
        } else {
            self.release_slot();
        }
        // Fibers that are to begin here cannot. Either the thread that places one sees the new status, or this thread
        // sees the fiber.
        fence(Ordering::SeqCst);
        if self.scheduler().has_jobs() {
            self.announce();
        }
        let is_woken = park();
        self.take_slot_again();
        enter(phase.unwrap_or(Phase::Working));
        is_woken
    }
}
