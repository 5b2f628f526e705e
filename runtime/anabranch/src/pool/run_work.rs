//! Running the work that a thread has taken, and answering broadcasts.

use crate::{
    fiber::task::Job,
    fork::{
        frame::{Lineage, Running},
        shelf::Claim,
        task::Task,
    },
    pool::worker::ForkJoin,
    sys::unwind::AbortOnUnwind,
    wait::current_stack::Pinned,
};

/// Work that this thread has taken and must run.
pub(crate) enum Work {
    Frame(Claim),
    Task(Task),
    /// Fibers that can continue, or one that is to begin.
    Fibers(Option<Job>),
}

impl ForkJoin<'_> {
    /// Runs this worker's part of the broadcast that has waited longest. Returns `false` if there is none that it may
    /// answer here: see [`next_part`](crate::fork::compute::Compute::next_part).
    pub(crate) fn answer_broadcast(self) -> bool {
        let compute = &self.worker.compute;
        let Some(part) = compute.next_part() else { return false };
        let answering = compute.answering.get();
        compute.answering.set(answering + 1);
        self.worker.with_own_index(|| self.run(Work::Task(part)));
        compute.answering.set(answering);
        true
    }

    /// Runs work that this thread has taken.
    pub(crate) fn run(self, work: Work) {
        let lineage = match &work {
            Work::Frame(claim) => Some(claim.lineage()),
            Work::Task(task) => task.lineage(),
            Work::Fibers(_) => unreachable!("fibers run on stacks of their own"),
        };
        // What it runs on top of waits, and the record is in a list of this thread.
        let _pinned = Pinned::new();
        let lineage = Lineage::on_top(lineage, self.worker.compute.stack.broadcasts());
        let record = Running::new(&lineage);
        self.worker.compute.stack.begin(&record);
        let abort = AbortOnUnwind;
        // Work that was worth stealing is worth sharing: its first fork is published.
        self.worker.compute.stack.request_work();
        match work {
            Work::Frame(claim) => claim.run(),
            Work::Task(task) if self.worker.trace.measures() => self.worker.measure_task(|| task.run()),
            Work::Task(task) => task.run(),
            Work::Fibers(_) => {}
        }
        std::mem::forget(abort);
        self.worker.compute.stack.end(&record);
    }
}
