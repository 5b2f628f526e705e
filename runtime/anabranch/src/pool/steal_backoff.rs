//! When a searching thread may request work, or take fibers that a worker has just spawned.
//!
//! A request publishes even tiny pieces, and the owner pays for the publication and for the wait. So a thread whose
//! last piece was short backs off, longer each time. A thread whose last piece was long enough
//! requests at once.
//!
//! A search that finds nothing makes the next search shorter. Otherwise a thread with little to do would spend most of
//! its time on searches.

use crate::{pool::worker::Worker, sys::clock::Instant};
use std::time::Duration;

/// The longest time for which a thread without work searches before it parks and releases its slot. Parking and being
/// woken costs some ten microseconds. The time is about as long as the gaps between the parallel parts of a program
/// that is parallel throughout, and shorter than the pieces that are worth waiting for.
pub(super) const MAX_SEARCH: Duration = Duration::from_micros(100);

/// The shortest time for which a worker searches. If a timer of its own fibers ends the search, it searches no longer.
const MIN_SEARCH: Duration = Duration::from_micros(2);

/// A stolen piece shorter than this was not worth it: the owner would have run it in the time that the theft took.
const MIN_PIECE: Duration = Duration::from_micros(10);

/// The shortest and the longest time that a thread waits before its next request, if it got short pieces.
const MIN_REQUEST_DELAY: Duration = Duration::from_micros(10);
const MAX_REQUEST_DELAY: Duration = Duration::from_micros(160);

/// See the [module](self).
pub(super) struct StealBackoff {
    delay: Duration,
    not_before: Option<Instant>,
    /// The longest time of the next search.
    search: Duration,
}

impl StealBackoff {
    pub(super) fn new() -> Self {
        Self { delay: Duration::ZERO, not_before: None, search: MAX_SEARCH }
    }

    /// Returns how long the next search may take.
    pub(super) fn search_time(&self, me: &Worker) -> Duration {
        if me.scheduler().time_to_next().is_some_and(|time| time < self.search) { MIN_SEARCH } else { self.search }
    }

    /// Returns whether more pieces are likely to follow soon: yes if the last one was worth the theft, no after several
    /// that were not, and `None` between.
    pub(super) fn expects_forks(&self) -> Option<bool> {
        (self.delay.is_zero() || self.delay == MAX_REQUEST_DELAY).then_some(self.delay.is_zero())
    }

    /// Records whether a search has found work.
    pub(super) fn note_search(&mut self, has_found: bool) {
        self.search = if has_found { (self.search * 2).min(MAX_SEARCH) } else { (self.search / 2).max(MIN_SEARCH) };
    }

    pub(super) fn note(&mut self, took: Duration) {
        self.delay = if took < MIN_PIECE {
            (self.delay * 2).clamp(MIN_REQUEST_DELAY, MAX_REQUEST_DELAY)
        } else {
            Duration::ZERO
        };
        self.not_before = None;
    }

    pub(super) fn may_request(&mut self, now: Instant) -> bool {
        if self.delay.is_zero() {
            return true;
        }
        let may = now >= *self.not_before.get_or_insert(now + self.delay);
        if may {
            self.not_before = Some(now + self.delay);
        }
        may
    }
}
