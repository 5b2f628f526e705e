//! Fibers on the workers of a pool: the state that a worker keeps for its fibers, and the rules by which it runs them.
//!
//! A fiber that has not started is a job in a queue, and any worker may take it. The worker that takes it runs it on an
//! idle stack, and is its home from then on. The worker's thread switches from its own stack to that of a fiber. It
//! switches back when no fiber is ready or a round is over. Within a round a fiber that waits switches to the next one
//! directly. Compute work never runs fibers: only the code at the bottom of a worker's stack (`pool::main_loop`) does.
//!
//! - **Waking.** To wake a fiber, a fiber of the same worker pushes it on a list that only this thread accesses. The
//!   woken fiber runs next when its waker waits, at most three times in a row.
//! - **Fairness.** Ready fibers precede fibers that have not begun. After 16 ready ones, or 4 that have yielded, a new
//!   fiber begins, and after 16 rounds one from the queue of another worker. The ready ones may wait for a new one by
//!   yielding. For the same reason a worker that always has new fibers takes a task or a fork after 16 rounds, in turn
//!   with these, if no slot is free or there is no heartbeat worker. A worker that owns fibers takes neither, because
//!   its fibers would wait meanwhile: see `Worker::takes_pieces`. Fibers, tasks and forks that have found no free slot
//!   for 10 ms begin without one, because guests may compute for any time, and fibers may run for any time.
//! - **Related fibers.** A thief takes a fiber from a working worker only if the fiber has been in the queue for 25 us.
//!   And a worker begins a new fiber after four that have yielded. So 4 clients and a server that never wait begin
//!   within 20 us and stay on one worker. A message took 8.5 ns there, and 29 ns if another worker had stolen one of
//!   the fibers.
//! - **Panics.** A wait in a `Drop` during a panic blocks the thread if it is shielded, if it is for a lock, or if it
//!   cannot fail. Any other wait returns `Cancelled`, because the panic is about to cancel the scope. Inside another
//!   pool all waits block. A switch to another fiber after some time was rejected: guards of the other fiber that read
//!   `thread::panicking` would roll back completed work.

use crate::{
    fiber::{
        context::{Exit, Left, Resume},
        fiber::Fiber,
        kick::Kick,
        ready_queue::ROUND,
        run_queue::OLDEST_EVERY,
        status::State,
        steal_policy::StealPolicy,
        task::Job,
    },
    pool::worker::{Fibers, Local, Worker},
    sys::{clock::Instant, thread, unwind::AbortOnUnwind},
    time::{Clock, NEVER, timers::Key},
    wait::{
        suspend::Suspend,
        waiter::{Selected, Waiter},
    },
};
use std::{mem, ptr, time::Duration};

/// How long after the first timer a parked worker may wake, in nanoseconds, if other timers are due until then. A
/// switch to a parked thread costs as much as some dozens of resumed fibers, and Linux delays each such switch by 50
/// us. Less than a millisecond, so that an interval of one millisecond misses no tick.
const SLACK: u64 = 900_000;

/// The number of rounds before the worker looks for other work.
const ROUNDS: u32 = if cfg!(shuttle) { 2 } else { 4 };

/// After this many such turns the worker takes work from elsewhere: a fiber to begin, a task or a fork.
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

/// The timers of a worker's fibers.
impl Local {
    pub(crate) fn add_timer(&self, deadline: u64, fiber: &Fiber) -> Key {
        self.compare_next();
        self.timers.borrow_mut().insert(deadline, ptr::from_ref(fiber))
    }

    pub(crate) fn remove_timer(&self, key: Key) {
        self.timers.borrow_mut().remove(key);
    }

    /// Returns when the first timer is due.
    pub(super) fn next_deadline(&self) -> u64 {
        self.timers.borrow().next_deadline().unwrap_or(NEVER)
    }

