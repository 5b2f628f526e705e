//! The bits of the word of a [semaphore](super::raw_semaphore), and its queue of waiters.

use crate::{sys::clock::Instant, wait::queue::Queue};
use std::time::Duration;

pub(super) const WAITERS: u64 = 1;
pub(super) const OPEN: u64 = 2;
/// One release that has found WAITERS and OPEN.
pub(super) const OVERTAKE: u64 = 4;
pub(super) const OVERTAKEN: u64 = 63 * OVERTAKE;
pub(super) const CLOSED: u64 = 256;
/// One free permit.
pub(super) const ONE: u64 = 512;

/// The maximum number of free permits.
pub(super) const MAX_PERMITS: u64 = u64::MAX / ONE / 4;

/// How long a waiter may be overtaken.
pub(super) const PATIENCE: Duration = Duration::from_millis(1);

/// The data that the lock of the queue guards.
pub(super) struct Waiting {
    pub(super) queue: Queue<Turn>,
    /// The permits that the woken waiters on their way want, or less.
    pub(super) promised: u64,
    /// When the first of them was woken.
    pub(super) woken_at: Option<Instant>,
}

/// The queue's data about one waiter.
pub(super) struct Turn {
    pub(super) wanted: u64,
    pub(super) wants_hand_over: bool,
    pub(super) given: Given,
}

/// The outcome of the last wait of a waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    /// A wake-up: the permits that it wants are part of `promised`.
    WakeUp,
    Permits,
}

impl Turn {
    pub(super) fn new(wanted: u64, wants_hand_over: bool) -> Self {
        Self { wanted, wants_hand_over, given: Given::Nothing }
    }

    pub(super) fn given(&self) -> Given {
        self.given
    }
}

impl Waiting {
    /// Returns the word with the bits that describe the waiters.
    pub(super) fn mark(&mut self, word: u64) -> u64 {
        if word & CLOSED != 0 {
            return (word & !(ONE - 1)) | CLOSED | WAITERS;
        }
        let is_promised = self.promised > 0;
        let (waiters, is_open) = match self.queue.first() {
            None => (0, is_promised),
            Some(turn) => (WAITERS, is_promised && !turn.wants_hand_over),
        };
        let kept = if is_open { OPEN | (word & OVERTAKEN) } else { 0 };
        (word & !(ONE - 1)) | waiters | kept
    }

    /// Returns whether the woken waiters have been on their way for too long.
    pub(super) fn are_late(&self) -> bool {
        // The model has no clock: there patience ends at once.
        cfg!(loom) || self.woken_at.is_some_and(|woken_at| woken_at.elapsed() > PATIENCE)
    }
}

/// Returns the word with more permits.
#[inline]
pub(super) fn with_more(word: u64, permits: u64) -> u64 {
    // Neither of the two can be larger, so nothing overflows.
    let next = if permits > MAX_PERMITS { u64::MAX } else { word + permits * ONE };
    assert!(next / ONE <= MAX_PERMITS, "more permits than a semaphore can count");
    next
}
