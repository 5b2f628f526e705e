//! Triggers: one-time events, created before their waiter is known.

use crate::{
    cx::{
        attempt::{Attempt, wait_without_deadline},
        cx::Cx,
    },
    wait::{
        Cancelled,
        latch::{Latch, LatchWait},
        suspend::WaitReason,
        waitable::waits_by,
    },
};
use std::{fmt, sync::Arc};

/// An event that happens once, with one waiter.
///
/// It is created before the wait, and its [`Signal`] can be cloned and stored anywhere. The first `send` wakes the
/// waiter, which may be a fiber, a thread or an async task. A trigger is the building block for other waits; for the
/// usual ones see [`sync`](crate::sync).
///
/// ```
/// use anabranch::sync::Trigger;
///
/// let mut trigger = Trigger::new();
/// let signal = trigger.signal();
/// std::thread::spawn(move || signal.send());
/// assert_eq!(anabranch::run(|cx| trigger.wait(cx)), Ok(()));
/// ```
#[derive(Default)]
pub struct Trigger {
    slot: Arc<Latch>,
}

/// The other end of a [`Trigger`]; may be cloned and sent anywhere.
#[derive(Clone)]
pub struct Signal {
    slot: Arc<Latch>,
}

impl Trigger {
    /// Creates a trigger that has not happened.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a signal that makes the event happen.
    #[must_use = "without a signal it never happens"]
    pub fn signal(&self) -> Signal {
        Signal { slot: Arc::clone(&self.slot) }
    }

    /// Returns whether the event has happened.
    #[must_use]
    pub fn is_signalled(&self) -> bool {
        self.slot.is_notified()
    }

    /// Blocks until the event has happened. [`waiting`](Self::waiting) has all other forms of this wait.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        let reason = WaitReason::new(&"Trigger");
        cx.checkpoint()?;
        wait_without_deadline(cx, &self.waiting(), reason)
    }

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
        Triggered { wait: LatchWait::new(&self.slot) }
    }
}

/// A wait for a trigger, as an operation. Created by [`Trigger::waiting`].
pub struct Triggered<'a> {
    wait: LatchWait<&'a Latch>,
}

impl Attempt for Triggered<'_> {
    type Output = ();

    const NAME: &'static &'static str = &"Trigger";

    fn attempt(&self) -> Option<()> {
        self.wait.latch().is_notified().then_some(())
    }
}

crate::cx::operation::into_future!(Triggered<'_>;);

waits_by!(wait: Triggered<'_>);

impl Signal {
    /// Makes the event happen. Further calls have no effect.
    pub fn send(&self) {
        self.slot.notify();
    }
}

impl fmt::Debug for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trigger").field("is_signalled", &self.is_signalled()).finish()
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("is_sent", &self.slot.is_notified()).finish()
    }
}

impl fmt::Debug for Triggered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Triggered").field("is_signalled", &self.wait.latch().is_notified()).finish()
    }
}
