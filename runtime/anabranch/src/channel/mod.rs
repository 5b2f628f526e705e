//! Channels: messages between fibers, threads and async code, in any combination.
//!
//! | | ends | room |
//! |---|---|---|
//! | [`bounded`] | any number of senders and receivers | `n` values |
//! | [`unbounded`] | any number of senders and receivers | any number |
//! | [`rendezvous`] | any number of senders and receivers | none: a send meets a receive |
//! | [`oneshot`] | one sender, one receiver | one value, once |
//! | [`spsc`] | one sender, one receiver: a stream | `n` values, or any number |
//! | [`watch`] | any number; all receivers see the latest value | one value |
//! | [`broadcast`] | any number; all receivers get all values | the last `n` values |
//!
//! [`select!`](crate::select) and [`Select`] wait for the first of several operations, with a `Cx` or in async code; a
//! [`ReceiverSet`] receives from any number of members as if they were one, and
//! [`spawn_service`](crate::fiber::spawn_service) spawns a fiber that answers requests.
//!
//! A receive comes in four forms, and so do the other waits:
//! - `recv(cx)` waits as long as its scope lasts;
//! - `try_recv()` does not wait;
//! - `recv_blocking()` blocks a thread that has no `Cx`: see [plain threads](#plain-threads);
//! - `receiving()` returns an [`Operation`], which has all other waits: `receiving().timeout(cx, duration)`,
//!   `receiving().deadline(cx, instant)`, `receiving().blocking_timeout(duration)`, and `receiving().await` in async
//!   code. Selections wait for operations, too.
//!
//! A wait of several steps, such as `recv_many`, has no operation, but has an async variant. For a time limit use
//! [`Cx::timeout`](crate::Cx::timeout).
//!
//! [`after`], [`tick`] and [`never()`] are timer operations for selections, and [`awaiting`] turns a future into an
//! operation.
//!
//! `try_send` into a rendezvous reaches a thread or fiber that waits in a receive, but not a future: see
//! [`rendezvous`].
//!
//! A future is ready at once if there is nothing to wait for. One future in 128 is not: it lets the other tasks of its
//! thread run first.
//!
//! # Plain threads
//! A program that has only plain threads uses these channels like the channels of `std::sync::mpsc` or crossbeam. The
//! methods whose names contain `blocking` need no [`Cx`](crate::Cx), and start no pool. A receiver is an iterator too:
//! `for value in receiver`. Deadlines are times of the system's clock.
//!
//! ```
//! use anabranch::channel;
//! use std::thread;
//!
//! let (sender, receiver) = channel::bounded(16);
//! let workers: Vec<_> = (0..4)
//!     .map(|n| {
//!         let sender = sender.clone();
//!         thread::spawn(move || sender.send_blocking(n * n).unwrap())
//!     })
//!     .collect();
//! drop(sender);
//! assert_eq!(receiver.into_iter().sum::<u32>(), 14);
//! # workers.into_iter().for_each(|worker| worker.join().unwrap());
//! ```
//!
//! Code that has a `Cx` uses that instead, so that its wait can be cancelled. On a thread of a pool a `blocking`
//! method blocks as in [`run`](crate::run): another thread takes its slot in the pool, and deadlines are times of
//! the pool's clock. On a fiber it blocks the thread of the fiber, and with it the other fibers that have begun there.
//! A fiber that waits in this way for another fiber of its thread waits forever. The pool reports the first such wait
//! of a fiber, see [`Builder::on_hazard`](crate::Builder::on_hazard).
//!
//! # Which channel has which operations
//! | | [`bounded`], [`unbounded`], [`rendezvous`] | [`spsc`] | [`oneshot`] | [`watch`] | [`broadcast`] |
//! |---|---|---|---|---|---|
//! | `send`, `sending` | yes | yes | never waits | never waits | never waits |
//! | `reserve`, `reserving` | yes, except for rendezvous | yes | - | - | - |
//! | `reserve_many`, `reserving_many` | yes, except for rendezvous | `send_all` | - | - | - |
//! | `send_all` | - | yes | - | - | - |
//! | `recv`, `receiving` | yes | yes | yes | yes | yes |
//! | `recv_many`, `drain` | yes | yes | one value | one value | yes |
//! | `iter(cx)`, `iter_blocking` | yes | yes | one value | yes | yes |
//! | `IntoIterator` | yes | yes | one value | - | - |
//! | `len`, `is_empty` | yes | receiver | `is_empty` | `has_changed` | receiver |
//! | `capacity`, `is_full` | yes | yes | - | - | `capacity`; it is never full |
//! | `close` | both ends | both ends | receiver; the sender is dropped | sender | sender |
//! | `is_closed` | both ends | both ends | both ends | both ends | both ends |
//! | `same_channel` | yes | there is one of each | there is one of each | yes | yes |
//! | `is_to` | yes | yes | yes | yes | yes |
//! | `sender_count`, `receiver_count` | yes | one of each | one of each | yes | yes |
//! | `closed`, `closing` | yes | yes | yes | until no receiver is left | yes |
//! | weak senders | yes | there is one sender | there is one sender | yes | yes |
//! | member of a [`ReceiverSet`] | yes | yes | yes | yes | yes |
//!
//! Receivers of watch and broadcast channels do not close them, because other receivers use them too. A set has `recv`,
//! `receiving`, `iter` and `drain`.
//!
//! # Closing
//! A channel is closed by `close`, or when all its senders or all its receivers have been dropped. From then on nothing
//! can be sent: a value that was not sent comes back in the error. Values sent before can still be received; after the
//! last of them a receive returns `Closed`. When the last receiver of a channel is dropped, the values in the channel
//! are dropped with it.
//!
//! Watch and broadcast channels make new receivers from their senders, so their last receiver does not close them. A
//! watch channel keeps its value. A broadcast channel refuses values while it has no receiver.
//!
//! # Values after a cancelled wait
//! A cancelled wait loses no value: the value has been received, or is still in the channel, or is still with its
//! sender.

