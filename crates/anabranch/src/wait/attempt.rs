//! What is wanted at a place: an attempt that is made again whenever the place has ended a wait.
//!
//! Locks, channels and all that can be selected among wait in this one way: they attempt, wait, and attempt again. What a
//! strand was given while it waited is kept by its place, and taken from there by the next attempt. A place that ends with something
//! untaken passes it on in its `Drop`, or is told to before. So nothing is lost by whichever way a wait is left: by cancellation, by a deadline, by
//! a future that is dropped, or by the panic of a foreign waker.

use crate::{
    sys::sync::hint,
    time::NEVER,
    wait::{
        Cancelled, Cx, WaitError,
        cx::{Reason, happened},
        future::{AsyncWait, poll_pause},
        place::Place,
    },
};
use std::{
    future::poll_fn,
    pin::pin,
    task::{Poll, ready},
};

/// A place together with what is wanted there.
#[allow(private_bounds, reason = "sealed")]
pub trait Attempt: Place {
    /// What there is in the end.
    type Output;

    /// Whether it may end by its deadline alone, which a [`Cx`] keeps.
    const IS_TIMED: bool = false;

    /// What is wanted, if it was had by the wait that has just ended or can be had now.
    fn attempt(&self) -> Option<Self::Output>;

    /// When the attempt succeeds without anything having happened at the place.
    fn deadline(&self) -> u64 {
        NEVER
    }

    /// Passes on what was given by a wait that has ended and will not be taken. `Drop` does so, too.
    fn pass_on(&self) {}
}

/// Waits until the attempt succeeds, or until `deadline`.
#[inline]
pub(crate) fn wait_for<A: Attempt>(
    cx: &Cx<'_>,
    place: &A,
    deadline: u64,
    reason: Reason,
) -> Result<A::Output, WaitError> {
    match place.attempt() {
        Some(output) => Ok(output),
        None => wait_again_for(cx, place, deadline, reason),
    }
}

/// As [`wait_for`], for an attempt that has failed just now.
#[inline]
pub(crate) fn wait_again_for<A: Attempt>(
    cx: &Cx<'_>,
    place: &A,
    deadline: u64,
    reason: Reason,
) -> Result<A::Output, WaitError> {
    if cx.waiter().looks() > 0
        && let Some(output) = look_for(cx.waiter().looks(), place)
    {
        return Ok(output);
    }
    loop {
        happened(cx.wait(place, deadline, reason))?;
        if let Some(output) = place.attempt() {
            return Ok(output);
        }
    }
}

/// Looks again. Each time after twice as long: the other side shall get ahead, instead of sharing a cache line with every
/// look.
#[cold]
fn look_for<A: Attempt>(looks: u32, place: &A) -> Option<A::Output> {
    (0..looks).find_map(|look| {
        (0..1 << look).for_each(|_| hint::spin_loop());
        place.attempt()
    })
}

/// As [`wait_for`], without a deadline: it fails by cancellation alone.
pub(crate) fn wait_long_for<A: Attempt>(cx: &Cx<'_>, place: &A, reason: Reason) -> Result<A::Output, Cancelled> {
    wait_for(cx, place, NEVER, reason).map_err(|_| Cancelled)
}

/// Waits until the attempt succeeds, whatever is cancelled.
pub(crate) fn wait_shielded_for<A: Attempt>(cx: &Cx<'_>, place: &A, reason: Reason) -> A::Output {
    loop {
        if let Some(output) = place.attempt() {
            return output;
        }
        cx.wait_shielded(place, reason);
    }
}

/// Waits until the attempt succeeds. The future may be dropped at any time.
pub(crate) async fn wait_async_for<A: Attempt>(place: A) -> A::Output {
    poll_fn(poll_pause).await;
    if let Some(output) = place.attempt() {
        return output;
    }
    let mut wait = pin!(AsyncWait::new(place));
    poll_fn(|context| {
        loop {
            ready!(wait.as_mut().poll(context));
            if let Some(output) = wait.place().attempt() {
                return Poll::Ready(output);
            }
        }
    })
    .await
}