    /// Returns when the last of the timers is due that are within `slack` nanoseconds of the first.
    fn last_deadline_within(&self, slack: u64) -> u64 {
        self.timers.borrow().last_deadline_within(slack).unwrap_or(NEVER)
    }

    /// Takes a timer that is due, and returns the fiber with the deadline.
    fn pop_timer(&self, now: u64) -> Option<(u64, *const Fiber)> {
        self.timers.borrow_mut().pop_due(now)
    }
}

/// Only the thread that holds the worker entry calls these functions, on its own stack.
impl Worker {
    pub(crate) fn clock(&self) -> &Clock {
        &self.registry().expect("only members of a pool wait by its clock").clock
    }

    /// Makes ready the fibers that other threads have woken, and those whose timers are due.
    pub(crate) fn collect_ready_fibers(&self, looks_at_clock: bool) {
        let local = &self.fibers.local;
        self.fibers.inbox.collect(local.ready.rest());
        self.answer_kicks();
        if looks_at_clock && local.next_deadline() != NEVER {
            let now = self.clock().tick();
            local.ready.adapt_round(now);
            if now >= local.next_deadline() {
                local.ready.push_due(|| self.wake_due_fibers(now));
            }
        }
    }

    /// Wakes the fibers whose timers are due.
    fn wake_due_fibers(&self, now: u64) {
        while let Some((deadline, fiber)) = self.fibers.local.pop_timer(now) {
            // SAFETY: a timer is removed when its wait ends. So the fiber of this timer still waits, or has just been
            // selected, and its block is alive.
            if let Some(wake) = unsafe { Waiter::try_select((*fiber).waiter(), Selected::TimedOut) } {
                self.counters.timer_lateness.record(now - deadline);
                // The times of a trace are those of the system's clock.
                if self.trace.is_on() && self.clock().is_system() {
                    // SAFETY: the fiber has been selected, and continues only after its wake-up.
                    unsafe { (*fiber).note_due(now - deadline) };
                }
                wake.wake();
            }
        }
    }

    pub(crate) fn answer_kicks(&self) {
        if !self.fibers.kicks.is_empty() {
            Kick::answer_all(&self.fibers.kicks, |kick| {
                if ptr::eq(kick, &self.stack_requests.kick) {
                    self.answer_stack_requests(false);
                } else {
                    // SAFETY: the other kicks in the box are those of this worker's fibers, and this is the worker's
                    // thread.
                    unsafe { Fiber::answer(kick) };
                }
            });
        }
    }

    /// Returns whether a fiber of this worker is ready.
    pub(crate) fn has_ready_fibers(&self) -> bool {
        let local = &self.fibers.local;
        !local.ready.is_empty()
            || local.ready.has_due()
            || !self.fibers.inbox.is_empty()
            || !self.fibers.kicks.is_empty()
            || local.next_deadline() != NEVER && self.clock().tick() >= local.next_deadline()
    }

    /// Returns whether another thread has woken or kicked a fiber of this worker.
    pub(crate) fn was_woken(&self) -> bool {
        !self.fibers.inbox.is_empty() || !self.fibers.kicks.is_empty()
    }

    /// Returns how long the thread may sleep until the timer of a fiber is due. `None` means until a wake-up.
    pub(crate) fn time_to_next_fiber(&self) -> Option<Duration> {
        self.clock().park_bound(self.fibers.local.next_deadline())
    }

    /// Returns how long the thread may sleep until the last of the timers that are due at about the same time: a parked
    /// thread wakes once for all of them. See also [`time_to_next_fiber`](Self::time_to_next_fiber).
    pub(crate) fn time_to_next_fibers(&self) -> Option<Duration> {
        self.clock().park_bound(self.fibers.local.last_deadline_within(SLACK))
    }

