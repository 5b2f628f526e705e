//! What is wanted at a place: an attempt that is made again whenever the place has ended a wait.
//!
//! Locks, channels and all that can be selected among wait in this one way: they attempt, wait, and attempt again. What a
//! strand was given while it waited is kept by its place, and taken from there by the next attempt. A place that ends with something
//! untaken passes it on in its `Drop`, or is told to before. So nothing is lost by whichever way a wait is left: by cancellation, by a deadline, by
//! a future that is dropped, or by the panic of a foreign waker.

use crate::{
    sys::{clock::Instant, sync::hint, thread},
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
    time::Duration,
};

/// For how long a thread lets others run and looks again, before it parks: about what it takes to park and to be woken, both
/// sides together. A core that others want is lost for longer by the first yield, and then it parks.
const PATIENCE: Duration = Duration::from_micros(20);

/// A place together with what is wanted there.
#[allow(private_bounds, reason = "sealed")]
pub trait Attempt: Place {
    /// What there is in the end.
    type Output;

    /// Whether it may end by its deadline alone, which a [`Cx`] keeps.
    const IS_TIMED: bool = false;

    /// Whether nobody else can want what this waits for, nor time alone bring it: so it may go on waiting at its place, with a
    /// standing waiter, while nobody waits for it.
    const IS_LONE: bool = false;

    /// What is wanted, if it was had by the wait that has just ended or can be had now.
    fn attempt(&self) -> Option<Self::Output>;

    /// When the attempt succeeds without anything having happened at the place.
    fn deadline(&self) -> u64 {
        NEVER
    }

    /// Leaves the other side alone for a while, if that pays: called before a thread, which nothing else could use, looks again.
    fn stay_away(&self) {}

    /// Whether another attempt would fail, if that is seen at a glance.
    #[inline]
    fn is_bare(&self) -> bool {
        false
    }

    /// Takes the address of a standing waiter out of the place. `false`: it is not there; if it was, somebody has taken it out, and
    /// wakes the waiter or has woken it. For those that are lone.
    fn withdraw(&self) -> bool {
        unreachable!("it is not lone")
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
    let looks = cx.waiter().looks();
    if looks > 0
        && let Some(output) = look_out(place, looks)
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

/// Attempts again so many times, and then for a while, as long as nothing better can be done with the thread.
///
/// First each time after twice as long: the other side shall get ahead, instead of sharing a cache line with every look. Then
/// each time after others have run: the other side may be on this very core, and goes on for its whole time slice. To park
/// instead would be to be woken by its next step, for one message.
#[cold]
#[inline(never)]
fn look_out<A: Attempt>(place: &A, looks: u32) -> Option<A::Output> {
    place.stay_away();
    for look in 0..looks {
        (0..1 << look).for_each(|_| hint::spin_loop());
        if let Some(output) = place.attempt() {
            return Some(output);
        }
    }
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        thread::yield_now();
        if let Some(output) = place.attempt() {
            return Some(output);
        }
    }
    None
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
