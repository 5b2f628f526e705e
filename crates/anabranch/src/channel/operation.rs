//! What can be waited for here: an attempt that is made again whenever its place has ended a wait.
//!
//! What a strand was given while it waited is kept by its place, and taken from there by the next attempt. A place that ends
//! with something untaken passes it on in its `Drop`. So nothing is lost by whichever way a wait is left: by cancellation,
//! by a deadline, or by a future that is dropped.

use crate::time::NEVER;
use crate::wait::{
    WaitError,
    cx::{Cx, Reason, happened},
    future::{AsyncWait, Handed},
};
use std::{
    future::poll_fn,
    pin::pin,
    task::{Poll, ready},
};

/// A place together with what is wanted there.
#[allow(private_bounds, reason = "sealed")]
pub trait Attempt: Handed {
    /// What there is in the end.
    type Output;

    /// When the attempt succeeds without anything having happened.
    fn deadline(&self) -> u64 {
        NEVER
    }

    /// What is wanted, if it was had by the wait that has just ended or can be had now. Not to be called again afterwards.
    fn attempt(&self) -> Option<Self::Output>;
}

/// Waits until the attempt succeeds, or until `deadline`. It has failed just now.
pub(crate) fn wait_for<A: Attempt>(
    cx: &Cx<'_>,
    place: &A,
    deadline: u64,
    reason: Reason,
) -> Result<A::Output, WaitError> {
    loop {
        happened(cx.wait(place, deadline, reason))?;
        if let Some(output) = place.attempt() {
            return Ok(output);
        }
    }
}

/// Waits until the attempt succeeds. The future may be dropped at any time.
pub(crate) async fn wait_async_for<A: Attempt>(place: A) -> A::Output {
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
