//! Instants inside the runtime: nanoseconds since the origin of a clock.
//!
//! Ticks of different clocks are not comparable. Arithmetic saturates.

use std::time::Duration;

/// Nanoseconds since the origin of a clock.
pub(crate) type Tick = u64;

/// A tick later than any that a clock shows.
pub(crate) const NEVER: Tick = Tick::MAX;

/// Returns the whole nanoseconds of a duration, at most [`NEVER`].
#[inline]
pub(super) fn nanos(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos()))
}
