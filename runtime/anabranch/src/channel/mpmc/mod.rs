//! Channels with any number of senders and receivers: the public interface.

// `state <- shared <- waiting <- room_wait <- {permit <- permits}`, `common <- receiver <- sender <- permit`.
pub(crate) mod buffer;
mod closing;
mod common;
mod owned_permit;
mod permit;
mod permits;
mod receiver;
mod room_wait;
mod sender;
pub(crate) mod shared;
pub(crate) mod state;
mod waiting;

pub use self::{
    closing::Closing,
    owned_permit::OwnedPermit,
    permit::{Permit, Reserving},
    permits::{Permits, ReservingMany},
    receiver::{Receiver, Receiving},
    sender::{Sender, Sending, WeakSender},
};
use crate::{channel::mpmc::shared::Channel, sys::sync::Arc};

/// Creates a channel with room for `capacity` values.
///
/// It allocates its memory here, and none later (very large channels allocate when they need it). A capacity of
/// `usize::MAX` is no limit.
///
/// # Panics
/// Panics if `capacity` is zero. (See [`rendezvous`].)
///
/// ```
/// use anabranch::channel;
///
/// anabranch::run(|cx| {
///     let (sender, receiver) = channel::bounded(16);
///     cx.scope(|s| {
///         for worker in 0..4 {
///             let sender = sender.clone();
///             s.spawn(move |cx| sender.send(cx, worker * worker).unwrap());
///         }
///         drop(sender);
///         s.spawn(move |cx| assert_eq!(receiver.iter(cx).sum::<Result<u32, _>>(), Ok(14)));
///     });
/// });
/// ```
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "a channel without room is a rendezvous");
    new(Some(capacity))
}

/// Creates a channel with room for any number of values. Sending never waits.
///
/// An idle channel takes at most 256 bytes if its values are small. As it is drained, it returns the memory by which it
/// has grown.
///
/// ```
/// let (sender, receiver) = anabranch::channel::unbounded();
/// sender.try_send("a").unwrap();
/// sender.clone().try_send("b").unwrap();
/// assert_eq!(receiver.drain().collect::<String>(), "ab");
/// ```
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    new(None)
}

/// Creates a channel without room: a sender waits until a receiver is there, and a receiver until a sender is there.
///
/// However a value is sent, it has been received once the send succeeds, and [`len`](Receiver::len) is always 0.
/// [`try_send`](Sender::try_send) succeeds if a thread or fiber waits in a receive. It does not reach a waiting future
/// or [`ReceiverSet`](crate::channel::ReceiverSet), since these may end without taking the value. A future or set takes
/// the value of a waiting sender instead.
///
/// ```
/// let (sender, receiver) = anabranch::channel::rendezvous();
/// anabranch::run(|cx| {
///     assert!(sender.try_send(1).is_err(), "there is nobody");
///     let ((), got) = cx.join(move |cx| sender.send(cx, 2).unwrap(), move |cx| receiver.recv(cx));
///     assert_eq!(got, Ok(2));
/// });
/// ```
///
/// A future that waits:
/// ```
/// use anabranch::channel::{TrySendError, rendezvous};
/// use std::{future::{Future, IntoFuture}, pin::pin, task::{Context, Poll, Waker}};
///
/// let (sender, receiver) = rendezvous();
/// let mut context = Context::from_waker(Waker::noop());
/// let mut receiving = pin!(receiver.receiving().into_future());
/// assert!(receiving.as_mut().poll(&mut context).is_pending());
/// assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
/// let mut sending = pin!(sender.sending(2).into_future());
/// assert!(sending.as_mut().poll(&mut context).is_pending(), "it waits until the future takes its value");
/// assert_eq!(receiving.poll(&mut context), Poll::Ready(Ok(2)));
/// assert_eq!(sending.poll(&mut context), Poll::Ready(Ok(())));
/// ```
pub fn rendezvous<T>() -> (Sender<T>, Receiver<T>) {
    new(Some(0))
}

fn new<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(capacity));
    (Sender { channel: Arc::clone(&channel) }, Receiver { channel })
}
