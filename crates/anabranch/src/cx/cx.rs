//! `Cx`, the permission to wait, and the steps that every wait takes.

use crate::{
    cx::one_fiber::{CxOfManyFibers, OneFiber},
    fiber::locals::Locals,
    fiber::switch::PendingSwitch,
    sys::{
        sync::{fence_after_update, full_fence},
        unwind::panicking,
    },
    time::NEVER,
    wait::{
        cancel::CancelScope,
        current_stack::Stack,
        error::{Cancelled, WaitError},
        suspend::{Suspend, WaitReason, leave},
        waitable::Waitable,
        waiter::{BUDGET, KICKED, Selected, Waiter},
    },
};
use std::{fmt, marker::PhantomData, mem, ptr, time::Duration};

/// By how much more than one an operation may count.
const MOST_SPENT: usize = 7;

/// A point in time after which a scope counts as cancelled.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at: u64,
    /// The scope that set the deadline, or null if there is none. It outlives every `Cx` that has this deadline.
    scope: *const CancelScope,
}

impl Deadline {
    pub(crate) const NONE: Self = Self { at: NEVER, scope: ptr::null() };

    /// # Safety
    /// `scope` outlives every `Cx` that has this deadline.
    pub(crate) unsafe fn of(scope: &CancelScope, at: u64) -> Self {
        Self { at, scope }
    }

    /// Cancels the scope: the deadline has passed.
    fn expire(self) {
        // SAFETY: null, or a scope that outlives every `Cx` with this deadline, by the contract of `of`.
        if let Some(scope) = unsafe { self.scope.as_ref() } {
            scope.cancel();
        }
    }
}

/// A wait that has begun.
pub(crate) enum Begun {
    /// It is over.
    Over(Selected),
    /// It goes on once the caller has called [`leave`].
    Wait(Option<PendingSwitch>),
}

/// The permission to wait.
///
/// Each function that may wait takes a `&Cx`, so a signature says whether a function can wait. On a fiber a wait
/// suspends the fiber, and its thread runs other fibers. On a plain thread, inside [`run`](crate::run), a wait parks
/// the thread.
///
/// A `Cx` belongs to the fiber, or to the call of `run`, that it was made for. It cannot be sent to another thread or
/// kept, only passed down by reference. It also stands for a scope with its deadline and its cancellation. When the
/// scope is cancelled, each wait returns [`Cancelled`], at once and from then on.
///
/// The guide has more: [compute or wait](crate::guide::compute_or_wait), [cancellation](crate::guide::cancellation).
///
/// # Panics
/// A wait panics on a stack that is not the `Cx`'s own. Safe code can get there: a crate such as `send_wrapper`, which
/// checks the thread at run time, carries a `Cx` to another fiber of the same thread, and so does a scoped thread-local
/// that holds the "current" one. An operation that does not have to wait works there.
///
/// A fiber that waits with compute work open on its stack, in a closure of [`join`](crate::join) or in a parallel loop,
/// blocks its thread instead of leaving the stack. (Such closures are `Send`, so it takes such a crate to wait there.)
///
/// # A limit of soundness: thread-locals
/// Fibers of one thread share its thread-locals, and any of them may run while another waits. **Do not wait**
/// - inside of a scoped thread-local (`scoped_tls`, `scoped-tls-hkt` and the like),
/// - inside of the initialiser of a `thread_local!`,
/// - while a guard is entered that has to be left in order, such as that of a runtime.
///
/// Safe functions of the crates concerned, and of `std`, can be led to use memory after it was freed. All fibers with
/// stacks of their own have this limit; [the guide](crate::guide::hazards#the-limit-of-soundness-thread-locals)
/// explains it. Apart from that, safe code is sound. Keep a fiber's own values in a [`FiberLocal`](crate::FiberLocal).
///
/// # What blocks the thread
/// A fiber that has begun stays on its thread, so it can keep the other fibers of that thread from running:
/// - by a wait while it holds a `std::sync::MutexGuard` that another fiber wants; use
///   [`sync::Mutex`](crate::sync::Mutex),
/// - by a foreign call that blocks, by [`run`](crate::run), or by a compute [`join`](crate::join) that waits,
/// - by a wait inside [`Pool::install`](crate::Pool::install) of another pool,
/// - by a wait in a `Drop` that runs because of a panic: inside of [`shield`](Cx::shield), and for a lock or a permit
///   of [`sync`](crate::sync), such a wait blocks the thread; any other returns [`Cancelled`] at once.
///
/// The pool reports a fiber that waits inside of `run`, and one that has blocked its thread for a second while others
/// are bound to it: on the standard error stream, or to [`Builder::on_hazard`](crate::Builder::on_hazard). The guide
/// [lists these hazards](crate::guide::hazards) and what to do instead.
///
/// ```
/// use std::time::Duration;
///
/// let answer = anabranch::run(|cx| {
///     cx.sleep(Duration::from_millis(1))?;
///     Ok::<_, anabranch::Cancelled>(42)
/// });
/// assert_eq!(answer, Ok(42));
/// ```
pub struct Cx<'a> {
    pub(crate) owner: &'a dyn Suspend,
    /// The address of the waiter, as it is registered at waitables, see [`Suspend::waiter`].
    waiter: *const Waiter,
    pub(crate) scope: &'a CancelScope,
    pub(crate) deadline: Deadline,
    pub(crate) locals: &'a Locals,
    _bound_to_its_owner: PhantomData<*mut ()>,
}

