//! What a set of receivers requires of its members.

use crate::{
    channel::{RecvError, TryRecvError},
    wait::{Cancelled, waiter::Waiter},
};
use std::iter::{self, FusedIterator};

/// Iterates over what `recv` receives, until the channel is closed. If a wait is cancelled, that error is the last
/// item.
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

/// What a set requires of its members.
pub(crate) trait Source {
    type Value;
    /// The data that a wait needs. Stays in place until the wait is withdrawn or over.
    type Wait;

    /// Whether it receives one value, and is used up by it.
    const IS_ONCE: bool = false;

    fn wait() -> Self::Wait;

    fn receive(&mut self) -> Result<Self::Value, TryRecvError>;

    /// Returns whether there is nothing to receive, if that is quick to see.
    #[inline]
    fn is_bare(&self) -> bool {
        false
    }

    /// # Safety
    /// The contract of [`Waitable::register`](crate::wait::waitable::Waitable::register) holds, with a `wait` of this
    /// receiver and a persistent waiter.
    unsafe fn register(&self, wait: &Self::Wait, waiter: *const Waiter) -> bool;

    /// Takes the address of the waiter out again. Returns `false` if it is not there. If it was registered, another
    /// thread has then taken it out, and wakes the waiter or has woken it.
    ///
    /// # Safety
    /// The `wait` is this receiver's. No value was received since it was registered.
    unsafe fn withdraw(&self, wait: &Self::Wait) -> bool;

    /// Passes on the wake-up for a value that this receiver will not receive.
    fn pass_on(&self);
}
