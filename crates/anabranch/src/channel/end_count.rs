//! The count of the senders, or of the receivers, of a channel.
//!
//! Orderings: an end that is added knows the channel from another end, so adding is relaxed. Removing an end is an
//! acquire-release, so all that was done with the other ends happens before what the last one does.

use crate::sys::sync::{AtomicUsize, Ordering};

/// See the [module](self).
pub(super) struct EndCount(AtomicUsize);

impl EndCount {
    /// Creates a count of one.
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(1))
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds an end, unless there is none.
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
}
