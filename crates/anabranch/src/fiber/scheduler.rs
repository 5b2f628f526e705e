//! Fibers on the workers of a pool: what a worker keeps for its fibers, and how it runs them.
//!
//! A fiber that has not started is a job in a queue, which any worker may take. The worker that takes it runs it on an
//! idle stack, and is its home from then on. The worker's thread switches from its own stack to that of a fiber, and
//! back when no fiber can go on or a round is over. Within a round a fiber that waits switches to the next one
//! directly. Compute work never runs fibers: only the bottom of a worker's stack (`pool::main_loop`) does.
//!
//! - **Waking** a fiber on its own worker is a push to a list that the thread alone touches. The woken fiber runs next
//!   when its waker waits, at most three times in a row.
//! - **Fairness.** What can go on goes before what has not begun. After 16 of the former, or 4 that have given way, one
//!   of the latter has its turn, and after 16 rounds one from another queue: what goes on may be waiting for it, by
//!   yielding. For the same reason a worker that always has fibers takes a task or a fork then, in turn with fibers to
//!   begin, but only where no slot is free or no heartbeat worker is there: a task may compute for long, and the
//!   worker's fibers stand still meanwhile. A fiber that has found no free slot for 10 ms is begun without one, because
//!   guests may compute for as long as they like.
//! - **Neighbours.** A thief leaves a fiber alone for 25 us where a worker is at work that will come to it, and begins
//!   a new one after four that have given way. So 4 clients and a server, none of which ever waits, begin within 20 us
//!   and stay together. A message of theirs took 8.5 ns, or 29 ns if another worker had stolen one of the fibers.
//! - **Panics.** A wait in a `Drop` during a panic blocks the thread if it is shielded, for a lock, or cannot fail. Any
//!   other returns `Cancelled`, as the scope is about to be. Inside another pool all waits block. Leaving the stack
//!   after a while was turned down: a guard of another fiber that asks `thread::panicking` would roll back what had
//!   gone well.

use crate::{
    fiber::{
        context::{Exit, Left, Resume},
        fiber::Fiber,
        kick::Kick,
        run_queue::OLDEST_EVERY,
        status::State,
        steal_policy::StealPolicy,
        task::Job,
    },
    pool::worker::{Fibers, Local, Worker},
    sys::unwind::AbortOnUnwind,
    time::{Clock, NEVER, timers::Key},
    wait::{
        suspend::Suspend,
        waiter::{Selected, Waiter},
    },
};
use std::{mem, ptr, time::Duration};

/// How many fibers go on before a new one begins: what goes on may be waiting for it, by yielding. Also how many
/// between two looks at the clock, while timers run. Under shuttle all such numbers are small: what happens now and
/// then ought to happen there.
const ROUND: u32 = if cfg!(shuttle) { 4 } else { 16 };

/// How long after the first timer a parked worker may wake, in nanoseconds, if other timers are due until then. A
/// switch to a thread that has parked costs as much as some dozens of fibers that go on. Linux delays each such thread
/// by 50 us. Less than a millisecond, so that an interval of one does not miss ticks.
const SLACK: u64 = 900_000;

/// How many rounds run before the worker looks for other work.
const ROUNDS: u32 = if cfg!(shuttle) { 2 } else { 4 };

/// After how many such turns the worker takes work from elsewhere: a fiber to begin, a task or a fork.
const ELSEWHERE_EVERY: u32 = if cfg!(shuttle) { 4 } else { 16 };

impl Fibers {
    /// Marks the thread as about to park, until [`come_back`](Self::come_back). Returns `false` if it must not park,
    /// since another thread has injected a fiber or a kick.
    #[must_use]
    pub(crate) fn go_away(&self) -> bool {
        let is_away = self.kicks.go_away();
        if is_away && !self.inbox.go_away() {
            self.kicks.come_back();
            return false;
        }
        is_away
    }

    /// Removes the marks after the thread has parked.
    pub(crate) fn come_back(&self) {
        self.inbox.come_back();
        self.kicks.come_back();
    }
}

/// The timers of its fibers.
impl Local {
    pub(crate) fn add_timer(&self, deadline: u64, fiber: &Fiber) -> Key {
        self.timers.borrow_mut().insert(deadline, ptr::from_ref(fiber))
    }

    pub(crate) fn remove_timer(&self, key: Key) {
        self.timers.borrow_mut().remove(key);
    }

    /// Returns when the first timer is due.
    fn next_deadline(&self) -> u64 {
        self.timers.borrow().next_deadline().unwrap_or(NEVER)
    }

    /// Returns when the last of the timers is due that are within `slack` nanoseconds of the first.
    fn last_deadline_within(&self, slack: u64) -> u64 {
        self.timers.borrow().last_deadline_within(slack).unwrap_or(NEVER)
    }

