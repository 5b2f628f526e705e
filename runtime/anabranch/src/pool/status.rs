//! The status of a worker entry: whether its thread holds one of the pool's slots.
//!
//! A pool of T threads has T *slots*: at most T threads work at a time, guests among them. There is no counter of
//! slots: a thread that needs their number counts the worker entries that are active or held. A guest waits for a slot
//! before it begins (`pool/admission`). After a wait, a thread takes its slot again without waiting for it: the threads
//! that hold the slots may be blocked in a lock that it holds. If more than T slots are taken, workers give their slots
//! back between two pieces of work.
//!
//! A thread that waits explicitly inside compute code (in `run`, `recv_blocking` and the like) keeps its slot: another
//! thread in its place would open the next items of the loop, and these would wait too, so that each item of a long
//! loop took a thread. Sysmon releases such slots when the pool would stall otherwise.
//!
//! | status  | meaning                                                              | left by |
//! |---------|----------------------------------------------------------------------|------------|
//! | VACANT  | a guest's worker entry without a holder; a worker that does not work | a guest, with a CAS; the worker, or the thread that wakes it as a helper -> ACTIVE |
//! | ACTIVE  | works, has a slot                                                    | owner -> VACANT, WAITING, HELD, LENT; sysmon -> LENT |
//! | WAITING | parked, the slot is free meanwhile                                   | owner -> ACTIVE |
//! | HELD    | parked inside compute code, keeps its slot                           | sysmon -> WAITING; owner -> ACTIVE |
//! | LENT    | blocked in a foreign call, its slot is lent                          | sysmon -> ACTIVE; owner -> any |
//!
//! Orderings: a worker entry changes hands from the guest that stores VACANT (release) to the guest whose CAS takes it
//! (acquire). Counting is relaxed: the number of slots is a matter of speed, not of correctness.

use crate::sys::sync::{AtomicU8, Ordering};

const VACANT: u8 = 0;
const ACTIVE: u8 = 1;
const WAITING: u8 = 2;
const LENT: u8 = 3;
const HELD: u8 = 4;

/// See the [module](self).
pub(crate) struct Status(AtomicU8);

impl Status {
    #[cfg(not(loom))]
    pub(crate) const fn vacant() -> Self {
        Self(AtomicU8::new(VACANT))
    }

    #[cfg(loom)]
    pub(crate) fn vacant() -> Self {
        Self(AtomicU8::new(VACANT))
    }

    /// Takes the worker entry for a guest. Returns `false` if another thread holds it.
    #[inline]
    pub(crate) fn occupy(&self) -> bool {
        self.0.load(Ordering::Relaxed) == VACANT
            && self.0.compare_exchange(VACANT, ACTIVE, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Marks the owner as working, whatever it did before. The owner calls this, or a thread that is about to wake it.
    pub(crate) fn activate(&self) {
        self.0.store(ACTIVE, Ordering::Relaxed);
    }

    /// Marks the owner as no longer working. A guest must not access its worker entry afterwards.
    #[inline]
    pub(crate) fn vacate(&self) {
        self.0.store(VACANT, Ordering::Release);
    }

    /// Marks the owner as waiting, before it parks.
    pub(crate) fn wait(&self) {
        self.0.store(WAITING, Ordering::Relaxed);
    }

    /// Marks the owner as waiting with its slot, before it parks.
    pub(crate) fn hold(&self) {
        self.0.store(HELD, Ordering::Relaxed);
    }

    /// Releases the slot of a thread that waits with it. Sysmon calls this.
    pub(crate) fn release_held(&self) -> bool {
        self.0.compare_exchange(HELD, WAITING, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Lends the slot of a blocked thread. Sysmon calls this, and a thread that is about to block.
    pub(crate) fn lend(&self) -> bool {
        self.0.compare_exchange(ACTIVE, LENT, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Takes the lent slot back, when sysmon has seen the thread run again.
    pub(crate) fn take_back(&self) -> bool {
        self.0.compare_exchange(LENT, ACTIVE, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Returns whether the thread works, and has a slot.
    pub(crate) fn is_active(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ACTIVE
    }

    /// Returns whether the thread waits, and keeps its slot.
    pub(crate) fn is_held(&self) -> bool {
        self.0.load(Ordering::Relaxed) == HELD
    }

    /// Returns whether the thread has a slot.
    pub(crate) fn holds_slot(&self) -> bool {
        matches!(self.0.load(Ordering::Relaxed), ACTIVE | HELD)
    }

    pub(crate) fn is_lent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == LENT
    }

    /// Returns whether the thread works, or is blocked in a foreign call.
    pub(crate) fn is_at_work(&self) -> bool {
        matches!(self.0.load(Ordering::Relaxed), ACTIVE | LENT)
    }

    /// Returns whether the thread has work, though it may wait.
    pub(crate) fn is_occupied(&self) -> bool {
        self.0.load(Ordering::Relaxed) != VACANT
    }
}
