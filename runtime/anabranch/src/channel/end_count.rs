//! The count of the senders, or of the receivers, of a channel.
//!
//! Orderings. Adding is relaxed, because a new end is a copy of an end that still exists. Removing is an
//! acquire-release. So everything that was done through the other ends happens before the last end acts on its removal.

use crate::sys::sync::{AtomicUsize, Ordering};

/// See the [module](self).
pub(super) struct EndCount(AtomicUsize);

impl EndCount {
    /// Creates a count of one.
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(1))
    }

    /// Adds an end. The caller holds another one.
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds an end, unless the count is zero. Returns whether it did.
    pub(super) fn try_add(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count > 0).then_some(count + 1)).is_ok()
    }

    /// Removes an end. Returns whether it was the last one.
    pub(super) fn remove(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }

    /// Returns the number of ends, which may be outdated by the time the caller sees it.
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
