//! Time and triggers as operations.

use crate::{
    cx::{Cx, attempt::Attempt},
    sync::trigger::Trigger,
    sys::sync::full_fence,
    wait::{
        latch::{Latch, LatchWait},
        waitable::{Armed, Ended, Waitable, waits_by},
    },
};
use std::{fmt, time::Duration};

/// A sleep, as an operation. Made by [`Cx::sleeping`].
///
/// Only waits with a `Cx` can select it; async code has [`sleep_async`](crate::fiber::sleep_async).
pub struct Sleeping<'a> {
    cx: &'a Cx<'a>,
    at: u64,
}

impl<'a> Cx<'a> {
    /// Returns a sleep as an operation, for [`select!`](crate::select). It becomes ready `duration` from now.
    pub fn sleeping(&'a self, duration: Duration) -> Sleeping<'a> {
        Sleeping { cx: self, at: self.after(duration) }
    }
}

impl Attempt for Sleeping<'_> {
    type Output = ();

    const IS_TIMED: bool = true;

    const NAME: &'static &'static str = &"sleep";

    fn attempt(&self) -> Option<()> {
        (self.cx.owner.now() >= self.at).then_some(())
    }

    fn ready_at(&self) -> u64 {
        self.at
    }
}

// SAFETY: a sleep stores no address of a waiter.
unsafe impl Waitable for Sleeping<'_> {
    fn register(&self, _: Armed) -> bool {
        // This fence replaces the read-modify-write that `Waitable` requires.
        full_fence();
        true
    }

    fn unregister(&self, _: Ended) {}
}

/// A wait for a trigger, as an operation. Made by [`Trigger::waiting`].
pub struct Triggered<'a> {
    slot: &'a Latch,
    wait: LatchWait<&'a Latch>,
}

impl Trigger {
    /// Returns [`wait`](Self::wait) as an [operation](crate::Operation): for a time limit, for async code, for threads
    /// without a [`Cx`], and for [`select!`](crate::select).
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, select, sync::Trigger};
    /// use std::time::Duration;
    ///
    /// let mut trigger = Trigger::new();
    /// anabranch::run(|cx| {
    ///     let early = trigger.waiting().timeout(cx, Duration::from_millis(1));
    ///     assert_eq!(early, Err(WaitError::TimedOut));
    ///     trigger.signal().send();
    ///     select!(cx, { () = trigger.waiting() => () }).unwrap();
    /// });
    /// ```
    pub fn waiting(&mut self) -> Triggered<'_> {
        let slot = self.slot();
        Triggered { slot, wait: LatchWait::new(slot) }
    }
}

impl Attempt for Triggered<'_> {
    type Output = ();

    const NAME: &'static &'static str = &"Trigger";

    fn attempt(&self) -> Option<()> {
        self.slot.is_notified().then_some(())
    }
}

crate::cx::operation::into_future!(Triggered<'_>;);

waits_by!(wait: Triggered<'_>);

impl fmt::Debug for Sleeping<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleeping").finish_non_exhaustive()
    }
}

impl fmt::Debug for Triggered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Triggered").field("is_signalled", &self.slot.is_notified()).finish()
    }
}
