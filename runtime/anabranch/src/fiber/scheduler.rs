//! Fibers on the workers of a pool: the state that a worker keeps for its fibers, and the rules by which it runs them.
//!
//! A fiber that has not started is a job in a queue, and any worker may take it. The worker that takes it runs it on an
//! idle stack, and is its home from then on. The worker's thread switches from its own stack to the stack of a fiber.
//! It switches back when no fiber is ready or a round is over. Within a round a fiber that waits switches to the next
//! fiber directly. Compute work never runs fibers: only the code at the bottom of a worker's stack (`pool::main_loop`)
//! does.
//!
//! - **Waking.** To wake a fiber, a fiber of the same worker pushes it on a list that only this thread accesses. The
//!   woken fiber runs next when its waker waits, at most three times in a row.
//! - **Fairness.** Ready fibers precede fibers that have not begun. After 16 ready fibers, or 4 that have yielded, a
//!   new fiber begins, and after 16 rounds a fiber from the queue of another worker. A ready fiber may wait for a new
//!   fiber by yielding. For the same reason a worker that always has new fibers takes a task or a fork after 16 rounds,
//!   in turn with the new fibers, if no slot is free or there is no heartbeat worker. A worker that owns fibers takes
//!   neither, because its fibers would wait meanwhile: see `Worker::takes_pieces`. Fibers, tasks and forks that have
//!   found no free slot for 10 ms begin without one, because guests and fibers may run for any length of time.
//! - **Timers.** While there are timers, the worker reads the clock after each round, and a round ends early after
//!   about 0.25 ms. Fibers whose timers are due take turns with the other ready fibers, and precede new fibers. So a
//!   timer is late by at most 0.25 ms and one run of another fiber, however many are ready.
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
        fibers::Scheduler,
        ready_queue::ROUND,
        status::State,
        task::Job,
    },
    sys::unwind::AbortOnUnwind,
    time::NEVER,
    wait::{
        suspend::Suspend,
        waiter::{Selected, Waiter},
    },
};
use std::{mem, time::Duration};

/// How long after the first timer a parked worker may wake, in nanoseconds, if other timers are due until then. A
/// switch to a parked thread costs as much as some dozens of resumed fibers, and Linux delays each such switch by 50
/// us. Less than a millisecond, so that an interval of one millisecond misses no tick.
const SLACK: u64 = 900_000;

/// The number of rounds before the worker looks for other work.
const ROUNDS: u32 = if cfg!(shuttle) { 2 } else { 4 };

