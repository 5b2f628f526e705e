//! Running the work that a thread has taken, and answering broadcasts.

use crate::{
    fiber::task::Job,
    fork::{
        frame::{Frame, Lineage, Running},
        shelf::Claim,
        task::Task,
    },
    pool::worker::Worker,
    sys::unwind::AbortOnUnwind,
    wait::current_stack::Pinned,
};

/// How many broadcasts a worker answers one on top of the other, whether they have to do with each other or not.
const MOST_ANSWERS: u32 = 8;

/// Work that this thread has taken and must run.
pub(crate) enum Work {
    Frame(Claim),
    Task(Task),
    /// Fibers that can continue, or one that is to begin.
    Fibers(Option<Job>),
}

impl Worker {
    /// Runs this worker's part of the broadcast that has waited longest. Returns `false` if there is none that it may
    /// answer here.
    ///
    /// The work of a broadcast may wait in turn, and that wait answers the next broadcast. Workers may wait for each
    /// other in this way, so in general a worker has to answer. But if a thousand threads broadcast at a time, a
    /// thousand answers must not be on one stack. So above a few of them, a worker answers only broadcasts that are
    /// nested deeper than the one that runs here. Of all broadcasts that wait for each other every worker answers the
    /// innermost, and the depth of answers depends only on how deep the program nests broadcasts.
    pub(crate) fn answer_broadcast(&self) -> bool {
        if self.inbox.is_empty() {
            return false;
        }
        let answering = self.answering.get();
        let task = if answering < MOST_ANSWERS {
            self.inbox.take_oldest()
        } else {
            self.inbox.take_inside_of_more(self.stack.broadcasts())
        };
        let Some(task) = task else { return false };
        self.answering.set(answering + 1);
        self.with_own_index(|| self.run(Work::Task(task)));
        self.answering.set(answering);
        true
    }

    /// Runs work that this thread has taken.
    pub(crate) fn run(&self, work: Work) {
        let lineage: *const Lineage = match &work {
            // SAFETY: this thread has taken the job and has not run it yet.
            Work::Frame(claim) => unsafe { Frame::lineage(claim.frame) },
            Work::Task(task) => task.lineage(),
            Work::Fibers(_) => unreachable!("fibers run on stacks of their own"),
        };
        // What it runs on top of waits, and the record is in a list of this thread.
        let _pinned = Pinned::new();
        // SAFETY: this thread has taken the work and has not run it, so its lineage is alive.
        let lineage = unsafe { Lineage::on_top(lineage, self.stack.broadcasts()) };
        let record = Running::new(&lineage);
        self.stack.begin(&record);
        let abort = AbortOnUnwind;
        // Work that was worth stealing is worth sharing: its first fork is published.
        self.stack.request_work();
        match work {
            Work::Frame(claim) => claim.run(),
            Work::Task(task) if self.trace.measures() => self.measure_task(|| task.run()),
            Work::Task(task) => task.run(),
            Work::Fibers(_) => {}
        }
        std::mem::forget(abort);
        self.stack.end(&record);
    }
}
