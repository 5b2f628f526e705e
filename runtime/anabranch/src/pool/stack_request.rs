//! Requests to the thread of a worker for the stacks of its waiting fibers, and for its own.
//!
//! A fiber that waits continues on the thread of its worker alone. So that thread can read the stack of the fiber while
//! the fiber cannot run, and without a change of its state. No other thread can: the fiber might continue meanwhile.
//! The thread also knows, without any synchronization, which of its fibers have left their stacks: it has left them.
//!
//! | the thread of the worker                   | what it does with a request                                     |
//! |--------------------------------------------|-----------------------------------------------------------------|
//! | looks for ready fibers, or parks idle      | the kick wakes it; it captures its fibers' stacks               |
//! | is blocked in the wait of a fiber          | the same, and it captures the stack of this fiber, if that stack has room for it  |
//! | waits inside `run`                         | it is unparked where it waits; the same, and its own            |
//! | is the thread that makes the report           | the same                                                        |
//! | computes, or waits in a join               | nothing; the report goes on without these stacks after a second |
//!
//! Orderings. The request is in the queue before `is_asked` is set, and that before the thread is woken. A thread that
//! looks for ready fibers leaves a mark in the inbox of kicks before it parks, so it finds the kick or is woken for it.
//! A thread that waits inside `run` checks `is_asked` after it has shown at which parker it parks, and the reporter
//! looks for that parker after it has set `is_asked`. A lock orders both. So the thread finds the request, or a token
//! in its parker. The answers go through a channel, whose end also shows the reporter that all have come. After a
//! timeout the reporter drops the receiver, and threads that come later find that out.
//!
//! A request names a fiber by the address of its block, which is only compared, and by the tick at which its wait
//! began. If the block has begun another wait since, the request is not answered. (Two waits in one tick look alike if
//! they are at the same place of the program.)

use crate::{
    fiber::kick::Kick,
    sys::{
        channel::Sender,
        sync::{Mutex, lock},
    },
};
use std::{
    backtrace::Backtrace,
    collections::HashMap,
    // Not from `sys`: no model has reports.
    sync::atomic::{AtomicBool, Ordering},
};

/// The requests to one worker.
pub(crate) struct StackRequests {
    /// Is in the worker's inbox of kicks while a request for stacks of fibers is new.
    pub(crate) kick: Kick,
    is_asked: AtomicBool,
    queue: Mutex<Vec<StackRequest>>,
}

/// A request for stacks. A number stands for each.
pub(crate) struct StackRequest {
    /// The numbers of fibers, by the addresses of their blocks, and since when each waits.
    pub(crate) fibers: HashMap<usize, (usize, u32)>,
    /// The number of the thread itself, if that waits.
    pub(crate) thread: Option<usize>,
    pub(crate) answers: Sender<(usize, Backtrace)>,
}

impl StackRequests {
    pub(crate) const fn new() -> Self {
        Self { kick: Kick::new(), is_asked: AtomicBool::new(false), queue: Mutex::new(Vec::new()) }
    }

    /// Adds a request. The caller wakes the thread.
    pub(crate) fn push(&self, request: StackRequest) {
        lock(&self.queue).push(request);
        self.is_asked.store(true, Ordering::Release);
    }

    /// Returns whether there may be a request.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// Takes all requests.
    pub(crate) fn take(&self) -> Vec<StackRequest> {
        self.is_asked.store(false, Ordering::Relaxed);
        std::mem::take(&mut *lock(&self.queue))
    }
}
