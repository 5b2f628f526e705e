//! What a pool's threads record events by.

use crate::{sys::clock::Instant, trace::State};
use anabranch_trace::event::{Event, Site};
use std::panic::Location;

/// Where a fork or a root was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    /// In the program, if that is known.
    pub(crate) at: Option<&'static Location<'static>>,
    /// Returns the type of the job, or nothing if it has none. A function, since only a trace needs the name.
    pub(crate) job: fn() -> &'static str,
}

/// Whether the events of a pool are recorded. Each thread of the pool has a copy, so an event that is not recorded
/// costs the test of a byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tracer {
    is_on: bool,
    /// Whether the pool measures work and span, which makes its forks slow.
    measures: bool,
    /// Whether it records each fork beside.
    records: bool,
}

impl Tracer {
    /// Records nothing.
    pub(crate) const OFF: Self = Self { is_on: false, measures: false, records: false };

    #[inline(always)]
    pub(crate) fn is_on(self) -> bool {
        cfg!(all(any(unix, windows), not(any(loom, shuttle, sim)))) && self.is_on
    }

    /// Returns whether the pool measures work and span.
    #[inline(always)]
    pub(crate) fn measures(self) -> bool {
        cfg!(all(any(unix, windows), not(any(loom, shuttle, sim)))) && self.measures
    }

    /// Returns whether the pool records each fork.
    pub(crate) fn records(self) -> bool {
        cfg!(all(any(unix, windows), not(any(loom, shuttle, sim)))) && self.records
    }
}

#[cfg(all(any(unix, windows), not(any(loom, shuttle, sim))))]
mod on {
    use super::*;
    #[cfg(target_os = "linux")]
    use crate::trace::sampler;
    use crate::trace::{auto, lane, sites, store};

    impl Tracer {
        /// Returns the tracer of a new pool. Without a choice of the program, the environment decides.
        pub(crate) fn of_pool(choice: Option<bool>, pool: u32, threads: usize) -> Self {
            let is_on = choice.unwrap_or(false) || choice.is_none() && auto::is_on();
            let is_first = is_on && store::start(pool, threads);
            #[cfg(target_os = "linux")]
            if is_first {
                sampler::start();
            }
            #[cfg(not(target_os = "linux"))]
            let _ = is_first;
            Self { is_on, measures: is_on && auto::measures(), records: is_on && auto::records() }
        }

        /// Records an event, now.
        #[inline(always)]
        pub(crate) fn record(self, event: impl FnOnce() -> Event) {
            #[cold]
            #[inline(never)]
            fn slow(event: impl FnOnce() -> Event) {
                lane::record(event());
            }

            if self.is_on() {
                slow(event);
            }
        }

        /// Records that the state of the thread changes.
        #[inline(always)]
        pub(crate) fn state(self, state: State) {
            if self.is_on() {
                lane::enter(state, Site::UNKNOWN, None);
            }
        }

        /// Records that the state of the thread has changed at a time that the caller has read from the clock.
        #[inline(always)]
        pub(crate) fn state_at(self, state: State, at: Instant) {
            if self.is_on() {
                lane::enter(state, Site::UNKNOWN, Some(at));
            }
        }

        /// Records that the thread begins to wait.
        #[inline(always)]
        pub(crate) fn waiting(self, what: &'static str, at: &'static Location<'static>) {
            if self.is_on() {
                lane::enter(State::Waiting, sites::site(what, Some(at)), None);
            }
        }

        /// Records the CPU time of the thread.
        #[inline(always)]
        pub(crate) fn cpu_time(self) {
            if self.is_on() {
                lane::note_cpu_time();
            }
        }

        /// Calls `call`, and records the event that `event` makes of its result and of how long it took, in
        /// nanoseconds.
        #[inline(always)]
        pub(crate) fn timed<R>(self, call: impl FnOnce() -> R, event: impl FnOnce(&R, u32) -> Option<Event>) -> R {
            if !self.is_on() {
                return call();
            }
            let start = Instant::now();
            let result = call();
            let took = u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX);
            if let Some(event) = event(&result, took) {
                lane::record(event);
            }
            result
        }

        /// Returns the site of a location, with a label.
        pub(crate) fn site(self, label: &'static str, at: &'static Location<'static>) -> Site {
            if self.is_on() { sites::site(label, Some(at)) } else { Site::UNKNOWN }
        }

        /// Returns the site of a fork or of a root. If a wrapper around this crate has made it, the location is that of
        /// the wrapper, so the type of the job says more.
        pub(crate) fn origin(self, origin: Option<Origin>) -> Site {
            match origin {
                Some(Origin { at: Some(at), job }) if !sites::is_wrapped(job()) => sites::site("", Some(at)),
                Some(Origin { job, .. }) => sites::of_job(job()),
                None => Site::UNKNOWN,
            }
        }

        /// Returns the site of a name that is not known at compile time.
        pub(crate) fn name(self, name: &str) -> Site {
            if self.is_on() { sites::name(name) } else { Site::UNKNOWN }
        }
    }
}

/// Where there are no files to write, or a model checker decides how time passes.
#[cfg(not(all(any(unix, windows), not(any(loom, shuttle, sim)))))]
mod off {
    use super::*;

    impl Tracer {
        pub(crate) fn of_pool(_: Option<bool>, _: u32, _: usize) -> Self {
            Self::OFF
        }

        pub(crate) fn record(self, _: impl FnOnce() -> Event) {}

        pub(crate) fn state(self, _: State) {}

        pub(crate) fn state_at(self, _: State, _: Instant) {}

        pub(crate) fn waiting(self, _: &'static str, _: &'static Location<'static>) {}

        pub(crate) fn cpu_time(self) {}

        pub(crate) fn timed<R>(self, call: impl FnOnce() -> R, _: impl FnOnce(&R, u32) -> Option<Event>) -> R {
            call()
        }

        pub(crate) fn site(self, _: &'static str, _: &'static Location<'static>) -> Site {
            Site::UNKNOWN
        }

        pub(crate) fn origin(self, _: Option<Origin>) -> Site {
            Site::UNKNOWN
        }

        pub(crate) fn name(self, _: &str) -> Site {
            Site::UNKNOWN
        }
    }
}
