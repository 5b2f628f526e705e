//! The age of the oldest entry of a queue, as seen by thieves. It is a hint: any thread writes it, and no correctness
//! depends on it.

use crate::sys::sync::{AtomicU64, Ordering, const_unless_loom};

/// The time for which an entry has to be the oldest before a thief takes it, in microseconds. A worker that runs its
/// fibers begins a handful of them in this time.
const AGE_LIMIT: u64 = 25;

/// See the [module](self).
pub(crate) struct QueueAge {
    /// One more than the number of the entry that was the oldest when a thief first saw it. Zero if the queue was
    /// empty.
    watched: AtomicU64,
    since: AtomicU64,
}

impl QueueAge {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self { watched: AtomicU64::new(0), since: AtomicU64::new(0) }
        }
    }

    /// Forgets the age, because the queue is empty.
    pub(crate) fn forget(&self) {
        // Read first, as all searching threads call this repeatedly.
        if self.watched.load(Ordering::Relaxed) != 0 {
            self.watched.store(0, Ordering::Relaxed);
        }
    }

    /// Returns whether the entry with the number `oldest` has been the oldest for too long. `now` is the time in
    /// microseconds since any fixed moment.
    pub(crate) fn is_overdue(&self, oldest: u64, now: u64) -> bool {
        if self.watched.load(Ordering::Relaxed) != oldest + 1 {
            self.since.store(now, Ordering::Relaxed);
            self.watched.store(oldest + 1, Ordering::Relaxed);
            return false;
        }
        now.saturating_sub(self.since.load(Ordering::Relaxed)) >= AGE_LIMIT
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn unchanged_queue_becomes_overdue() {
        let overdue = QueueAge::new();
        assert!(!overdue.is_overdue(0, 100));
        assert!(!overdue.is_overdue(0, 100 + AGE_LIMIT - 1));
        assert!(overdue.is_overdue(0, 100 + AGE_LIMIT));
    }

    #[test]
    fn changing_queue_is_not_overdue() {
        let overdue = QueueAge::new();
        assert!((0..100).all(|n| !overdue.is_overdue(n, n * AGE_LIMIT)));
        overdue.is_overdue(100, 0);
        overdue.forget();
        assert!(!overdue.is_overdue(100, AGE_LIMIT));
    }
}
