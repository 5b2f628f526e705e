//! Waiting for an [`Attempt`] to succeed: with a `Cx`, with a deadline, shielded, and in async code.

use super::attempt::Attempt;
use crate::{
    time::NEVER,
    wait::{
        Cancelled, Cx, WaitError,
        cx::{Reason, happened},
        future::{AsyncWait, Handed},
    },
};
use std::{
    future::poll_fn,
    pin::pin,
    task::{Poll, ready},
    time::{Duration, Instant},
};

impl<P: Attempt> Handed for P {
    /// Done by the place's `Drop`.
    fn pass_on(&self) {}
}

/// Waits until the attempt succeeds, or until `deadline`.
pub(super) fn wait_for(cx: &Cx<'_>, place: &impl Attempt, deadline: u64, reason: Reason) -> Result<(), WaitError> {
    while !place.attempt() {
        happened(cx.wait(place, deadline, reason))?;
    }
    Ok(())
}

/// As [`wait_for`], without a deadline: it fails by cancellation alone.
pub(super) fn wait_long_for(cx: &Cx<'_>, place: &impl Attempt, reason: Reason) -> Result<(), Cancelled> {
    wait_for(cx, place, NEVER, reason).map_err(|_| Cancelled)
}

/// Waits until the attempt succeeds, whatever is cancelled.
pub(super) fn wait_shielded_for(cx: &Cx<'_>, place: &impl Attempt, reason: Reason) {
    while !place.attempt() {
        cx.wait_shielded(place, reason);
    }
}

/// Waits until the attempt succeeds. The future may be dropped at any time.
pub(super) async fn wait_async_for(place: impl Attempt) {
    let mut wait = pin!(AsyncWait::new(place));
    poll_fn(|context| {
        while !wait.place().attempt() {
            ready!(wait.as_mut().poll(context));
        }
        Poll::Ready(())
    })
    .await;
}

/// How long a wait may take.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    Until(Instant),
    For(Duration),
}

impl Limit {
    /// As a point in time by the clock of the pool.
    pub(super) fn tick(self, cx: &Cx<'_>) -> u64 {
        match self {
            Self::Until(instant) => cx.strand.clock().tick_at(instant),
            Self::For(duration) => cx.after(duration),
        }
    }
}
