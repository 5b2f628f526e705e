//! Clocks: the system's, and manual clocks for tests.
//!
//! Clones of a clock are the same clock. All system clocks count from one origin, because a wait in one pool may be in
//! a scope of another, with its deadline. The system's clock wakes no thread: a thread that waits for a deadline parks
//! at most until then. With a manual clock the time until a deadline is unknown. So a waiting thread parks until it is
//! woken, and the thread that moves the clock wakes all subscribers (see [`manual`](super::manual)).

use crate::time::{
    manual::{Manual, Subscription, Wake},
    tick::{NEVER, Tick, nanos},
};
use std::{
    fmt,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

/// A source of time: the system's monotonic clock, or a manual clock of a test.
///
/// A clock is cheap to clone, and its clones show the same time.
///
/// ```
/// use anabranch::time::{Clock, ManualClock};
/// use std::time::Duration;
///
/// /// A program gives it `Clock::system()`.
/// fn spent(clock: &Clock, work: impl FnOnce()) -> Duration {
///     let start = clock.now();
///     work();
///     clock.now() - start
/// }
///
/// let manual = ManualClock::new();
/// assert_eq!(spent(&manual.clock(), || manual.advance(Duration::from_secs(60))), Duration::from_secs(60));
/// ```
#[derive(Clone)]
pub struct Clock(Source);

/// The origin of the ticks of the system's clock.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
type Origin = Instant;
/// There is no clock. Ticks count the time of the waits that were skipped.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
type Origin = ();

#[derive(Clone)]
enum Source {
    System { origin: Origin },
    Manual(Arc<Manual>),
}

impl Clock {
    /// Returns the system's monotonic clock.
    ///
    /// ```
    /// let clock = anabranch::time::Clock::system();
    /// assert!(clock.now() <= std::time::Instant::now());
    /// ```
    pub fn system() -> Self {
        // One origin for all clocks, so that a tick is the same time in every pool.
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        static ORIGIN: LazyLock<Origin> = LazyLock::new(Instant::now);
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        static ORIGIN: LazyLock<Origin> = LazyLock::new(|| ());
        Self(Source::System { origin: *ORIGIN })
    }

    /// Returns the time by this clock. For the system's clock this is [`Instant::now`], at the same cost.
    ///
    /// A manual clock starts at the instant when it was made, and advances only when it is moved.
    ///
    /// # Panics
    /// Panics on WebAssembly outside of WASI, where the standard library has no clock.
    ///
    /// ```
    /// use anabranch::time::ManualClock;
    ///
    /// let clock = ManualClock::new().clock();
    /// assert_eq!(clock.now(), clock.now());
    /// ```
    #[inline]
    pub fn now(&self) -> Instant {
        match &self.0 {
            #[cfg(not(any(shuttle, sim)))]
            Source::System { .. } => Instant::now(),
            #[cfg(any(shuttle, sim))]
            Source::System { origin } => *origin + Duration::from_nanos(self.tick()),
            Source::Manual(manual) => manual.origin() + manual.elapsed(),
        }
    }
}

#[allow(dead_code, reason = "for the scheduler of the fibers")]
impl Clock {
    /// Returns the time by this clock.
    #[inline]
    pub(crate) fn tick(&self) -> Tick {
        match &self.0 {
            #[cfg(not(any(shuttle, sim, all(target_family = "wasm", target_os = "unknown"))))]
            Source::System { origin } => nanos(origin.elapsed()),
            #[cfg(any(shuttle, sim, all(target_family = "wasm", target_os = "unknown")))]
            Source::System { .. } => nanos(crate::sys::clock::Instant::now().since_the_first()),
            Source::Manual(manual) => manual.tick(),
        }
    }

    /// Returns whether this is the system's clock.
    pub(crate) fn is_system(&self) -> bool {
        matches!(self.0, Source::System { .. })
    }

    /// Returns the tick `duration` from now.
    #[inline]
    pub(crate) fn tick_after(&self, duration: Duration) -> Tick {
        self.tick().saturating_add(nanos(duration))
    }

    /// Returns the tick of an instant, or zero for one before the clock's origin.
    pub(crate) fn tick_at(&self, instant: Instant) -> Tick {
        nanos(instant.saturating_duration_since(self.origin()))
    }

    /// Returns the instant of a tick, or `None` for `NEVER`.
    pub(crate) fn instant_at(&self, tick: Tick) -> Option<Instant> {
        if tick == NEVER { None } else { self.origin().checked_add(Duration::from_nanos(tick)) }
    }

    /// Returns how long a thread that waits for `deadline` may park. Returns `None` if it may park until it is woken.
    pub(crate) fn park_bound(&self, deadline: Tick) -> Option<Duration> {
        let now = self.tick();
        match &self.0 {
            _ if deadline <= now => Some(Duration::ZERO),
            Source::System { .. } if deadline != NEVER => Some(Duration::from_nanos(deadline - now)),
            _ => None,
        }
    }

    /// Subscribes to a manual clock: the clock calls `wake` after each move, until the subscription is dropped. One
    /// more call may be running at that moment. The thread that moves the clock calls `wake` without a lock. `wake`
    /// must not panic.
    ///
    /// The system's clock never calls `wake`.
    pub(crate) fn subscribe(&self, wake: Wake) -> Subscription {
        match &self.0 {
            Source::System { .. } => Subscription::NONE,
            Source::Manual(manual) => manual.subscribe(wake),
        }
    }

    fn origin(&self) -> Instant {
        match &self.0 {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            Source::System { origin } => *origin,
            // This panics with the reason, because the caller has or needs an instant.
            #[cfg(all(target_family = "wasm", target_os = "unknown"))]
            Source::System { .. } => Instant::now(),
            Source::Manual(manual) => manual.origin(),
        }
    }
}

/// Returns the system's clock.
impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::System { .. } => f.write_str("Clock::system()"),
            Source::Manual(manual) => write!(f, "Clock {{ manual, {:?} after its start }}", manual.elapsed()),
        }
    }
}

