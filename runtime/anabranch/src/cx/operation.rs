//! The waits of an operation: with a `Cx`, in async code and on plain threads, each with or without a time limit.

use crate::{
    cx::{
        attempt::{Attempt, boxing, poll_wait, wait_again_for},
        cx::Cx,
        limit::Limit,
        plain_thread::{timed_out, with_blocking_cx},
    },
    sys::carrier::is_large,
    time::NEVER,
    wait::{Cancelled, TimedOut, WaitError, future::AsyncWait, suspend::WaitReason},
};
use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

/// Something that can be waited for: alone in several ways, and with [`select!`](crate::select) and
/// [`Select`](crate::channel::Select) together with others.
///
/// A method such as `recv(cx)` is the everyday form of a wait. Its operation, `receiving()`, has all other forms:
///
/// | | with a [`Cx`] | on a thread without one | in async code |
/// |---|---|---|---|
/// | without a limit | [`wait`](Self::wait) | [`blocking`](Self::blocking) | `.await` |
/// | with a timeout | [`timeout`](Self::timeout) | [`blocking_timeout`](Self::blocking_timeout) | the runtime's |
/// | with a deadline | [`deadline`](Self::deadline) | [`blocking_deadline`](Self::blocking_deadline) | the runtime's |
///
/// All of them return the result of the operation itself, [`Done`](Self::Done): for a receive the value, or that the
/// channel is closed. The wait around it may end without that result, and then returns its own error. `??` passes on
/// both.
///
/// ```
/// use anabranch::{Operation, WaitError, channel::{self, Closed}};
/// use std::time::Duration;
///
/// let (sender, receiver) = channel::unbounded();
/// anabranch::run(|cx| {
///     let early = receiver.receiving().timeout(cx, Duration::from_millis(1));
///     assert_eq!(early, Err(WaitError::TimedOut));
///     sender.send(cx, "hello").unwrap();
///     drop(sender);
///     assert_eq!(receiver.receiving().timeout(cx, Duration::from_secs(9)), Ok(Ok("hello")));
///     assert_eq!(receiver.receiving().timeout(cx, Duration::from_secs(9)), Ok(Err(Closed)));
/// });
/// ```
///
/// An operation is created by `receiving` and `sending` of the ends of channels, by the locks, permits and events of
/// [`sync`](crate::sync), by [`Cx::sleeping`] and the timers of [`channel`](crate::channel), and by
/// [`awaiting`](crate::channel::awaiting) for any future. It may be waited for again: after an error of the wait the
/// operation is as before, so a send still has its value.
///
/// An operation may also be used after it has completed. A receive, a lock, an acquisition or a tick is then performed
/// once more. A wait for an event that is set, or for a sleep that has elapsed, completes at once. A one-shot receive
/// returns `Closed`. A send, the reservation of room in a [stream](crate::channel::spsc) and the
/// [`awaiting`](crate::channel::awaiting) of a future panic, because their value, sender or future is used up.
///
/// The trait is sealed: build other waits on a channel or a trigger.
#[allow(private_bounds, reason = "sealed")]
pub trait Operation: Attempt<Output = <Self as Operation>::Done> {
    /// The result of the operation.
    type Done;

