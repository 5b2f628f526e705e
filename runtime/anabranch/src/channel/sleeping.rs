//! Sleeping as an operation.

use crate::{
    cx::{Cx, attempt::Attempt},
    sys::sync::full_fence,
    wait::waitable::{Armed, Ended, Waitable},
};
use std::{fmt, time::Duration};

/// A sleep, as an operation. Created by [`Cx::sleeping`].
///
/// Only waits with a `Cx` can select it; async code has [`sleep_async`](crate::fiber::sleep_async).
pub struct Sleeping<'a> {
    cx: &'a Cx<'a>,
    at: u64,
}

impl<'a> Cx<'a> {
    /// Returns a sleep as an operation, for [`select!`](crate::select). It becomes ready `duration` from now.
    pub fn sleeping(&'a self, duration: Duration) -> Sleeping<'a> {
        Sleeping { cx: self, at: self.after(duration) }
    }
}

impl Attempt for Sleeping<'_> {
    type Output = ();

    const IS_TIMED: bool = true;

    const NAME: &'static &'static str = &"sleep";

    fn attempt(&self) -> Option<()> {
        (self.cx.owner.now() >= self.at).then_some(())
    }

    fn ready_at(&self) -> u64 {
        self.at
    }
}

// SAFETY: a sleep stores no address of a waiter.
unsafe impl Waitable for Sleeping<'_> {
    fn register(&self, _: Armed) -> bool {
        // This fence replaces the read-modify-write that `Waitable` requires.
        full_fence();
        true
    }

    fn unregister(&self, _: Ended) {}
}

impl fmt::Debug for Sleeping<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleeping").finish_non_exhaustive()
    }
}
