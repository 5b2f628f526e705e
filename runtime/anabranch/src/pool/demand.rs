//! Hints about the demand for work, by which a thread decides whether to publish its forks.

use crate::{
    pool::fork_credit::ForkCredit,
    sys::sync::{AtomicBool, Ordering},
};
use crossbeam_utils::CachePadded;

/// See the [module](self).
pub(crate) struct Demand {
    /// Whether a thread searches that would request work of a root that begins now.
    has_searcher: CachePadded<AtomicBool>,
    pub(super) fork_credit: ForkCredit,
}

impl Demand {
    pub(super) fn new() -> Self {
        Self { has_searcher: CachePadded::new(AtomicBool::new(false)), fork_credit: ForkCredit::new() }
    }

    /// Returns whether a thread searches that would request work of a root that begins now.
    #[inline]
    pub(super) fn has_searcher(&self) -> bool {
        self.has_searcher.load(Ordering::Relaxed)
    }

    /// Records whether a thread searches. The store is skipped where it changes nothing, so that the cache line stays
    /// shared.
    pub(super) fn note_searcher(&self, searches: bool) {
        if self.has_searcher() != searches {
            self.has_searcher.store(searches, Ordering::Relaxed);
        }
    }

    /// Returns whether forks that are worth taking may follow soon.
    pub(super) fn expects_forks(&self) -> bool {
        self.fork_credit.is_left()
    }
}
