//! Instants inside the runtime: nanoseconds since the origin of a clock.
//!
//! Ticks of two clocks have nothing to do with each other. Arithmetic saturates.

use std::time::Duration;

/// Nanoseconds since the origin of a clock.
pub(crate) type Tick = u64;

/// Later than all that a clock will ever show.
pub(crate) const NEVER: Tick = Tick::MAX;

/// Whole nanoseconds, at most [`NEVER`].
#[inline]
pub(super) fn nanos(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos()))
}
