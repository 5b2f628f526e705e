//! `Cx`, the permission to wait, and the one way in which everything waits.

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
        suspend::{Strand, WaitReason, leave},
        waitable::Place,
        waiter::{BUDGET, HAILED, Outcome, Waiter},
    },
};
use std::{fmt, marker::PhantomData, mem, ptr, time::Duration};

/// For how many more than one an operation may count.
const MOST_SPENT: usize = 7;

/// A point in time after which a scope counts as cancelled.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at: u64,
    /// The scope that set it; null where there is none. It outlives every `Cx` that has its deadline.
    scope: *const CancelScope,
}

impl Deadline {
    pub(crate) const NONE: Self = Self { at: NEVER, scope: ptr::null() };

    /// # Safety
    /// `scope` outlives whoever gets to see this deadline.
    pub(crate) unsafe fn of(scope: &CancelScope, at: u64) -> Self {
        Self { at, scope }
    }

    /// It has passed: from now on the scope is cancelled, for all who are in it.
    fn expire(self) {
        // SAFETY: by the contract of `of`.
        if let Some(scope) = unsafe { self.scope.as_ref() } {
            scope.cancel();
        }
    }
}

/// A wait that has begun.
pub(crate) enum Begun {
    /// It is over.
    Over(Outcome),
    /// It goes on after [`leave`].
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
    pub(crate) strand: &'a dyn Strand,
    /// That of the strand, at hand: the address that places are given, see [`Strand::waiter`].
    waiter: *const Waiter,
    pub(crate) scope: &'a CancelScope,
    pub(crate) deadline: Deadline,
    pub(crate) locals: &'a Locals,
    _bound_to_its_strand: PhantomData<*mut ()>,
}

// SAFETY: the condition does not hold, so it is neither. See `one_fiber`.
#[doc(hidden)]
#[allow(private_bounds, reason = "never holds")]
unsafe impl Send for Cx<'_> where for<'any> OneFiber<'any>: CxOfManyFibers {}
// SAFETY: as above.
#[doc(hidden)]
#[allow(private_bounds, reason = "never holds")]
unsafe impl Sync for Cx<'_> where for<'any> OneFiber<'any>: CxOfManyFibers {}

impl<'a> Cx<'a> {
    #[inline]
    pub(crate) fn new(strand: &'a impl Strand, scope: &'a CancelScope, deadline: Deadline, locals: &'a Locals) -> Self {
        Self { strand, waiter: strand.waiter(), scope, deadline, locals, _bound_to_its_strand: PhantomData }
    }

