//! Kicks: other threads make a fiber check its wait again, in any state of the fiber. See
//! [`waiter`](crate::wait::waiter).
//!
//! Each fiber has one kick, which may be in the inbox of its worker. A thread that kicks the fiber marks the kick, and
//! pushes it onto the inbox unless it was marked already. The worker clears the mark, and the fiber checks its wait.
//! The check sees everything that happened before each kick, even a kick of a thread that found the mark already set.
//! The reason: only read-modify-writes change the mark, and each acquires and releases.
//!
//! Each worker has one more kick, with which other threads request the stacks of its fibers.
//!
//! Since this is an [`Inbox`], a worker that ends waits for threads that are about to wake it. A kick is part of the
//! block and may outlive its fiber; it has no effect on the next fiber of the block, which is not freed meanwhile.

use crate::{
    fiber::ready::{Inbox, Linked, List},
    sys::sync::{AtomicBool, Cell, Ordering, const_unless_loom},
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
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { next: Cell::new(ptr::null()), is_marked: AtomicBool::new(false) }
        }
    }

    /// Returns whether the kick is in the inbox, or about to be pushed there.
    #[cfg(not(loom))]
    pub(crate) fn is_marked(&self) -> bool {
        self.is_marked.load(Ordering::Acquire)
    }

    /// Pushes the kick onto its worker's inbox, unless it is there, and calls `wake` if the worker is away.
    ///
    /// # Safety
    /// The kick and the inbox are those of one worker, which does not end before this call, as for
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
            // SAFETY: a block is not freed while its kick is marked.
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
    fn kick_leads_to_its_containing_object() {
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
