//! What a thread does before it parks: it spins for a while, and yields.
//!
//! To park and to be woken costs both sides together some ten microseconds, and what a thread waits for has often come
//! by then. So it first spins, and doubles the pause between two attempts: the other side can then advance without
//! contention for the cache line. Then it yields before each attempt: the other side may be on this very core, and runs
//! on for its whole time slice. A parked thread would be woken by the next step of the other side, for one message.
//!
//! Sharing a core. If the event comes after a yield, but not before, the other side is probably on this core, and
//! spinning delays it. So the next waits yield at once, and only now and then does a wait spin first, to see whether
//! that has changed.
//!
//! Measured. A thread that parks at once at a full channel is woken for each message: 2 us, or 4 us where both ends are
//! on one core. A yield takes 0.2 us, and the other side then runs for as long as it can. A stream with a capacity of
//! 128 takes 14 ns a message in this way.

use std::cell::Cell;

/// How often a thread attempts again before it yields, with growing pauses: for some 0.3 us in all, about as long as a
/// yield takes when no other thread wants the core. (With 8, which is ten times as long, two threads on one core lose
/// 2.5 us at each turn.)
pub(crate) const SPINS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 5 };

/// How many waits in a row begin with a yield, before one spins first again.
const SHARED: u8 = 32;

/// What a thread has learned about the threads that it waits for.
pub(crate) struct SpinWait {
    /// How many more waits begin with a yield.
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

    /// Records that the thread has spun in vain.
    pub(crate) fn record_futile_spin(&self) {
        self.shared.set(SHARED);
    }

    /// Resets what was learned: the thread parks now, or has no reason to.
    pub(crate) fn reset(&self) {
        self.shared.set(0);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{SHARED, SpinWait};

    #[test]
    fn spin_on_a_shared_core_yields_and_checks() {
        let spin_wait = SpinWait::new();
        assert!(!spin_wait.is_sharing());
        spin_wait.record_futile_spin();
        assert!((0..SHARED).all(|_| spin_wait.is_sharing()));
        assert!(!spin_wait.is_sharing());
    }
}
