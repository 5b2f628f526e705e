//! Broadcast channels: each receiver gets every value.

mod closing;
mod error;
mod receiver;
mod sender;

use crate::{channel::versioned::Versioned, sys::sync::Arc};
use std::collections::VecDeque;

pub use self::{
    closing::Closing,
    error::{ClosedOrLagged, Lagged, RecvError, TryRecvError},
    receiver::{Receiver, Receiving},
    sender::{Sender, WeakSender},
};

/// Creates a channel that keeps the last `capacity` values and delivers every value to each receiver.
///
/// Sending never waits. A receiver that has fallen behind by more than `capacity` values misses the oldest ones: its
/// next receive returns [`RecvError::Lagged`] with their number, and the receive after that returns the oldest value
/// that is kept.
///
/// # Panics
/// Panics if `capacity` is zero, or if there is no memory for that many values, which is allocated here.
///
/// ```
/// use anabranch::channel::broadcast::{self, RecvError};
///
/// let (sender, mut one) = broadcast::channel(2);
/// let mut other = sender.subscribe();
/// sender.send("a").unwrap();
/// assert_eq!(*one.try_recv().unwrap(), "a");
/// sender.send("b").unwrap();
/// sender.send("c").unwrap();
/// drop(sender);
/// anabranch::run(|cx| {
///     assert!(one.iter(cx).map(|text| *text.unwrap()).eq(["b", "c"]));
///     assert_eq!(other.recv(cx), Err(RecvError::Lagged(1)));
///     assert!(other.iter(cx).map(|text| *text.unwrap()).eq(["b", "c"]));
/// });
/// assert_eq!((one.lagged(), other.lagged()), (0, 1));
/// ```
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "what is not kept cannot be received");
    let versioned = Arc::new(Versioned::new(Log::new(capacity), true));
    (Sender { versioned: Arc::clone(&versioned) }, Receiver { versioned, next: 0, missed: 0 })
}

/// Returns a queue with room for `capacity` values and the one that replaces the oldest.
fn empty<T>(capacity: usize) -> VecDeque<T> {
    let mut values = VecDeque::new();
    let outcome = capacity.checked_add(1).map(|room| values.try_reserve_exact(room));
    assert!(matches!(outcome, Some(Ok(()))), "there is no memory for a broadcast of {capacity} values");
    values
}

/// The last values. The version is the number of values ever sent.
struct Log<T> {
    values: VecDeque<Arc<T>>,
    capacity: usize,
}

impl<T> Log<T> {
    fn new(capacity: usize) -> Self {
        Self { values: empty(capacity), capacity }
    }
}
