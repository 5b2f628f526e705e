//! Waiting in compute code: for a fork that was stolen, or for the tasks of a scope.
//!
//! A thread that waits runs only descendants of what it waits for: a sequential run would have met the same locks in
//! the same place, so a lock held across a `join` cannot deadlock with it. (The one exception: it answers broadcasts,
//! which need this very thread.) If there is no such work it spins a little, then parks and lends its slot to another
//! thread. A waiting thread waits for work that some thread runs. This chain of waits ends at a thread that does not
//! wait, so at least one thread makes progress.
//!
//! A thread that waits spins for as long as parking would cost, and raids once meanwhile: a thief in a long piece that
//! does not fork serves no request. A thread that spins, also in a search, yields to other threads every 2 us: the
//! thread that it waits for may have been woken on this very core. On two cores, with another program busy on one of
//! them, each message from one worker to the other took 100 us without this: in up to half of all pools a ring of 503
//! took 425 ns a hop, and now takes 45 ns.
//!
//! Left out until it is measured on quiet machines: a thread that waits, and has raided, parks at once if forks are
//! left that it may not run, and wakes the heartbeat worker for its slot; it follows all thefts of its thief. A loop of
//! 64 x 1 ms took 0.88 times as long on 16 virtual cores. On two real ones a sum of 1,000 items took 1.0 to 1.2 times.

use crate::{
    fork::{
        frame::{Frame, Lineage},
        stack::{Outcome, Popped},
    },
    pool::{
        run_work::Work,
        steal::MIN_SEARCH_BEFORE_RAID,
        steal_backoff::MAX_SEARCH,
        worker::{ForkJoin, Worker},
    },
    sys::{clock::Instant, sync::hint, thread, unwind},
    trace::{State, work_span},
};
use std::mem;

/// How many checks it makes between two readings of the clock, and the number of checks in all where the machine has no
/// core to spare.
const CHECKS_PER_CLOCK_READ: u32 = if cfg!(shuttle) { 4 } else { 64 };

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
        if !self.checks.is_multiple_of(CHECKS_PER_CLOCK_READ) {
            return true;
        }
        let Some(registry) = worker.registry() else { return false };
        let is_in_the_way = registry.count_active(registry.slots.cores + 1) > registry.slots.cores;
        let elapsed = self.since.get_or_insert_with(Instant::now).elapsed();
        if is_in_the_way || elapsed >= MAX_SEARCH {
            return false;
        }
        if elapsed >= MIN_SEARCH_BEFORE_RAID && !mem::replace(&mut self.has_raided, true) {
            registry.raid_all();
            return true;
        }
        // The thread that it waits for may be on this very core.
        thread::yield_now();
        true
    }
}

impl ForkJoin<'_> {
    /// Ends a fork that may be published: reclaims it, or waits for the thief.
    #[cold]
    #[inline(never)]
    pub(crate) fn finish(self, popped: Popped<'_>) -> Outcome {
        let (mut spin_wait, index) = (SpinWait::default(), self.worker.compute.lease.get());
        let frame = popped.frame();
        let outcome = popped.finish(|position, awaited| {
            self.pause(&mut spin_wait, || {
                // A thread that unwinds takes no work that another can do: that work would run in a panicking thread,
                // and a guard that rolls back on panic would do so.
                if unwind::panicking() {
                    return None;
                }
                self.worker.registry()?.find_descendant(self.worker, position, awaited)
            });
        });
        self.worker.trace.state(State::Working);
        self.worker.restore_lease(index);
        self.worker.counters.reclaimed.add(u64::from(outcome == Outcome::Reclaimed));
        if outcome == Outcome::Reclaimed && self.worker.trace.measures() && !unwind::panicking() {
            // SAFETY: the fork was reclaimed, so it belongs to this thread alone, and its job has not been run. It is
            // done when this returns `true`, as after a theft, and otherwise as it was.
            if work_span::second(frame.addr(), || unsafe { Frame::execute(frame) }) {
                return Outcome::Done;
            }
        }
        outcome
    }

    /// Blocks until the tasks of a scope, whose lineage is `awaited`, have ended. The thread that makes `is_over` true
    /// unparks this worker.
    pub(crate) fn wait_for_tasks(self, awaited: *const Lineage, is_over: impl Fn() -> bool) {
        self.wait(is_over, || self.worker.registry()?.find_task(self.worker, awaited));
    }

    /// Blocks until all workers have answered a broadcast.
    pub(crate) fn wait_for_broadcast(self, is_over: impl Fn() -> bool) {
        let (mut is_long, index) = (false, self.worker.compute.lease.get());
        while !is_over() {
            if !self.answer_broadcast() {
                self.worker.park(&mut is_long);
            }
        }
        self.worker.trace.state(State::Working);
        self.worker.restore_lease(index);
    }

    fn wait(self, is_over: impl Fn() -> bool, find: impl Fn() -> Option<Work>) {
        let (mut spin_wait, index) = (SpinWait::default(), self.worker.compute.lease.get());
        let mut wait = || {
            while !is_over() {
                self.pause(&mut spin_wait, &find);
            }
        };
        if self.worker.trace.measures() {
            work_span::wait(wait)
        } else {
            wait()
        }
        self.worker.trace.state(State::Working);
        self.worker.restore_lease(index);
    }

    /// Makes one step of a wait: runs what `find` finds, or else spins, or else parks and lends the slot.
    fn pause(self, spin_wait: &mut SpinWait, find: impl FnOnce() -> Option<Work>) {
        // Every wait answers broadcasts, since the broadcasting thread waits for this very thread, perhaps in a piece
        // of work that this thread waits for in turn.
        self.worker.trace.state(State::Joining);
        if self.answer_broadcast() {
            *spin_wait = SpinWait::default();
        } else if let Some(work) = find() {
            self.worker.counters.stolen.add(1);
            self.worker.counters.helped.add(1);
            self.worker.trace.state(State::Working);
            self.run(work);
            *spin_wait = SpinWait::default();
        } else if spin_wait.lasts(self.worker) {
            hint::spin_loop();
        } else {
            let mut is_long = spin_wait.is_long;
            self.worker.park(&mut is_long);
            *spin_wait = SpinWait { is_long, ..SpinWait::default() };
        }
    }
}
