//! `Cx`, the permission to wait, and the checks that precede every wait.

use crate::{
    cx::one_fiber::{CxOfManyFibers, OneFiber},
    fiber::locals::Locals,
    time::NEVER,
    wait::{
        cancel::CancelScope,
        current_stack::Stack,
        error::Cancelled,
        suspend::Suspend,
        waiter::{BUDGET, Waiter},
    },
};
use std::{fmt, marker::PhantomData, ptr, time::Duration};

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
    pub(super) fn expire(self) {
        // SAFETY: null, or a scope that outlives every `Cx` with this deadline, by the contract of `of`.
        if let Some(scope) = unsafe { self.scope.as_ref() } {
            scope.cancel();
        }
    }
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
/// blocks its thread instead of leaving the stack. (Such closures are `Send`, so only such a crate makes a wait there
/// possible.)
///
/// # A limit of soundness: thread-locals
/// Fibers of one thread share its thread-locals, and any of them may run while another waits. **Do not wait**
/// - inside a scoped thread-local (`scoped_tls`, `scoped-tls-hkt` and the like),
/// - inside the initialiser of a `thread_local!`,
/// - while a guard is entered that has to be left in order, such as the guard of a runtime.
///
/// Safe functions of the crates concerned, and of `std`, can be led to use memory after it was freed. All fibers with
/// stacks of their own have this limit; [the guide](crate::guide::hazards#the-limit-of-soundness-thread-locals)
/// explains it. Apart from that, safe code is sound. Keep a fiber's own values in a
/// [`FiberLocal`](crate::fiber::FiberLocal).
///
/// # Waits that block the thread
/// A fiber that has begun stays on its thread, so it can keep the other fibers of that thread from running:
/// - by a wait while it holds a `std::sync::MutexGuard` that another fiber wants; use
///   [`sync::Mutex`](crate::sync::Mutex),
/// - by a foreign call that blocks, by [`run`](crate::run), or by a compute [`join`](crate::join) that waits,
/// - by a wait inside [`Pool::install`](crate::Pool::install) of another pool,
/// - by a wait in a `Drop` that runs because of a panic: inside [`shield`](Cx::shield), and for a lock or a permit of
///   [`sync`](crate::sync), such a wait blocks the thread; any other wait returns [`Cancelled`] at once.
///
/// The pool reports a fiber that waits inside `run`, and one that has blocked its thread for a second while other
/// fibers are bound to it: on the standard error stream, or to [`Builder::on_hazard`](crate::Builder::on_hazard). The
/// guide [lists these hazards](crate::guide::hazards) and what to do instead.
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

    /// Returns whether one load shows that the fiber or thread continues, and uses up a part of its budget: the fast
    /// path of the checkpoint. If `false`, the caller calls [`checkpoint_slow`](Self::checkpoint_slow) next.
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
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx")
            .field("is_cancelled", &self.is_cancelled())
            .field("time_left", &self.time_left())
            .finish_non_exhaustive()
    }
}
