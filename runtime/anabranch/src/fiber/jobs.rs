//! Jobs: the fibers of a worker that have not started, and how other workers take them.

use crate::{
    fiber::{
        fibers::Scheduler, limits::Limits, placed::Patience, run_queue::OLDEST_EVERY, steal_policy::StealPolicy,
        task::Job,
    },
    pool::{registry::Registry, worker::Worker},
    sys::{clock::Instant, thread},
};

impl<'a> Scheduler<'a> {
    pub(super) fn limits(self) -> &'a Limits {
        &self.worker.registry().expect("fibers run on the workers of a pool").limits
    }

    /// Returns whether there are fibers to start here that any thread may take, and the limits allow one. Any thread
    /// may call this.
    pub(crate) fn has_available_jobs(self) -> bool {
        (!self.worker.fibers.jobs.is_empty() || self.has_overdue_jobs()) && self.limits().has_room()
    }

    /// Returns whether this worker has fibers to start, and the limits allow one.
    pub(crate) fn has_jobs(self) -> bool {
        let fibers = &self.worker.fibers;
        !(fibers.jobs.is_empty() && fibers.placed.is_empty()) && self.limits().has_room()
    }

    /// Returns whether there are fibers to start that were placed here, and the limits allow one.
    pub(crate) fn has_placed_jobs(self) -> bool {
        !self.worker.fibers.placed.is_empty() && self.limits().has_room()
    }

    /// Returns the next job to begin here. Those that [`balance`](Self::balance) places elsewhere are passed over.
    pub(crate) fn next_job(self) -> Option<Job> {
        let fibers = &self.worker.fibers;
        let (jobs, placed) = (&fibers.jobs, &fibers.placed);
        while self.has_jobs() {
            let ticks = fibers.ticks.get().wrapping_add(1);
            fibers.ticks.set(ticks);
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

    /// Takes the oldest fiber that was placed here, for the worker itself.
    fn take_placed_job(self) -> Option<Job> {
        let registry = self.worker.registry()?;
        self.worker.fibers.placed.take(|| registry.time.micros_at(Instant::now()))
    }

    /// Moves fibers that have not started from this worker to `thief`: returns one to run, and puts the others into the
    /// thief's queue. The thread of `thief` calls this.
    pub(crate) fn steal_job(self, thief: &Worker, policy: StealPolicy) -> Option<Job> {
        let jobs = &self.worker.fibers.jobs;
        let is_worth_while = match policy {
            StealPolicy::All => true,
            StealPolicy::Aged(now) => !self.begins_its_own() || jobs.lies_for_long(now),
            StealPolicy::Nothing => !self.begins_its_own(),
        };
        if !self.limits().has_room() {
            return None;
        }
        if !is_worth_while || jobs.is_empty() {
            return self.steal_placed_job();
        }
        // SAFETY: `thief` is the worker entry of the calling thread, so the caller is the owner of its queue.
        unsafe { jobs.steal(&thief.fibers.jobs) }
    }

    /// Takes a job that was placed on this worker, if the worker does not come to it.
    fn steal_placed_job(self) -> Option<Job> {
        if !self.has_overdue_jobs() {
            return None;
        }
        let placed = &self.worker.fibers.placed;
        // The worker may have stopped for this thread, on the same core. Then it goes on now.
        if !placed.is_late() {
            thread::yield_now();
        }
        let registry = self.worker.registry()?;
        placed.take_overdue(self.patience(), || registry.time.micros_at(Instant::now()))
    }

    /// Returns whether this worker will itself begin its fibers.
    fn begins_its_own(self) -> bool {
        self.worker.is_own && self.worker.status.is_active()
    }

    /// Returns whether this worker has come to its placed fibers so late that other threads may take them.
    fn has_overdue_jobs(self) -> bool {
        let now = |registry: &Registry| registry.time.micros_at(Instant::now());
        let is_overdue = |registry| self.worker.fibers.placed.is_overdue(self.patience(), || now(registry));
        self.worker.registry().is_some_and(is_overdue)
    }

    /// Returns how long other threads leave the placed fibers to this worker.
    pub(super) fn patience(self) -> Patience {
        match () {
            () if !self.worker.status.is_occupied() => Patience::Idle,
            () if self.worker.status.is_active() => Patience::AtWork,
            () => Patience::None,
        }
    }
}
