//! Sleeping, and scopes that end at a time.

use crate::{
    cx::cx::{Cx, Deadline},
    sys::sync::full_fence,
    time::NEVER,
    wait::{
        Cancelled, TimedOut,
        cancel::CancelScope,
        suspend::{WaitReason, leave},
        waitable::Place,
        waiter::{Outcome, Waiter},
    },
};
use std::time::{Duration, Instant};

/// A place where nothing ever happens.
struct Nowhere;

// SAFETY: it keeps no address.
unsafe impl Place for Nowhere {
    unsafe fn register(&self, _: *const Waiter, _: u32) -> bool {
        // Instead of a read-modify-write.
        full_fence();
        true
    }

    unsafe fn unregister(&self, _: bool) {}
}

impl Cx<'_> {
    /// Lets other fibers of the same thread run first. On a plain thread: other threads.
    ///
    /// About ten nanoseconds where there is no other. A fiber that computes for long should do this now and then: it
    /// stays on its thread, and so do the others that have begun there, which no other thread can run.
    #[inline]
    #[track_caller]
    pub fn yield_now(&self) {
        self.check_stack();
        leave(self.strand.step_aside());
    }

    /// Waits for so long.
    ///
    /// # Errors
    /// When the scope was cancelled.
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
        self.sleep_to(self.strand.clock().tick_after(duration), WaitReason::new(&"sleep"))
    }

    /// Waits until then, by the clock of the pool.
    ///
    /// # Errors
    /// When the scope was cancelled.
    #[track_caller]
    pub fn sleep_until(&self, instant: Instant) -> Result<(), Cancelled> {
        self.sleep_to(self.strand.clock().tick_at(instant), WaitReason::new(&"sleep"))
    }

    fn sleep_to(&self, deadline: u64, reason: WaitReason) -> Result<(), Cancelled> {
        self.checkpoint()?;
        match self.wait(&Nowhere, deadline, reason) {
            Outcome::Cancelled => Err(Cancelled),
            Outcome::TimedOut | Outcome::Ready(_) => Ok(()),
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

    /// The time by the clock of the pool.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.strand.clock().now()
    }

    /// Gives `body` so much time: afterwards all waits in it are cancelled.
    ///
    /// A success counts however late it comes. What `body` failed with is lost if the time was up by then and somebody
    /// in it had noticed: the error is [`TimedOut`] instead.
    ///
    /// Each operation that may wait looks at the time first, be there something to wait for or not; that costs a look
    /// at the clock, some 40 ns. So a loop over a channel that is always full is late by one round at most.
    ///
    /// # Errors
    /// Those of `body`, and [`TimedOut`] as said. When the scope around this one was cancelled, or its own time was up,
    /// the error is that of `body`.
    ///
    /// ```
    /// use anabranch::WaitError;
    /// use std::{io, time::Duration};
    ///
    /// anabranch::run(|cx| {
    ///     let late: Result<(), _> = cx.timeout(Duration::from_millis(1), |cx|
    ///     Ok(cx.sleep(Duration::from_secs(3600))?)); assert_eq!(late, Err(WaitError::TimedOut));
    ///     let read: io::Result<()> = cx.timeout(Duration::from_millis(1), |cx|
    ///     Ok(cx.sleep(Duration::from_secs(3600))?)); assert_eq!(read.unwrap_err().kind(), io::ErrorKind::TimedOut);
    ///     let quick = cx.timeout(Duration::from_secs(3600), |_| Ok::<_, WaitError>("done"));
    ///     assert_eq!(quick, Ok("done"));
    /// });
    /// ```
    pub fn timeout<R, E>(&self, duration: Duration, body: impl FnOnce(&Cx<'_>) -> Result<R, E>) -> Result<R, E>
    where
        E: From<TimedOut>,
    {
        self.limit(self.strand.clock().tick_after(duration), body)
    }

    /// As [`timeout`](Self::timeout), up to a point in time by the clock of the pool.
    ///
    /// # Errors
    /// As there.
    pub fn with_deadline<R, E>(&self, instant: Instant, body: impl FnOnce(&Cx<'_>) -> Result<R, E>) -> Result<R, E>
    where
        E: From<TimedOut>,
    {
        self.limit(self.strand.clock().tick_at(instant), body)
    }

    fn limit<R, E>(&self, at: u64, body: impl FnOnce(&Cx<'_>) -> Result<R, E>) -> Result<R, E>
    where
        E: From<TimedOut>,
    {
        // A deadline that never comes is none.
        let scope = if at == NEVER {
            // SAFETY: this scope and the strand outlive the call, and the new scope stays where it is.
            unsafe { CancelScope::below(self.scope, self.waiter(), false) }
        } else {
            // SAFETY: as above.
            unsafe { CancelScope::timed_below(self.scope, self.waiter_address()) }
        };
        let deadline = if at < self.deadline.at {
            // SAFETY: whoever sees it ends before `body` returns.
            unsafe { Deadline::of(&scope, at) }
        } else {
            self.deadline
        };
        let result = body(&self.within(&scope, deadline, self.locals));
        result.map_err(|error| if scope.is_flagged() && !self.scope.is_cancelled() { TimedOut.into() } else { error })
    }

    /// Runs `body` in a scope that hears of no cancellation from outside and has no deadline: for what has to be done
    /// to the end, such as giving back what was taken. In a `Drop` that runs because of a panic, too, waits in it go on
    /// to their end; there they block the thread.
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
        // SAFETY: as in `limit`.
        let scope = unsafe { CancelScope::below(self.scope, self.waiter_address(), true) };
        body(&self.within(&scope, Deadline::NONE, self.locals))
    }

    /// Every so often from now on. A period beyond what an [`Instant`] can say, such as [`Duration::MAX`], never ends.
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
    /// When the period is zero.
    #[must_use = "an interval does nothing until it is waited for"]
    pub fn interval(&self, period: Duration) -> Interval {
        assert!(!period.is_zero(), "an interval of no length would never let anybody wait");
        Interval { next: self.now().checked_add(period), period }
    }
}

/// Points in time at equal distances. Made by [`Cx::interval`].
#[derive(Debug, Clone)]
pub struct Interval {
    /// `None`: never.
    next: Option<Instant>,
    period: Duration,
}

impl Interval {
    /// Waits for the next of them and returns it.
    ///
    /// They do not drift: the second is two periods after the beginning, however late the first was noticed. Points
    /// that have been missed by a period or more are left out.
    ///
    /// # Errors
    /// When the scope was cancelled.
    #[track_caller]
    pub fn tick(&mut self, cx: &Cx<'_>) -> Result<Instant, Cancelled> {
        let reason = WaitReason::new(&"interval");
        let Some(reached) = self.next else { return Err(cx.sleep_for_ever(reason)) };
        cx.sleep_to(cx.strand.clock().tick_at(reached), reason)?;
        // A lateness beyond what fits would be one of 584 years; and a longer period has not been missed.
        let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let late = nanos(cx.now().saturating_duration_since(reached));
        let missed = Duration::from_nanos(late - late % nanos(self.period));
        self.next = reached.checked_add(missed).and_then(|last| last.checked_add(self.period));
        Ok(reached)
    }
}
