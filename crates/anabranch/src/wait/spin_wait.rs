//! What a thread does before it parks: it looks again for a while, and lets others run.
//!
//! To park and to be woken costs both sides together some ten microseconds, and what a thread waits for has often come
//! by then. So first it looks again, each time after twice as long: the other side shall get ahead, instead of sharing
//! a cache line with every look. Then it looks each time after others have run: the other side may be on this very
//! core, and goes on for its whole time slice. To park instead would be to be woken by its next step, for one message.
//!
//! Sharing a core. If what was awaited comes as soon as others run, but not before, it is probably on this core that
//! the other side is, and each look is in its way. Then the thread lets others run at once the next times, and looks
//! first only now and then, to see whether that has changed. The system does not see to it: it looks for an idle core
//! for a thread that it wakes, but leaves those where they are that share one and only yield: two threads of a stream
//! for all of a run, though the next core was idle. So if sharing goes on, the thread parks once in some milliseconds,
//! to be woken elsewhere.
//!
//! What it buys. A thread that parks at once at a full channel is woken for each message: 2 us, and 4 us where both
//! ends are on one core. To let the other side run takes 0.2 us, and it goes on for as long as it can. A stream with
//! room for 128 takes 14 ns a message so, where it took 33 ns while both threads stayed on one core.

use std::cell::Cell;

/// How often a thread looks before it lets others run, ever more rarely: for some 0.3 us, about as long as a yield
/// takes to which nobody answers. (With 8, which is ten times as long, two threads on one core lose 2.5 us at each
/// turn.)
pub(crate) const LOOKS: u32 = if cfg!(any(loom, shuttle)) { 0 } else { 5 };

/// How many waits in a row begin with letting others run, before the thread looks first again.
const SHARED: u8 = 32;

/// How often it looks in vain, where others had only to run, before it parks: every 500th wait, or so.
const IN_VAIN: u8 = 16;

/// What a thread has learned about those that it waits for.
pub(crate) struct Patience {
    /// How many more waits begin with letting others run.
    shared: Cell<u8>,
    /// How often it has looked in vain since it parked.
    in_vain: Cell<u8>,
}

impl Patience {
    pub(crate) const fn new() -> Self {
        Self { shared: Cell::new(0), in_vain: Cell::new(0) }
    }

    /// Whether to let others run at once.
    pub(crate) fn is_sharing(&self) -> bool {
        let shared = self.shared.get();
        self.shared.set(shared.saturating_sub(1));
        shared > 0
    }

    /// It looked, and what it waits for was not there.
    pub(crate) fn has_looked_in_vain(&self) {
        self.in_vain.set(self.in_vain.get() + 1);
        self.shared.set(SHARED);
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.in_vain.get() >= IN_VAIN
    }

    /// It parks now, or has no reason to.
    pub(crate) fn renew(&self) {
        self.shared.set(0);
        self.in_vain.set(0);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{IN_VAIN, Patience, SHARED};

    #[test]
    fn who_shares_a_core_lets_others_run_and_looks_now_and_then() {
        let patience = Patience::new();
        assert!(!patience.is_sharing());
        patience.has_looked_in_vain();
        assert!((0..SHARED).all(|_| patience.is_sharing()));
        assert!(!patience.is_sharing());
    }

    #[test]
    fn who_has_shared_a_core_for_long_parks_once() {
        let patience = Patience::new();
        for _ in 0..IN_VAIN {
            assert!(!patience.is_exhausted());
            patience.has_looked_in_vain();
        }
        assert!(patience.is_exhausted());
        patience.renew();
        assert!(!patience.is_exhausted() && !patience.is_sharing());
    }
}
