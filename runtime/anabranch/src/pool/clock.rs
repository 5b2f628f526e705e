//! The time of a pool: the clock of its waits, and how long the pool has existed.

use crate::{
    sys::clock::Instant,
    time::{Clock, Subscription},
};
use std::sync::Arc;

/// See the [module](self).
pub(crate) struct PoolClock {
    /// The clock for all waits of this pool.
    pub(crate) clock: Clock,
    /// When the pool was created.
    since: Instant,
    /// Wakes the workers when the program moves the clock.
    _on_change: Subscription,
}

impl PoolClock {
    /// Creates the time of a pool that is created now. The clock calls `on_change` when the program moves it.
    pub(super) fn new(clock: Clock, on_change: impl Fn() + Send + Sync + 'static) -> Self {
        Self { _on_change: clock.subscribe(Arc::new(on_change)), clock, since: Instant::now() }
    }

    /// Returns how long there had been the pool, in microseconds.
    pub(crate) fn micros_at(&self, instant: Instant) -> u64 {
        (instant - self.since).as_micros() as u64
    }

    /// Returns how long there had been the pool, in milliseconds, which wrap around after 49 days.
    pub(crate) fn tick_at(&self, instant: Instant) -> u32 {
        let time = instant - self.since;
        (time.as_secs() as u32).wrapping_mul(1000).wrapping_add(time.subsec_millis())
    }
}