    fn pop_timer(&self, now: u64) -> Option<*const Fiber> {
        self.timers.borrow_mut().pop_due(now)
    }
}

/// For the thread that holds the worker entry, on its own stack.
impl Worker {
    pub(crate) fn clock(&self) -> &Clock {
        &self.registry().expect("only members of a pool wait by its clock").clock
    }

    /// Adds the fibers that other threads have woken, and those whose timers are due, to those that can go on.
    pub(crate) fn collect_ready_fibers(&self, looks_at_clock: bool) {
        let local = &self.fibers.local;
        self.fibers.inbox.collect(local.ready.rest());
        self.answer_kicks();
        if looks_at_clock && local.next_deadline() != NEVER {
            let now = self.clock().tick();
            while let Some(fiber) = local.pop_timer(now) {
                // SAFETY: a timer is removed when its wait ends. So the fiber of this timer still waits, or has just
                // been selected, and its block is alive.
                if let Some(wake) = unsafe { Waiter::try_select((*fiber).waiter(), Selected::TimedOut) } {
                    wake.wake();
                }
            }
        }
    }

    fn answer_kicks(&self) {
        if !self.fibers.kicks.is_empty() {
            // SAFETY: the kicks in the box are those of this worker's fibers, and this is the worker's thread.
            Kick::answer_all(&self.fibers.kicks, |kick| unsafe { Fiber::answer(kick) });
        }
    }

    /// Returns whether a fiber of this worker can go on.
    pub(crate) fn has_ready_fibers(&self) -> bool {
        let local = &self.fibers.local;
        !local.ready.is_empty()
            || !self.fibers.inbox.is_empty()
            || !self.fibers.kicks.is_empty()
            || local.next_deadline() != NEVER && self.clock().tick() >= local.next_deadline()
    }

    /// Returns whether another thread has woken or kicked a fiber of this worker.
    pub(crate) fn was_woken(&self) -> bool {
        !self.fibers.inbox.is_empty() || !self.fibers.kicks.is_empty()
    }

    /// Returns how long the thread may sleep until the timer of a fiber is due. `None` means until it is woken.
    pub(crate) fn time_to_next_fiber(&self) -> Option<Duration> {
        self.clock().park_bound(self.fibers.local.next_deadline())
    }

    /// Returns how long the thread may sleep until the last of the timers that are due at about the same time: a parked
    /// thread wakes once for all of them. See also [`time_to_next_fiber`](Self::time_to_next_fiber).
    pub(crate) fn time_to_next_fibers(&self) -> Option<Duration> {
        self.clock().park_bound(self.fibers.local.last_deadline_within(SLACK))
    }

