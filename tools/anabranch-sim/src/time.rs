//! The clock of a simulation, like `std::time`.

use crate::engine;
use std::{
    ops::{Add, AddAssign, Sub},
    time::Duration,
};

/// An instant like that of `std::time`, since the start of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

impl Instant {
    /// Returns the time of the simulation. It costs as much as a reading of a real clock.
    pub fn now() -> Self {
        let now = engine::with(|engine| {
            engine.spend(engine.machine().clock);
            engine.now()
        });
        Self(Duration::from_nanos(now.unwrap_or(0) / 1_000))
    }

    /// Returns the time since the start of the simulation.
    pub fn since_the_first(self) -> Duration {
        self.0
    }

    /// Returns the time that has passed since.
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }

    /// Returns the time since an earlier instant, or zero.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        *self - earlier
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, time: Duration) {
        *self = *self + time;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
