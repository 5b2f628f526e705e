//! Coming from crossbeam: channels and selection.
//!
//! | crossbeam | anabranch | |
//! |---|---|---|
//! | `bounded(n)` | [`channel::bounded(n)`](crate::channel::bounded) | `n` is at least 1 |
//! | `bounded(0)` | [`channel::rendezvous()`](crate::channel::rendezvous) | |
//! | `unbounded()` | [`channel::unbounded()`](crate::channel::unbounded) | |
//! | `s.send(v)`, `r.recv()` | `s.send(cx, v)`, `r.recv(cx)` | may return `Cancelled` |
//! | `s.try_send(v)`, `r.try_recv()` | the same | no `cx`, since they do not wait |
//! | `recv_timeout(duration)` | `recv_timeout(cx, duration)` | |
//! | `recv_deadline(instant)` | `recv_deadline(cx, instant)` | |
//! | `r.iter()` | `r.iter(cx)` | items are `Result<T, Cancelled>` |
//! | `r.try_iter()` | `r.drain()` | |
//! | `select! { recv(r) -> m => .. }` | [`select!(cx, { m = r.receiving() => .. })`](crate::select) | |
//! | `send(s, v) -> result => ..` | `result = s.sending(v) => ..` | |
//! | `default => ..` | the same | |
//! | `default(duration) => ..`, `after(duration)` | `_ = cx.sleeping(duration) => ..` | |
//! | `tick(duration)` | [`cx.interval(duration)`](crate::Cx::interval) | has its own `wait`; not an arm of `select!` |
//! | `never()` | | omit the operation |
//! | `Select` | [`channel::Select`](crate::channel::Select) | returns the index and the result |
//! | `WaitGroup` | [`Cx::scope`](crate::Cx::scope), [`sync::Barrier`](crate::sync::Barrier) | |
//! | `Parker`, `Unparker` | [`sync::Trigger`](crate::sync::Trigger), [`sync::Event`](crate::sync::Event) | |
//! | `ShardedLock` | [`sync::RwLock`](crate::sync::RwLock) | |
//! | `deque::Worker`, `Stealer` | | the pool has its own |
//!
//! # On threads
//! A channel connects threads, fibers and async code in any mixture. On a plain thread [`run`](crate::run) gives the
//! `cx`; a wait then parks the thread.
//! ```
//! use anabranch::channel;
//! use std::thread;
//!
//! let (sender, receiver) = channel::bounded(16);
//! let producer = thread::spawn(move || {
//!     anabranch::run(|cx| (0..100u32).try_for_each(|n| sender.send(cx, n)))
//! });
//! let sum = anabranch::run(|cx| receiver.iter(cx).sum::<Result<u32, _>>());
//! assert_eq!(sum, Ok(4950));
//! assert!(producer.join().unwrap().is_ok());
//! ```
//! `run` makes the thread a guest of the default pool, so enter it once per thread and not once per message.
//!
//! # Selection
//! ```
//! use anabranch::{Cancelled, Cx, channel::{Receiver, Sender, bounded}, select};
//! use std::time::Duration;
//!
//! fn relay(cx: &Cx<'_>, from: &Receiver<u32>, stop: &Receiver<()>, to: &Sender<u32>) -> Result<u32, Cancelled> {
//!     let mut relayed = 0;
//!     loop {
//!         select!(cx, {
//!             message = from.receiving() => match message {
//!                 Ok(message) if to.send(cx, message).is_ok() => relayed += 1,
//!                 _ => return Ok(relayed),
//!             },
//!             _ = stop.receiving() => return Ok(relayed),
//!             _ = cx.sleeping(Duration::from_secs(60)) => return Ok(relayed),
//!         })?;
//!     }
//! }
//!
//! let ((source, from), (to, sink), (_stop, stopped)) = (bounded(4), bounded(4), bounded(1));
//! source.try_send(1).unwrap();
//! source.try_send(2).unwrap();
//! drop(source);
//! assert_eq!(anabranch::run(|cx| relay(cx, &from, &stopped, &to)), Ok(2));
//! assert_eq!(sink.drain().collect::<Vec<_>>(), [1, 2]);
//! ```
//! As in crossbeam, `select!` chooses at random among the operations that are ready. Three differences:
//! - `select!(biased cx, { .. })` prefers earlier arms.
//! - `select!` also waits for locks, permits, events, timers and [triggers](crate::sync::Trigger).
//! - All operations have ended when the body of an arm begins, so the body may use the same channels.
//!
//! # Many receivers
//! A crossbeam `Select` registers at each receiver anew for each wait. A [`ReceiverSet`](crate::channel::ReceiverSet)
//! keeps its members registered.
//! ```
//! use anabranch::channel::{ReceiverSet, unbounded};
//!
//! let mut set = ReceiverSet::new();
//! let (sender, receiver) = unbounded();
//! let member = set.insert(receiver);
//! sender.try_send("hello").unwrap();
//! assert_eq!(anabranch::run(|cx| set.recv(cx)), Ok((member, Ok("hello"))));
//! ```
//!
//! # Closing
//! A channel closes when all its senders or all its receivers are dropped, as in crossbeam. Either side can also call
//! `close`. After that a send fails and returns the value; a receiver still receives what was sent before.
//! ```
//! let (sender, receiver) = anabranch::channel::unbounded();
//! sender.try_send(1).unwrap();
//! receiver.close();
//! assert_eq!(sender.try_send(2).unwrap_err().into_inner(), 2);
//! assert_eq!(receiver.try_recv(), Ok(1));
//! ```
