//! The interface that a set of receivers requires of its members.

use crate::{
    channel::{RecvError, TryRecvError},
    wait::{
        Cancelled,
        waitable::{Armed, Ended},
    },
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

/// The interface that a set requires of its members.
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

    /// Registers a persistent waiter, as [`register`](crate::wait::waitable::Waitable::register) does.
    fn register(&self, wait: &Self::Wait, armed: Armed) -> bool;

    /// Takes the address of the waiter out again. Returns `false` if it is not there. If it was registered, another
    /// thread has then taken it out, and wakes the waiter or has woken it. No value was received in between.
    fn withdraw(&self, wait: &Self::Wait, ended: Ended) -> bool;

    /// Passes on the wake-up for a value that this receiver will not receive.
    fn pass_on(&self);
}
