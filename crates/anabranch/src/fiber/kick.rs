//! Kicks: how other threads tell a fiber that there may be a reason to look, whatever it does just now. See
//! [`waiter`](crate::wait::waiter).
//!
//! Each fiber has one, which is in the box of its worker or not. Whoever kicks marks it, and puts it into the box
//! unless it was marked; the worker unmarks it and has the fiber look. So of those who find it marked, all that they
//! did before is seen by that look: the mark is changed by read-modify-writes alone, each of which releases, or
//! acquires, what was before.
//!
//! The box is an [`Inbox`], so a worker that ends waits for those who are just waking it. A kick outlives the fiber
//! that it was for, as the block does, and says nothing to the next.

use crate::{
    fiber::ready::{Inbox, Linked, List},
    sys::sync::{AtomicBool, Cell, Ordering},
};
use std::ptr;

/// See the [module](self).
pub(crate) struct Kick {
    next: Cell<*const Self>,
    is_marked: AtomicBool,
}

impl Linked for Kick {
    fn next(&self) -> &Cell<*const Self> {
        &self.next
    }
}

impl Kick {
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
        let kicks = List::new();
        inbox.collect(&kicks);
        while let Some(kick) = kicks.pop() {
            // SAFETY: blocks, and the kicks in them, live as long as their worker.
            unsafe { (*kick).is_marked.swap(false, Ordering::AcqRel) };
            answer(kick);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::Kick;
    use crate::fiber::ready::Inbox;
    use std::{cell::Cell, mem::offset_of, ptr};

    /// What has a kick, as a fiber does.
    struct Whole {
        count: Cell<u32>,
        kick: Kick,
    }

    /// Whoever answers goes from the kick to what it is a field of, so the pointer has to be good for that.
    #[test]
    fn a_hail_leads_to_what_it_is_a_field_of() {
        let inbox = Inbox::new();
        let wholes = [(); 3].map(|()| Whole { count: Cell::new(0), kick: Kick::new() });
        for _ in 0..2 {
            for whole in &wholes {
                let whole = ptr::from_ref(whole);
                // SAFETY: all of them stay, and nobody waits.
                unsafe {
                    Kick::send(&raw const (*whole).kick, &raw const inbox, || unreachable!("nobody is away"));
                    Kick::send(&raw const (*whole).kick, &raw const inbox, || unreachable!("nobody is away"));
                }
            }
            Kick::answer_all(&inbox, |kick| {
                // SAFETY: the kick of a `Whole`, sent by a pointer made from one to it.
                let whole = unsafe { &*kick.byte_sub(offset_of!(Whole, kick)).cast::<Whole>() };
                whole.count.set(whole.count.get() + 1);
            });
        }
        assert_eq!(wholes.each_ref().map(|whole| whole.count.get()), [2; 3]);
    }
}
