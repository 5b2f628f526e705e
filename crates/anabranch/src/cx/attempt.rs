//! What is wanted at a place: an attempt that is made again whenever the place has ended a wait.
//!
//! Locks, channels and all that can be selected among wait in this one way: they attempt, wait, and attempt again. What
//! a strand was given while it waited is kept by its place, and taken from there by the next attempt. A place that ends
//! with something untaken passes it on in its `Drop`, or is told to before. So nothing is lost by whichever way a wait
//! is left: by cancellation, by a deadline, by a future that is dropped, or by the panic of a foreign waker.

use crate::{
    cx::cx::{Begun, Cx, happened},
    fiber::switch::PendingSwitch,
    sys::{clock::Instant, sync::hint, thread},
    time::NEVER,
    wait::{
        Cancelled, WaitError,
        future::{AsyncWait, poll_pause},
        suspend::{WaitReason, leave},
        waitable::Place,
        waiter::{Outcome, Waiter},
    },
};
use std::{
    future::poll_fn,
    pin::pin,
    task::{Poll, ready},
    time::Duration,
};

/// For how long a thread lets others run, before it parks: about what it takes to park and to be woken, both sides
/// together. A core that others want is lost for longer by the first yield, and then it parks.
const PATIENCE: Duration = Duration::from_micros(20);

/// A place together with what is wanted there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operation that can be selected",
    label = "not an operation",
    note = "of a receiver `rx` write `rx.receiving()`, of a sender `tx` write `tx.sending(value)`",
    note = "others are `cx.sleeping(duration)`, `trigger.waiting()`, `mutex.locking()`, `semaphore.acquiring(n)`"
)]
#[allow(private_bounds, reason = "sealed")]
pub(crate) trait Attempt: Place {
    /// What there is in the end.
    type Output;

    /// Whether it may end by its deadline alone, which a [`Cx`] keeps.
    const IS_TIMED: bool = false;

    /// Whether nobody else can want what this waits for, nor time alone bring it: so it may go on waiting at its place,
    /// with a standing waiter, while nobody waits for it.
    const IS_LONE: bool = false;

    /// What is wanted, if it was had by the wait that has just ended or can be had now.
    fn attempt(&self) -> Option<Self::Output>;

    /// When the attempt succeeds without anything having happened at the place.
    fn deadline(&self) -> u64 {
        NEVER
    }

    /// Leaves the other side alone for a while, if that pays: called before a thread, which nothing else could use,
    /// looks again.
    fn snooze(&self) {}

    /// Whether another attempt would fail, if that is seen at a glance.
    #[inline]
    fn is_bare(&self) -> bool {
        false
    }

    /// Has the processor fetch what the next attempt looks at first, where that is elsewhere. A hint.
    #[inline]
    fn prefetch(&self) {}

    /// Takes the address of a standing waiter out of the place. `false`: it is not there; if it was, somebody has taken
    /// it out, and wakes the waiter or has woken it. For those that are lone.
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
    reason: WaitReason,
) -> Result<A::Output, WaitError> {
    match place.attempt() {
        Some(output) => Ok(output),
        None => wait_again_for(cx, place, deadline, reason),
    }
}

/// As [`wait_for`], for an attempt that has failed just now. All of it but the leaving itself is in functions that
/// return before: see [`switch`](crate::fiber::switch).
#[inline(always)]
pub(crate) fn wait_again_for<A: Attempt>(
    cx: &Cx<'_>,
    place: &A,
    deadline: u64,
    reason: WaitReason,
) -> Result<A::Output, WaitError> {
    let mut result = None;
    let mut switch = begin(cx, place, deadline, reason, &mut result);
    loop {
        if let Some(result) = result {
            return result;
        }
        leave(switch);
        switch = go_on(cx, place, deadline, reason, &mut result);
    }
}

/// Begins to wait for an attempt that has failed just now. If there is no result, [`leave`] and [`go_on`].
#[inline(never)]
pub(crate) fn begin<A: Attempt>(
    cx: &Cx<'_>,
    place: &A,
    deadline: u64,
    reason: WaitReason,
    result: &mut Option<Result<A::Output, WaitError>>,
) -> Option<PendingSwitch> {
    let waiter = cx.waiter();
    if waiter.looks() > 0
        && let Some(output) = look_out(place, waiter)
    {
        *result = Some(Ok(output));
        return None;
    }
    begin_again(cx, place, deadline, reason, result)
}

/// Goes on after a wait: attempts, and begins to wait again if that fails. If there is no result, once more.
#[inline(never)]
pub(crate) fn go_on<A: Attempt>(
    cx: &Cx<'_>,
    place: &A,
    deadline: u64,
    reason: WaitReason,
    result: &mut Option<Result<A::Output, WaitError>>,
) -> Option<PendingSwitch> {
    *result = after(place, cx.end_wait(place, deadline));
    if result.is_some() { None } else { begin_again(cx, place, deadline, reason, result) }
}

/// What a wait that has ended like this comes to. `None`: to another wait.
#[inline]
fn after<A: Attempt>(place: &A, outcome: Outcome) -> Option<Result<A::Output, WaitError>> {
    match happened(outcome) {
        Ok(()) => place.attempt().map(Ok),
        Err(error) => Some(Err(error)),
    }
}

#[inline(never)]
fn begin_again<A: Attempt>(
    cx: &Cx<'_>,
    place: &A,
    deadline: u64,
    reason: WaitReason,
    result: &mut Option<Result<A::Output, WaitError>>,
) -> Option<PendingSwitch> {
    loop {
        let outcome = match cx.begin_wait(place, deadline, reason) {
            Begun::Wait(switch) => return switch,
            Begun::Over(outcome) => outcome,
        };
        *result = after(place, outcome);
        if result.is_some() {
            return None;
        }
    }
}

/// Attempts again for a while, as long as nothing better can be done with the thread: see
/// [`patience`](crate::wait::spin_wait).
#[cold]
#[inline(never)]
fn look_out<A: Attempt>(place: &A, waiter: &Waiter) -> Option<A::Output> {
    let patience = waiter.patience();
    let is_sharing = patience.is_sharing();
    if !is_sharing {
        place.snooze();
        for look in 0..waiter.looks() {
            (0..1 << look).for_each(|_| hint::spin_loop());
            if let Some(output) = place.attempt() {
                patience.renew();
                return Some(output);
            }
        }
    }
    if patience.is_exhausted() {
        patience.renew();
        return None;
    }
    let mut start = None;
    loop {
        thread::yield_now();
        if let Some(output) = place.attempt() {
            if !is_sharing {
                patience.has_looked_in_vain();
            }
            return Some(output);
        }
        let start = *start.get_or_insert_with(Instant::now);
        if start.elapsed() >= PATIENCE {
            patience.renew();
            return None;
        }
    }
}

/// As [`wait_for`], without a deadline: it fails by cancellation alone.
pub(crate) fn wait_long_for<A: Attempt>(cx: &Cx<'_>, place: &A, reason: WaitReason) -> Result<A::Output, Cancelled> {
    wait_for(cx, place, NEVER, reason).map_err(|_| Cancelled)
}

/// Waits until the attempt succeeds, whatever is cancelled.
pub(crate) fn wait_shielded_for<A: Attempt>(cx: &Cx<'_>, place: &A, reason: WaitReason) -> A::Output {
    cx.check_stack();
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
