//! When a searching thread may ask for work, or take fibers that a worker has just spawned.
//!
//! A request publishes even tiny pieces, and the owner pays for the publication and for the wait. So a thread whose
//! last piece was short backs off, longer each time. One whose last piece was long enough asks at once.
//!
//! A search that finds nothing makes the next one shorter, since a thread with little to do, and that little now and
//! then, would spend most of its time on searches.

use crate::{pool::worker::Worker, sys::clock::Instant};
use std::time::Duration;

/// How long a worker without work searches at most before it gives its slot back: about as long as the gaps between the
/// parallel parts of a program that is parallel throughout.
const SEARCH: Duration = Duration::from_micros(100);

/// How long a worker searches at least, and no longer where one of its own timers ends the search.
const NAP: Duration = Duration::from_micros(2);

/// A piece shorter than this was not worth taking: the owner would have done it in the time that handing it over took.
const WORTH_WHILE: Duration = Duration::from_micros(10);

/// How long a thread that got short pieces waits at least, and at most, before it asks again.
const REQUEST_DELAYS: (Duration, Duration) = (Duration::from_micros(10), Duration::from_micros(160));

/// See the [module](self).
pub(super) struct StealBackoff {
    delay: Duration,
    not_before: Option<Instant>,
    /// How long the next search takes at most.
    search: Duration,
}

impl StealBackoff {
    pub(super) fn new() -> Self {
        Self { delay: Duration::ZERO, not_before: None, search: SEARCH }
    }

    /// Returns how long the next search may take.
    pub(super) fn search_time(&self, me: &Worker) -> Duration {
        if me.time_to_next_fiber().is_some_and(|time| time < self.search) { NAP } else { self.search }
    }

    pub(super) fn note_search(&mut self, has_found: bool) {
        self.search = if has_found { (self.search * 2).min(SEARCH) } else { (self.search / 2).max(NAP) };
    }

    pub(super) fn note(&mut self, took: Duration) {
        let (least, most) = REQUEST_DELAYS;
        self.delay = if took < WORTH_WHILE { (self.delay * 2).clamp(least, most) } else { Duration::ZERO };
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
