//! Sleeping, and scopes that end at a time.

use crate::{
    cx::cx::{Cx, Deadline},
    sys::sync::full_fence,
    time::NEVER,
    wait::{
        Cancelled, TimedOut,
        cancel::CancelScope,
        suspend::{WaitReason, leave},
        waitable::{Armed, Ended, Waitable},
        waiter::Selected,
    },
};
use std::time::{Duration, Instant};

/// A waitable that never ends a wait.
struct Nowhere;

// SAFETY: it stores no address.
unsafe impl Waitable for Nowhere {
    fn register(&self, _: Armed) -> bool {
        // A fence in place of the read-modify-write.
        full_fence();
        true
    }

    fn unregister(&self, _: Ended) {}
}

impl Cx<'_> {
    /// Lets other fibers of the same thread run. On a plain thread, yields to other threads.
    ///
    /// Takes about ten nanoseconds where there is no other fiber. A fiber that computes for long should do this now and
    /// then: it keeps its thread, and no other thread can run the other fibers that have begun there.
    #[inline]
    #[track_caller]
    pub fn yield_now(&self) {
        self.check_stack();
        leave(self.owner.yield_now());
    }

    /// Waits for `duration`.
    ///
    /// Returns up to a millisecond late if other timers of the worker are due soon after this one: an idle worker wakes
    /// once for all timers that are due within 0.9 ms.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the scope was cancelled.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let start = Instant::now();
    /// anabranch::run(|cx| cx.sleep(Duration::from_millis(2))).unwrap();
    /// assert!(start.elapsed() >= Duration::from_millis(2));
    /// ```
    #[track_caller]
    pub fn sleep(&self, duration: Duration) -> Result<(), Cancelled> {
        self.sleep_to(self.owner.clock().tick_after(duration), WaitReason::new(&"sleep"))
    }

    /// Waits until `instant`, according to the clock of the pool.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the scope was cancelled.
    #[track_caller]
    pub fn sleep_until(&self, instant: Instant) -> Result<(), Cancelled> {
        self.sleep_to(self.owner.clock().tick_at(instant), WaitReason::new(&"sleep"))
    }

    fn sleep_to(&self, deadline: u64, reason: WaitReason) -> Result<(), Cancelled> {
        self.checkpoint()?;
        match self.wait(&Nowhere, deadline, reason) {
            Selected::Cancelled => Err(Cancelled),
            Selected::TimedOut | Selected::Ready(_) => Ok(()),
        }
    }

    /// Waits until the scope is cancelled.
    fn sleep_for_ever(&self, reason: WaitReason) -> Cancelled {
        loop {
            if let Err(cancelled) = self.sleep_to(NEVER, reason) {
                return cancelled;
            }
        }
    }

    /// Returns the time of the clock of the pool.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.owner.clock().now()
    }

    /// Runs `body` with a deadline, `duration` from now, after which all waits in it are cancelled.
    ///
    /// A success is returned even after the deadline. If `body` fails after the deadline, and a wait or check in it has
    /// noticed that, its error is replaced by [`TimedOut`].
    ///
    /// Each operation that may wait reads the clock first, even if it does not have to wait. This costs about 40 ns. So
    /// a loop over a channel that is never empty is late by at most one round.
    ///
    /// The compiler cannot infer the type of the error of a `body` that ends with `Ok(5)`: write
    /// `Ok::<_, WaitError>(5)`.
    ///
    /// # Errors
    /// Returns the error of `body`, or [`TimedOut`] if the deadline has passed and `body` has noticed that. When the
    /// enclosing scope was cancelled, or its deadline has passed, this returns the error of `body`.
    ///
    /// ```
    /// use anabranch::WaitError;
    /// use std::{io, time::Duration};
    ///
    /// anabranch::run(|cx| {
    ///     let late: Result<(), _> =
    ///         cx.timeout(Duration::from_millis(1), |cx| Ok(cx.sleep(Duration::from_secs(3600))?));
    ///     assert_eq!(late, Err(WaitError::TimedOut));
    ///     let read: io::Result<()> =
    ///         cx.timeout(Duration::from_millis(1), |cx| Ok(cx.sleep(Duration::from_secs(3600))?));
    ///     assert_eq!(read.unwrap_err().kind(), io::ErrorKind::TimedOut);
    ///     let quick = cx.timeout(Duration::from_secs(3600), |_| Ok::<_, WaitError>("done"));
    ///     assert_eq!(quick, Ok("done"));
    /// });
    /// ```
    pub fn timeout<R, E>(&self, duration: Duration, body: impl FnOnce(&Cx<'_>) -> Result<R, E>) -> Result<R, E>
    where
        E: From<TimedOut>,
    {
        self.limit(self.owner.clock().tick_after(duration), body)
    }

    /// Runs `body` with a deadline at `instant`, according to the clock of the pool. Like [`timeout`](Self::timeout).
    ///
    /// # Errors
    /// Returns the error of `body`, or [`TimedOut`] if the deadline has passed and `body` has noticed that.
    pub fn with_deadline<R, E>(&self, instant: Instant, body: impl FnOnce(&Cx<'_>) -> Result<R, E>) -> Result<R, E>
    where
        E: From<TimedOut>,
    {
        self.limit(self.owner.clock().tick_at(instant), body)
    }

    fn limit<R, E>(&self, at: u64, body: impl FnOnce(&Cx<'_>) -> Result<R, E>) -> Result<R, E>
    where
        E: From<TimedOut>,
    {
        // A deadline that never comes needs no timed scope.
        // SAFETY: this scope and the waiter of this `Cx` outlive the call, and the new scope does not move.
        let scope = unsafe {
            if at == NEVER {
                CancelScope::below(self.scope, self.waiter_address(), false)
            } else {
                CancelScope::timed_below(self.scope, self.waiter_address())
            }
        };
        let deadline = if at < self.deadline.at {
            // SAFETY: every `Cx` with this deadline ends before `body` returns, and `scope` ends after that.
            unsafe { Deadline::of(&scope, at) }
        } else {
            self.deadline
        };
        let result = body(&self.within(&scope, deadline, self.locals));
        result.map_err(|error| if scope.is_flagged() && !self.scope.is_cancelled() { TimedOut.into() } else { error })
    }

    /// Runs `body` in a scope that outer scopes do not cancel and that has no deadline. Use it for an operation that
    /// has to be completed, such as the release of a resource. In a `Drop` that runs because of a panic, waits in it
    /// also continue to their end, and block the thread.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let handle = anabranch::spawn(|cx| {
    ///     let interrupted = cx.sleep(Duration::from_secs(3600));
    ///     assert!(interrupted.is_err() && cx.is_cancelled());
    ///     cx.shield(|cx| cx.sleep(Duration::from_millis(1)))
    /// });
    /// handle.cancel();
    /// assert_eq!(anabranch::run(|cx| handle.join(cx)).unwrap(), Ok(()));
    /// ```
    pub fn shield<R>(&self, body: impl FnOnce(&Cx<'_>) -> R) -> R {
        // SAFETY: this scope and the waiter of this `Cx` outlive the call, and the new scope does not move.
        let scope = unsafe { CancelScope::below(self.scope, self.waiter_address(), true) };
        body(&self.within(&scope, Deadline::NONE, self.locals))
    }

    /// Returns an interval that ticks once per `period` from now on. A period beyond what an [`Instant`] can represent,
    /// such as [`Duration::MAX`], never ends.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// anabranch::run(|cx| {
    ///     let mut ticks = cx.interval(Duration::from_millis(1));
    ///     for _ in 0..3 {
    ///         ticks.tick(cx)?;
    ///     }
    ///     Ok::<_, anabranch::Cancelled>(())
    /// })
    /// .unwrap();
    /// ```
    ///
    /// # Panics
    /// Panics when the period is zero.
    #[must_use = "an interval does nothing until it is waited for"]
    pub fn interval(&self, period: Duration) -> Interval {
        Interval::from(self.now(), period)
    }
}

/// Points in time at equal intervals. Created by [`Cx::interval`].
#[derive(Debug, Clone)]
pub struct Interval {
    /// The next tick. `None` if it never comes.
    next: Option<Instant>,
    period: Duration,
}

impl Interval {
    /// Waits for the next tick and returns its time.
    ///
    /// Ticks do not drift: the second is two periods after the start, however late the first was noticed. A tick that
    /// is noticed a period or more too late is skipped.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the scope was cancelled.
    #[track_caller]
    pub fn tick(&mut self, cx: &Cx<'_>) -> Result<Instant, Cancelled> {
        let reason = WaitReason::new(&"interval");
        let Some(reached) = self.next else { return Err(cx.sleep_for_ever(reason)) };
        cx.sleep_to(cx.owner.clock().tick_at(reached), reason)?;
        self.advance(reached, cx.now());
        Ok(reached)
    }
    /// Returns the time of the next tick, or `None` if it never comes.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Goes on to the tick after `reached`, or to a later one if that has passed.
    pub(crate) fn advance(&mut self, reached: Instant, now: Instant) {
        // A delay that does not fit would be one of 584 years; and a longer period has not been missed.
        let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let late = nanos(now.saturating_duration_since(reached));
        let missed = Duration::from_nanos(late - late % nanos(self.period));
        self.next = reached.checked_add(missed).and_then(|last| last.checked_add(self.period));
    }

    /// Creates an interval whose first tick is a period after `now`.
    pub(crate) fn from(now: Instant, period: Duration) -> Self {
        assert!(!period.is_zero(), "an interval of no length would never let anybody wait");
        Self { next: now.checked_add(period), period }
    }
}
