//! The position of an end of a stream, and the data that the ends share.

use crate::{
    bias::pair::{BiasedPair, Side},
    channel::spsc::stream::slab::{Slab, Slot},
    sys::sync::{AtomicBool, AtomicU8, Ordering},
    wait::state_word::{Content, is_address, try_select, try_select_local},
};
use std::ptr::NonNull;

/// The data that both ends share besides the slots.
pub(crate) struct Shared {
    /// While both ends are used by one thread: words are then read and written, instead of exchanged.
    pub(crate) sides: BiasedPair,
    pub(crate) is_closed: AtomicBool,
    pub(crate) ends: AtomicU8,
    pub(crate) is_bounded: bool,
    /// Whether slabs grow. A hint.
    pub(crate) is_growing: AtomicBool,
}

/// The position of an end.
pub(crate) struct Cursor<T> {
    pub(crate) shared: NonNull<Shared>,
    pub(crate) slot: *const Slot<T>,
    /// Behind the last slot of the slab.
    end: *const Slot<T>,
    pub(crate) slab: *const Slab<T>,
}

impl<T> Clone for Cursor<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Cursor<T> {}

/// Ends the wait whose address was taken out of a word.
///
/// # Safety
/// The caller took the address out of the word.
#[inline(never)]
pub(crate) unsafe fn wake(found: Content) {
    // SAFETY: the caller took the address out of the word, so no other thread selects this wait.
    if let Some(wake) = unsafe { try_select(found) } {
        wake.wake();
    }
}

/// Like [`wake`], for the owner of the bias. A waiter that waits [locally](crate::wait::waiter) does so on this thread.
///
/// # Safety
/// The caller took the address out of the word, and was inside when it did so.
#[inline]
pub(crate) unsafe fn wake_local(found: Content) {
    // SAFETY: the caller took the address out, inside. A local waiter waited as the owner, which changes only once, to
    // none.
    if let Some(wake) = unsafe { try_select_local(found) } {
        wake.wake();
    }
}

impl<T> Cursor<T> {
    /// # Safety
    /// Both are alive.
    pub(crate) unsafe fn new(shared: NonNull<Shared>, slab: *const Slab<T>) -> Self {
        // SAFETY: the caller promises that both are alive.
        unsafe {
            let slot = Slab::first(slab);
            Self { shared, slot, end: slot.add((*slab).len), slab }
        }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared {
        // SAFETY: it is alive while an end has not given up its part.
        unsafe { self.shared.as_ref() }
    }

    #[inline]
    pub(crate) fn slot(&self) -> &Slot<T> {
        // SAFETY: positions are within slabs that are alive: the receiver's slab has not been freed, and the sender is
        // not behind it.
        unsafe { &*self.slot }
    }

    /// Whether this is the last slot of its slab.
    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        // SAFETY: within the slab.
        unsafe { self.slot.add(1) == self.end }
    }

    /// The position after this one. An unbounded stream must have been extended or filled so far.
    #[inline]
    pub(crate) fn following(&self) -> Self {
        if !self.is_last() {
            // SAFETY: within the slab.
            return Self { slot: unsafe { self.slot.add(1) }, ..*self };
        }
        self.following_slab()
    }

    #[inline(never)]
    fn following_slab(&self) -> Self {
        // SAFETY: the slab is alive, and so is the next, which was linked before its last slot was filled.
        unsafe {
            (*self.slab).life.get();
            let slab = if self.shared().is_bounded { self.slab } else { (*self.slab).next.load(Ordering::Acquire) };
            Self::new(self.shared, slab)
        }
    }

    /// Goes on to the next slot; see [`following`](Self::following).
    #[inline]
    pub(crate) fn advance(&mut self) {
        if self.is_last() {
            *self = self.following_slab();
        } else {
            // SAFETY: within the slab.
            self.slot = unsafe { self.slot.add(1) };
        }
    }

    /// Makes the next slab: if slabs grow, twice as large as this one, but small again if the receiver has caught up
    /// and waits. For the sender, at the last slot of the last slab.
    #[inline(never)]
    pub(crate) fn extend(&self) {
        // SAFETY: the slab is alive.
        let slab = unsafe { &*self.slab };
        // There is one if a value was refused here before.
        if slab.next.load(Ordering::Relaxed).is_null() {
            let grows = self.shared().is_growing.load(Ordering::Relaxed) && !is_address(self.slot().word.load());
            let len = if grows { Slab::<T>::MOST.min(2 * slab.len) } else { Slab::<T>::LEN };
            slab.next.store(Slab::<T>::new(len).cast_mut(), Ordering::Release);
        }
    }

    pub(crate) fn close(&self, side: &Side) {
        self.shared().sides.end(side);
        // A swap, for the models, which take a store to be possibly later.
        self.shared().is_closed.swap(true, Ordering::SeqCst);
    }

    /// Gives up an end's part.
    ///
    /// # Safety
    /// The caller calls this once for each end, and does not use the end afterwards. The receiver has ended the stream.
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