// SAFETY: no type satisfies the condition, so this implements neither trait. See `one_fiber`.
#[doc(hidden)]
#[allow(private_bounds, reason = "never holds")]
unsafe impl Send for Cx<'_> where for<'any> OneFiber<'any>: CxOfManyFibers {}
// SAFETY: no type satisfies the condition, so this implements neither trait. See `one_fiber`.
#[doc(hidden)]
#[allow(private_bounds, reason = "never holds")]
unsafe impl Sync for Cx<'_> where for<'any> OneFiber<'any>: CxOfManyFibers {}

impl<'a> Cx<'a> {
    #[inline]
    pub(crate) fn new(owner: &'a impl Suspend, scope: &'a CancelScope, deadline: Deadline, locals: &'a Locals) -> Self {
        Self { owner, waiter: owner.waiter(), scope, deadline, locals, _bound_to_its_owner: PhantomData }
    }

    /// Returns a `Cx` of the same fiber or thread in another scope.
    #[inline]
    pub(crate) fn within<'b>(&'b self, scope: &'b CancelScope, deadline: Deadline, locals: &'b Locals) -> Cx<'b> {
        Cx { owner: self.owner, waiter: self.waiter, scope, deadline, locals, _bound_to_its_owner: PhantomData }
    }

    /// Returns the waiter of the fiber or thread.
    #[inline]
    pub(crate) fn waiter(&self) -> &'a Waiter {
        // SAFETY: the waiter belongs to the fiber or thread of this `Cx`, which outlives `'a`.
        unsafe { &*self.waiter }
    }

    /// Returns the address of the waiter, for scopes and waitables.
    #[inline]
    pub(crate) fn waiter_address(&self) -> *const Waiter {
        self.waiter
    }

    /// Returns whether the thread is on the stack of this fiber or thread, and may leave it if it is a fiber's. If this
    /// returns `false`, [`check_stack`](Self::check_stack) determines it.
    #[inline(always)]
    pub(crate) fn is_on_its_stack(&self) -> bool {
        Stack::current() == self.waiter().stack()
    }

    /// Checks that the thread is on the stack of this `Cx`, see [`current`](crate::wait::current_stack). This precedes
    /// each wait, and each operation that has to wait once it has begun, as these are sound on that stack only. The
    /// result holds until the calling function returns.
    ///
    /// # Panics
    /// Panics when the thread is on another stack.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn check_stack(&self) {
        if !self.is_on_its_stack() {
            self.check_pinned_stack();
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn check_pinned_stack(&self) {
        assert!(
            Stack::current().is_same_as(self.waiter().stack()),
            "a `Cx` was used on a stack that is not its own: it belongs to one fiber, or to one call of `run`, and other code of the \
             same thread got hold of it, by a thread-local or a wrapper around `!Send`. Use the `Cx` that was passed to the closure"
        );
    }

    /// Returns whether the scope was cancelled or its deadline has passed: for loops that compute and do not wait.
    ///
    /// Takes some nanoseconds. In a scope with a deadline it reads the clock.
    ///
    /// ```
    /// anabranch::run(|cx| assert!(!cx.is_cancelled()));
    /// ```
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.scope.is_cancelled() || self.deadline.at != NEVER && self.has_expired()
    }

    #[cold]
    fn has_expired(&self) -> bool {
        let has_expired = self.owner.now() >= self.deadline.at;
        if has_expired {
            self.deadline.expire();
        }
        has_expired
    }

    /// Returns an error if [`is_cancelled`](Self::is_cancelled), for use with `?`. It costs the same: in a scope with a
    /// deadline each call reads the clock, so a loop of short steps should call it only now and then.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the scope was cancelled or its deadline has passed.
    #[inline]
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Returns the time until the deadline of the scope, or `None` if no deadline is set.
    ///
    /// ```
    /// use anabranch::TimedOut;
    /// use std::time::Duration;
    ///
    /// anabranch::run(|cx| {
    ///     assert_eq!(cx.time_left(), None);
    ///     let left = cx.timeout(Duration::from_secs(60), |cx| Ok::<_, TimedOut>(cx.time_left()));
    ///     assert!(left.unwrap().unwrap() <= Duration::from_secs(60));
    /// });
    /// ```
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        (self.deadline.at != NEVER).then(|| Duration::from_nanos(self.deadline.at.saturating_sub(self.owner.now())))
    }

    /// Returns the tick `duration` from now, as a deadline for a wait.
    pub(crate) fn after(&self, duration: Duration) -> u64 {
        self.owner.clock().tick_after(duration)
    }

    /// Performs the first step of every operation that may wait, even of one that will not have to.
    ///
    /// Checks for cancellation. After 128 operations that did not have to wait, a fiber also lets others run; a thread,
    /// whose time the system divides, yields every 16th time. Otherwise a loop over a channel that is never empty would
    /// starve the other fibers. In a scope with a deadline each operation reads the clock, so a loop that never waits
    /// is late by one round at most. Such scopes fail the fast check of the flag, so scopes without a deadline pay
    /// nothing. A send counts for up to eight operations where many values are queued. So a few fibers that send to one
    /// on their worker stay within some thousand values of it, which fit the caches.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the scope was cancelled.
    #[inline]
    pub(crate) fn checkpoint(&self) -> Result<(), Cancelled> {
        if self.checkpoint_fast() { Ok(()) } else { self.checkpoint_slow() }
    }

    /// Returns whether one load shows that the fiber or thread goes on, and uses up a part of its budget: the fast path
    /// of the checkpoint. If `false`, the caller calls [`checkpoint_slow`](Self::checkpoint_slow) next.
    #[inline(always)]
    pub(crate) fn checkpoint_fast(&self) -> bool {
        let budget = self.waiter().budget();
        let left = budget.get();
        let may_proceed = left != 0 && self.scope.is_plainly_active();
        if may_proceed {
            budget.set(left - 1);
        }
        may_proceed
    }

    #[inline(never)]
    pub(crate) fn checkpoint_slow(&self) -> Result<(), Cancelled> {
        // With a deadline every operation gets here, and reads the clock: each may be the last that is in time.
        self.check()?;
        let budget = self.waiter().budget();
        if budget.get() > 0 {
            budget.set(budget.get() - 1);
            return Ok(());
        }
        // The budget is used up. This fiber or thread performs many operations, so the next checks should take the fast
        // path.
        budget.set(BUDGET);
        self.check_stack();
        self.scope.enlist();
        self.owner.pause();
        self.check()
    }

    /// Counts `more` operations towards the budget after which a fiber lets others run. Has no effect on a thread.
    #[inline]
    pub(crate) fn spend(&self, more: usize) {
        if more > 0 && self.waiter().spins() == 0 {
            let budget = self.waiter().budget();
            budget.set(budget.get().saturating_sub(more.min(MOST_SPENT) as u32));
        }
    }

    /// Waits for one waitable until `deadline`. After `Ready` the caller attempts again, unless the waitable has handed
    /// it what it wanted.
    #[inline]
    pub(crate) fn wait(&self, waitable: &impl Waitable, deadline: u64, reason: WaitReason) -> Selected {
        match self.begin_wait(waitable, deadline, reason) {
            Begun::Over(outcome) => outcome,
            Begun::Wait(switch) => {
                leave(switch);
                self.end_wait(waitable, deadline)
            }
        }
    }

    /// Performs the part of [`wait`](Self::wait) before the fiber leaves its stack.
    #[inline]
    pub(crate) fn begin_wait(&self, waitable: &impl Waitable, deadline: u64, reason: WaitReason) -> Begun {
        if !self.begin(|| waitable.is_lock()) {
            return Begun::Over(Selected::Cancelled);
        }
        let mut wait = Registered::new(self, |_| waitable, reason);
        // SAFETY: the waiter is armed. `waitable` is borrowed, and the address stays registered until `wait` or
        // `end_wait` removes it.
        if !unsafe { waitable.register(self.waiter, 0) } {
            return Begun::Over(Selected::Ready(0));
        }
        wait.count = 1;
        wait.outcome = self.cancelled_meanwhile(reason);
        if let Some(outcome) = wait.outcome {
            return Begun::Over(outcome);
        }
        let switch = self.suspend(deadline, reason);
        mem::forget(wait);
        Begun::Wait(switch)
    }

    /// Performs the part of [`wait`](Self::wait) after the fiber has been resumed.
    #[inline]
    pub(crate) fn end_wait(&self, waitable: &impl Waitable, deadline: u64) -> Selected {
        let outcome = self.end_suspension(deadline);
        // SAFETY: `begin_wait` or `begin_local` has registered the waiter, and the wait has ended.
        unsafe { waitable.unregister(outcome == Selected::Ready(0)) };
        outcome
    }

    /// Begins a [local wait](crate::wait::waiter) if the waitable supports that. If `true`, the caller calls `suspend`
    /// next. The caller has just seen that the fiber [may proceed](Self::checkpoint_fast).
    ///
    /// There is no fence between that check of the scope and the wait: a canceller kicks the fiber, whose thread
    /// answers later.
    #[inline(always)]
    pub(crate) fn begin_local(&self, waitable: &impl Waitable) -> bool {
        let waiter = self.waiter();
        if self.deadline.at != NEVER || !waiter.has_home() || panicking() || !self.is_on_its_stack() {
            return false;
        }
        waiter.arm_local();
        // SAFETY: the waiter is armed, and stays registered until `unregister`. A fiber that has a home runs on its
        // home thread, so this is the waiter's thread.
        let is_registered = unsafe { waitable.register_local(self.waiter) };
        if !is_registered {
            waiter.disarm_local();
        }
        is_registered
    }

    /// Returns whether one load shows that a wait which may have begun [locally](crate::wait::waiter) was ended by its
    /// waitable, on this thread. Then nothing remains to be done.
    #[inline(always)]
    pub(crate) fn ended_local(&self) -> bool {
        self.waiter().is_ready() && self.scope.is_plainly_active()
    }

    /// Waits for `count` waitables at once, until the first ends the wait. Returns `Ready` with its index.
    pub(crate) fn wait_any<'p, P: Waitable + ?Sized + 'p>(
        &self,
        count: usize,
        waitable: impl Fn(usize) -> &'p P,
        deadline: u64,
        reason: WaitReason,
    ) -> Selected {
        if !self.begin(|| (0..count).any(|index| waitable(index).is_lock())) {
            return Selected::Cancelled;
        }
        let mut wait = Registered::new(self, &waitable, reason);
        while wait.count < count {
            let index = wait.count;
            // SAFETY: the waiter is armed. The guard `wait` unregisters all registered waitables when it ends, also on
            // unwinding.
            if !unsafe { waitable(index).register(self.waiter, index as u32) } {
                // A waitable that ended the wait meanwhile takes precedence: something may have been handed over. A
                // waitable that refused holds no address.
                let outcome = match self.abort_wait(reason) {
                    Some(selected @ Selected::Ready(_)) => selected,
                    _ => Selected::Ready(index as u32),
                };
                return wait.end(outcome);
            }
            wait.count += 1;
        }
        if count == 0 {
            full_fence();
        }
        let outcome = self.cancelled_meanwhile(reason).unwrap_or_else(|| {
            leave(self.suspend(deadline, reason));
            self.end_suspension(deadline)
        });
        wait.end(outcome)
    }

    /// Waits for an event that is certain to come, regardless of cancellation. The caller has
    /// [checked](Self::check_stack) the stack.
    #[inline]
    pub(crate) fn wait_shielded(&self, waitable: &impl Waitable, reason: WaitReason) {
        self.waiter().arm(ptr::null());
        let mut wait = Registered::new(self, |_| waitable, reason);
        // SAFETY: the waiter is armed. The guard `wait` unregisters the waitable when it ends, also on unwinding.
        if unsafe { waitable.register(self.waiter, 0) } {
            wait.count = 1;
            leave(self.owner.suspend(NEVER, reason));
            wait.end(Selected::Ready(0));
        }
    }

    /// Arms the waiter. Returns `false` if the fiber unwinds: it would block its thread for a scope that is about to be
    /// cancelled.
    #[inline]
    fn begin(&self, is_lock: impl FnOnce() -> bool) -> bool {
        self.check_stack();
        if panicking() && self.owner.shares_thread() && !is_lock() && !self.scope.is_behind_a_shield() {
            return false;
        }
        self.scope.enlist();
        self.waiter().arm(self.scope.address());
        true
    }

    /// Ends a wait that is not needed. Returns the outcome if it was selected meanwhile.
    #[cold]
    fn abort_wait(&self, reason: WaitReason) -> Option<Selected> {
        if self.waiter().disarm() {
            return None;
        }
        leave(self.owner.suspend(NEVER, reason));
        self.waiter().selected()
    }

    /// Checks, after the waiter has been armed and a read-modify-write made, whether the scope was cancelled before. If
    /// so, ends the wait.
    #[inline]
    fn cancelled_meanwhile(&self, reason: WaitReason) -> Option<Selected> {
        fence_after_update();
        self.scope.is_flagged().then(|| self.abort_wait(reason).unwrap_or(Selected::Cancelled))
    }

    /// Suspends the fiber or thread until its waiter is selected.
    #[inline(always)]
    pub(crate) fn suspend(&self, deadline: u64, reason: WaitReason) -> Option<PendingSwitch> {
        self.waiter().budget().set(BUDGET);
        self.owner.suspend(deadline.min(self.deadline.at), reason)
    }

    /// Ends a suspension: the waiter has been selected.
    #[inline]
    fn end_suspension(&self, deadline: u64) -> Selected {
        if deadline.min(self.deadline.at) != NEVER {
            self.owner.drop_deadline();
        }
        match self.waiter().selected() {
            Some(Selected::TimedOut) if self.deadline.at <= deadline => {
                self.deadline.expire();
                Selected::Cancelled
            }
            // Cancellation takes precedence over other events, which may have come later.
            Some(KICKED) if self.scope.is_flagged() => Selected::Cancelled,
            Some(outcome) => outcome,
            None => unreachable!("a fiber or thread goes on when its waiter has been selected"),
        }
    }
}