    /// Runs fibers for some rounds, and begins new ones. `first` begins before all others.
    pub(crate) fn run_fibers(&self, first: Option<Job>) {
        // The main loop has just read the clock.
        if let (Some(registry), Some(now)) = (self.registry(), self.counters.phase_began()) {
            self.fibers.local.tick.set(registry.tick_at(now));
        }
        if let Some(job) = first.and_then(|job| self.balance(job)) {
            self.start_fiber(job);
        }
        let local = &self.fibers.local;
        local.ready.begin_turn();
        'rounds: for round in 1..=ROUNDS {
            // A worker with fewer ready fibers goes on to wait in its reactor.
            if round == ROUNDS {
                self.reactor.poll_if_busy();
            }
            self.collect_ready_fibers(true);
            local.ready.begin_round(local.next_deadline() != NEVER);
            while local.ready.count_one() {
                if let Some(fiber) = self.next_ready_fiber() {
                    // SAFETY: the fiber is ready, belongs to this worker, and this is the worker's own stack.
                    unsafe { self.run_fiber(fiber) };
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
            if ready.is_empty() {
                ready.admit_due();
            }
        }
        ready.pop()
    }

    /// Returns the fiber to switch to from one that suspends. It may be the same one. Returns `None` if the worker's
    /// own stack has to choose.
    #[inline]
    pub(crate) fn fiber_across(&self) -> Option<*const Fiber> {
        let ready = &self.fibers.local.ready;
        if !self.fibers.inbox.is_empty() || ready.is_empty() || !ready.count_one() {
            return None;
        }
        ready.pop()
    }

    /// Counts the turns of this worker's fibers. Every [`ELSEWHERE_EVERY`] calls it is the turn of work from elsewhere,
    /// and this returns the number of that turn.
    pub(crate) fn next_turn_of_others(&self) -> Option<u32> {
        let rounds = self.fibers.rounds.get().wrapping_add(1);
        self.fibers.rounds.set(rounds);
        rounds.is_multiple_of(ELSEWHERE_EVERY).then_some(rounds / ELSEWHERE_EVERY)
    }

    /// Moves fibers that have not started from this worker to `thief`: returns one to run, and puts the others into the
    /// thief's queue.
    pub(crate) fn steal_job(&self, thief: &Worker, policy: StealPolicy) -> Option<Job> {
        let is_worth_while = match policy {
            StealPolicy::All => true,
            StealPolicy::Aged(now) => !self.is_at_them() || self.fibers.jobs.lies_for_long(now),
            StealPolicy::Nothing => !self.is_at_them(),
        };
        if !self.limits().has_room() {
            return None;
        }
        if !is_worth_while || self.fibers.jobs.is_empty() {
            return self.steal_placed_job();
        }
        // SAFETY: `thief` is the worker entry of the calling thread, so the caller is the owner of its queue.
        unsafe { self.fibers.jobs.steal(&thief.fibers.jobs) }
    }

    /// Takes a job that was placed on this worker, if the worker does not come to it.
    fn steal_placed_job(&self) -> Option<Job> {
        if !self.has_overdue_jobs() {
            return None;
        }
        // The worker may have stopped for this thread, on the same core. Then it goes on now.
        if !self.placed().is_late() {
            thread::yield_now();
        }
        let registry = self.registry()?;
        self.placed().take_overdue(self.patience(), || registry.micros_at(Instant::now()))
    }

    /// Returns whether this worker will itself begin its fibers.
    fn is_at_them(&self) -> bool {
        self.is_own && self.status.is_active()
    }

    /// Returns the next job to begin here. Those that [`balance`](Self::balance) places elsewhere are passed over.
    pub(crate) fn next_job(&self) -> Option<Job> {
        let (jobs, placed) = (&self.fibers.jobs, self.placed());
        while self.has_jobs() {
            let ticks = self.fibers.ticks.get().wrapping_add(1);
            self.fibers.ticks.set(ticks);
            let takes_oldest = ticks.is_multiple_of(OLDEST_EVERY);
            if takes_oldest
                && !placed.is_empty()
                && let Some(job) = self.take_placed_job()
            {
                return Some(job);
            }
            // SAFETY: this thread holds the worker entry.
            match unsafe { if takes_oldest { jobs.take_oldest() } else { jobs.take_newest() } } {
                Some(job) => {
                    if let Some(job) = self.balance(job) {
                        return Some(job);
                    }
                }
                None if placed.is_empty() => return None,
                None => return self.take_placed_job(),
            }
        }
        None
    }

    /// Returns the job to run on the stack of a fiber that has ended, without a switch. Returns `None` if other fibers
    /// come first.
    fn next_job_on_this_stack(&self) -> Option<Job> {
        let has_others = !self.fibers.local.ready.is_empty()
            || !self.fibers.inbox.is_empty()
            || !self.inbox.is_empty()
            || self.fibers.ticks.get().is_multiple_of(ROUND * ROUNDS)
            || self.fibers.local.next_deadline() != NEVER && !self.fibers.local.ready.count_one();
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
        self.counters.live.add(1);
        // SAFETY: the fiber is idle, belongs to this worker, and this is the worker's own stack.
        unsafe {
            (*fiber).give(job);
            self.run_fiber(fiber);
        }
    }

    /// Runs a fiber, and those that continue in its place, until the thread is back on the worker's own stack.
    ///
    /// # Safety
    /// The caller is the worker's thread, on its own stack. The fiber is idle with a job or ready, and belongs to this
    /// worker.
    #[inline]
    unsafe fn run_fiber(&self, fiber: *const Fiber) {
        // SAFETY: as the caller guarantees, this is the worker's thread on its own stack, and the fiber can run.
        let left = unsafe { if self.observes_fibers { self.resume_observed(fiber) } else { (*fiber).resume() } };
        if left == Left::Idle {
            self.put_away(Fiber::current());
        }
    }

    /// Resumes a fiber between its hooks, and records that. No other one continues in its place.
    ///
    /// # Safety
    /// As for [`run_fiber`](Self::run_fiber).
    #[cold]
    unsafe fn resume_observed(&self, fiber: *const Fiber) -> Left {
        let ready = &self.fibers.local.ready;
        // SAFETY: as the caller guarantees, this is the worker's thread on its own stack, and the fiber can run. Its
        // block lives as long as the worker.
        unsafe {
            (*fiber).note_resume();
            // A fiber that suspends looks for another one only within a round.
            let rest = ready.replace_left(0);
            let left = (*fiber).resume();
            ready.replace_left(rest);
            if left == Left::Suspended {
                (*fiber).note_suspend();
            }
            left
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
                // SAFETY: the job has not been run.
                fiber.card.set_origin(unsafe { now.origin() });
                self.counters.fibers.add(1);
                // SAFETY: a job is in one queue at a time. This fiber has taken it from there, so only this call runs
                // it, once. This is the fiber's stack, so it is the current one.
                unsafe {
                    if let Some(name) = now.name() {
                        fiber.set_name(name);
                    }
                    if self.observes_fibers {
                        fiber.note_start();
                    }
                    now.run(|| fiber.clear_locals());
                    if self.observes_fibers {
                        fiber.note_end();
                    }
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

    /// Returns all stacks to the pool, before the thread ends. No fiber is live then.
    pub(crate) fn end_fibers(&self) {
        self.reactor.close();
        // Each of them counts in the limits, where there are none.
        debug_assert_eq!(self.counters.live.get(), 0);
        self.fibers.inbox.settle();
        self.answer_kicks();
        self.fibers.kicks.settle();
        self.strip_all_fibers();
    }

    fn put_away(&self, fiber: *const Fiber) {
        self.counters.live.set(self.counters.live.get() - 1);
        self.keep_idle_fiber(fiber);
        let limits = self.limits();
        let was_full = limits.leave();
        if let Some(registry) = self.registry() {
            if was_full {
                registry.announce_work();
            }
            if limits.is_empty() {
                registry.note_last();
            }
        }
    }
}
