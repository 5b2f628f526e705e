//! The position of one end of a stream, and the data that both ends share.

use crate::{
    bias::pair::{BiasedPair, Side},
    channel::{
        closing::CloseWord,
        spsc::stream::slab::{Slab, Slot},
    },
    sys::sync::{AtomicBool, AtomicU8, Ordering},
    wait::state_word::is_address,
};
use std::ptr::NonNull;

/// The data that both ends share besides the slots.
pub(crate) struct Shared {
    /// The bias: while one thread uses both ends, it loads and stores words instead of exchanging them.
    pub(crate) sides: BiasedPair,
    pub(crate) is_closed: AtomicBool,
    /// The sender waits here until the stream is closed.
    pub(crate) closing: CloseWord,
    /// The number of ends that have not been dropped.
    pub(crate) ends: AtomicU8,
    pub(crate) is_bounded: bool,
    /// Whether the slabs of an unbounded stream grow. A hint.
    pub(crate) is_growing: AtomicBool,
}

/// The position of an end: the slot that it uses next.
pub(crate) struct Cursor<T> {
    pub(crate) shared: NonNull<Shared>,
    pub(crate) slot: *const Slot<T>,
    /// One past the last slot of the slab.
    end: *const Slot<T>,
    pub(crate) slab: *const Slab<T>,
}

impl<T> Clone for Cursor<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Cursor<T> {}

impl<T> Cursor<T> {
    /// Returns the position at the first slot of a slab.
    ///
    /// # Safety
    /// `shared` and `slab` are alive.
    pub(crate) unsafe fn new(shared: NonNull<Shared>, slab: *const Slab<T>) -> Self {
        // SAFETY: the caller keeps `shared` and `slab` alive.
        unsafe {
            let slot = Slab::first(slab);
            Self { shared, slot, end: slot.add((*slab).len), slab }
        }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared {
        // SAFETY: the shared data are freed when both ends have left, and the end of this cursor has not.
        unsafe { self.shared.as_ref() }
    }

    #[inline]
    pub(crate) fn slot(&self) -> &Slot<T> {
        // SAFETY: the slot is in a slab that is alive. The receiver has not freed its own slab, and the sender is never
        // behind the receiver.
        unsafe { &*self.slot }
    }

    /// Returns whether this is the last slot of its slab.
    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        // SAFETY: the slot is in the slab, so the result is at most one past its end.
        unsafe { self.slot.add(1) == self.end }
    }

    /// Returns the position after this one. At the last slot of a slab of an unbounded stream, the next slab must have
    /// been made.
    #[inline]
    pub(crate) fn following(&self) -> Self {
        if !self.is_last() {
            // SAFETY: the slot is not the last of the slab, so the next one is in the slab too.
            return Self { slot: unsafe { self.slot.add(1) }, ..*self };
        }
        self.following_slab()
    }

    #[inline(never)]
    fn following_slab(&self) -> Self {
        // SAFETY: this slab is alive. So is the next one, which the sender links before it fills the last slot of this.
        unsafe {
            (*self.slab).life.get();
            let slab = if self.shared().is_bounded { self.slab } else { (*self.slab).next.load(Ordering::Acquire) };
            Self::new(self.shared, slab)
        }
    }

    /// Moves to the [following](Self::following) position.
    #[inline]
    pub(crate) fn advance(&mut self) {
        if self.is_last() {
            *self = self.following_slab();
        } else {
            // SAFETY: the slot is not the last of the slab, so the next one is in the slab too.
            self.slot = unsafe { self.slot.add(1) };
        }
    }

    /// Makes the next slab. If slabs grow, it is twice as large as this one, up to a limit. It is small if the receiver
    /// waits at this slot, because then the receiver has received all before it. Only the sender calls this, at the
    /// last slot of the last slab.
    #[inline(never)]
    pub(crate) fn extend(&self) {
        // SAFETY: the slab is alive, because the receiver is not past this slot.
        let slab = unsafe { &*self.slab };
        // The next slab already exists if the receiver refused a value at this slot before.
        if slab.next.load(Ordering::Relaxed).is_null() {
            let grows = self.shared().is_growing.load(Ordering::Relaxed) && !is_address(self.slot().word.load());
            let len = if grows { Slab::<T>::MOST.min(2 * slab.len) } else { Slab::<T>::LEN };
            slab.next.store(Slab::<T>::new(len).cast_mut(), Ordering::Release);
        }
    }

    /// Marks the stream as closed, after it has ended the bias. Ends the wait of a sender for this.
    pub(crate) fn close(&self, side: &Side) {
        self.shared().sides.end(side);
        // A swap and not a store, because loom may let a store take effect later.
        self.shared().is_closed.swap(true, Ordering::SeqCst);
        self.shared().closing.close().end();
    }

    /// Gives up the end's share of the stream. The last end to do so frees the slabs and the shared data.
    ///
    /// # Safety
    /// The caller calls this once for each end, and does not use the end afterwards. If the receiver has left, it has
    /// ended the stream.
    pub(crate) unsafe fn leave(&self) {
        if self.shared().ends.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        // SAFETY: the other end is gone and no value is left. The receiver freed the slabs before this end's position.
        unsafe {
            Slab::free_all(self.slab);
            drop(Box::from_raw(self.shared.as_ptr()));
        }
    }
}