/// An armed waiter, and how many of the waitables, from the first on, have its address.
///
/// When this ends, also by the panic of a waitable, the wait is over and no waitable has the address.
struct Registered<'w, 'p, P: Waitable + ?Sized + 'p, F: Fn(usize) -> &'p P> {
    cx: &'w Cx<'w>,
    waitable: F,
    count: usize,
    /// How the wait has ended, or `None` while it goes on.
    outcome: Option<Selected>,
    reason: WaitReason,
}

impl<'w, 'p, P: Waitable + ?Sized + 'p, F: Fn(usize) -> &'p P> Registered<'w, 'p, P, F> {
    #[inline]
    fn new(cx: &'w Cx<'w>, waitable: F, reason: WaitReason) -> Self {
        Self { cx, waitable, count: 0, outcome: None, reason }
    }

    #[inline]
    fn end(mut self, outcome: Selected) -> Selected {
        self.outcome = Some(outcome);
        outcome
    }

    /// Removes the address from the waitables once the wait has ended.
    #[inline]
    fn unregister(&mut self) {
        while let Some(index) = self.count.checked_sub(1) {
            self.count = index;
            // SAFETY: the waitables that are counted have the address, and the wait has ended.
            unsafe { (self.waitable)(index).unregister(self.outcome == Some(Selected::Ready(index as u32))) };
        }
    }
}

