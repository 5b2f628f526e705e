//! Coming from crossbeam: channels and selection.
//!
//! | crossbeam | anabranch | |
//! |---|---|---|
//! | `bounded(n)` | [`channel::bounded(n)`](crate::channel::bounded) | `n` is at least 1 |
//! | `bounded(0)` | [`channel::rendezvous()`](crate::channel::rendezvous) | |
//! | `unbounded()` | [`channel::unbounded()`](crate::channel::unbounded) | |
//! | `s.send(v)`, `r.recv()` | `s.send_blocking(v)`, `r.recv_blocking()` | on fibers `s.send(cx, v)`, `r.recv(cx)`, which may return `Cancelled` |
//! | `s.try_send(v)`, `r.try_recv()` | the same | |
//! | `r.recv_timeout(duration)`, `r.recv_deadline(instant)` | `r.receiving().blocking_timeout(duration)`, `.blocking_deadline(instant)` | on fibers `.timeout(cx, duration)`, `.deadline(cx, instant)` |
//! | `s.send_timeout(v, duration)` | `s.sending(v).blocking_timeout(duration)` | the operation keeps the value |
//! | `r.iter()`, `r.into_iter()` | `r.iter_blocking()`, `r.into_iter()`, `r.iter(cx)` | |
//! | `r.try_iter()` | `r.drain()` | |
//! | `select! { recv(r) -> m => .. }` | [`select!(blocking, { m = r.receiving() => .. })`](crate::select), `select!(cx, { .. })` | |
//! | `send(s, v) -> result => ..` | `result = s.sending(v) => ..` | |
//! | `default => ..` | the same | |
//! | `default(duration) => ..`, `after(duration)` | `_ = `[`after(duration)`](crate::channel::after)` => ..` | an operation, not a receiver |
//! | `tick(duration)` | [`tick(duration)`](crate::channel::tick), with `_ = ticks.ticking() => ..` | |
//! | `never()` | [`never()`](crate::channel::never) | or an arm with `if false` |
//! | `Select` | [`channel::Select`](crate::channel::Select) | returns the index and the result |
//! | `Select::ready()` | [`Select::wait(cx)`](crate::channel::Select::wait) | also completes the operation, since an operation keeps its value |
//! | `WaitGroup` | [`Cx::scope`](crate::Cx::scope), [`sync::Barrier`](crate::sync::Barrier) | |
//! | `Parker`, `Unparker` | [`sync::Trigger`](crate::sync::Trigger), [`sync::Event`](crate::sync::Event) | |
//! | `ShardedLock` | [`sync::RwLock`](crate::sync::RwLock) | |
//! | `deque::Worker`, `Stealer` | | the pool has its own |
//!
//! # On threads
//! A channel connects threads, fibers and async code in any mixture. On a plain thread use the methods whose names
//! contain `blocking`, which need no pool: see [plain threads](crate::channel#plain-threads). An example of each row on
//! channels and selections:
//! ```
//! use anabranch::{Operation, channel::{self, Select, after, never, tick}, select};
//! use std::{thread, time::{Duration, Instant}};
//!
//! let ((s, r), (meeting, met)) = (channel::unbounded(), channel::rendezvous());
//! let (bounded, _keep) = channel::bounded(16);
//! let producer = thread::spawn(move || meeting.send_blocking(7).unwrap());
//! assert_eq!(met.recv_blocking(), Ok(7));
//! producer.join().unwrap();
//! s.try_send(1).unwrap();
//! assert_eq!(r.try_recv(), Ok(1));
//! let short = Duration::from_millis(1);
//! assert!(r.receiving().blocking_timeout(short).is_err());
//! assert!(r.receiving().blocking_deadline(Instant::now()).is_err());
//! assert_eq!(bounded.sending(0).blocking_timeout(short), Ok(Ok(())));
//! (0..9).for_each(|n| s.send_blocking(n).unwrap());
//! assert!(r.iter_blocking().take(2).eq([0, 1]) && r.drain().take(2).eq([2, 3]));
//! assert_eq!(select!(blocking, { m = r.receiving() => m.unwrap() }), 4);
//! assert!(select!(blocking, { result = bounded.sending(1) => result.is_ok() }));
//! assert_eq!(select!(biased blocking, { m = r.receiving() => m.unwrap(), default => 0 }), 5);
//! assert!(select!(blocking, { _ = met.receiving() => true, _ = after(short) => false }), "it is closed");
//! let mut ticks = tick(short);
//! select!(blocking, { _ = ticks.ticking() => (), () = never() => () });
//! let mut select = Select::from_iter([r.receiving()]);
//! assert_eq!(select.blocking(), (0, Ok(6)));
//! assert_eq!(anabranch::run(|cx| select.wait(cx)), Ok((0, Ok(7))));
//! drop((select, s));
//! assert!(r.into_iter().eq([8]));
//! ```
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
//! A crossbeam `Select` registers with each receiver again for every wait. A
//! [`ReceiverSet`](crate::channel::ReceiverSet) keeps its members registered.
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
