//! Operations that may wait: an attempt, repeated after each wait that the waitable has ended.
//!
//! Locks, channels and every operation of `select!` wait in the same way: they attempt, wait, and attempt again.
//!
//! Another thread may hand something over to a waiter: a value, a permit, a wake-up. The waitable stores it, and the
//! next attempt takes it from there. If no attempt follows, the waitable passes it on, in its `Drop` or in `pass_on`.
//! So nothing is lost however a wait ends: by cancellation, by a deadline, by a future that is dropped, or by the panic
//! of a foreign waker.

use crate::{
    cx::{
        cx::Cx,
        wait::{Begun, happened},
    },
    fiber::switch::PendingSwitch,
    sys::{carrier::is_large, clock::Instant, sync::hint, thread},
    time::NEVER,
    wait::{
        Cancelled, WaitError,
        future::{AsyncWait, poll_counted},
        suspend::{WaitReason, leave},
        waitable::{Armed, Ended, Waitable},
        waiter::{Selected, Waiter},
    },
};
use std::{
    cell::UnsafeCell,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

/// The time for which a thread yields before it parks. It is about the cost of parking and waking, on both sides
/// together. If other threads want the core, the first yield takes longer than this, and the thread parks next.
const YIELD_TIME: Duration = Duration::from_micros(20);

/// A waitable, together with the operation that waits for it.
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

    /// Whether the operation becomes ready by time alone, as a sleep does. Only a wait with a [`Cx`] ends at such a
    /// deadline.
    const IS_TIMED: bool = false;

    /// Whether the operation is exclusive: no other waiter can take what it waits for, and it does not become ready by
    /// time alone. Then it may stay registered, with a persistent waiter, while no thread waits for it.
    const IS_EXCLUSIVE: bool = false;

    /// How reports name the wait.
    const NAME: &'static &'static str = &"Operation::wait";

    /// Returns the result if the last wait has handed it over or if it is available now. Returns `None` otherwise.
    fn attempt(&self) -> Option<Self::Output>;

    /// Returns the time at which the operation becomes ready by itself, as a tick of the clock.
    fn ready_at(&self) -> u64 {
        NEVER
    }

    /// Records, for reports, that the owner of this waiter now holds the lock that an attempt has just taken.
    #[inline]
    fn record_holder(&self, _: *const Waiter) {}

    /// Prepares for spinning, which a waiter does if the other side is probably on another thread.
    fn before_spin(&self) {}

    /// Returns `true` if one load shows that another attempt would fail, or that it pays to spin on. `false` means that
    /// it is not known. Unless the operation [is exclusive](Self::IS_EXCLUSIVE) the load may be late, so a thread must
    /// attempt before it parks.
    #[inline]
    fn is_bare(&self) -> bool {
        false
    }

    /// Prefetches the memory that the next attempt reads first, unless that is in the operation itself. A hint.
    #[inline]
    fn prefetch(&self) {}

    /// Removes the address of a persistent waiter from the waitable. Returns `false` if the address is no longer there.
    /// Then another thread has removed it, and has woken the waiter or is about to. Only exclusive operations implement
    /// this.
    fn withdraw(&self) -> bool {
        unreachable!("the operation is not exclusive")
    }

    /// Passes on what the last wait handed over, if no attempt will take it. `Drop` does so too.
    fn pass_on(&self) {}
}

/// A field that the attempts of an operation change. It is not `Sync`, so only the owner of the operation reaches it.
pub(crate) struct OwnerCell<T>(UnsafeCell<T>);

impl<T> OwnerCell<T> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Calls `f` with the value. `f` is a function and no closure, so it cannot capture the operation and use the cell
    /// again.
    #[inline(always)]
    pub(crate) fn with<R>(&self, f: fn(&mut T) -> R) -> R {
        // SAFETY: the cell is not `Sync`, so only its owner calls this. `f` does not know the cell, and `get` demands
        // that its reference is not used during a call.
        f(unsafe { &mut *self.0.get() })
    }

    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0.get()
    }

    /// Returns the value, to register the operation.
    ///
    /// # Safety
    /// [`with`](Self::with) is not called while the reference is used.
    #[inline(always)]
    pub(crate) unsafe fn get(&self) -> &T {
        // SAFETY: the cell is not `Sync`, and the caller excludes `with`, so the value does not change.
        unsafe { &*self.0.get() }
    }
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

/// Like [`wait_for`], for a caller whose first attempt has just failed.
#[inline(always)]
pub(crate) fn wait_again_for<A: Attempt>(
    cx: &Cx<'_>,
    operation: &A,
    deadline: u64,
    reason: WaitReason,
) -> Result<A::Output, WaitError> {
    if const { is_large::<A::Output>() } {
        OperationWait { operation: &boxing(operation), deadline, reason }.finish(cx).map(|output| *output)
    } else {
        OperationWait { operation, deadline, reason }.finish(cx)
    }
}

/// Like [`wait_again_for`], for a large result, which `attempt` returns in a box.
#[inline(never)]
pub(crate) fn wait_boxed<A: Attempt, R>(
    cx: &Cx<'_>,
    operation: &A,
    attempt: impl Fn(&A) -> Option<R>,
    deadline: u64,
    reason: WaitReason,
) -> Result<R, WaitError> {
    OperationWait { operation: &Boxing(operation, attempt), deadline, reason }.finish(cx)
}

