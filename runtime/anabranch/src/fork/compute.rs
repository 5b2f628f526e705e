//! The compute work of a worker: its open forks, its tasks, and its parts of broadcasts.

use crate::{
    fork::{
        frame::Frame,
        stack::ForkStack,
        task::{Task, Tasks},
    },
    sys::asymmetric_fence::Fence,
};
use std::{cell::Cell, iter};

/// The maximum number of broadcasts that a worker answers one on top of the other, related or not.
const MAX_UNRELATED_ANSWERS: u32 = 8;

/// See the [module](self).
pub(crate) struct Compute {
    pub(crate) stack: ForkStack,
    /// Tasks that were spawned here. Any thread may take them.
    pub(crate) tasks: Tasks,
    /// This worker's parts of broadcasts, which only it may run.
    pub(crate) broadcasts: Tasks,
    /// The number of parts of broadcasts on the worker's stack.
    pub(crate) answering: Cell<u32>,
    /// The index of the thread, if a job has asked for it. See `pool::thread_index`.
    pub(crate) lease: Cell<Option<usize>>,
    /// Where the last search found something: the next begins there.
    pub(crate) last_victim: Cell<usize>,
    /// The binary logarithm of the number of the pool's threads, rounded up. Here because each loop reads it.
    pub(crate) threads_log2: u32,
}

impl Compute {
    pub(crate) fn new(fence: Fence, threads: usize) -> Self {
        Self {
            stack: ForkStack::new(fence),
            threads_log2: threads.next_power_of_two().trailing_zeros(),
            ..Self::outside()
        }
    }

    /// Returns the compute work of a thread that is in no pool.
    pub(crate) const fn outside() -> Self {
        Self {
            stack: ForkStack::outside(),
            tasks: Tasks::new(),
            broadcasts: Tasks::new(),
            answering: Cell::new(0),
            lease: Cell::new(None),
            last_victim: Cell::new(0),
            threads_log2: 0,
        }
    }

    /// Takes the part of a broadcast that has waited longest. Returns `None` if there is none that may run on top of
    /// the parts that run here.
    ///
    /// The work of a broadcast may wait in turn, and that wait answers the next broadcast. Workers may wait for each
    /// other in this way, so in general a worker has to answer. But if a thousand threads broadcast at a time, a
    /// thousand answers must not be on one stack. So above a few of them, a worker answers only broadcasts that are
    /// nested deeper than the one that runs here. Of all broadcasts that wait for each other every worker answers the
    /// innermost, and the depth of answers depends only on how deep the program nests broadcasts.
    pub(crate) fn next_part(&self) -> Option<Task> {
        if self.broadcasts.is_empty() {
            return None;
        }
        if self.answering.get() < MAX_UNRELATED_ANSWERS {
            self.broadcasts.take_oldest()
        } else {
            self.broadcasts.take_inside_of_more(self.stack.broadcasts())
        }
    }

    /// Returns whether there are parts of broadcasts, tasks, or forks of compute code that no thread has taken. Only
    /// the worker's thread calls this.
    pub(crate) fn has_pending(&self) -> bool {
        if !self.broadcasts.is_empty() || !self.tasks.is_empty() || self.stack.shelf.has_available() {
            return true;
        }
        // SAFETY: this thread owns the list, so its frames stay linked during the call.
        let frame = |address: *const Frame| unsafe { address.as_ref() };
        let frames = iter::successors(frame(self.stack.newest()), |newer| frame(newer.previous()));
        // Published frames come last.
        frames.take_while(|frame| !frame.is_published()).any(|frame| !frame.may_wait())
    }
}
