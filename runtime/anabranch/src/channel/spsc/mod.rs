//! Streams: channels with one sender and one receiver, the fastest there are.

// Each message writes to both ends, which hold their positions in the stream. Both often lie side by side in the frame
// that made them, as around a `Cx::join`, so each end has a cache line of its own. Between two threads, with room for
// 128, a message took 52 to 109 ns without that and 30 to 44 with it (medians of three runs). It takes as long when the
// ends are far apart, and 128 bytes were no better. The channel gets no larger, since the ends are not part of it. The
// slots of a slab do share lines, since a slab is to have many of them in few bytes.

// `reserving <- sender <- permit`.
mod blocking;
mod closing;
mod permit;
mod receiver;
mod reserving;
mod sender;
pub(crate) mod stream;

pub use self::{
    closing::Closing,
    receiver::{Receiver, Receiving},
    reserving::{Permit, Reserving},
    sender::{Sender, Sending},
};
use crate::channel::spsc::stream::stream;

/// Creates a stream with room for `capacity` values.
///
/// It allocates its memory here, and none later. A send is one atomic exchange; a receive is a load and an exchange.
///
/// # Panics
/// Panics if `capacity` is zero (see [`rendezvous`](super::rendezvous)), or if there is no memory for that many values.
///
/// ```
/// use anabranch::channel::spsc;
///
/// anabranch::run(|cx| {
///     let (mut sender, mut receiver) = spsc::bounded(2);
///     cx.join(
///         move |cx| (0..10).try_for_each(|n| sender.send(cx, n)).unwrap(),
///         move |cx| assert!(receiver.iter(cx).eq((0..10).map(Ok))),
///     );
/// });
/// ```
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "a stream needs room for a value");
    let (producer, consumer) = stream(Some(capacity));
    (Sender { producer }, Receiver { consumer })
}

/// Creates a stream with room for any number of values.
///
/// Sending never waits. A send is one atomic exchange; a receive of a value that has arrived is one load. Memory is
/// allocated in slabs of about 200 bytes (more for large values). Each slab is freed once its values have been
/// received; an idle stream has one. If the receiver is on another thread and has had to wait, slabs grow up to 4 KB,
/// until it waits again.
///
/// ```
/// use anabranch::channel::spsc;
///
/// let (mut sender, mut receiver) = spsc::unbounded();
/// sender.try_send("a").unwrap();
/// sender.try_send("b").unwrap();
/// drop(sender);
/// anabranch::run(|cx| assert_eq!(receiver.iter(cx).collect::<Result<String, _>>(), Ok("ab".to_owned())));
/// ```
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let (producer, consumer) = stream(None);
    (Sender { producer }, Receiver { consumer })
}
