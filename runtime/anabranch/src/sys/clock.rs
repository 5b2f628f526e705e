//! The clock. shuttle has none: there, time stands still for a while, and then jumps by a random one of the runtime's
//! timeouts. So each timeout may have expired whenever a thread reads the clock.

#[cfg(not(any(shuttle, sim, all(target_family = "wasm", target_os = "unknown"))))]
pub(crate) use std::time::Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown", not(shuttle)))]
pub(crate) use self::none::{Instant, pass};

#[cfg(shuttle)]
pub(crate) use self::random::Instant;

#[cfg(sim)]
pub(crate) use anabranch_sim::time::Instant;

/// WebAssembly outside of WASI has no clock. So each read of this clock advances it a little, because some loops end
/// after a time. Time also jumps over each timed wait, which no other thread could end. So waits end in the right
/// order.
#[cfg(all(target_family = "wasm", target_os = "unknown", not(shuttle)))]
mod none {
    use std::{
        ops::{Add, AddAssign, Sub},
        sync::atomic::{AtomicU64, Ordering::Relaxed},
        time::Duration,
    };

    /// How far each read of the clock advances it.
    const LOOK: Duration = Duration::from_micros(1);

    /// In nanoseconds.
    static NOW: AtomicU64 = AtomicU64::new(0);

    /// Advances the clock by a duration.
    pub(crate) fn pass(time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        NOW.store(NOW.load(Relaxed).saturating_add(time), Relaxed);
    }

    /// An instant, like that of `std::time`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Instant(Duration);

    impl Instant {
        pub(crate) fn now() -> Self {
            pass(LOOK);
            Self(Duration::from_nanos(NOW.load(Relaxed)))
        }

        pub(crate) fn since_the_first(self) -> Duration {
            self.0
        }

        pub(crate) fn elapsed(&self) -> Duration {
            Self::now() - *self
        }

        pub(crate) fn duration_since(&self, earlier: Self) -> Duration {
            *self - earlier
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, duration: Duration) -> Self {
            Self(self.0.saturating_add(duration))
        }
    }

    impl AddAssign<Duration> for Instant {
        fn add_assign(&mut self, duration: Duration) {
            *self = *self + duration;
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }
}

#[cfg(shuttle)]
mod random {
    use crate::sys::chance::one_in;
    use std::{
        cell::Cell,
        ops::{Add, AddAssign, Sub},
        time::Duration,
    };

    thread_local! {
        /// One system thread runs all threads of an execution. The time continues from one execution to the next, which
        /// no test can observe.
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// An instant, like that of `std::time`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Instant(Duration);

    impl Instant {
        pub(crate) fn now() -> Self {
            let passes = [(2, 1), (4, 30), (8, 300), (12, 20_000)];
            let micros = passes.into_iter().filter(|&(rarity, _)| one_in(rarity)).map(|(_, micros)| micros).sum();
            NOW.set(NOW.get() + Duration::from_micros(micros));
            Self(NOW.get())
        }

        pub(crate) fn since_the_first(self) -> Duration {
            self.0
        }

        pub(crate) fn elapsed(&self) -> Duration {
            Self::now() - *self
        }

        pub(crate) fn duration_since(&self, earlier: Self) -> Duration {
            *self - earlier
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, duration: Duration) -> Self {
            Self(self.0 + duration)
        }
    }

    impl AddAssign<Duration> for Instant {
        fn add_assign(&mut self, duration: Duration) {
            *self = *self + duration;
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }
}
