//! Operations that may wait: an attempt that is repeated whenever the waitable has ended a wait.
//!
//! Locks, channels and every operation of `select!` wait in this one way: they attempt, wait, and attempt again. The
//! waitable stores what a waiter was handed while it waited, and the next attempt takes it from there. A waitable that
//! ends with something untaken passes it on, in its `Drop` or by `pass_on`. So nothing is lost however a wait ends: by
//! cancellation, by a deadline, by a future that is dropped, or by the panic of a foreign waker.

use crate::{
    cx::{
        cx::Cx,
        limit::Limit,
        wait::{Begun, happened},
    },
    fiber::switch::PendingSwitch,
    sys::{clock::Instant, sync::hint, thread},
    time::NEVER,
    wait::{
        Cancelled, WaitError,
        future::{AsyncWait, poll_pause},
        suspend::{WaitReason, leave},
        waitable::Waitable,
        waiter::{Selected, Waiter},
    },
};
use std::{
    future::poll_fn,
    pin::pin,
    task::{Poll, ready},
    time::Duration,
};

/// For how long a thread yields before it parks: about what it takes to park and to be woken, both sides together. If
/// other threads want the core, the first yield takes longer than this, and the thread parks next.
const YIELD_TIME: Duration = Duration::from_micros(20);

/// A waitable together with the operation that is attempted on it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operation that can be selected",
    label = "not an operation",
    note = "of a receiver `rx` write `rx.receiving()`, of a sender `tx` write `tx.sending(value)`",
    note = "others are `cx.sleeping(duration)`, `trigger.waiting()`, `mutex.locking()`, `semaphore.acquiring(n)`"
)]
#[allow(private_bounds, reason = "sealed")]
pub(crate) trait Attempt: Waitable {
    /// The result of a successful attempt.
    type Output;

    /// Whether its deadline alone may end it. A [`Cx`] keeps that deadline.
    const IS_TIMED: bool = false;

    /// Whether no other waiter can take what this waits for, and time alone cannot bring it. Then it may stay
    /// registered, with a persistent waiter, while no thread waits for it.
    const IS_LONE: bool = false;

    /// Returns the result, if the wait that has just ended has brought it or if it is available now.
    fn attempt(&self) -> Option<Self::Output>;

    /// Returns when the attempt succeeds by the time alone.
    fn deadline(&self) -> u64 {
        NEVER
    }

    /// Called by a thread that is about to spin: the other side is probably on another thread.
    fn before_spin(&self) {}

    /// Returns whether another attempt would fail, if one load shows that.
    #[inline]
    fn is_bare(&self) -> bool {
        false
    }

    /// Prefetches what the next attempt reads first, where that is elsewhere in memory. A hint.
    #[inline]
    fn prefetch(&self) {}

    /// Removes the address of a persistent waiter from the waitable. Returns `false` if it is not registered. If it
    /// was, another thread has removed it, and wakes the waiter or has woken it. Only exclusive operations implement
    /// this.
    fn withdraw(&self) -> bool {
        unreachable!("it is not exclusive")
    }

    /// Passes on what a wait that has ended was handed and will not be taken. `Drop` does so, too.
    fn pass_on(&self) {}
}

/// Waits until the attempt succeeds, or until `deadline`.
#[inline]
pub(crate) fn wait_for<A: Attempt>(
    cx: &Cx<'_>,
    operation: &A,
    deadline: u64,
    reason: WaitReason,
) -> Result<A::Output, WaitError> {
    match operation.attempt() {
        Some(output) => Ok(output),
        None => wait_again_for(cx, operation, deadline, reason),
    }
}

/// Performs an operation that has a limit of its own: all of it, with the checkpoint. Reads the clock only if the first
/// attempt fails.
pub(crate) fn wait_within<A: Attempt>(
    cx: &Cx<'_>,
    operation: &A,
    limit: Limit,
    reason: WaitReason,
) -> Result<A::Output, WaitError> {
    cx.checkpoint()?;
    match operation.attempt() {
        Some(output) => Ok(output),
        None => wait_again_for(cx, operation, limit.tick(cx), reason),
    }
}

/// Waits like [`wait_for`], after an attempt that has just failed.
#[inline(always)]
pub(crate) fn wait_again_for<A: Attempt>(
    cx: &Cx<'_>,
    operation: &A,
    deadline: u64,
    reason: WaitReason,
) -> Result<A::Output, WaitError> {
    OperationWait { operation, deadline, reason }.finish(cx)
}

/// How a wait has ended, or `None` while it goes on.
pub(crate) type Ended<A> = Option<Result<<A as Attempt>::Output, WaitError>>;