    /// Waits as long as the scope lasts.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    #[track_caller]
    fn wait(&mut self, cx: &Cx<'_>) -> Result<Self::Done, Cancelled>
    where
        Self: Sized,
    {
        perform(cx, self, None, WaitReason::new(Self::NAME), |_| Cancelled)
    }

    /// Waits with a timeout, according to the clock of the pool.
    ///
    /// # Errors
    /// Returns `TimedOut` once the timeout elapses, `Cancelled` if the wait is cancelled.
    #[track_caller]
    fn timeout(&mut self, cx: &Cx<'_>, timeout: Duration) -> Result<Self::Done, WaitError>
    where
        Self: Sized,
    {
        perform(cx, self, Some(Limit::For(timeout)), WaitReason::new(Self::NAME), |error| error)
    }

    /// Waits with a deadline, according to the clock of the pool.
    ///
    /// # Errors
    /// Returns `TimedOut` once the deadline passes, `Cancelled` if the wait is cancelled.
    #[track_caller]
    fn deadline(&mut self, cx: &Cx<'_>, deadline: Instant) -> Result<Self::Done, WaitError>
    where
        Self: Sized,
    {
        perform(cx, self, Some(Limit::Until(deadline)), WaitReason::new(Self::NAME), |error| error)
    }

    /// Blocks a thread that has no [`Cx`]. See [plain threads](crate::channel#plain-threads).
    ///
    /// ```
    /// use anabranch::{Operation, sync::Mutex};
    ///
    /// static TOTAL: Mutex<u32> = Mutex::new(0);
    ///
    /// std::thread::spawn(|| *TOTAL.locking().blocking() += 1).join().unwrap();
    /// assert_eq!(*TOTAL.locking().blocking(), 1);
    /// ```
    #[track_caller]
    fn blocking(&mut self) -> Self::Done
    where
        Self: Sized,
    {
        block_for(self, WaitReason::new(Self::NAME))
    }

    /// Blocks a thread that has no [`Cx`], with a timeout.
    ///
    /// # Errors
    /// Returns an error once the timeout elapses.
    #[track_caller]
    fn blocking_timeout(&mut self, timeout: Duration) -> Result<Self::Done, TimedOut>
    where
        Self: Sized,
    {
        block(self, Limit::For(timeout), WaitReason::new(Self::NAME))
    }

    /// Blocks a thread that has no [`Cx`], with a deadline.
    ///
    /// # Errors
    /// Returns an error once the deadline passes.
    #[track_caller]
    fn blocking_deadline(&mut self, deadline: Instant) -> Result<Self::Done, TimedOut>
    where
        Self: Sized,
    {
        block(self, Limit::Until(deadline), WaitReason::new(Self::NAME))
    }
}

// Not `A::Output`: the methods of a public trait that is a bound of this one would be callable by all, and none of them
// is safe in any order.
impl<A: Attempt<Output = D>, D> Operation for A {
    type Done = D;
}

/// Performs a whole operation: the checkpoint, the attempts and the waits. Reads the clock only if the first attempt
/// fails.
fn perform<A: Attempt, E>(
    cx: &Cx<'_>,
    operation: &A,
    limit: Option<Limit>,
    reason: WaitReason,
    error: impl FnOnce(WaitError) -> E,
) -> Result<A::Output, E> {
    // The error is converted before a large result leaves its box, because each step would copy the result.
    if const { is_large::<A::Output>() } {
        perform_as(cx, &boxing(operation), limit, reason).map_err(error).map(|output| *output)
    } else {
        perform_as(cx, operation, limit, reason).map_err(error)
    }
}

fn perform_as<A: Attempt>(
    cx: &Cx<'_>,
    operation: &A,
    limit: Option<Limit>,
    reason: WaitReason,
) -> Result<A::Output, WaitError> {
    cx.checkpoint()?;
    let output = match operation.attempt() {
        Some(output) => output,
        None => wait_until(cx, operation, limit, reason)?,
    };
    operation.record_holder(cx.waiter_address());
    Ok(output)
}

/// Blocks the thread until the attempt succeeds. Starts no pool.
#[inline]
pub(crate) fn block_for<A: Attempt>(operation: &A, reason: WaitReason) -> A::Output {
    match operation.attempt() {
        Some(output) => output,
        None => block_again_for(operation, reason),
    }
}

/// Like [`block_for`], for a caller whose first attempt has just failed.
#[inline(never)]
pub(crate) fn block_again_for<A: Attempt>(operation: &A, reason: WaitReason) -> A::Output {
    block_again(operation, None, reason).unwrap_or_else(|TimedOut| unreachable!("there is no limit"))
}

/// Blocks the thread until the attempt succeeds, or until `limit`. Starts no pool.
fn block<A: Attempt>(operation: &A, limit: Limit, reason: WaitReason) -> Result<A::Output, TimedOut> {
    match operation.attempt() {
        Some(output) => Ok(output),
        None => block_again(operation, Some(limit), reason),
    }
}

fn block_again<A: Attempt>(operation: &A, limit: Option<Limit>, reason: WaitReason) -> Result<A::Output, TimedOut> {
    with_blocking_cx(|cx| wait_until(cx, operation, limit, reason).map_err(timed_out))
}

/// Waits until the attempt, which has just failed, succeeds, or until `limit`.
fn wait_until<A: Attempt>(
    cx: &Cx<'_>,
    operation: &A,
    limit: Option<Limit>,
    reason: WaitReason,
) -> Result<A::Output, WaitError> {
    let deadline = limit.map_or(NEVER, |limit| limit.tick(cx));
    if !A::IS_TIMED {
        return wait_again_for(cx, operation, deadline, reason);
    }
    loop {
        let ready_at = operation.ready_at();
        match wait_again_for(cx, operation, deadline.min(ready_at), reason) {
            Err(WaitError::TimedOut) => match operation.attempt() {
                Some(output) => return Ok(output),
                None if deadline <= ready_at => return Err(WaitError::TimedOut),
                None => {}
            },
            outcome => return outcome,
        }
    }
}

/// An operation as a future. Created by `.await`, or by [`into_future`](IntoFuture::into_future).
///
/// It may be dropped at any time: then it leaves its queue, and passes on anything that it was just handed. A future
/// that was polled keeps its place in the queue until it is dropped: see
/// [hazards](crate::guide::hazards#futures-that-are-neglected).
#[must_use = "futures do nothing unless they are awaited"]
pub struct OperationFuture<O: Operation> {
    wait: AsyncWait<O>,
}

impl<O: Operation> OperationFuture<O> {
    pub(crate) fn new(operation: O) -> Self {
        Self { wait: AsyncWait::new(operation) }
    }
}

impl<O: Operation> Future for OperationFuture<O> {
    type Output = O::Done;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<O::Done> {
        // SAFETY: the field is pinned with this future: nothing here moves it, and it has no other users.
        let wait = unsafe { self.map_unchecked_mut(|future| &mut future.wait) };
        poll_wait(wait, context)
    }
}

impl<O: Operation> fmt::Debug for OperationFuture<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationFuture").finish_non_exhaustive()
    }
}

/// Implements `IntoFuture` for operations: `into_future!(Receiving<'_, T>, [T]; ..)`.
macro_rules! into_future {
    ($($operation:ty $(, [$($generics:tt)*])?;)*) => {$(
        impl $(<$($generics)*>)? ::std::future::IntoFuture for $operation {
            type Output = <Self as $crate::cx::operation::Operation>::Done;
            type IntoFuture = $crate::cx::operation::OperationFuture<Self>;

            fn into_future(self) -> Self::IntoFuture {
                $crate::cx::operation::OperationFuture::new(self)
            }
        }
    )*};
}
pub(crate) use into_future;
