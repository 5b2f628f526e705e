//! The offer of a fork that may wait.
//!
//! Such a fork cannot go onto the shelf: the shelf is the end of one stack of forks, and a worker has many of these,
//! one for each of its fibers. So it is offered in the queue of jobs, where it may still lie when the fork is long
//! over; what lies there is on the heap, and says so.
//!
//! | state   | meaning                          | left by                                                        |
//! |---------|----------------------------------|----------------------------------------------------------------|
//! | OFFERED | nobody has the fork              | the owner or a thief -> TAKEN, by CAS                          |
//! | TAKEN   | whoever took it runs it          | the end; a thief notifies `done`                               |
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
    /// A thief has run it.
    pub(crate) done: Latch,
}

// SAFETY: the frame is touched by whoever has taken the offer alone.
unsafe impl Send for Offer {}
// SAFETY: as above.
unsafe impl Sync for Offer {}

impl Offer {
    /// # Safety
    /// `execute` may be called once with `frame`, on any thread, until the offer is taken by another.
    pub(crate) unsafe fn new(execute: unsafe fn(*const ()), frame: *const ()) -> Self {
        Self { is_taken: AtomicBool::new(false), execute, frame, done: Latch::new() }
    }

    /// Takes the fork, to run it. `false`: another has.
    pub(crate) fn take(&self) -> bool {
        !self.is_taken.swap(true, Ordering::Relaxed)
    }

    /// Takes the fork, if nobody has it, and runs it on the calling thread. `finish` is called before the owner is
    /// told.
    pub(crate) fn run(&self, finish: impl FnOnce()) {
        if self.take() {
            // SAFETY: taken just now, which happens once, as `new` demands.
            unsafe { (self.execute)(self.frame) };
            finish();
            self.done.notify();
        }
    }
}
