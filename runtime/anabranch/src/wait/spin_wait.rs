//! The behaviour of a thread before it parks: it spins for a while, and yields.
//!
//! Parking and waking cost both sides together some ten microseconds, and the awaited event has often happened by then.
//! So a thread first spins, and doubles the pause between two attempts. In a pause the other side can advance without
//! contention for the cache line. Then the thread yields before each attempt, because the other side may be on the same
//! core, where it then runs for its whole time slice. If the thread parked, the next step of the other side would wake
//! it for one message.
//!
//! Sharing a core. If the event happens only after a yield, the other side is probably on this core, and spinning
//! delays it. So the next waits yield at once. Now and then a wait spins first, to find out whether that has changed.
//!
//! Measured. If a thread parks at once at a full channel, each message wakes it: 2 us, or 4 us if both ends are on one
//! core. A yield takes 0.2 us, and the other side then runs for as long as it can. So a stream with a capacity of 128
//! takes 14 ns a message.

use std::cell::Cell;

/// The number of attempts before a thread yields, with growing pauses. They take some 0.3 us in all, about as long as a
/// yield if no other thread wants the core. (With 8 attempts, ten times as long, two threads on one core lose 2.5 us at
/// each turn.)
pub(crate) const SPINS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 5 };

/// The number of waits in a row that begin with a yield, before a wait spins first again.
const SHARED: u8 = 32;

/// The experience of a thread with the threads that it waits for.
pub(crate) struct SpinWait {
    /// The number of further waits that begin with a yield.
    shared: Cell<u8>,
}

impl SpinWait {
    pub(crate) const fn new() -> Self {
        Self { shared: Cell::new(0) }
    }

    /// Returns whether to yield at once, and counts this wait.
    pub(crate) fn is_sharing(&self) -> bool {
        let shared = self.shared.get();
        self.shared.set(shared.saturating_sub(1));
        shared > 0
    }

    /// Records that the thread has spun, and that the event happened only after a yield.
    pub(crate) fn record_futile_spin(&self) {
        self.shared.set(SHARED);
    }

    /// Forgets the experience, because the thread parks now or the spin has succeeded.
    pub(crate) fn reset(&self) {
        self.shared.set(0);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{SHARED, SpinWait};

    #[test]
    fn futile_spin_marks_core_as_shared_for_a_while() {
        let spin_wait = SpinWait::new();
        assert!(!spin_wait.is_sharing());
        spin_wait.record_futile_spin();
        assert!((0..SHARED).all(|_| spin_wait.is_sharing()));
        assert!(!spin_wait.is_sharing());
    }
}
