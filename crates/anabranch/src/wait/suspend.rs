//! A strand: whoever can wait with a `Cx`, be it a fiber or a thread.

use crate::{fiber::switch::PendingSwitch, time::Clock, wait::waiter::Waiter};
use std::{panic::Location, sync::Arc};

/// What a strand waits for, to be shown to people.
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

/// Who waits: a fiber, or a thread.
///
/// # Safety
/// The waiter is the strand's alone and lives as long as it. A suspension ends only when the waiter has been decided,
/// and with every wake-up taken.
pub(crate) unsafe trait Strand {
    /// The address that is given to places. It is derived from a pointer to all that
    /// [`Kind::wake`](crate::wait::waiter::Kind::wake) goes on to from there, and not from a reference to the waiter,
    /// by which nothing else could be reached.
    fn waiter(&self) -> *const Waiter;

    /// Waits until the waiter, which is armed, has been decided: by a place, by a scope, or by `deadline`, which
    /// decides [`Outcome::TimedOut`]. `Some`: it has yet to [`leave`] by this.
    fn suspend(&self, deadline: u64, reason: WaitReason) -> Option<PendingSwitch>;

    /// After a suspension with a deadline, which does not count any more.
    fn drop_deadline(&self) {}

    /// Lets others run: other fibers of this thread, or else, as where it must not wait, other threads. `Some`: as for
    /// `suspend`.
    fn step_aside(&self) -> Option<PendingSwitch>;

    /// It has had its share: lets others run, if nobody else sees to that.
    fn pause(&self) {
        leave(self.step_aside());
    }

    /// Whether others run on its thread while it waits, and would find themselves in a panicking thread where it
    /// unwinds.
    fn shares_its_thread(&self) -> bool;

    /// The clock by which it waits.
    fn clock(&self) -> &Clock;

    /// The time by that clock, in nanoseconds.
    fn now(&self) -> u64 {
        self.clock().tick()
    }

    /// Gives it a name for people to see.
    fn set_name(&self, name: Arc<str>);
}

/// Leaves a strand's stack, if that remains to be done. Where a strand often waits this belongs into the function that
/// it waits in, see [`switch`](crate::fiber::switch).
#[inline(always)]
pub(crate) fn leave(switch: Option<PendingSwitch>) {
    if let Some(switch) = switch {
        // SAFETY: made by the strand that runs, which does nothing in between.
        unsafe { switch.go() };
    }
}