impl<'p, P: Waitable + ?Sized + 'p, F: Fn(usize) -> &'p P> Drop for Registered<'_, 'p, P, F> {
    #[inline]
    fn drop(&mut self) {
        /// Continues with the other waitables after one has panicked.
        struct Rest<'r, 'w, 'p, P: Waitable + ?Sized + 'p, F: Fn(usize) -> &'p P>(&'r mut Registered<'w, 'p, P, F>);
        impl<'p, P: Waitable + ?Sized + 'p, F: Fn(usize) -> &'p P> Drop for Rest<'_, '_, 'p, P, F> {
            #[inline]
            fn drop(&mut self) {
                self.0.unregister();
            }
        }
        if self.outcome.is_none() {
            self.outcome = self.cx.abort_wait(self.reason);
        }
        Rest(self).0.unregister();
    }
}

/// Returns the result of a wait for a mere event.
#[inline]
pub(crate) fn happened(outcome: Selected) -> Result<(), WaitError> {
    match outcome {
        Selected::Ready(_) => Ok(()),
        Selected::Cancelled => Err(WaitError::Cancelled),
        Selected::TimedOut => Err(WaitError::TimedOut),
    }
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx")
            .field("is_cancelled", &self.is_cancelled())
            .field("time_left", &self.time_left())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{Selected, Waitable, Waiter};
    use crate::{run, time::NEVER, wait::suspend::WaitReason};
    use std::{
        cell::Cell,
        panic::{AssertUnwindSafe, catch_unwind},
        time::Duration,
    };

    /// Counts registrations, and panics on request.
    #[derive(Default)]
    struct Spot {
        waiter: Cell<Option<*const Waiter>>,
        is_selected: Cell<Option<bool>>,
        panics_first: bool,
        panics_last: bool,
        refuses: bool,
        /// Ends the wait as soon as it is registered.
        ends_wait: bool,
    }

    // SAFETY: a test moves it to the one fiber that uses it.
    unsafe impl Send for Spot {}

    // SAFETY: it ends the wait only inside of `register`, and drops the address in `unregister`.
    unsafe impl Waitable for Spot {
        unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
            crate::sys::sync::full_fence();
            assert!(!self.panics_first, "first");
            if self.refuses {
                return false;
            }
            self.waiter.set(Some(waiter));
            if self.ends_wait {
                // SAFETY: the caller of `register` passes an armed waiter, which is alive.
                if let Some(wake) = unsafe { Waiter::try_select(waiter, Selected::Ready(ticket)) } {
                    wake.wake();
                }
            }
            true
        }

        unsafe fn unregister(&self, is_selected: bool) {
            self.waiter.set(None);
            self.is_selected.set(Some(is_selected));
            assert!(!self.panics_last, "last");
        }
    }

    fn check(spots: [Spot; 4], selected: Option<usize>, is_shielded: bool) {
        let on_a_fiber = crate::spawn(move |cx| {
            let reason = WaitReason::new(&"a test");
            for _ in 0..2 {
                let body = AssertUnwindSafe(|| {
                    if is_shielded {
                        cx.wait_shielded(&spots[0], reason);
                    } else {
                        cx.wait_any(4, |index| &spots[index], NEVER, reason);
                    }
                });
                assert!(catch_unwind(body).is_err());
                assert!(spots.iter().all(|spot| spot.waiter.get().is_none()), "a waitable has the address yet");
                assert!(!cx.waiter().is_waiting());
                let is_selected = spots.iter().position(|spot| spot.is_selected.take() == Some(true));
                assert_eq!(is_selected, selected);
                // It can wait as before.
                cx.sleep(Duration::from_micros(10)).unwrap();
            }
        });
        run(|cx| on_a_fiber.join(cx)).unwrap();
    }

    fn spots(first: Spot, last: Spot) -> [Spot; 4] {
        [first, Spot::default(), Spot::default(), last]
    }

    fn with(change: impl FnOnce(&mut Spot)) -> Spot {
        let mut spot = Spot::default();
        change(&mut spot);
        spot
    }

    #[test]
    fn a_place_that_panics_leaves_nothing_queued() {
        let panics = || with(|spot| spot.panics_first = true);
        check(spots(Spot::default(), panics()), None, false);
        check(spots(panics(), Spot::default()), None, false);
        // Its waitable passes on what it handed over before.
        check(spots(with(|spot| spot.ends_wait = true), panics()), Some(0), false);
        check(spots(panics(), Spot::default()), None, true);
    }

    #[test]
    fn a_place_that_panics_when_it_is_left_does_not_keep_the_others_queued() {
        let panics = || with(|spot| spot.panics_last = true);
        check(spots(panics(), with(|spot| spot.ends_wait = true)), Some(3), false);
        check([Spot::default(), panics(), Spot::default(), with(|spot| spot.refuses = true)], None, false);
    }
}
