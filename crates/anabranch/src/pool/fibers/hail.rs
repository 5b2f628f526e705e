//! Hails: how other threads tell a fiber that there may be a reason to look, whatever it does just now. See [`waiter`](crate::wait::waiter).
//!
//! Each fiber has one, which is in the box of its worker or not. Whoever hails marks it, and puts it into the box unless it was marked;
//! the worker unmarks it and has the fiber look. So of those who find it marked, all that they did before is seen by
//! that look: the mark is changed by read-modify-writes alone, each of which releases, or acquires, what was before.
//!
//! The box is an [`Inbox`], so a worker that ends waits for those who are just waking it. A hail outlives the fiber that it was for,
//! as the block does, and says nothing to the next.

use crate::{
    pool::fibers::ready::{Inbox, Linked, List},
    sys::sync::{AtomicBool, Cell, Ordering},
};
use std::ptr;

/// See the [module](self).
pub(crate) struct Hail {
    next: Cell<*const Self>,
    is_marked: AtomicBool,
}

impl Linked for Hail {
    fn next(&self) -> &Cell<*const Self> {
        &self.next
    }
}

impl Hail {
    pub(crate) fn new() -> Self {
        Self { next: Cell::new(ptr::null()), is_marked: AtomicBool::new(false) }
    }

    /// Puts it into its worker's box, if it is not there, and calls `wake` if the worker is away.
    ///
    /// # Safety
    /// As for [`Inbox::post`]: the worker does not end before this does.
    pub(crate) unsafe fn send(this: *const Self, inbox: *const Inbox<Self>, wake: impl FnOnce()) {
        // SAFETY: the caller's word. Whoever marks it has it, until the worker takes it.
        unsafe {
            if !(*this).is_marked.swap(true, Ordering::AcqRel) {
                Inbox::post(inbox, this, wake);
            }
        }
    }

    /// The worker takes all there are, and has a look at the fiber of each.
    pub(crate) fn answer_all(inbox: &Inbox<Self>, mut answer: impl FnMut(*const Self)) {
        let hails = List::new();
        inbox.collect(&hails);
        while let Some(hail) = hails.pop() {
            // SAFETY: blocks, and the hails in them, live as long as their worker.
            unsafe { (*hail).is_marked.swap(false, Ordering::AcqRel) };
            answer(hail);
        }
    }
}
