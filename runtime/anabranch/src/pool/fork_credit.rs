//! Whether forks that are worth taking may follow soon: a hint, for how eagerly threads are woken.
//!
//! A piece of work that took long fills the credit. Each wake-up in vain decrements it, and so does each piece of a
//! thread that has run several short pieces in a row. So a pool whose roots are over before a thread can help stops
//! waking threads for them after a few roots. A pool in which threads do help goes on waking them, although the last of
//! the threads that it wakes often come too late.

use crate::sys::sync::{AtomicU32, Ordering};
use crossbeam_utils::CachePadded;

/// The wake-ups in vain, or short pieces, after which no more forks are expected.
const MAX_CREDIT: u32 = 16;

/// See the [module](self). All accesses are relaxed, and one that is lost does no harm. A store is skipped where it
/// changes nothing, so that the cache line stays shared.
pub(crate) struct ForkCredit(CachePadded<AtomicU32>);

impl ForkCredit {
    pub(super) fn new() -> Self {
        Self(CachePadded::new(AtomicU32::new(0)))
    }

    /// Returns whether forks that are worth taking may follow soon.
    pub(super) fn is_left(&self) -> bool {
        self.get() > 0
    }

    /// Records that a piece was worth the theft.
    pub(super) fn fill(&self) {
        self.put(MAX_CREDIT);
    }

    /// Records that a thread was woken and has found nothing, or has had several short pieces.
    pub(super) fn spend(&self) {
        self.put(self.get().saturating_sub(1));
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    fn put(&self, credit: u32) {
        if self.get() != credit {
            self.0.store(credit, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn full_credit_lasts_for_some_wakeups_in_vain() {
        let credit = ForkCredit::new();
        credit.spend();
        assert!(!credit.is_left());
        credit.fill();
        for _ in 1..MAX_CREDIT {
            credit.spend();
            assert!(credit.is_left());
        }
        credit.spend();
        assert!(!credit.is_left());
    }
}
