//! The wait of a worker's thread itself, in `run`, as reports of the pool see it.

use crate::{fiber::status::FiberStatus, pool::counter::Counter, sys::sync::AtomicPtr};
use std::{cell::Cell, ptr};

/// See the [module](self).
pub(crate) struct ThreadWait {
    /// The number of calls of `run` that began here and are on the stack of the thread. The thread does not leave the
    /// pool before they return.
    pub(crate) runs: Cell<u32>,
    /// The wait of the thread, if it waits.
    pub(crate) status: FiberStatus,
    /// The address of the waiter that the thread uses, to recognise the holder of a lock.
    pub(crate) waiter: AtomicPtr<()>,
    /// The number of waits, of the thread and of its fibers, for locks whose holder is known.
    pub(crate) lock_waits: Counter,
}

impl ThreadWait {
    pub(crate) const fn new() -> Self {
        Self {
            runs: Cell::new(0),
            status: FiberStatus::new(),
            waiter: AtomicPtr::new(ptr::null_mut()),
            lock_waits: Counter::new(),
        }
    }
}