    /// Runs fibers for some rounds, and begins new ones, `first` before all others.
    pub(crate) fn run_fibers(&self, first: Option<Job>) {
        if let Some(job) = first {
            self.start_fiber(job);
        }
        'rounds: for _ in 0..ROUNDS {
            self.collect_ready_fibers(true);
            self.fibers.local.ready.begin_round(ROUND);
            while self.fibers.local.ready.count_one() {
                if let Some(fiber) = self.next_ready_fiber() {
                    // SAFETY: the fiber is ready, belongs to this worker, and this is the worker's own stack.
                    self.after(unsafe { (*fiber).resume() });
                } else if let Some(job) = self.next_job() {
                    self.start_fiber(job);
                } else {
                    break 'rounds;
                }
            }
            if let Some(job) = self.next_job() {
                self.start_fiber(job);
            }
        }
        Fiber::come_back();
    }

    #[inline]
    fn next_ready_fiber(&self) -> Option<*const Fiber> {
        let ready = &self.fibers.local.ready;
        if !self.fibers.inbox.is_empty() || ready.is_empty() {
            self.collect_ready_fibers(ready.is_empty());
        }
        ready.pop()
    }

    /// Returns the fiber to go on in the place of one that suspends, perhaps the same one. Returns `None` if the
    /// worker's own stack has to choose.
    #[inline]
    pub(crate) fn fiber_across(&self) -> Option<*const Fiber> {
        let ready = &self.fibers.local.ready;
        if !self.fibers.inbox.is_empty() || ready.is_empty() || !ready.count_one() {
            return None;
        }
        ready.pop()
    }

    /// Counts the times that this worker might go on with its fibers. Every [`ELSEWHERE_EVERY`] times it is the turn of
    /// work from elsewhere: then returns the number of that turn.
    pub(crate) fn next_turn_of_others(&self) -> Option<u32> {
        let rounds = self.fibers.rounds.get().wrapping_add(1);
        self.fibers.rounds.set(rounds);
        rounds.is_multiple_of(ELSEWHERE_EVERY).then_some(rounds / ELSEWHERE_EVERY)
    }

    /// Takes fibers that have not started from this worker for `thief`: one to run, the others into its queue.
    pub(crate) fn steal_job(&self, thief: &Worker, policy: StealPolicy) -> Option<Job> {
        let is_worth_while = match policy {
            StealPolicy::All => true,
            StealPolicy::Aged(now) => !self.is_at_them() || self.fibers.jobs.lies_for_long(now),
            StealPolicy::Nothing => !self.is_at_them(),
        };
        if !is_worth_while || !self.has_jobs() {
            return None;
        }
        // SAFETY: `thief` is the worker entry of the calling thread, so the caller is the owner of its queue.
        unsafe { self.fibers.jobs.steal(&thief.fibers.jobs) }
    }

    /// Returns whether this worker is going to begin its fibers itself.
    fn is_at_them(&self) -> bool {
        self.is_own && self.status.is_active()
    }

    pub(crate) fn next_job(&self) -> Option<Job> {
        if !self.has_jobs() {
            return None;
        }
        let ticks = self.fibers.ticks.get().wrapping_add(1);
        self.fibers.ticks.set(ticks);
        let jobs = &self.fibers.jobs;
        // SAFETY: this thread holds the worker entry.
        unsafe { if ticks.is_multiple_of(OLDEST_EVERY) { jobs.take_oldest() } else { jobs.take_newest() } }
    }

    /// Returns the job to run on the stack of a fiber that has ended, without a switch. Returns `None` if other fibers
    /// come first.
    fn next_job_on_this_stack(&self) -> Option<Job> {
        let has_others = !self.fibers.local.ready.is_empty()
            || !self.fibers.inbox.is_empty()
            || !self.inbox.is_empty()
            || self.fibers.ticks.get().is_multiple_of(ROUND * ROUNDS);
        if has_others {
            return None;
        }
        self.next_job()
    }

    /// Runs a job on an idle stack. If there is none, pushes the job back onto the queue.
    fn start_fiber(&self, job: Job) {
        let (fibers, limits) = (&self.fibers, self.limits());
        let stack = limits.enter().and_then(|()| {
            let stack = self.take_idle_fiber(|| limits.stacks.clone());
            stack.inspect_err(|error| limits.refuse(error)).ok()
        });
        let Some(fiber) = stack else {
            // SAFETY: this thread holds the worker entry.
            unsafe { fibers.jobs.push(job) };
            return;
        };
        fibers.local.live.set(fibers.local.live.get() + 1);
        // SAFETY: the fiber is idle, belongs to this worker, and this is the worker's own stack.
        unsafe {
            (*fiber).give(job);
            self.after((*fiber).resume());
        }
    }

    /// Runs one job after the other on the stack of a fiber of this worker.
    pub(super) fn serve_fibers(&self, fiber: &Fiber, exit: &Exit) {
        let abort = AbortOnUnwind;
        fiber.exit.set(exit);
        loop {
            let mut job = fiber.take_job();
            while let Some(now) = job {
                fiber.card.set(State::Running);
                self.counters.fibers.add(1);
                // SAFETY: a job is in one queue at a time. This fiber has taken it from there, so only this call runs
                // it, once. This is the fiber's stack, so it is the current one.
                unsafe {
                    if let Some(name) = now.name() {
                        fiber.set_name(name);
                    }
                    now.run(|| fiber.clear_locals());
                }
                fiber.end();
                job = self.next_job_on_this_stack();
            }
            fiber.card.set(State::Idle);
            if exit.suspend(Left::Idle) == Resume::End {
                break;
            }
        }
        mem::forget(abort);
    }

    /// Gives back all stacks, before the thread ends. Called when no fiber is live.
    pub(crate) fn end_fibers(&self) {
        // Each of them counts in the limits, where there are none.
        debug_assert_eq!(self.fibers.local.live.get(), 0);
        self.fibers.inbox.settle();
        self.answer_kicks();
        self.fibers.kicks.settle();
        self.strip_all_fibers();
    }

    /// Handles a fiber from whose stack the thread has returned.
    #[inline]
    fn after(&self, left: Left) {
        if left == Left::Idle {
            self.put_away(Fiber::current());
        }
    }

    fn put_away(&self, fiber: *const Fiber) {
        self.fibers.local.live.set(self.fibers.local.live.get() - 1);
        self.keep_idle_fiber(fiber);
        let limits = self.limits();
        let was_full = limits.leave();
        if let Some(registry) = self.registry() {
            if was_full {
                registry.announce_work();
            }
            if limits.is_empty() {
                registry.note_last_fiber();
            }
        }
    }
}
