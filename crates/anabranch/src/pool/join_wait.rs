//! Waiting in compute code: for a fork that was stolen, or for the tasks of a scope.
//!
//! A thread that waits runs only descendants of what it waits for: a sequential run would have met the same locks in
//! the same place, so a lock held across a `join` cannot deadlock with it. (The one exception: it answers broadcasts,
//! which need this very thread.) If there are none it spins a little, then parks and lends its slot to another thread.
//! A waiting thread waits for work that some thread runs. This chain of waits ends at a thread that does not wait, so
//! at least one thread makes progress.
//!
//! A thread that waits spins for as long as parking would cost, and raids once meanwhile: a thief in a long piece that
//! does not fork serves no request. A thread that spins, also in a search, yields to other
//! threads every 2 us: the thread that it waits for may have been woken on this very core. On two cores, with something
//! else busy on one of them, each message from one worker to the other took 100 us without this: a ring of 503 went
//! round in 425 ns a hop in up to half of all pools, and does in 45.

use crate::{
    fork::{
        frame::{Frame, Lineage},
        stack::Outcome,
    },
    pool::{run_work::Work, stats::Phase, steal::WORTH_RAID, worker::Worker},
    sys::{
        clock::Instant,
        parker::Parker,
        sync::{Ordering, fence, hint},
        thread, unwind,
    },
    trace::{State, work_span},
    wait::current_stack,
};
use std::{mem, time::Duration};

/// How long a waiting thread searches before it parks. Parking and being woken costs some ten microseconds, and the
/// slot goes to another thread meanwhile. The pieces that are worth waiting for are longer than that.
const SEARCH_TIME: Duration = Duration::from_micros(100);

/// How many checks it makes between two readings of the clock, and the number of checks in all where the machine has no
/// core to spare.
const CHECKS_BETWEEN: u32 = if cfg!(shuttle) { 4 } else { 64 };

/// How long a thread waits before it makes sure that the pool has a heartbeat worker: its slot is free, and all other
/// threads may be blocked. From then on it parks until it is woken. If no thread can be the heartbeat worker, the
/// waiting thread searches itself at this interval: what it waits for may wait for work that no other thread takes.
const LONG_WAIT: Duration = Duration::from_millis(5);

/// How long a thread has waited since it last had something to do.
#[derive(Default)]
struct SpinWait {
    checks: u32,
    since: Option<Instant>,
    has_raided: bool,
    /// Whether it has parked for [`LONG_WAIT`] without being woken.
    is_long: bool,
}

impl SpinWait {
    /// Returns whether to search once more. Raids on the way, once.
    fn lasts(&mut self, worker: &Worker) -> bool {
        if self.is_long {
            return false;
        }
        self.checks += 1;
        if !self.checks.is_multiple_of(CHECKS_BETWEEN) {
            return true;
        }
        let Some(registry) = worker.registry() else { return false };
        let is_in_the_way = registry.count_active(registry.cores + 1) > registry.cores;
        let elapsed = self.since.get_or_insert_with(Instant::now).elapsed();
        if is_in_the_way || elapsed >= SEARCH_TIME {
            return false;
        }
        if elapsed >= WORTH_RAID && !mem::replace(&mut self.has_raided, true) {
            registry.raid_all();
            return true;
        }
        // The thread that it waits for may be on this very core.
        thread::yield_now();
        true
    }
}