// `closing <- {packet <- oneshot, stream <- spsc}`, `end_count <- {buffer <- state <- shared <- mpmc, versioned}`,
// `versioned <- {watch, broadcast}`, `dropping` below `buffer`, `stream`, `broadcast` and `set`.
// `sleeping` and `{source, desk} <- member <- hall <- {set, select}`.
mod blocking;
mod blocking_iter;
pub mod broadcast;
#[cfg(not(loom))]
mod call;
pub(crate) mod closing;
mod dropping;
mod end_count;
mod error;
mod mpmc;
pub mod oneshot;
pub(crate) mod packet;
mod select;
#[cfg(all(any(unix, windows), not(loom)))]
pub(crate) mod service;
pub(crate) mod set;
mod sleeping;
pub mod spsc;
#[cfg(all(feature = "futures", not(loom)))]
mod streams;
#[cfg(not(loom))]
mod timers;
mod versioned;
pub mod watch;

pub(crate) use self::error::{PushError, USED_AGAIN};
#[doc(hidden)]
pub use self::select::__select;
pub use self::{
    blocking_iter::BlockingIter,
    error::{CallError, Closed, ClosedError, RecvError, SendError, TryRecvError, TrySendError},
    mpmc::{
        Closing, OwnedPermit, Permit, Permits, Receiver, Receiving, Reserving, ReservingMany, Sender, Sending,
        WeakSender, bounded, rendezvous, unbounded,
    },
    select::Select,
    set::{Received, ReceiverSet, SetReceiving},
    sleeping::Sleeping,
};
#[cfg(not(loom))]
pub use self::{
    select::{Awaiting, awaiting},
    timers::{After, Never, Ticking, after, never, tick},
};
pub use crate::{
    channel::set::{member::Member, receive::Receive},
    cx::{Operation, OperationFuture},
    sync::trigger::Triggered,
};
