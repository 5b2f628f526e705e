//! The clock, which shuttle has none of: there time stands still for a while, and then jumps by as much as the runtime's
//! timeouts are long, at random. So each of them may be over at any place where somebody looks.

#[cfg(not(shuttle))]
pub(crate) use std::time::Instant;

#[cfg(shuttle)]
pub(crate) use self::random::Instant;

#[cfg(shuttle)]
mod random {
    use crate::sys::chance::one_in;
    use std::{
        cell::Cell,
        ops::{Add, AddAssign, Sub},
        time::Duration,
    };

    thread_local! {
        /// All threads of an execution are run by one. It goes on from execution to execution, which nobody can tell.
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// A moment, as in `std::time`.
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
