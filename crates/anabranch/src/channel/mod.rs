//! Channels: messages between fibers, threads and async code, whichever is at either end.
//!
//! | | ends | room |
//! |---|---|---|
//! | [`bounded`] | any number of senders and receivers | so many |
//! | [`unbounded`] | any number of senders and receivers | any number |
//! | [`rendezvous`] | any number of senders and receivers | none: who sends meets who receives |
//! | [`oneshot`] | one sender, one receiver | one value, once |
//! | [`spsc`] | one sender, one receiver: a stream | so many, or any number |
//! | [`watch`] | any number; all receivers see the latest value | one value |
//! | [`broadcast`] | any number; all receivers get all values | the last so many |
//!
//! [`select!`](crate::select) and [`Select`] wait for the first of several operations, with a `Cx` or in async code; a [`ReceiverSet`] receives from any
//! number of members as if they were one, [`spawn_service`](crate::spawn_service) makes a fiber that answers requests.
//!
//! Every operation that may wait comes in several shapes: `recv(cx)`, which waits for as long as its scope lasts;
//! `recv_until(cx, instant)` and `recv_timeout(cx, duration)`, by the clock of the pool; `recv_async()`, a future for async
//! code, which may be dropped at any time; and `try_recv()`, which does not wait.
//!
//! # Closing
//! A channel is closed by `close`, at either end, or when all its senders or all its receivers have been dropped. From then
//! on nothing can be sent: a value that was not sent comes back in the error. What was sent before can still be received; after
//! the last of it a receive says that the channel is closed. What is in a channel whose last receiver is dropped is dropped
//! with it.
//!
//! # What a cancelled wait leaves behind
//! Nothing: a value that has been received was received, one that was not is still in the channel or with its sender.

// `word <- {packet <- oneshot, stream <- spsc}`, `blocks <- buffer <- shared <- mpmc`, `board <- {watch, broadcast}`,
// `{events, select}` and `source <- member <- set`.
mod blocks;
mod board;
pub mod broadcast;
mod buffer;
mod error;
mod events;
mod member;
mod mpmc;
pub mod oneshot;
pub(crate) mod packet;
mod select;
mod set;
mod shared;
pub(crate) mod source;
pub mod spsc;
pub(crate) mod stream;
pub mod watch;
pub(crate) mod word;

#[doc(hidden)]
pub use self::select::__select;
pub use self::{
    error::{Closed, RecvError, RecvTimeoutError, Refused, SendError, SendTimeoutError, TryRecvError, TrySendError},
    events::{Sleeping, Triggered},
    member::Member,
    mpmc::{Permit, Receiver, Receiving, Sender, Sending, WeakSender, bounded, rendezvous, unbounded},
    select::{Operation, Select},
    set::{Receive, Received, ReceiverSet, SetReceiving},
};
