//! A slot: the place of an event that happens once and that one strand waits for.
//!
//! | word     | meaning                                   | left by                                                    |
//! |----------|-------------------------------------------|------------------------------------------------------------|
//! | EMPTY    | nothing happened, nobody waits            | `tell` -> NOTIFIED, `register` -> an address, `give_up` -> GIVEN UP |
//! | address  | somebody waits                            | `tell` -> BUSY, `unregister` -> EMPTY                      |
//! | BUSY     | the notifier decides the waiter's word    | the notifier -> NOTIFIED                                   |
//! | NOTIFIED | it has happened                           | `reset` -> EMPTY                                           |
//! | GIVEN UP | nobody will ever wait                     |                                                            |
//!
//! One strand waits at a time. A future may be forgotten while it waits; whoever waits next puts its own address in the
//! place of that one's.
//!
//! BUSY lasts for the few instructions of a decision; a waiter that leaves for another reason just then waits for the
//! end of it.
//!
//! Of two who share what the slot lies in, one tells and the other gives up, once each, and the second of them is told
//! that it is: so it knows that all is its own, and the first touches nothing afterwards.
//!
//! Orderings: `tell` releases and the waiter acquires, in `is_notified` as in a failed `register`. The word is written
//! by read-modify-writes alone, so each of several notifications is acquired with the last one. `register` releases the
//! address, and the change to BUSY acquires it; the change from BUSY releases it again, before the waiter may write
//! another. Giving up releases what was done until then, and acquires where it comes second; so does telling.

use crate::{
    sys::sync::{AtomicPtr, Cell, Ordering, spin_while},
    wait::{
        waitable::{Address, Place},
        waiter::Waiter,
    },
};
use std::{ops::Deref, ptr};

type Word = *mut Cell<Address>;

const EMPTY: Word = ptr::null_mut();
const BUSY: Word = ptr::without_provenance_mut(1);
const NOTIFIED: Word = ptr::without_provenance_mut(2);
const GIVEN_UP: Word = ptr::without_provenance_mut(3);

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Latch {
    word: AtomicPtr<Cell<Address>>,
}

impl Latch {
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
        self.tell();
    }

    /// As [`notify`](Self::notify), for an event that somebody may have given up. `false`: somebody has, before.
    pub(crate) fn tell(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = match word {
                EMPTY => NOTIFIED,
                GIVEN_UP => {
                    self.word.load(Ordering::Acquire);
                    return false;
                }
                // Another notifies just now, or has: written all the same, so that the waiter sees what came before
                // this.
                BUSY | NOTIFIED => word,
                _ => BUSY,
            };
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(EMPTY | BUSY | NOTIFIED) => return true,
                Ok(address) => {
                    // SAFETY: while the slot is busy the waiter does not leave, so its address is alive and the wait is
                    // the one that was registered.
                    let wake = unsafe { (*address).get().decide() };
                    // A swap, which carries on what others released into BUSY.
                    self.word.swap(NOTIFIED, Ordering::Release);
                    if let Some(wake) = wake {
                        wake.wake();
                    }
                    return true;
                }
                Err(found) => word = found,
            }
        }
    }

    fn wait_while_busy(&self) {
        spin_while(|| self.word.load(Ordering::Acquire) == BUSY);
    }

    /// For the one strand that might wait here, and does not: it never will. `false`: it has happened, before.
    pub(crate) fn give_up(&self) -> bool {
        !self.is_notified() && self.word.compare_exchange(EMPTY, GIVEN_UP, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Makes the slot ready for another event. Only for the one strand that waits here, when it is not registered.
    pub(crate) fn reset(&self) {
        if self.is_notified() {
            // A swap: what happened before the last of several notifications is seen, too.
            self.word.swap(EMPTY, Ordering::Acquire);
        }
    }
}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

/// A wait for a [`Latch`], to which `S` refers.
pub(crate) struct LatchWait<S> {
    slot: S,
    address: Cell<Address>,
}

// SAFETY: the address is the waiting strand's, and read by a notifier while the slot says so.
unsafe impl<S: Send> Send for LatchWait<S> {}
// SAFETY: as above.
unsafe impl<S: Sync> Sync for LatchWait<S> {}

impl<S: Deref<Target = Latch>> LatchWait<S> {
    pub(crate) fn new(slot: S) -> Self {
        Self { slot, address: Cell::new(Address { waiter: ptr::null(), ticket: 0 }) }
    }
}

// SAFETY: an address leaves the slot by `unregister`, or by `notify`, which decides before it says that it is done.
unsafe impl<S: Deref<Target = Latch>> Place for LatchWait<S> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // Not registered, so nobody reads it.
        self.address.set(Address { waiter, ticket });
        let mut word = EMPTY;
        loop {
            match self.slot.word.compare_exchange(word, self.own(), Ordering::Release, Ordering::Acquire) {
                Ok(_) => return true,
                Err(NOTIFIED) => return false,
                // The notifier is ending the wait of a future that was forgotten, and has notified in a moment.
                Err(BUSY) => {
                    self.slot.wait_while_busy();
                    return false;
                }
                // The address is of a future that was forgotten while it waited: nobody wants to be woken there.
                Err(found) => word = found,
            }
        }
    }

    unsafe fn unregister(&self, _: bool) {
        if self.slot.word.compare_exchange(self.own(), EMPTY, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            self.slot.wait_while_busy();
        }
    }
}

impl<S> LatchWait<S> {
    fn own(&self) -> Word {
        ptr::from_ref(&self.address).cast_mut()
    }
}
