//! Kicks: other threads make a fiber check its wait again, whatever the fiber does just now. See
//! [`waiter`](crate::wait::waiter).
//!
//! Each fiber has one kick, which is in the box of its worker or not. A thread that kicks marks it, and pushes it to
//! the box unless it was marked already. The worker unmarks it and lets the fiber check. That check sees all that the
//! threads that found the kick marked did before: only read-modify-writes change the mark, and each acquires and
//! releases.
//!
//! The box is an [`Inbox`], so a worker that ends waits for threads that are about to wake it. A kick outlives the
//! fiber that it was for, as the block does, and has no effect on the next fiber.

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

    /// Posts the kick to its worker's box, unless it is there, and calls `wake` if the worker is away.
    ///
    /// # Safety
    /// The kick and the box are those of one worker, which does not end before this call, as for
    /// [`Inbox::push_remote`].
    pub(crate) unsafe fn send(this: *const Self, inbox: *const Inbox<Self>, wake: impl FnOnce()) {
        // SAFETY: the caller guarantees that the worker, and the kick with it, does not end before this call. Only the
        // thread that marks the kick pushes it, so it is in the box at most once.
        unsafe {
            if !(*this).is_marked.swap(true, Ordering::AcqRel) {
                Inbox::push_remote(inbox, this, wake);
            }
        }
    }

    /// Takes all kicks, and calls `answer` with each. Only the worker calls this.
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

    /// A type that contains a kick, as a fiber does.
    struct Whole {
        count: Cell<u32>,
        kick: Kick,
    }

    /// `answer` goes from the kick to the struct that it is a field of, so the pointer has to be valid for the whole
    /// struct.
    #[test]
    fn a_hail_leads_to_what_it_is_a_field_of() {
        let inbox = Inbox::new();
        let wholes = [(); 3].map(|()| Whole { count: Cell::new(0), kick: Kick::new() });
        for _ in 0..2 {
            for whole in &wholes {
                let whole = ptr::from_ref(whole);
                // SAFETY: `wholes` and `inbox` outlive the call.
                unsafe {
                    Kick::send(&raw const (*whole).kick, &raw const inbox, || unreachable!("nobody is away"));
                    Kick::send(&raw const (*whole).kick, &raw const inbox, || unreachable!("nobody is away"));
                }
            }
            Kick::answer_all(&inbox, |kick| {
                // SAFETY: the kick is that of a `Whole`, and was sent by a pointer made from one to the whole.
                let whole = unsafe { &*kick.byte_sub(offset_of!(Whole, kick)).cast::<Whole>() };
                whole.count.set(whole.count.get() + 1);
            });
        }
        assert_eq!(wholes.each_ref().map(|whole| whole.count.get()), [2; 3]);
    }
}