    /// The same strand in another scope.
    #[inline]
    pub(crate) fn within<'b>(&'b self, scope: &'b CancelScope, deadline: Deadline, locals: &'b Locals) -> Cx<'b> {
        Cx { strand: self.strand, waiter: self.waiter, scope, deadline, locals, _bound_to_its_strand: PhantomData }
    }

    /// The waiter of the strand.
    #[inline]
    pub(crate) fn waiter(&self) -> &'a Waiter {
        // SAFETY: the strand's, which outlives every `Cx` of it.
        unsafe { &*self.waiter }
    }

    /// The waiter as scopes and places know it.
    #[inline]
    pub(crate) fn waiter_address(&self) -> *const Waiter {
        self.waiter
    }

    /// Whether the thread is on the stack of this strand, and may leave it if the strand is a fiber. `false` is for
    /// [`check_stack`](Self::check_stack) to look at.
    #[inline(always)]
    pub(crate) fn is_on_its_stack(&self) -> bool {
        Stack::current() == self.waiter().stack()
    }

    /// What comes before all that is sound on the strand's own stack alone, see
    /// [`current`](crate::wait::current_stack): a wait, and what will have to wait once it has begun. It holds until
    /// the calling function returns.
    ///
    /// # Panics
    /// When the thread is on another stack.
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

    /// Whether the scope was cancelled or its deadline has passed: for loops that compute and do not wait.
    ///
    /// Some nanoseconds; with a deadline it reads the clock.
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
        let has_expired = self.strand.now() >= self.deadline.at;
        if has_expired {
            self.deadline.expire();
        }
        has_expired
    }

    /// As [`is_cancelled`](Self::is_cancelled), to be used with `?`. It costs the same: in a scope with a deadline each
    /// call reads the clock, so a loop of short steps does better to ask now and then.
    ///
    /// # Errors
    /// When the scope was cancelled or its deadline has passed.
    #[inline]
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// How long the scope may still take. `None`: as long as it likes.
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
        (self.deadline.at != NEVER).then(|| Duration::from_nanos(self.deadline.at.saturating_sub(self.strand.now())))
    }

    /// A point in time as waits want it.
    pub(crate) fn after(&self, duration: Duration) -> u64 {
        self.strand.clock().tick_after(duration)
    }

    /// What every operation that may wait does first, also when it will not have to.
    ///
    /// It asks for cancellation. After 128 operations that did not have to wait it also lets other fibers run, and a
    /// thread, whose time the system divides, every 16th time: else a loop over a channel that is always full would
    /// starve its neighbours. In a scope with a deadline each operation reads the clock, so a loop that never waits is
    /// late by one round at most. Such scopes fail the glance at the flag that is enough otherwise, so those without a
    /// deadline pay nothing. A send counts for more where many values wait already, up to eight: a few fibers that send
    /// to one on their worker stay within some thousand values of it, which the caches hold.
    ///
    /// # Errors
    /// When the scope was cancelled.
    #[inline]
    pub(crate) fn checkpoint(&self) -> Result<(), Cancelled> {
        if self.goes_on() { Ok(()) } else { self.checkpoint_slow() }
    }

    /// Whether it takes no more than a glance to see that the strand goes on, which uses up a part of its share.
    /// Otherwise [`checkpoint_slow`](Self::checkpoint_slow) comes next.
    #[inline(always)]
    pub(crate) fn goes_on(&self) -> bool {
        let budget = self.waiter().budget();
        let left = budget.get();
        let goes_on = left != 0 && self.scope.is_plainly_going_on();
        if goes_on {
            budget.set(left - 1);
        }
        goes_on
    }

    #[inline(never)]
    pub(crate) fn checkpoint_slow(&self) -> Result<(), Cancelled> {
        // With a deadline this comes before every operation, and reads the clock: each may be the last that is in time.
        self.check()?;
        let budget = self.waiter().budget();
        if budget.get() > 0 {
            budget.set(budget.get() - 1);
            return Ok(());
        }
        // The strand has had its share. It is one that does much, so the next looks shall be glances.
        budget.set(BUDGET);
        self.check_stack();
        self.scope.enlist();
        self.strand.pause();
        self.check()
    }

    /// The operation counts for some more of those after which a fiber lets others run. Threads have no others to let
    /// run.
    #[inline]
    pub(crate) fn spend(&self, more: usize) {
        if more > 0 && self.waiter().looks() == 0 {
            let budget = self.waiter().budget();
            budget.set(budget.get().saturating_sub(more.min(MOST_SPENT) as u32));
        }
    }

    /// Waits at one place until `deadline`. After `Ready` the caller tries again, unless the place has handed it what
    /// it wanted.
    #[inline]
    pub(crate) fn wait(&self, place: &impl Place, deadline: u64, reason: WaitReason) -> Outcome {
        match self.begin_wait(place, deadline, reason) {
            Begun::Over(outcome) => outcome,
            Begun::Wait(switch) => {
                leave(switch);
                self.end_wait(place, deadline)
            }
        }
    }

    /// The part of [`wait`](Self::wait) before leaving.
    #[inline]
    pub(crate) fn begin_wait(&self, place: &impl Place, deadline: u64, reason: WaitReason) -> Begun {
        if !self.begin(|| place.is_lock()) {
            return Begun::Over(Outcome::Cancelled);
        }
        let mut wait = Registered::new(self, |_| place, reason);
        // SAFETY: armed, and registered until `wait` or `end_wait` ends that; `place` is borrowed meanwhile.
        if !unsafe { place.register(self.waiter, 0) } {
            return Begun::Over(Outcome::Ready(0));
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

    /// The part after leaving.
    #[inline]
    pub(crate) fn end_wait(&self, place: &impl Place, deadline: u64) -> Outcome {
        let outcome = self.end_suspension(deadline);
        // SAFETY: registered, by `begin_wait` or `begin_here`, and the wait has ended.
        unsafe { place.unregister(outcome == Outcome::Ready(0)) };
        outcome
    }

    /// Begins a wait [here](crate::wait::waiter) if the place is for that; then `suspend` comes next. For a strand that
    /// was just seen to [go on](Self::goes_on).
    ///
    /// No fence stands between that look at the scope and the wait: who cancels it kicks the fiber, whose thread
    /// answers later.
    #[inline(always)]
    pub(crate) fn begin_here(&self, place: &impl Place) -> bool {
        let waiter = self.waiter();
        if self.deadline.at != NEVER || !waiter.has_home() || panicking() || !self.is_on_its_stack() {
            return false;
        }
        waiter.arm_here();
        // SAFETY: armed, and registered until `unregister`; who has a home is used by its thread alone.
        let is_registered = unsafe { place.register_here(self.waiter) };
        if !is_registered {
            waiter.disarm_here();
        }
        is_registered
    }

    /// After a wait that may have begun here: whether it is certain, at a glance, that it was ended by its place, on
    /// this thread, so that nothing remains to be done.
    #[inline(always)]
    pub(crate) fn ended_here(&self) -> bool {
        self.waiter().was_told() && self.scope.is_plainly_going_on()
    }

    /// Waits at `count` places at once, until the first decides: `Ready` with its index.
    pub(crate) fn wait_any<'p, P: Place + ?Sized + 'p>(
        &self,
        count: usize,
        place: impl Fn(usize) -> &'p P,
        deadline: u64,
        reason: WaitReason,
    ) -> Outcome {
        if !self.begin(|| (0..count).any(|index| place(index).is_lock())) {
            return Outcome::Cancelled;
        }
        let mut wait = Registered::new(self, &place, reason);
        while wait.count < count {
            let index = wait.count;
            // SAFETY: armed; all that are registered are unregistered at the end of `wait`.
            if !unsafe { place(index).register(self.waiter, index as u32) } {
                // What has been decided meanwhile comes before: it may have been handed over. A place that refused has
                // nothing to take back.
                let outcome = match self.absorb(reason) {
                    Some(decided @ Outcome::Ready(_)) => decided,
                    _ => Outcome::Ready(index as u32),
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

    /// Waits at a place for what cannot fail to come, whatever is cancelled. The caller has [looked](Self::check_stack)
    /// on which stack this is.
    #[inline]
    pub(crate) fn wait_shielded(&self, place: &impl Place, reason: WaitReason) {
        self.waiter().arm(ptr::null());
        let mut wait = Registered::new(self, |_| place, reason);
        // SAFETY: armed, and registered until the end of `wait`.
        if unsafe { place.register(self.waiter, 0) } {
            wait.count = 1;
            leave(self.strand.suspend(NEVER, reason));
            wait.end(Outcome::Ready(0));
        }
    }

    /// Arms the waiter. `false`: the strand unwinds, and would block its thread for what its scope, which is about to
    /// be cancelled, has no use for any more.
    #[inline]
    fn begin(&self, is_lock: impl FnOnce() -> bool) -> bool {
        self.check_stack();
        if panicking() && self.strand.shares_its_thread() && !is_lock() && !self.scope.is_behind_a_shield() {
            return false;
        }
        self.scope.enlist();
        self.waiter().arm(self.scope.address());
        true
    }

    /// Ends a wait that need not be. How it was decided, if it was.
    #[cold]
    fn absorb(&self, reason: WaitReason) -> Option<Outcome> {
        if self.waiter().disarm() {
            return None;
        }
        leave(self.strand.suspend(NEVER, reason));
        self.waiter().outcome()
    }

    /// Asks, after the waiter has been armed and a read-modify-write made, whether the scope was cancelled before; then
    /// the wait is over.
    #[inline]
    fn cancelled_meanwhile(&self, reason: WaitReason) -> Option<Outcome> {
        fence_after_update();
        self.scope.is_flagged().then(|| self.absorb(reason).unwrap_or(Outcome::Cancelled))
    }

    /// Suspends the strand until its waiter is decided.
    #[inline(always)]
    pub(crate) fn suspend(&self, deadline: u64, reason: WaitReason) -> Option<PendingSwitch> {
        self.waiter().budget().set(BUDGET);
        self.strand.suspend(deadline.min(self.deadline.at), reason)
    }

    /// The waiter has been decided.
    #[inline]
    fn end_suspension(&self, deadline: u64) -> Outcome {
        if deadline.min(self.deadline.at) != NEVER {
            self.strand.drop_deadline();
        }
        match self.waiter().outcome() {
            Some(Outcome::TimedOut) if self.deadline.at <= deadline => {
                self.deadline.expire();
                Outcome::Cancelled
            }
            // Before whatever else there is to be seen now: it may have come later.
            Some(HAILED) if self.scope.is_flagged() => Outcome::Cancelled,
            Some(outcome) => outcome,
            None => unreachable!("a strand goes on when its waiter has been decided"),
        }
    }
}

/// An armed waiter, and the places that have its address: the first so many.
///
/// However it is left, also by the panic of a place, the wait is over at the end of this and no place has the address.
struct Registered<'w, 'p, P: Place + ?Sized + 'p, F: Fn(usize) -> &'p P> {
    cx: &'w Cx<'w>,
    place: F,
    count: usize,
    /// How the wait has ended. `None`: it goes on.
    outcome: Option<Outcome>,
    reason: WaitReason,
}

impl<'w, 'p, P: Place + ?Sized + 'p, F: Fn(usize) -> &'p P> Registered<'w, 'p, P, F> {
    #[inline]
    fn new(cx: &'w Cx<'w>, place: F, reason: WaitReason) -> Self {
        Self { cx, place, count: 0, outcome: None, reason }
    }

    #[inline]
    fn end(mut self, outcome: Outcome) -> Outcome {
        self.outcome = Some(outcome);
        outcome
    }

    /// The wait has ended: takes the address out of the places.
    #[inline]
    fn unregister(&mut self) {
        while let Some(index) = self.count.checked_sub(1) {
            self.count = index;
            // SAFETY: registered, and the wait has ended.
            unsafe { (self.place)(index).unregister(self.outcome == Some(Outcome::Ready(index as u32))) };
        }
    }
}

impl<'p, P: Place + ?Sized + 'p, F: Fn(usize) -> &'p P> Drop for Registered<'_, 'p, P, F> {
    #[inline]
    fn drop(&mut self) {
        /// Goes on where a place has panicked.
        struct Rest<'r, 'w, 'p, P: Place + ?Sized + 'p, F: Fn(usize) -> &'p P>(&'r mut Registered<'w, 'p, P, F>);
        impl<'p, P: Place + ?Sized + 'p, F: Fn(usize) -> &'p P> Drop for Rest<'_, '_, 'p, P, F> {
            #[inline]
            fn drop(&mut self) {
                self.0.unregister();
            }
        }
        if self.outcome.is_none() {
            self.outcome = self.cx.absorb(self.reason);
        }
        Rest(self).0.unregister();
    }
}

/// The result of a wait that asks for nothing more than to have happened.
#[inline]
pub(crate) fn happened(outcome: Outcome) -> Result<(), WaitError> {
    match outcome {
        Outcome::Ready(_) => Ok(()),
        Outcome::Cancelled => Err(WaitError::Cancelled),
        Outcome::TimedOut => Err(WaitError::TimedOut),
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
    use super::{Outcome, Place, Waiter};
    use crate::{run, time::NEVER, wait::suspend::WaitReason};
    use std::{
        cell::Cell,
        panic::{AssertUnwindSafe, catch_unwind},
        time::Duration,
    };

    /// Counts who is registered, and panics when it is told to.
    #[derive(Default)]
    struct Spot {
        waiter: Cell<Option<*const Waiter>>,
        has_decided: Cell<Option<bool>>,
        panics_first: bool,
        panics_last: bool,
        refuses: bool,
        /// Decides the wait as soon as it is registered.
        decides: bool,
    }

    // SAFETY: a test moves it to the fiber that uses it.
    unsafe impl Send for Spot {}

    // SAFETY: decides at most when it is registered, and has no address afterwards.
    unsafe impl Place for Spot {
        unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
            crate::sys::sync::full_fence();
            assert!(!self.panics_first, "first");
            if self.refuses {
                return false;
            }
            self.waiter.set(Some(waiter));
            if self.decides {
                // SAFETY: registered, and armed.
                if let Some(wake) = unsafe { Waiter::decide(waiter, Outcome::Ready(ticket)) } {
                    wake.wake();
                }
            }
            true
        }

        unsafe fn unregister(&self, has_decided: bool) {
            self.waiter.set(None);
            self.has_decided.set(Some(has_decided));
            assert!(!self.panics_last, "last");
        }
    }

    fn check(spots: [Spot; 4], decided: Option<usize>, is_shielded: bool) {
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
                assert!(spots.iter().all(|spot| spot.waiter.get().is_none()), "a place has the address yet");
                assert!(!cx.waiter().is_waiting());
                let has_decided = spots.iter().position(|spot| spot.has_decided.take() == Some(true));
                assert_eq!(has_decided, decided);
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
        // What was given before is its place's to pass on.
        check(spots(with(|spot| spot.decides = true), panics()), Some(0), false);
        check(spots(panics(), Spot::default()), None, true);
    }

    #[test]
    fn a_place_that_panics_when_it_is_left_does_not_keep_the_others_queued() {
        let panics = || with(|spot| spot.panics_last = true);
        check(spots(panics(), with(|spot| spot.decides = true)), Some(3), false);
        check([Spot::default(), panics(), Spot::default(), with(|spot| spot.refuses = true)], None, false);
    }
}