impl Worker {
    /// Ends a fork that may be published: reclaims it, or waits for the thief.
    ///
    /// # Safety
    /// The owner calls this, for the fork that it has just popped and that may be published.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn finish(&self, frame: *const Frame) -> Outcome {
        let (mut spin_wait, index) = (SpinWait::default(), self.lease.get());
        // SAFETY: the caller owns the frame and has just popped it. `ForkStack::finish` calls the closure only for a
        // frame on the shelf, and the frame is over only when this returns, so its lineage is alive.
        let outcome = unsafe {
            self.stack.finish(frame, |position| {
                let awaited: *const Lineage = Frame::lineage(frame);
                self.pause(&mut spin_wait, || {
                    // A thread that unwinds takes no work that another can do: that work would run in a panicking
                    // thread, and a guard that rolls back on panic would do so.
                    if unwind::panicking() {
                        return None;
                    }
                    self.registry()?.find_descendant(self, position, awaited)
                });
            })
        };
        self.trace.state(State::Working);
        self.restore_lease(index);
        self.counters.reclaimed.add(u64::from(outcome == Outcome::Reclaimed));
        if outcome == Outcome::Reclaimed && self.trace.measures() && !unwind::panicking() {
            // SAFETY: the fork was reclaimed, so it belongs to this thread alone, and its job has not been run. It is
            // done when this returns, as after a theft.
            work_span::second(frame.addr(), || unsafe { Frame::execute(frame) });
            return Outcome::Done;
        }
        outcome
    }

    /// Blocks until the tasks of a scope, whose lineage is `awaited`, have ended. The thread that makes `is_over` true
    /// unparks this worker.
    pub(crate) fn wait_for_tasks(&self, awaited: *const Lineage, is_over: impl Fn() -> bool) {
        self.wait(is_over, || self.registry()?.find_task(self, awaited));
    }

    /// Blocks until all workers have answered a broadcast.
    pub(crate) fn wait_for_broadcast(&self, is_over: impl Fn() -> bool) {
        let (mut is_long, index) = (false, self.lease.get());
        while !is_over() {
            if !self.answer_broadcast() {
                self.park(&mut is_long);
            }
        }
        self.trace.state(State::Working);
        self.restore_lease(index);
    }

    fn wait(&self, is_over: impl Fn() -> bool, find: impl Fn() -> Option<Work>) {
        let (mut spin_wait, index) = (SpinWait::default(), self.lease.get());
        let mut wait = || {
            while !is_over() {
                self.pause(&mut spin_wait, &find);
            }
        };
        if self.trace.measures() {
            work_span::wait(wait)
        } else {
            wait()
        }
        self.trace.state(State::Working);
        self.restore_lease(index);
    }

    /// Makes one step of a wait: runs what `find` finds, or else spins, or else parks and lends the slot.
    fn pause(&self, spin_wait: &mut SpinWait, find: impl FnOnce() -> Option<Work>) {
        // Every wait answers broadcasts, since the broadcasting thread waits for this very thread, perhaps in a piece
        // of work that this thread waits for in turn.
        self.trace.state(State::Joining);
        if self.answer_broadcast() {
            *spin_wait = SpinWait::default();
        } else if let Some(work) = find() {
            self.counters.stolen.add(1);
            self.counters.helped.add(1);
            self.trace.state(State::Working);
            self.run(work);
            *spin_wait = SpinWait::default();
        } else if spin_wait.lasts(self) {
            hint::spin_loop();
        } else {
            let mut is_long = spin_wait.is_long;
            self.park(&mut is_long);
            *spin_wait = SpinWait { is_long, ..SpinWait::default() };
        }
    }

    /// Parks, and lends the slot meanwhile. May return early. Gives the thread's index back, which the wait restores at
    /// its end.
    ///
    /// Publishes all forks of this thread first: no thief raids a thread that waits, and what it waits for may wait for
    /// one of these forks, or of the tasks that were spawned here, in turn. The thread that ends the wait unparks it,
    /// and the heartbeat worker finds a thread for the work that others may have to do before.
    pub(super) fn park(&self, is_long: &mut bool) {
        if self.publish_all() || !self.tasks.is_empty() {
            self.announce();
        }
        let Some(registry) = self.registry() else { return };
        self.trace.state(State::JoinParked);
        if *is_long && registry.sleep.begin_long_wait(self.index) {
            self.lend_slot(false, || self.reactor.park(&self.parker, None));
            registry.sleep.end_long_wait(self.index);
        } else if !self.lend_slot(false, || self.reactor.park(&self.parker, Some(LONG_WAIT))) {
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
        let index = self.lease.get();
        let holds = self.is_inside_compute();
        let is_woken = self.while_parked_at(parker, || {
            current_stack::apart(|| self.answer_broadcast())
                || self.stack_requests.is_asked()
                || self.lend_slot(holds, || self.reactor.park(parker, bound))
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
        self.publish_all();
        let index = self.lease.get();
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

        self.publish_all();
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
        if self.has_work()
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
        !self.stack.newest().is_null() || !self.lineage().is_null()
    }

    /// Returns whether the thread, which has a slot, is a guest or runs compute work, as seen by another thread. A
    /// worker that owns fibers may just run one of them.
    pub(super) fn is_inside_compute_or_guest(&self) -> bool {
        !self.is_own || !self.owns_fibers() || !self.stack.newest().is_null()
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
        if self.has_jobs() {
            self.announce();
        }
        let is_woken = park();
        self.take_slot_again();
        enter(phase.unwrap_or(Phase::Working));
        is_woken
    }
}
