//! A latch: an event that happens once, and that one fiber or thread waits for.
//!
//! | word     | meaning                                   | left by                                                    |
//! |----------|-------------------------------------------|------------------------------------------------------------|
//! | EMPTY    | nothing happened, there is no waiter      | `set` -> NOTIFIED, `register` -> an address, `give_up` -> GIVEN UP |
//! | address  | there is a waiter                         | `set` -> BUSY, `unregister` -> EMPTY                      |
//! | BUSY     | the notifier is ending the wait           | the notifier -> NOTIFIED                                   |
//! | NOTIFIED | it has happened                           | `reset` -> EMPTY                                           |
//! | GIVEN UP | there will never be a waiter              |                                                            |
//!
//! There is one waiter at a time. A future may be forgotten while it waits; the next waiter then replaces its address.
//!
//! BUSY lasts for the few instructions in which the notifier ends the wait. A waiter that leaves for another reason
//! meanwhile spins until it ends.
//!
//! Two threads may share the object that contains the latch: one calls `set` and the other `give_up`, once each. The
//! second call returns `false`: its caller then owns the object, and the first does not access it any more.
//!
//! Orderings: `set` releases and the waiter acquires, both in `is_notified` and in a failed `register`. Only
//! read-modify-writes change the word, so the last of several notifications carries all earlier ones. `register`
//! releases the address, and the change to BUSY acquires it; the change from BUSY releases it again, before the waiter
//! may write another. `give_up` releases what was done before it, and acquires where it comes second; so does `set`.

use crate::{
    sys::sync::{AtomicPtr, Cell, Ordering, spin_while},
    wait::waitable::{Armed, Ended, Waitable, WaiterRef},
};
use std::{ops::Deref, ptr};

type Word = *mut Cell<WaiterRef>;

const EMPTY: Word = ptr::null_mut();
const BUSY: Word = ptr::without_provenance_mut(1);
const NOTIFIED: Word = ptr::without_provenance_mut(2);
const GIVEN_UP: Word = ptr::without_provenance_mut(3);

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Latch {
    word: AtomicPtr<Cell<WaiterRef>>,
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

    /// Notifies the latch and wakes the waiter. Idempotent.
    pub(crate) fn notify(&self) {
        self.set();
    }

    /// Notifies the latch, as [`notify`](Self::notify) does, for a latch that may be given up. Returns `false` if it
    /// was given up before.
    pub(crate) fn set(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = match word {
                EMPTY => NOTIFIED,
                GIVEN_UP => {
                    self.word.load(Ordering::Acquire);
                    return false;
                }
                // Another thread is notifying, or has. The word is written all the same, so that the waiter acquires
                // what came before this call.
                BUSY | NOTIFIED => word,
                _ => BUSY,
            };
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(EMPTY | BUSY | NOTIFIED) => return true,
                Ok(address) => {
                    // SAFETY: while the word is BUSY the waiter does not leave, so its address is alive and the wait is
                    // the one that was registered.
                    let wake = unsafe { (*address).get().try_select() };
                    // A swap continues the release sequences of what others released into BUSY.
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

    /// Gives the latch up: the one thread that might wait here never will. Returns `false` if the latch was notified
    /// before.
    pub(crate) fn give_up(&self) -> bool {
        !self.is_notified() && self.word.compare_exchange(EMPTY, GIVEN_UP, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Resets the latch for another event. Only the one thread that waits here calls this, while it is not registered.
    pub(crate) fn reset(&self) {
        if self.is_notified() {
            // A swap acquires what happened before each of several notifications.
            self.word.swap(EMPTY, Ordering::Acquire);
        }
    }
}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

/// A wait for the [`Latch`] to which `S` refers.
pub(crate) struct LatchWait<S> {
    latch: S,
    address: Cell<WaiterRef>,
}

// SAFETY: the waiter writes the address while it is not registered. A notifier reads it while the word is BUSY, during
// which the waiter does not leave.
unsafe impl<S: Send> Send for LatchWait<S> {}
// SAFETY: the waiter writes the address while it is not registered. A notifier reads it while the word is BUSY, during
// which the waiter does not leave.
unsafe impl<S: Sync> Sync for LatchWait<S> {}

impl<S: Deref<Target = Latch>> LatchWait<S> {
    pub(crate) fn new(latch: S) -> Self {
        Self { latch, address: Cell::new(WaiterRef::NONE) }
    }
}

// SAFETY: an address leaves the word by `unregister`, or by `set`, which ends the wait before it sets NOTIFIED.
unsafe impl<S: Deref<Target = Latch>> Waitable for LatchWait<S> {
    fn register(&self, armed: Armed) -> bool {
        // The wait is not registered, so no other thread reads the address.
        self.address.set(armed.into_ref());
        let mut word = EMPTY;
        loop {
            match self.latch.word.compare_exchange(word, self.own(), Ordering::Release, Ordering::Acquire) {
                Ok(_) => return true,
                Err(NOTIFIED) => return false,
                // The notifier is ending the wait of a future that was forgotten, and sets NOTIFIED next.
                Err(BUSY) => {
                    self.latch.wait_while_busy();
                    return false;
                }
                // The address is of a future that was forgotten while it waited, and which need not be woken.
                Err(found) => word = found,
            }
        }
    }

    fn unregister(&self, _: Ended) {
        if self.latch.word.compare_exchange(self.own(), EMPTY, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            self.latch.wait_while_busy();
        }
    }
}

impl<S: Deref<Target = Latch>> LatchWait<S> {
    /// Returns what refers to the latch.
    pub(crate) fn latch(&self) -> &S {
        &self.latch
    }
}

impl<S> LatchWait<S> {
    fn own(&self) -> Word {
        ptr::from_ref(&self.address).cast_mut()
    }
}
