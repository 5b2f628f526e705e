//! A queue in front of a stack. Anabranch runs the newest task of a thread first. A FIFO spawn puts its job into a
//! queue, and spawns a task that runs the oldest job of the queue. There is a task for each job.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// See the [module](self).
pub(crate) struct Fifo<J> {
    jobs: Mutex<VecDeque<J>>,
}

impl<J> Fifo<J> {
    pub(crate) fn new() -> Self {
        Self { jobs: Mutex::new(VecDeque::new()) }
    }

    pub(crate) fn push(&self, job: J) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).push_back(job);
    }

    /// Takes the oldest job. Each task that was spawned for a job calls this once.
    pub(crate) fn take_oldest(&self) -> J {
        let job = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        job.expect("each task finds a job, because there are as many jobs as tasks")
    }
}
