//! Moments for the question whether some time has passed. Cheaper than the clock where the processor has a counter of
//! time.

#[cfg(not(all(target_arch = "x86_64", not(any(miri, shuttle, sim)))))]
pub(crate) use self::clock::Moment;
#[cfg(all(target_arch = "x86_64", not(any(miri, shuttle, sim))))]
pub(crate) use self::counter::Moment;

/// The time-stamp counter, whose rate is 1 to 5 GHz.
#[cfg(all(target_arch = "x86_64", not(any(miri, shuttle, sim))))]
mod counter {
    use std::arch::x86_64::_rdtsc;

    /// How much is a long time: 0.25 ms at 2.8 GHz.
    const LONG: u64 = 700_000;

    /// See the [module](super).
    #[derive(Clone, Copy)]
    pub(crate) struct Moment(u64);

    impl Moment {
        #[inline]
        pub(crate) fn now() -> Self {
            // SAFETY: every processor of this architecture has the counter, which has no preconditions.
            Self(unsafe { _rdtsc() })
        }

        /// Returns whether a time has passed that is between 0.1 and 1 ms.
        #[inline]
        pub(crate) fn is_long_ago(self) -> bool {
            // The counters of two processors may differ a little. A thread that moves backwards looks too early.
            Self::now().0.wrapping_sub(self.0) > LONG
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(miri, shuttle, sim)))))]
mod clock {
    use crate::sys::clock::Instant;
    use std::time::Duration;

    const LONG: Duration = Duration::from_micros(250);

    /// See the [module](super).
    #[derive(Clone, Copy)]
    pub(crate) struct Moment(Instant);

    impl Moment {
        pub(crate) fn now() -> Self {
            Self(Instant::now())
        }

        /// Returns whether 0.25 ms have passed.
        pub(crate) fn is_long_ago(self) -> bool {
            self.0.elapsed() > LONG
        }
    }
}
