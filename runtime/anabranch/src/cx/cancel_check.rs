//! The part of a [`Cx`] that other threads use to learn whether its scope was cancelled.

use crate::{
    cx::cx::{Cx, Deadline},
    time::{Clock, NEVER},
    wait::cancel::CancelScope,
};

/// Tells any thread whether the scope of a [`Cx`] was cancelled. It borrows the `Cx`.
#[derive(Clone, Copy)]
pub(crate) struct CancelCheck<'cx> {
    scope: &'cx CancelScope,
    deadline: SharedDeadline,
    clock: &'cx Clock,
}

/// The deadline of a `Cx` that [`CancelCheck`] borrows.
#[derive(Clone, Copy)]
struct SharedDeadline(Deadline);

// SAFETY: the pointer in a deadline is to a `CancelScope`, which threads may share, and which outlives the `Cx`.
unsafe impl Send for SharedDeadline {}
// SAFETY: the pointer in a deadline is to a `CancelScope`, which threads may share, and which outlives the `Cx`.
unsafe impl Sync for SharedDeadline {}

impl CancelCheck<'_> {
    /// Returns whether the scope was cancelled or its deadline has passed, as [`Cx::is_cancelled`].
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.scope.is_cancelled() || self.deadline.0.at != NEVER && self.has_expired()
    }

    #[cold]
    fn has_expired(&self) -> bool {
        let has_expired = self.clock.tick() >= self.deadline.0.at;
        if has_expired {
            self.deadline.0.expire();
        }
        has_expired
    }
}

impl Cx<'_> {
    /// Returns what other threads need to learn whether the scope was cancelled.
    pub(crate) fn cancel_check(&self) -> CancelCheck<'_> {
        CancelCheck { scope: self.scope, deadline: SharedDeadline(self.deadline), clock: self.owner.clock() }
    }
}
