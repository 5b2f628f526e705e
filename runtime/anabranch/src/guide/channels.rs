//! Channels and selection: which to choose.
//!
//! # Which channel
//! | what is sent | channel | a sender waits |
//! |---|---|---|
//! | jobs or messages, from many to many | [`bounded(n)`](crate::channel::bounded) | while `n` values are in it |
//! | the same, and the senders cannot wait | [`unbounded()`](crate::channel::unbounded) | never; memory is the limit |
//! | a value that has been received when `send` returns | [`rendezvous()`](crate::channel::rendezvous) | for a receiver |
//! | one answer | [`oneshot`](crate::channel::oneshot) | never |
//! | a stream from one sender to one receiver | [`spsc`](crate::channel::spsc) | as for `bounded` and `unbounded` |
//! | the latest value of something, to all receivers | [`watch`](crate::channel::watch) | never; older values are replaced |
//! | every value, to all receivers | [`broadcast`](crate::channel::broadcast) | never; a slow receiver learns how many it missed |
//! | messages in a fixed order, both ways | [`proto!`](crate::proto!) | as the protocol says |
//!
//! Prefer `bounded`: a full channel slows its senders down, and so limits memory. Prefer `spsc` where there is one
//! sender and one receiver.
//!
//! Two things that are not channels: [`Monitor`](crate::sync::Monitor) is a shared value with conditions to wait
//! for, and [`spawn_service`](crate::fiber::spawn_service) makes a fiber that answers requests.
//!
//! # The forms of an operation
//! | form | waits at most | where |
//! |---|---|---|
//! | `recv(cx)` | until its scope is cancelled | on fibers and threads |
//! | `receiving().deadline(cx, instant)`, `.timeout(cx, duration)` | until the limit | on fibers and threads |
//! | `try_recv()` | not at all | everywhere |
//! | `receiving().await` | until the future is dropped | in async code of any runtime |
//! | `receiving()` | as long as the selection | in [`select!`](crate::select) |
//! | `recv_blocking()` | as long as the channel is open | on threads without a `cx` |
//!
//! `receiving()` returns an [`Operation`](crate::Operation). Its result is inside the result of the wait:
//! ```
//! use anabranch::{Cx, Error, Operation, channel::Receiver};
//! use std::time::Duration;
//!
//! fn next(cx: &Cx<'_>, jobs: &Receiver<u32>) -> Result<u32, Error> {
//!     Ok(jobs.receiving().timeout(cx, Duration::from_millis(1))??) // `WaitError`, then `Closed`
//! }
//!
//! let (sender, jobs) = anabranch::channel::unbounded();
//! assert!(anabranch::run(|cx| next(cx, &jobs)).unwrap_err().is_timeout());
//! drop(sender);
//! assert!(anabranch::run(|cx| next(cx, &jobs)).unwrap_err().is_closed());
//! ```
//!
//! `send` has the same forms: `send(cx, v)`, `sending(v)`, and so on. The two ends of a channel may be in different
//! kinds of code:
//! ```
//! use anabranch::channel;
//! use std::thread;
//!
//! let (sender, receiver) = channel::bounded(2);
//! let fiber = anabranch::spawn(move |cx| (0..3).try_for_each(|n| sender.send(cx, n)).is_ok());
//! let task = anabranch::spawn_async(async move { (receiver.receiving().await, receiver) });
//! let (first, receiver) = anabranch::run(|cx| task.join(cx)).unwrap();
//! let rest = thread::spawn(move || anabranch::run(|cx| receiver.iter(cx).collect::<Result<Vec<_>, _>>()));
//! assert_eq!(first, Ok(0));
//! assert_eq!(rest.join().unwrap(), Ok(vec![1, 2]));
//! assert_eq!(anabranch::run(|cx| fiber.join(cx)).unwrap(), true);
//! ```
//!
//! # Closing a channel
//! A channel closes when all its senders or all its receivers are dropped, or when `close` is called. A receiver first
//! receives the remaining values, and then `Closed`. So a receive loop ends when the last sender is dropped. Drop
//! senders that are no longer needed.
//!
//! # Selection
//! | | for |
//! |---|---|
//! | [`select!`](crate::select) | a few operations that are known when the program is written |
//! | [`Select`](crate::channel::Select) | any number of operations of one type |
//! | [`ReceiverSet`](crate::channel::ReceiverSet) | many receivers that stay registered; the cost of a receive does not depend on their number |
//! | [`Cx::race`](crate::Cx::race) | whole functions; the losers are cancelled |
//!
//! [`Operation`](crate::channel::Operation) lists what can be selected: receives and sends, reservations, time, locks,
//! permits, events and triggers. A selection completes exactly one operation, and the others have no effect. It chooses
//! at random among the operations that are ready. `select!(biased cx, { .. })` prefers earlier arms.
//! ```
//! use anabranch::{Cx, channel::Receiver, select, sync::{AcquireError, Semaphore}};
//! use std::time::Duration;
//!
//! /// The next job once a permit is free, or `None` after a quiet minute.
//! fn next(cx: &Cx<'_>, jobs: &Receiver<u32>, permits: &Semaphore) -> Result<Option<u32>, AcquireError> {
//!     let _permit = permits.acquire(cx)?;
//!     let job = select!(cx, {
//!         job = jobs.receiving() => job.ok(),
//!         _ = cx.sleeping(Duration::from_secs(60)) => None,
//!     })?;
//!     Ok(job)
//! }
//!
//! let (sender, jobs) = anabranch::channel::bounded(1);
//! sender.try_send(7).unwrap();
//! assert_eq!(anabranch::run(|cx| next(cx, &jobs, &Semaphore::new(1))), Ok(Some(7)));
//! ```
//!
//! # Requests and answers
//! A request carries the sender of a one-shot channel for its answer. [`Service`](crate::fiber::Service) makes that
//! channel:
//! ```
//! use anabranch::channel::oneshot;
//!
//! struct Square(u64, oneshot::Sender<u64>);
//!
//! let service = anabranch::fiber::spawn_service(|cx, requests| {
//!     while let Ok(Square(n, reply)) = requests.recv(cx) {
//!         _ = reply.send(n * n);                                  // the client may have gone
//!     }
//! });
//! anabranch::run(|cx| {
//!     assert_eq!(service.call(cx, |reply| Square(9, reply)), Ok(81));
//!     service.stop(cx).unwrap();
//! });
//! ```
//! For conversations of more than these two steps, see [`protocols`](super::protocols).
