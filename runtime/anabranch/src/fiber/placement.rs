//! Where fibers start. A fiber stays on the worker that starts it, so this is the only balance of load between workers.
//!
//! The load of a worker is the number of its fibers, including waiting fibers, plus the number of jobs in its queues.
//! Three rules apply to a job, in this order:
//!
//! - A fiber spawned by a fiber goes into the queue of that worker. If the worker has not begun it after 25 us, idle
//!   workers take it (`fiber::run_queue`).
//! - A worker that is about to begin a fiber compares its load with the load of another worker, a different one each
//!   time. If its own load is higher by more than a margin, it places the jobs that have been in the queue longest on
//!   the other worker. With r other workers left in a round, it places up to 1/(r + 1) of the difference. So if the
//!   other workers have no load, all workers have the same load after a round. (With half of the difference, a burst of
//!   400 fibers left one worker of 16 with six times the mean load.) It also places the job that it was about to begin
//!   if it has no other job, or if the fibers that it has begun exceed the whole load of the other worker by more than
//!   the margin.
//! - A fiber spawned outside of the pool is placed on the less loaded of two workers that are chosen in turn
//!   (Mitzenmacher 2001: two choices suffice).
//!
//! Another rule precedes these. If fibers of a worker wait for timers, sockets or blocking calls, and a worker that
//! owns no fibers is idle, the worker leaves the fiber that it is about to begin to the idle worker. The new fiber may
//! compute for long, and would delay the waiting fibers. Those do not wait for the new fiber, as they might if they
//! waited for messages. Without this rule, a fiber that slept and spawned fibers that compute kept one core of two
//! idle.
//!
//! Most programs spawn fibers that end soon, or that exchange messages and should stay together: a message between
//! workers costs several times as much. So a worker compares only once it has a certain number of fibers: [`BURST`], or
//! [`SETTLED`] if these fibers still wait when the worker runs out of work. A comparison that finds no difference
//! raises the number. So the comparisons cost little compared with the fibers.
//!
//! A worker that runs a long piece of work does not get to the jobs placed on it. Once it has taken none for 0.1 ms, or
//! has had some for 5 ms, thieves take them, and until the worker has checked the list again no thread places jobs
//! there. A worker that is idle has 1 ms to wake up. A worker that blocks its thread, in `run` or in a wait of compute
//! work, gets no jobs, and thieves take the jobs that it has at once. The first thief yields before it takes them,
//! because the system may have put both threads on one core, where the worker waits for the thief. Without the yield, a
//! burst of 400 fibers from outside left one of two workers with 1.9 times the mean load, at normal priority.

use crate::{
    fiber::{
        fibers::{Balance, Scheduler},
        placed::Patience,
        task::Job,
    },
    pool::{registry::Registry, worker::Worker},
    sys::{
        clock::Instant,
        sync::{Ordering, fence},
    },
    time::NEVER,
    trace::{Event, Site},
};

/// The number of fibers from which on a worker compares its load while it starts fibers.
const BURST: usize = if cfg!(shuttle) { 3 } else { 24 };

/// The number of fibers from which on it does so if these wait when it runs out of work.
const SETTLED: usize = if cfg!(shuttle) { 2 } else { 4 };

/// Returns the difference of load that is left as it is: a fiber more or less is not worth a message to another thread.
const fn margin(load: usize) -> usize {
    1 + load / 16
}

/// Returns the jobs that a worker places on another one, whose load is lower by `difference`, with `left` other workers
/// left in its round, that one included.
const fn share(difference: usize, left: usize) -> usize {
    difference / (left + 1)
}

/// Enqueues a fiber to start: in the caller's own queue if it is in this pool, or else on one of the workers.
pub(crate) fn inject(registry: &Registry, job: Job) {
    let here = Worker::current();
    let trace = &registry.trace;
    if trace.is_on() {
        // SAFETY: the job was not run, since no queue has it.
        let site = unsafe { job.origin() }.map_or(Site::UNKNOWN, |origin| trace.site("", origin));
        trace.record(|| Event::Spawn(site));
    }
    if here.is_of(registry) {
        // SAFETY: this thread holds the worker entry, so it is the owner of the queue.
        unsafe { here.fibers.jobs.push(job) };
        if registry.sleep.dozes_for_fibers() {
            registry.wake_heartbeat_slow();
        }
        return;
    }
    match choose_worker(registry) {
        Some(worker) => place(registry, worker, [job]),
        None => {
            registry.worker(registry.injected.next_turn() % registry.threads()).fibers.jobs.inject(job);
            registry.announce_work();
        }
    }
}

/// Chooses a worker for a job from outside of the pool, of two. Returns `None` if neither looks at its list.
fn choose_worker(registry: &Registry) -> Option<&Worker> {
    let turn = registry.injected.next_turn();
    let threads = registry.threads();
    // The second choice is never the first, unless there is one worker only.
    let second = turn + 1 + (turn / threads) % threads.saturating_sub(1).max(1);
    let choices = [turn, second].map(|turn| registry.worker(turn % threads));
    let serving = choices.into_iter().filter(|worker| worker.scheduler().serves_placed());
    serving.min_by_key(|worker| worker.scheduler().load())
}

fn place(registry: &Registry, worker: &Worker, jobs: impl IntoIterator<Item = Job>) {
    worker.fibers.placed.place(jobs, registry.time.micros_at(Instant::now()));
    worker.parking.unpark();
    // The worker may have begun to wait meanwhile: see `Worker::lend_slot`.
    fence(Ordering::SeqCst);
    match worker.scheduler().patience() {
        Patience::Idle => {}
        // If the worker is at work for long, a thief has to find the jobs.
        Patience::AtWork => registry.wake_heartbeat_for_work(),
        Patience::None => registry.announce_work(),
    }
}

