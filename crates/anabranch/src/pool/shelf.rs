//! The shelf: the published forks of one thread, which any other may take without asking.
//!
//! | slot      | meaning                          | next                                                             |
//! |-----------|----------------------------------|------------------------------------------------------------------|
//! | 0         | empty, or its frame was taken    | publication -> `frame|1`; `put_back` of what was taken likewise  |
//! | `frame|1` | published, nobody has it         | thief CAS -> 0 (taken), owner CAS -> 0 (reclaimed)               |
//!
//! Invariant: a slot holds a frame only while that frame is published, taken by nobody, and not over: the owner does not
//! leave a join before it has itself made the slot 0 or seen the frame done. So whoever swings a slot to 0 holds a live
//! frame, however old the reading was that made it try (an ABA is harmless: the frame of the second A is as live).
//!
//! Orderings: publish (release) -> win the slot (acquire) carries the frame to the thief; `put_back` (release) -> reclaim
//! (acquire) carries it back to the owner. `len` is a hint where to look.
//!
//! The owner fills the shelf from below, its oldest fork first, and its joins end from above.

use crate::{
    pool::{frame::Frame, untouched::Untouched},
    sys::sync::{AtomicPtr, AtomicU64, Ordering},
};
use std::ptr;

type Slot = AtomicPtr<Frame>;

/// See the [module](self).
pub(crate) struct Shelf {
    slots: Untouched<Slot>,
    len: AtomicU64,
}

/// A published frame that this thread has won. It must be run or put back.
#[must_use]
pub(crate) struct Claim {
    pub(crate) frame: *const Frame,
    slot: *const Slot,
}

/// The tag keeps a frame that is published apart from every plain pointer to it.
fn tagged(frame: *const Frame) -> *mut Frame {
    frame.cast_mut().map_addr(|address| address | 1)
}

impl Shelf {
    #[cfg(not(loom))]
    pub(crate) const fn closed() -> Self {
        Self { slots: Untouched::none(), len: AtomicU64::new(0) }
    }

    pub(crate) fn new(capacity: usize) -> Self {
        // SAFETY: all bits zero are a null `AtomicPtr`.
        Self { slots: unsafe { Untouched::new(capacity) }, len: AtomicU64::new(0) }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    // ---- the owner, or who acts for it under its gate ----

    /// Publishes the frame that belongs at `index`.
    pub(crate) fn publish(&self, index: usize, frame: *const Frame) {
        self.slots[index].store(tagged(frame), Ordering::Release);
    }

    /// Says how many slots are worth looking at.
    pub(crate) fn set_len(&self, len: usize) {
        self.len.store(len as u64, Ordering::Relaxed);
    }

    /// Takes a frame back. `false`: somebody else has it at this moment.
    pub(crate) fn reclaim(&self, index: usize, frame: *const Frame) -> bool {
        let (slot, published) = (&self.slots[index], tagged(frame));
        // Looking first: a waiting owner asks again and again, and should not take the line from a thief each time.
        slot.load(Ordering::Relaxed) == published
            && slot.compare_exchange(published, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    // ---- everybody ----

    /// Gives the memory of the slots back.
    ///
    /// # Safety
    /// All slots are empty, and stay so meanwhile.
    #[cfg(not(loom))]
    pub(crate) unsafe fn give_back(&self) {
        // SAFETY: what is read afterwards is zero, as before.
        unsafe { self.slots.give_back() };
    }

    /// How many slots are worth looking at.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed) as usize
    }

    /// Takes the oldest frame that lies at `from` or above. Its index comes with it.
    pub(crate) fn take_oldest(&self, from: usize) -> Option<(usize, Claim)> {
        for (index, slot) in self.slots[..self.len()].iter().enumerate().skip(from) {
            let entry = slot.load(Ordering::Relaxed);
            if !entry.is_null()
                && slot.compare_exchange(entry, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return Some((index, Claim { frame: entry.map_addr(|address| address & !1), slot }));
            }
        }
        None
    }

    /// The lowest slot at `from` or above whose frame somebody has taken.
    pub(crate) fn first_taken(&self, from: usize) -> Option<usize> {
        let is_taken = |index: &usize| self.slots[*index].load(Ordering::Relaxed).is_null();
        (from..self.len()).find(is_taken)
    }

    /// Whether there is something to take.
    pub(crate) fn has_published(&self) -> bool {
        self.slots[..self.len()].iter().any(|slot| !slot.load(Ordering::Relaxed).is_null())
    }
}

impl Claim {
    /// Gives the frame back to the shelf and tells its owner, who may be waiting for it.
    pub(crate) fn put_back(self) {
        // SAFETY: the frame is taken, so its owner waits in its join, and the slot is not used for another. Both the slot
        // and the parker belong to a worker of the pool and outlive the frame, which may be gone after the store.
        unsafe {
            let owner = Frame::owner(self.frame);
            (*self.slot).store(tagged(self.frame), Ordering::Release);
            (*owner).unpark();
        }
    }

    /// Runs the frame and tells its owner.
    pub(crate) fn run(self) {
        // SAFETY: this claim is the proof that the slot was won, and it is used up here.
        unsafe { Frame::run(self.frame) }
    }
}
