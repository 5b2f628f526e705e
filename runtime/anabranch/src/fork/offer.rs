//! The offer of a fork that may wait.
//!
//! Such a fork cannot go onto the shelf: the shelf is the end of one stack of forks, and a worker has many of these,
//! one for each of its fibers. So it is offered in the queue of jobs. The offer may still be in the queue long after
//! the fork is over, so it is on the heap and records whether the fork was taken.
//!
//! | state   | meaning                          | left by                                                        |
//! |---------|----------------------------------|----------------------------------------------------------------|
//! | OFFERED | no thread has taken the fork     | the owner or a thief -> TAKEN, by CAS                          |
//! | TAKEN   | the thread that took it runs it  | the end; a thief notifies `done`                               |
//!
//! Orderings: the queue's lock carries the frame to the thief, `done` its result to the owner, so taking the offer
//! carries nothing. A thief that comes too late touches the offer alone: the frame may be gone.

use crate::{
    sys::sync::{AtomicBool, Ordering},
    wait::latch::Latch,
};

/// See the [module](self).
pub(crate) struct Offer {
    is_taken: AtomicBool,
    execute: unsafe fn(*const ()),
    frame: *const (),
    /// Notified when a thief has run it.
    pub(crate) done: Latch,
}

// SAFETY: only the thread that has taken the offer accesses the frame, and `new` demands that any thread may.
unsafe impl Send for Offer {}
// SAFETY: the flag is atomic, the latch is made for sharing, and only the thread that has taken the offer accesses the
// frame.
unsafe impl Sync for Offer {}

impl Offer {
    /// # Safety
    /// `execute` may be called once with `frame`, on any thread, until the offer is taken by another.
    pub(crate) unsafe fn new(execute: unsafe fn(*const ()), frame: *const ()) -> Self {
        Self { is_taken: AtomicBool::new(false), execute, frame, done: Latch::new() }
    }

    /// Takes the fork, to run it. Returns `false` if another thread has taken it.
    pub(crate) fn take(&self) -> bool {
        !self.is_taken.swap(true, Ordering::Relaxed)
    }

    /// Takes the fork, unless another thread has, and runs it on the calling thread. Calls `finish` before it notifies
    /// the owner.
    pub(crate) fn run(&self, finish: impl FnOnce()) {
        if self.take() {
            // SAFETY: `take` returns `true` once, so `execute` is called once, which is what the caller of `new`
            // allows.
            unsafe { (self.execute)(self.frame) };
            finish();
            self.done.notify();
        }
    }
}