impl Balance {
    /// Makes the worker compare its load before it begins the next fiber.
    pub(super) fn compare_next(&self) {
        self.compares_from.set(1);
    }

    /// Records that a fiber waits for a blocking call.
    pub(crate) fn begin_blocking_call(&self) {
        self.blocking_calls.set(self.blocking_calls.get() + 1);
        self.compare_next();
    }

    /// Records that the blocking call of a fiber has ended.
    pub(crate) fn end_blocking_call(&self) {
        self.blocking_calls.set(self.blocking_calls.get() - 1);
    }
}

impl Scheduler<'_> {
    /// Returns the number of fibers of this worker, begun or not, as of a moment ago.
    fn load(self) -> usize {
        self.worker.counters.live.get() as usize + self.worker.fibers.jobs.len() + self.worker.fibers.placed.len()
    }

    /// Returns the job that this worker begins when it is about to begin `job`: the same one, unless the load is too
    /// high.
    #[inline]
    pub(super) fn balance(self, job: Job) -> Option<Job> {
        if self.worker.counters.live.get() < self.worker.fibers.local.balance.compares_from.get() as u64 {
            Some(job)
        } else {
            self.compare(job)
        }
    }

    #[cold]
    fn compare(self, job: Job) -> Option<Job> {
        let Some(registry) = self.worker.registry().filter(|registry| !registry.is_closing()) else { return Some(job) };
        let balance = &self.worker.fibers.local.balance;
        let job = self.leave_to_idle_worker(registry, job)?;
        let turn = balance.compared.get().wrapping_add(1);
        balance.compared.set(turn);
        // Never this worker itself. A spare compares with all.
        let others = registry.threads() - usize::from(self.worker.index < registry.threads());
        let Some(step) = turn.checked_rem(others) else {
            balance.compares_from.set(usize::MAX);
            return Some(job);
        };
        let other = registry.worker(if self.worker.index < registry.threads() {
            (self.worker.index + 1 + step) % registry.threads()
        } else {
            step
        });
        let left = match balance.left_in_round.get() {
            0 => others,
            left => left,
        };
        balance.left_in_round.set(left - 1);
        let (mine, theirs) = (self.load(), other.scheduler().load());
        let is_worth_while = mine > theirs + margin(mine) && other.scheduler().serves_placed();
        if !is_worth_while {
            if step + 1 == others {
                let live = self.worker.counters.live.get() as usize;
                balance.compares_from.set(live + margin(live));
            }
            return Some(job);
        }
        let queue = &self.worker.fibers.jobs;
        let surplus = share(mine - theirs, left);
        // SAFETY: this thread holds the worker entry, so it is the owner of the queue.
        let oldest = (0..surplus.min(queue.len().div_ceil(2))).map_while(|_| unsafe { queue.take_oldest() });
        let mut jobs: Vec<Job> = oldest.collect();
        // Those that have begun stay.
        let own = if jobs.is_empty() || self.worker.counters.live.get() as usize > theirs + margin(mine) {
            jobs.push(job);
            None
        } else {
            Some(job)
        };
        self.worker.counters.placed.add(jobs.len() as u64);
        place(registry, other, jobs);
        own
    }

    /// Returns whether this worker will look soon at the fibers that are placed on it.
    fn serves_placed(self) -> bool {
        self.worker.fibers.placed.is_served() && self.patience() != Patience::None
    }

    /// Leaves the job to an idle worker that owns no fibers, if fibers of this worker wait for events from outside.
    /// Returns the job if this worker should begin it.
    fn leave_to_idle_worker(self, registry: &Registry, job: Job) -> Option<Job> {
        if !self.waits_for_events() {
            return Some(job);
        }
        let is_idle = |worker: &&Worker| {
            let scheduler = worker.scheduler();
            !worker.status.is_occupied() && scheduler.load() == 0 && scheduler.serves_placed()
        };
        let Some(idle) = registry.first_workers().find(is_idle) else { return Some(job) };
        self.worker.counters.placed.add(1);
        place(registry, idle, [job]);
        None
    }

    /// Returns whether fibers of this worker wait for timers, sockets or blocking calls.
    fn waits_for_events(self) -> bool {
        let local = &self.worker.fibers.local;
        self.worker.owns_fibers()
            && (local.next_deadline() != NEVER
                || local.balance.blocking_calls.get() > 0
                || self.worker.parking.reactor.has_sources())
    }

    /// Records that the worker has no fiber to run: those that it has wait for events.
    pub(crate) fn note_settled(self) {
        let live = self.worker.counters.live.get() as usize;
        let balance = &self.worker.fibers.local.balance;
        balance.compares_from.set(if live < SETTLED { BURST } else { live });
        if self.waits_for_events() {
            balance.compare_next();
        }
        if !self.has_jobs() {
            // The next burst begins with a whole round.
            balance.left_in_round.set(0);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_round_divides_a_burst_among_all_workers() {
        for workers in 2..=64 {
            let mut loads = vec![0; workers];
            loads[0] = 400;
            for other in 1..workers {
                let jobs = share(loads[0] - loads[other], workers - other);
                loads[0] -= jobs;
                loads[other] += jobs;
            }
            let (least, most) = (loads.iter().min(), loads.iter().max());
            assert!(most <= least.map(|least| least + 1).as_ref(), "{loads:?}");
        }
    }
}
