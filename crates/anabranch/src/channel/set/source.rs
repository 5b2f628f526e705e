//! What a set of receivers needs of its members.

use crate::{
    channel::{RecvError, TryRecvError},
    wait::{Cancelled, waiter::Waiter},
};
use std::iter::{self, FusedIterator};

/// What `recv` receives, until the channel is closed. Where a wait was cancelled that is the last item, an error.
pub(crate) fn received<V>(
    mut recv: impl FnMut() -> Result<V, RecvError>,
) -> impl FusedIterator<Item = Result<V, Cancelled>> {
    let mut is_cancelled = false;
    let next = move || match if is_cancelled { Err(RecvError::Closed) } else { recv() } {
        Ok(value) => Some(Ok(value)),
        Err(RecvError::Cancelled) => {
            is_cancelled = true;
            Some(Err(Cancelled))
        }
        Err(RecvError::Closed) => None,
    };
    iter::from_fn(next).fuse()
}

/// What a set needs of its members.
pub(crate) trait Source {
    type Value;
    /// What a wait needs; stays where it is until it is withdrawn or over.
    type Wait;

    /// Whether it receives one value, and is used up by it.
    const IS_ONCE: bool = false;

    fn wait() -> Self::Wait;

    fn receive(&mut self) -> Result<Self::Value, TryRecvError>;

    /// Whether there is nothing to receive, if that is seen at a glance.
    #[inline]
    fn is_bare(&self) -> bool {
        false
    }

    /// # Safety
    /// As for [`Place::register`](crate::wait::waitable::Place::register), with a `wait` of this receiver and a
    /// standing waiter.
    unsafe fn register(&self, wait: &Self::Wait, waiter: *const Waiter) -> bool;

    /// Takes the address of the waiter out again. `false`: it is not there; if it was registered then somebody has
    /// taken it out, and wakes the waiter or has woken it.
    ///
    /// # Safety
    /// The `wait` is this receiver's. No value was received since it was registered.
    unsafe fn withdraw(&self, wait: &Self::Wait) -> bool;

    /// It was woken for a value that it will not receive.
    fn pass_on(&self);
}
