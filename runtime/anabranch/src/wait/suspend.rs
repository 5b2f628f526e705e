//! The owner of a waiter: a fiber or a thread that can wait with a `Cx`.

use crate::{fiber::switch::PendingSwitch, time::Clock, wait::waiter::Waiter};
use std::{panic::Location, sync::Arc};

/// What a fiber or thread waits for, for display.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitReason {
    /// By reference, so that it is one word.
    pub(crate) what: &'static &'static str,
    pub(crate) at: &'static Location<'static>,
}

impl WaitReason {
    #[track_caller]
    pub(crate) fn new(what: &'static &'static str) -> Self {
        Self { what, at: Location::caller() }
    }
}

/// A fiber or a thread that can wait.
///
/// # Safety
/// The waiter belongs to this fiber or thread alone, and lives as long as it. A suspension ends only when the waiter
/// has been selected and every wake-up has been consumed.
pub(crate) unsafe trait Suspend {
    /// Returns the address that is registered at waitables. It is derived from a pointer to all that
    /// [`Kind::wake`](crate::wait::waiter::Kind::wake) accesses by it, and not from a reference to the waiter, which
    /// would allow access to the waiter only.
    fn waiter(&self) -> *const Waiter;

    /// Waits until the armed waiter has been selected: by a waitable, by a scope, or by `deadline`, which stores
    /// `Selected::TimedOut`. If this returns `Some`, the caller has yet to [`leave`] the stack by it.
    fn suspend(&self, deadline: u64, reason: WaitReason) -> Option<PendingSwitch>;

    /// Removes the deadline of a suspension that has ended.
    fn drop_deadline(&self) {}

    /// Lets other fibers of this thread run, or else, as where it must not wait, other threads. If this returns `Some`,
    /// the caller has yet to [`leave`] the stack by it.
    fn yield_now(&self) -> Option<PendingSwitch>;

    /// Lets others run once the budget is used up. A thread, whose time the system divides, may skip this.
    fn pause(&self) {
        leave(self.yield_now());
    }

    /// Returns whether other fibers run on its thread while it waits. They would see a panicking thread if it waited
    /// while unwinding.
    fn shares_thread(&self) -> bool;

    /// Returns the clock of its deadlines.
    fn clock(&self) -> &Clock;

    /// Returns the time by that clock, in nanoseconds.
    fn now(&self) -> u64 {
        self.clock().tick()
    }

    /// Sets its name, for display.
    fn set_name(&self, name: Arc<str>);
}

/// Leaves the stack of the waiting fiber, if that remains to be done. On frequent paths call this in the function that
/// waits, see [`switch`](crate::fiber::switch).
#[inline(always)]
pub(crate) fn leave(switch: Option<PendingSwitch>) {
    if let Some(switch) = switch {
        // SAFETY: the running fiber has made `switch` on this stack, and does nothing between that and this call.
        unsafe { switch.go() };
    }
}
