//! A slot: the place of an event that happens once and that one strand waits for.
//!
//! | word     | meaning                                   | left by                                                    |
//! |----------|-------------------------------------------|------------------------------------------------------------|
//! | EMPTY    | nothing happened, nobody waits            | `notify` -> NOTIFIED, `register` -> an address             |
//! | address  | somebody waits                            | `notify` -> BUSY, `unregister` -> EMPTY                    |
//! | BUSY     | the notifier decides the waiter's word    | the notifier -> NOTIFIED                                   |
//! | NOTIFIED | it has happened                           | `reset` -> EMPTY                                           |
//!
//! BUSY lasts for the few instructions of a decision; a waiter that leaves for another reason just then waits for the end of it.
//!
//! Orderings: `notify` releases and the waiter acquires, in `is_notified` as in a failed `register`.

use crate::{
    sys::sync::{AtomicPtr, Ordering, spin_while},
    wait::{
        place::{Address, Place},
        waiter::Waiter,
    },
};
use std::{cell::UnsafeCell, ops::Deref, ptr};

const EMPTY: *mut Address = ptr::null_mut();
const BUSY: *mut Address = ptr::without_provenance_mut(1);
const NOTIFIED: *mut Address = ptr::without_provenance_mut(2);

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Slot {
    word: AtomicPtr<Address>,
}

impl Slot {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self { word: AtomicPtr::new(EMPTY) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self { word: AtomicPtr::new(EMPTY) }
    }

    pub(crate) fn is_notified(&self) -> bool {
        self.word.load(Ordering::Acquire) == NOTIFIED
    }

    /// It has happened. Who waits for it is woken. Doing it again is harmless.
    pub(crate) fn notify(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = match word {
                EMPTY => NOTIFIED,
                // Another notifies just now, or has: written all the same, so that the waiter sees what came before this.
                BUSY | NOTIFIED => word,
                _ => BUSY,
            };
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(EMPTY | BUSY | NOTIFIED) => return,
                Ok(address) => {
                    // SAFETY: while the slot is busy the waiter does not leave, so its address is alive and the wait is
                    // the one that was registered.
                    let wake = unsafe { (*address).decide() };
                    // A swap, which carries on what others released into BUSY.
                    self.word.swap(NOTIFIED, Ordering::AcqRel);
                    if let Some(wake) = wake {
                        wake.wake();
                    }
                    return;
                }
                Err(found) => word = found,
            }
        }
    }

    /// Makes the slot ready for another event. Only for the one strand that waits here, when it is not registered.
    pub(crate) fn reset(&self) {
        if self.is_notified() {
            // A swap: what happened before the last of several notifications is seen, too.
            self.word.swap(EMPTY, Ordering::Acquire);
        }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// A wait for a [`Slot`], to which `S` refers.
pub(crate) struct SlotWait<S> {
    slot: S,
    address: UnsafeCell<Address>,
}

// SAFETY: the address is the waiting strand's, and read by a notifier while the slot says so.
unsafe impl<S: Send> Send for SlotWait<S> {}
// SAFETY: as above.
unsafe impl<S: Sync> Sync for SlotWait<S> {}

impl<S: Deref<Target = Slot>> SlotWait<S> {
    pub(crate) fn new(slot: S) -> Self {
        Self { slot, address: UnsafeCell::new(Address { waiter: ptr::null(), ticket: 0 }) }
    }
}

// SAFETY: an address leaves the slot by `unregister`, or by `notify`, which decides before it says that it is done.
unsafe impl<S: Deref<Target = Slot>> Place for SlotWait<S> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: not registered, so nobody reads it.
        unsafe { *self.address.get() = Address { waiter, ticket } };
        let result = self.slot.word.compare_exchange(EMPTY, self.address.get(), Ordering::AcqRel, Ordering::Acquire);
        debug_assert!(!matches!(result, Err(word) if word != NOTIFIED && word != BUSY), "two strands wait at one slot");
        if result == Err(BUSY) {
            self.settle();
        }
        result.is_ok()
    }

    unsafe fn unregister(&self, _: bool) {
        let own = self.address.get();
        if self.slot.word.compare_exchange(own, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.settle();
        }
    }
}

impl<S: Deref<Target = Slot>> SlotWait<S> {
    fn settle(&self) {
        spin_while(|| self.slot.word.load(Ordering::Acquire) == BUSY);
    }
}