/// An operation whose result arrives in a box.
struct Boxing<'a, A, F>(&'a A, F);

/// Returns the operation with its result in a box.
pub(crate) fn boxing<A: Attempt>(operation: &A) -> impl Attempt<Output = Box<A::Output>> {
    Boxing(operation, |operation: &A| operation.attempt().map(Box::new))
}

impl<A: Attempt, R, F: Fn(&A) -> Option<R>> Attempt for Boxing<'_, A, F> {
    type Output = R;

    const IS_TIMED: bool = A::IS_TIMED;

    #[inline(never)]
    fn attempt(&self) -> Option<R> {
        (self.1)(self.0)
    }

    fn ready_at(&self) -> u64 {
        self.0.ready_at()
    }

    fn record_holder(&self, waiter: *const Waiter) {
        self.0.record_holder(waiter);
    }

    fn before_spin(&self) {
        self.0.before_spin();
    }

    fn is_bare(&self) -> bool {
        self.0.is_bare()
    }

    fn prefetch(&self) {
        self.0.prefetch();
    }

    fn pass_on(&self) {
        self.0.pass_on();
    }
}

// SAFETY: the operation upholds the contract of `Waitable`, and every call is forwarded to it.
unsafe impl<A: Waitable, F> Waitable for Boxing<'_, A, F> {
    fn register(&self, armed: Armed) -> bool {
        self.0.register(armed)
    }

    fn register_local(&self, armed: Armed) -> bool {
        self.0.register_local(armed)
    }

    fn unregister(&self, ended: Ended) {
        self.0.unregister(ended);
    }

    fn is_lock(&self) -> bool {
        self.0.is_lock()
    }
}

/// The result of an operation that has ended, or `None` while it waits.
pub(crate) type Completion<A> = Option<Result<<A as Attempt>::Output, WaitError>>;

/// The wait of an operation whose attempt has just failed.
///
/// Its functions do everything but the switch to another stack, and return before the switch: see
/// [`switch`](crate::fiber::switch). Each writes to `ended`. While that is `None`, the caller calls [`leave`] with the
/// returned switch, and then [`resume`](Self::resume).
///
/// The `Cx` is not a field, because its address must not be stored: then a calling loop keeps the fields of the `Cx` in
/// registers.
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

    /// Spins if the waiter does so, and begins to wait.
    #[inline(never)]
    pub(crate) fn begin(&self, cx: &Cx<'_>, ended: &mut Completion<A>) -> Option<PendingSwitch> {
        let waiter = cx.waiter();
        if waiter.spins() > 0
            && let Some(output) = spin(self.operation, waiter)
        {
            *ended = Some(Ok(output));
            return None;
        }
        self.retry(cx, ended)
    }

    /// Continues after a switch: attempts, and begins to wait again if the attempt fails.
    #[inline(never)]
    pub(crate) fn resume(&self, cx: &Cx<'_>, ended: &mut Completion<A>) -> Option<PendingSwitch> {
        *ended = self.after(cx.end_wait(self.operation, self.deadline));
        if ended.is_some() { None } else { self.retry(cx, ended) }
    }

    #[inline(never)]
    fn retry(&self, cx: &Cx<'_>, ended: &mut Completion<A>) -> Option<PendingSwitch> {
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
    fn after(&self, outcome: Selected) -> Completion<A> {
        match happened(outcome) {
            Ok(()) => self.operation.attempt().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

#[inline]
fn attempt_unless_bare<A: Attempt>(waitable: &A) -> Option<A::Output> {
    if waitable.is_bare() { None } else { waitable.attempt() }
}

/// Repeats the attempt for a while, if no other work can use the thread: see `wait::spin_wait`.
#[cold]
#[inline(never)]
fn spin<A: Attempt>(waitable: &A, waiter: &Waiter) -> Option<A::Output> {
    let spin_wait = waiter.spin_wait();
    let is_sharing = spin_wait.is_sharing();
    if !is_sharing {
        waitable.before_spin();
        for round in 0..waiter.spins() {
            (0..1 << round).for_each(|_| hint::spin_loop());
            if let Some(output) = attempt_unless_bare(waitable) {
                spin_wait.reset();
                return Some(output);
            }
        }
    }
    let mut start = None;
    loop {
        thread::yield_now();
        if let Some(output) = attempt_unless_bare(waitable) {
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

/// Waits until the attempt succeeds. Returns an error only if the wait is cancelled.
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

/// Attempts and waits until the attempt succeeds. Counts against the budget of the task.
pub(crate) fn poll_wait<A: Attempt>(mut wait: Pin<&mut AsyncWait<A>>, context: &mut Context<'_>) -> Poll<A::Output> {
    poll_counted(context, |context| {
        loop {
            if !wait.is_waiting()
                && let Some(output) = wait.waitable().attempt()
            {
                return Poll::Ready(output);
            }
            ready!(wait.as_mut().poll(context));
        }
    })
}