impl Scheduler<'_> {
    /// Makes ready the fibers that other threads have woken, and those whose timers are due.
    pub(crate) fn collect_ready(self, looks_at_clock: bool) {
        let (fibers, local) = (&self.worker.fibers, &self.worker.fibers.local);
        fibers.inbox.collect(local.ready.rest());
        fibers.answer_kicks();
        if looks_at_clock {
            let has_timers = local.next_deadline() != NEVER;
            if has_timers {
                let now = self.worker.clock().tick();
                if now >= local.next_deadline() {
                    local.ready.push_due(|| self.wake_due(now));
                }
            }
            if has_timers || local.ready.has_timers() {
                local.ready.note_look(has_timers);
            }
        }
    }

    /// Wakes the fibers whose timers are due.
    fn wake_due(self, now: u64) {
        while let Some((deadline, fiber)) = self.worker.fibers.local.pop_timer(now) {
            // SAFETY: a timer is removed when its wait ends. So the fiber of this timer still waits, or has just been
            // selected, and its block is alive.
            if let Some(wake) = unsafe { Waiter::try_select((*fiber).waiter(), Selected::TimedOut) } {
                self.worker.counters.timer_lateness.record(now - deadline);
                // The times of a trace are those of the system's clock.
                if self.worker.trace.is_on() && self.worker.clock().is_system() {
                    // SAFETY: the fiber has been selected, and continues only after its wake-up.
                    unsafe { (*fiber).note_due(now - deadline) };
                }
                wake.wake();
            }
        }
    }

    /// Returns whether a fiber of this worker is ready.
    pub(crate) fn has_ready(self) -> bool {
        let local = &self.worker.fibers.local;
        !local.ready.is_empty()
            || self.worker.fibers.were_woken()
            || local.next_deadline() != NEVER && self.worker.clock().tick() >= local.next_deadline()
    }

    /// Returns how long the thread may sleep until the timer of a fiber is due. `None` means until a wake-up.
    pub(crate) fn time_to_next(self) -> Option<Duration> {
        self.worker.clock().park_bound(self.worker.fibers.local.next_deadline())
    }

    /// Returns how long the thread may sleep until the last of the timers that are due at about the same time: a parked
    /// thread wakes once for all of them. See also [`time_to_next`](Self::time_to_next).
    pub(crate) fn time_to_next_batch(self) -> Option<Duration> {
        self.worker.clock().park_bound(self.worker.fibers.local.last_deadline_within(SLACK))
    }

    /// Runs fibers for some rounds, and begins new ones. `first` begins before all others.
    pub(crate) fn run(self, first: Option<Job>) {
        // The main loop has just read the clock.
        if let (Some(registry), Some(now)) = (self.worker.registry(), self.worker.counters.phase_began()) {
            self.worker.fibers.local.tick.set(registry.time.tick_at(now));
        }
        let local = &self.worker.fibers.local;
        if let Some(job) = first.and_then(|job| self.balance(job)) {
            self.resume_due();
            self.start(job);
        }
        'rounds: for round in 1..=ROUNDS {
            // A worker with fewer ready fibers goes on to wait in its reactor.
            if round == ROUNDS {
                self.worker.parking.reactor.poll_if_busy();
            }
            self.collect_ready(true);
            local.ready.begin_round();
            while local.ready.count_one() {
                if let Some(fiber) = self.next_ready() {
                    // SAFETY: the fiber is ready, belongs to this worker, and this is the worker's own stack.
                    unsafe { self.resume(fiber) };
                } else if let Some(job) = self.next_job() {
                    self.start(job);
                } else {
                    break 'rounds;
                }
            }
            self.resume_due();
            if let Some(job) = self.next_job() {
                self.start(job);
            }
        }
        Fiber::come_back();
    }

    /// Resumes a fiber whose timer has become due while other fibers ran for long. Called before a fiber begins, which
    /// may run for long too.
    fn resume_due(self) {
        let ready = &self.worker.fibers.local.ready;
        if ready.needs_look() {
            self.collect_ready(true);
            if let Some(fiber) = ready.pop_due() {
                // SAFETY: the fiber is ready, belongs to this worker, and this is the worker's own stack.
                unsafe { self.resume(fiber) };
            }
        }
    }

    #[inline]
    fn next_ready(self) -> Option<*const Fiber> {
        let ready = &self.worker.fibers.local.ready;
        if !self.worker.fibers.inbox.is_empty() || ready.is_empty() {
            self.collect_ready(ready.is_empty());
        }
        ready.pop()
    }

    /// Returns the job to run on the stack of a fiber that has ended, without a switch. Returns `None` if other fibers
    /// come first.
    fn next_job_on_this_stack(self) -> Option<Job> {
        let (fibers, local) = (&self.worker.fibers, &self.worker.fibers.local);
        let has_others = !local.ready.is_empty()
            || !fibers.inbox.is_empty()
            || !self.worker.compute.broadcasts.is_empty()
            || fibers.ticks.get().is_multiple_of(ROUND * ROUNDS)
            || local.ready.has_timers() && !local.ready.count_one();
        if has_others {
            return None;
        }
        self.next_job()
    }

    /// Runs a job on an idle stack. If there is none, pushes the job back onto the queue.
    fn start(self, job: Job) {
        let limits = self.limits();
        let stack = limits.enter().and_then(|()| {
            let stack = self.take_idle(|| limits.stacks.clone());
            stack.inspect_err(|error| limits.refuse(error)).ok()
        });
        let Some(fiber) = stack else {
            // SAFETY: this thread holds the worker entry.
            unsafe { self.worker.fibers.jobs.push(job) };
            return;
        };
        self.worker.counters.live.add(1);
        // SAFETY: the fiber is idle, belongs to this worker, and this is the worker's own stack.
        unsafe {
            (*fiber).give(job);
            self.resume(fiber);
        }
    }

    /// Runs a fiber, and those that continue in its place, until the thread is back on the worker's own stack.
    ///
    /// # Safety
    /// The caller is the worker's thread, on its own stack. The fiber is idle with a job or ready, and belongs to this
    /// worker.
    #[inline]
    unsafe fn resume(self, fiber: *const Fiber) {
        // SAFETY: as the caller guarantees, this is the worker's thread on its own stack, and the fiber can run.
        let left =
            unsafe { if self.worker.fibers.are_observed { self.resume_observed(fiber) } else { (*fiber).resume() } };
        if left == Left::Idle {
            self.recycle(Fiber::current());
        }
    }

    /// Resumes a fiber between its hooks, and records that. No other one continues in its place.
    ///
    /// # Safety
    /// As for [`resume`](Self::resume).
    #[cold]
    unsafe fn resume_observed(self, fiber: *const Fiber) -> Left {
        let ready = &self.worker.fibers.local.ready;
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
    pub(super) fn serve_fibers(self, fiber: &Fiber, exit: &Exit) {
        let abort = AbortOnUnwind;
        fiber.exit.set(exit);
        loop {
            let mut job = fiber.take_job();
            while let Some(now) = job {
                fiber.card.set(State::Running);
                // SAFETY: the job has not been run.
                fiber.card.set_origin(unsafe { now.origin() });
                self.worker.counters.fibers.add(1);
                // SAFETY: a job is in one queue at a time. This fiber has taken it from there, so only this call runs
                // it, once. This is the fiber's stack, so it is the current one.
                unsafe {
                    if let Some(name) = now.name() {
                        fiber.set_name(name);
                    }
                    if self.worker.fibers.are_observed {
                        fiber.note_start();
                    }
                    now.run(|| fiber.clear_locals());
                    if self.worker.fibers.are_observed {
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
    pub(crate) fn shut_down(self) {
        self.worker.parking.reactor.close();
        // Each of them counts in the limits, where there are none.
        debug_assert_eq!(self.worker.counters.live.get(), 0);
        let fibers = &self.worker.fibers;
        fibers.inbox.settle();
        fibers.answer_kicks();
        fibers.kicks.settle();
        fibers.local.idle.strip_all();
    }

    fn recycle(self, fiber: *const Fiber) {
        let live = &self.worker.counters.live;
        live.set(live.get() - 1);
        self.worker.fibers.local.idle.keep(fiber);
        let limits = self.limits();
        let was_full = limits.leave();
        if let Some(registry) = self.worker.registry() {
            if was_full {
                registry.announce_work();
            }
            if limits.is_empty() {
                registry.note_last();
            }
        }
    }
}