/// A clock that stands still until it is moved, so that a test of a one-minute timeout takes no time.
///
/// The handle moves the clock. [`clock`](Self::clock) returns the clock for the code under test. Clones of the handle
/// move the same clock.
///
/// ```
/// use anabranch::time::ManualClock;
/// use std::time::Duration;
///
/// let manual = ManualClock::new();
/// let clock = manual.clock();
/// let start = clock.now();
/// manual.advance(Duration::from_secs(3600));
/// assert_eq!(clock.now(), start + Duration::from_secs(3600));
/// ```
#[derive(Clone)]
pub struct ManualClock(Arc<Manual>);

impl ManualClock {
    /// Creates a clock that shows the present time until it is moved.
    ///
    /// ```
    /// let clock = anabranch::time::ManualClock::new().clock();
    /// assert!(clock.now() <= std::time::Instant::now());
    /// ```
    pub fn new() -> Self {
        Self(Arc::new(Manual::new()))
    }

    /// Returns the clock that this handle moves.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let manual = anabranch::time::ManualClock::new();
    /// let (one, other) = (manual.clock(), manual.clock());
    /// manual.advance(Duration::from_nanos(1));
    /// assert_eq!(one.now(), other.now());
    /// ```
    pub fn clock(&self) -> Clock {
        Clock(Source::Manual(Arc::clone(&self.0)))
    }

    /// Advances the clock, and wakes all threads that wait for a time by it, so that they read it again.
    ///
    /// They do so concurrently: this function does not wait until they have handled the new time. The clock jumps, and
    /// does not run. A wait that begins after the jump counts from the new time. So two successive sleeps of a second
    /// take two advances of a second, the second one after the second sleep has begun.
    ///
    /// The clock stops for good some 584 years after its start.
    ///
    /// This takes time in proportion to the number of waiting threads.
    ///
    /// ```
    /// use anabranch::time::ManualClock;
    /// use std::{thread, time::Duration};
    ///
    /// let manual = ManualClock::new();
    /// let clock = manual.clock();
    /// let start = clock.now();
    /// thread::scope(|s| {
    ///     s.spawn(|| while clock.now() - start < Duration::from_secs(60) { thread::yield_now() });
    ///     manual.advance(Duration::from_secs(60));
    /// });
    /// ```
    pub fn advance(&self, duration: Duration) {
        self.0.advance(duration);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManualClock {{ {:?} after its start }}", self.0.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn system_clock_computes_park_time() {
        let clock = Clock::system();
        let start = clock.tick();
        assert_eq!(clock.park_bound(start), Some(Duration::ZERO));
        let bound = clock.park_bound(clock.tick_after(60 * SECOND)).unwrap();
        assert!(bound <= 60 * SECOND, "{bound:?}");
        assert_eq!(clock.tick_after(Duration::MAX), NEVER);
        assert_eq!(clock.park_bound(NEVER), None);
    }

    #[test]
    fn system_clocks_share_origin() {
        let early = Clock::system().tick();
        thread::sleep(Duration::from_millis(1));
        let late = Clock::system().tick();
        assert!(late - early >= 1_000_000, "{early} and {late}");
    }

    #[test]
    fn manual_clock_moves_only_when_advanced() {
        let manual = ManualClock::new();
        let clock = manual.clock();
        let deadline = clock.tick_after(2 * SECOND);
        assert_eq!(clock.park_bound(deadline), None);
        manual.advance(SECOND);
        assert_eq!((clock.tick(), clock.park_bound(deadline)), (1_000_000_000, None));
        manual.clone().advance(SECOND);
        assert_eq!((clock.tick(), clock.park_bound(deadline)), (deadline, Some(Duration::ZERO)));
    }

    #[test]
    fn manual_clock_stops_before_never() {
        let manual = ManualClock::new();
        manual.advance(Duration::MAX);
        manual.advance(SECOND);
        let clock = manual.clock();
        assert_eq!((clock.tick(), clock.tick_after(SECOND)), (NEVER - 1, NEVER));
        assert_eq!(clock.park_bound(NEVER), None);
        assert!(clock.now() > Instant::now());
    }

    #[test]
    fn ticks_match_instants() {
        let manual = ManualClock::new();
        manual.advance(3 * SECOND);
        for clock in [manual.clock(), Clock::system()] {
            let now = clock.now();
            assert_eq!(clock.instant_at(clock.tick_at(now)), Some(now));
            assert_eq!(clock.tick_at(now + SECOND) - clock.tick_at(now), 1_000_000_000);
            assert_eq!(clock.instant_at(NEVER), None);
            assert_eq!(clock.tick_at(clock.origin()), 0);
        }
        let clock = manual.clock();
        assert_eq!(clock.tick_at(clock.now()), clock.tick());
        assert_eq!(clock.tick_at(clock.origin() - SECOND), 0, "before the origin");
    }
}
