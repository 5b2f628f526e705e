//! The wait of a [`Cx`]: it arms the waiter, registers it at waitables, and suspends the fiber or thread.

use crate::{
    cx::cx::Cx,
    fiber::switch::PendingSwitch,
    sys::{
        sync::{fence_after_update, full_fence},
        unwind::panicking,
    },
    time::NEVER,
    wait::{
        WaitError,
        suspend::{WaitReason, leave},
        waitable::{Armed, Ended, Waitable},
        waiter::{BUDGET, KICKED, Selected},
    },
};
use std::{mem, ptr};

/// A wait that has begun.
pub(crate) enum Begun {
    /// It is over.
    Over(Selected),
    /// It continues once the caller has called [`leave`].
    Wait(Option<PendingSwitch>),
}

impl Cx<'_> {
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
        // SAFETY: the waiter is armed. `waitable` is borrowed, and `wait` or `end_wait` removes the address.
        if !waitable.register(unsafe { Armed::new(self.waiter_address(), 0) }) {
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
        waitable.unregister(unsafe { Ended::new(outcome == Selected::Ready(0)) });
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
        // SAFETY: the waiter is armed, and `end_wait` removes the address. A fiber that has a home runs on its home
        // thread, so this is the waiter's thread.
        let is_registered = waitable.register_local(unsafe { Armed::new(self.waiter_address(), 0) });
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

    /// Waits for `count` waitables at once, each another one, until the first ends the wait. Returns `Ready` with its
    /// index.
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
            // SAFETY: the waiter is armed. No waitable is among them twice. The guard `wait` unregisters all registered
            // waitables when it ends, also on unwinding.
            if !waitable(index).register(unsafe { Armed::new(self.waiter_address(), index as u32) }) {
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
        if waitable.register(unsafe { Armed::new(self.waiter_address(), 0) }) {
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
    /// How the wait has ended, or `None` while it continues.
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
            let ended = unsafe { Ended::new(self.outcome == Some(Selected::Ready(index as u32))) };
            (self.waitable)(index).unregister(ended);
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

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{Armed, Ended, Waitable};
    use crate::{
        run,
        time::NEVER,
        wait::{suspend::WaitReason, waitable::WaiterRef},
    };
    use std::{
        cell::Cell,
        panic::{AssertUnwindSafe, catch_unwind},
        time::Duration,
    };

    /// Counts registrations, and panics on request.
    #[derive(Default)]
    struct Spot {
        waiter: Cell<Option<WaiterRef>>,
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
        fn register(&self, armed: Armed) -> bool {
            crate::sys::sync::full_fence();
            assert!(!self.panics_first, "first");
            if self.refuses {
                return false;
            }
            let address = armed.into_ref();
            self.waiter.set(Some(address));
            if self.ends_wait {
                // SAFETY: the waiter has just been registered here.
                if let Some(wake) = unsafe { address.try_select() } {
                    wake.wake();
                }
            }
            true
        }

        fn unregister(&self, ended: Ended) {
            self.waiter.set(None);
            self.is_selected.set(Some(ended.is_selected()));
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
    fn panicking_waitable_leaves_nothing_registered() {
        let panics = || with(|spot| spot.panics_first = true);
        check(spots(Spot::default(), panics()), None, false);
        check(spots(panics(), Spot::default()), None, false);
        // Its waitable passes on what it handed over before.
        check(spots(with(|spot| spot.ends_wait = true), panics()), Some(0), false);
        check(spots(panics(), Spot::default()), None, true);
    }

    #[test]
    fn panic_in_unregister_keeps_no_other_registered() {
        let panics = || with(|spot| spot.panics_last = true);
        check(spots(panics(), with(|spot| spot.ends_wait = true)), Some(3), false);
        check([Spot::default(), panics(), Spot::default(), with(|spot| spot.refuses = true)], None, false);
    }
}