/// The wait of an operation whose attempt has just failed.
///
/// All of it but the switch itself is in functions that return before: see [`switch`](crate::fiber::switch). Each
/// writes how the wait has ended. If it goes on, the caller calls [`leave`] and then [`resume`](Self::resume).
///
/// The `Cx` is not in it: a loop that calls keeps the fields of a `Cx` in registers if its address is not stored.
pub(crate) struct OperationWait<'w, A> {
    pub(crate) operation: &'w A,
    pub(crate) deadline: u64,
    pub(crate) reason: WaitReason,
}

impl<A: Attempt> OperationWait<'_, A> {
    #[inline(always)]
    fn finish(self, cx: &Cx<'_>) -> Result<A::Output, WaitError> {
        let mut ended = None;
        let mut switch = self.begin(cx, &mut ended);
        loop {
            if let Some(result) = ended {
                return result;
            }
            leave(switch);
            switch = self.resume(cx, &mut ended);
        }
    }

    /// Begins to wait.
    #[inline(never)]
    pub(crate) fn begin(&self, cx: &Cx<'_>, ended: &mut Ended<A>) -> Option<PendingSwitch> {
        let waiter = cx.waiter();
        if waiter.spins() > 0
            && let Some(output) = spin(self.operation, waiter)
        {
            *ended = Some(Ok(output));
            return None;
        }
        self.retry(cx, ended)
    }

    /// Goes on after a switch: attempts, and begins to wait again if that fails.
    #[inline(never)]
    pub(crate) fn resume(&self, cx: &Cx<'_>, ended: &mut Ended<A>) -> Option<PendingSwitch> {
        *ended = self.after(cx.end_wait(self.operation, self.deadline));
        if ended.is_some() { None } else { self.retry(cx, ended) }
    }

    #[inline(never)]
    fn retry(&self, cx: &Cx<'_>, ended: &mut Ended<A>) -> Option<PendingSwitch> {
        loop {
            let outcome = match cx.begin_wait(self.operation, self.deadline, self.reason) {
                Begun::Wait(switch) => return switch,
                Begun::Over(outcome) => outcome,
            };
            *ended = self.after(outcome);
            if ended.is_some() {
                return None;
            }
        }
    }

    /// Returns the result of a wait with this outcome, or `None` if another wait is needed.
    #[inline]
    fn after(&self, outcome: Selected) -> Ended<A> {
        match happened(outcome) {
            Ok(()) => self.operation.attempt().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

/// Spins: attempts again for a while, if nothing else can use the thread: see `wait::spin_wait`.
#[cold]
#[inline(never)]
fn spin<A: Attempt>(waitable: &A, waiter: &Waiter) -> Option<A::Output> {
    let spin_wait = waiter.spin_wait();
    let is_sharing = spin_wait.is_sharing();
    if !is_sharing {
        waitable.before_spin();
        for round in 0..waiter.spins() {
            (0..1 << round).for_each(|_| hint::spin_loop());
            if let Some(output) = waitable.attempt() {
                spin_wait.reset();
                return Some(output);
            }
        }
    }
    let mut start = None;
    loop {
        thread::yield_now();
        if let Some(output) = waitable.attempt() {
            if !is_sharing {
                spin_wait.record_futile_spin();
            }
            return Some(output);
        }
        let start = *start.get_or_insert_with(Instant::now);
        if start.elapsed() >= YIELD_TIME {
            spin_wait.reset();
            return None;
        }
    }
}

/// Waits until the attempt succeeds, without a deadline: only cancellation makes it fail.
pub(crate) fn wait_without_deadline<A: Attempt>(
    cx: &Cx<'_>,
    waitable: &A,
    reason: WaitReason,
) -> Result<A::Output, Cancelled> {
    wait_for(cx, waitable, NEVER, reason).map_err(|_| Cancelled)
}

/// Waits until the attempt succeeds, regardless of cancellation.
pub(crate) fn wait_shielded_for<A: Attempt>(cx: &Cx<'_>, waitable: &A, reason: WaitReason) -> A::Output {
    cx.check_stack();
    loop {
        if let Some(output) = waitable.attempt() {
            return output;
        }
        cx.wait_shielded(waitable, reason);
    }
}

/// Waits until the attempt succeeds. The future may be dropped at any time.
pub(crate) async fn wait_async_for<A: Attempt>(waitable: A) -> A::Output {
    poll_fn(poll_pause).await;
    if let Some(output) = waitable.attempt() {
        return output;
    }
    let mut wait = pin!(AsyncWait::new(waitable));
    poll_fn(|context| {
        loop {
            ready!(wait.as_mut().poll(context));
            if let Some(output) = wait.waitable().attempt() {
                return Poll::Ready(output);
            }
        }
    })
    .await
}
