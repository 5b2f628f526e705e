//! Which receivers can be members of a set.

use crate::{channel::set::source::Source, sys::sync::Arc};

/// A receiver that can be a member of a [`ReceiverSet`](crate::channel::ReceiverSet): the receivers of all flavours,
/// and the endpoints of [conversations](mod@crate::proto), each of which leaves the set with the message that it has
/// received. It is sealed.
#[allow(private_bounds, reason = "sealed")]
pub trait Receive: Source<Value = <Self as Receive>::Item> {
    /// The type of the received values.
    type Item;
}

impl<T> Receive for crate::channel::Receiver<T> {
    type Item = T;
}

impl<T> Receive for crate::channel::spsc::Receiver<T> {
    type Item = T;
}

/// Its member gives one value, and leaves.
impl<T> Receive for crate::channel::oneshot::Receiver<T> {
    type Item = T;
}

impl<T> Receive for crate::channel::watch::Receiver<T> {
    type Item = Arc<T>;
}

/// The number of missed values is received, too.
impl<T> Receive for crate::channel::broadcast::Receiver<T> {
    type Item = Result<Arc<T>, crate::channel::broadcast::Lagged>;
}
