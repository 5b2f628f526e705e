//! Time for async code.
//!
//! The workers of a pool keep the timers of the fibers that are bound to them. So async code spawns a fiber that
//! sleeps, and waits for the end of that fiber.

use crate::{
    cx::{
        attempt::{Attempt, poll_wait},
        handle::Done,
        spawn::spawn_task,
    },
    pool::{Pool, registry::Registry},
    wait::{
        future::AsyncWait,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

/// A sleep for async code. Created by [`sleep_async`] and [`Pool::sleep_async`].
///
/// It is a future, and an [operation](crate::Operation).
#[must_use = "a sleep that nobody waits for is dropped at once"]
pub struct SleepAsync {
    wait: AsyncWait<Done<()>>,
}

/// Returns a future that completes after `duration`, on any async runtime. It uses the clock of the pool that the
/// caller is in, or else of the default pool.
///
/// It costs a fiber, which sleeps. With a [`Cx`](crate::Cx) prefer [`Cx::sleep`](crate::Cx::sleep), or
/// [`Cx::sleeping`](crate::Cx::sleeping) in a `select!`. On a runtime that has its own timers, prefer those. When the
/// pool is dropped the sleep ends.
///
/// # Panics
/// Panics outside of any pool when the default pool cannot be created.
///
/// ```
/// use anabranch::{channel, fiber::sleep_async, select};
/// use std::time::Duration;
///
/// let (_sender, receiver) = channel::unbounded::<u8>();
/// let task = anabranch::spawn_async(async move {
///     select!(async, {
///         got = receiver.receiving() => got.ok(),
///         () = sleep_async(Duration::from_millis(1)) => None,
///     })
/// });
/// assert_eq!(anabranch::run(|cx| task.join(cx)).unwrap(), None);
/// ```
///
/// The timers of a `Cx` cannot be used in async code:
/// ```compile_fail,E0080
/// # use std::time::Duration;
/// anabranch::run(|cx| {
///     cx.block_on(async { anabranch::select!(async, { () = cx.sleeping(Duration::from_millis(1)) => () }) })
/// });
/// ```
#[track_caller]
pub fn sleep_async(duration: Duration) -> SleepAsync {
    sleep_in(Pool::of_caller(), duration)
}

#[track_caller]
fn sleep_in(registry: &Registry, duration: Duration) -> SleepAsync {
    let end = registry.time.clock.now().checked_add(duration);
    let fiber = spawn_task(registry, "sleep_async", move |cx| {
        // A cancelled sleep counts as over: either there is no waiter, or the pool ends.
        _ = match end {
            Some(end) => cx.sleep_until(end),
            None => cx.sleep(duration),
        };
        Ok(())
    });
    SleepAsync { wait: AsyncWait::new(fiber.into_done()) }
}

impl Pool {
    /// Returns a future that completes after `duration`, according to the clock of this pool. See [`sleep_async`].
    #[track_caller]
    pub fn sleep_async(&self, duration: Duration) -> SleepAsync {
        sleep_in(self.registry(), duration)
    }
}

impl Future for SleepAsync {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // SAFETY: `wait` is pinned with `self`, and is never moved out.
        let wait = unsafe { self.map_unchecked_mut(|this| &mut this.wait) };
        poll_wait(wait, context)
    }
}

impl Attempt for SleepAsync {
    type Output = ();

    const NAME: &'static &'static str = &"sleep_async";

    fn attempt(&self) -> Option<()> {
        self.wait.waitable().attempt()
    }
}

// SAFETY: both functions only forward to the waitable of `wait`, which upholds the contract.
unsafe impl Waitable for SleepAsync {
    fn register(&self, armed: Armed) -> bool {
        self.wait.waitable().register(armed)
    }

    fn unregister(&self, ended: Ended) {
        self.wait.waitable().unregister(ended);
    }
}

impl Drop for SleepAsync {
    fn drop(&mut self) {
        self.wait.waitable().cancel();
    }
}

impl fmt::Debug for SleepAsync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_over = self.attempt().is_some();
        f.debug_struct("SleepAsync").field("is_over", &is_over).finish_non_exhaustive()
    }
}
