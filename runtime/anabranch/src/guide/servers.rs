//! Servers: fibers that fail, results as they arrive, supervision, and a shutdown in three steps.
//!
//! | wanted | |
//! |---|---|
//! | all parts end together, and a panic reaches the caller | [`Cx::scope`](crate::Cx::scope) |
//! | the first error cancels the rest | [`Cx::try_scope`](crate::Cx::try_scope) |
//! | results in the order in which the fibers end, and a panic concerns one fiber | [`JoinSet`](crate::fiber::JoinSet) |
//! | one function, many items, a few at a time | [`Cx::map_concurrent`](crate::Cx::map_concurrent), [`Cx::map_unordered`](crate::Cx::map_unordered) |
//! | a part that panics starts again | [`Cx::supervise`](crate::Cx::supervise) |
//! | files, and libraries that block | [`Cx::blocking`](crate::Cx::blocking) |
//! | requests that compute | [`Cx::blocking`](crate::Cx::blocking), see [`compute_and_serve`](super::compute_and_serve) |
//! | one error for all waits | [`Error`](crate::Error) |
//!
//! The examples here get their connections from channels.
#![cfg_attr(feature = "net", doc = "The chapter [`net`](super::net) is about sockets.")]
#![cfg_attr(not(feature = "net"), doc = "The chapter `net`, with the feature of that name, is about sockets.")]
//!
//! # Connections
//! The fibers of a [`JoinSet`](crate::fiber::JoinSet) belong to a scope, so a server that returns leaves no connection
//! behind. A panic of one connection is its result, and the others continue. The loop takes results while it accepts.
//! Otherwise the set would grow.
//! ```
//! use anabranch::{Cancelled, Cx, channel::{Receiver, bounded}, select};
//!
//! fn serve(cx: &Cx<'_>, accepts: &Receiver<u32>) -> Result<u32, Cancelled> {
//!     cx.scope(|s| {
//!         let (mut connections, mut failures) = (s.join_set(), 0);
//!         loop {
//!             select!(cx, {
//!                 connection = accepts.receiving() => match connection {
//!                     Ok(n) => _ = connections.spawn(move |_| assert_ne!(n, 3, "a bad request")),
//!                     Err(_) => break,                            // no more clients
//!                 },
//!                 end = connections.joining() => failures += u32::from(end.is_err()),
//!             })?;
//!         }
//!         while let Some(end) = connections.join_next(cx).transpose() {
//!             failures += u32::from(end.is_err());
//!         }
//!         Ok(failures)
//!     })
//! }
//!
//! let (sender, accepts) = bounded(2);
//! let failures = anabranch::run(|cx| {
//!     cx.join(move |cx| (0..10).for_each(|n| sender.send(cx, n).unwrap()), |cx| serve(cx, &accepts)).1
//! });
//! assert_eq!(failures, Ok(1));
//! ```
//!
//! # Graceful shutdown
//! A server stops in three steps: it stops accepting, it lets the connections end, and it cancels connections that take
//! too long. An [`Event`](crate::sync::Event) begins the first step; a signal handler or an administrator sets it. Each
//! connection selects on it where it waits for the next request, and so ends between two requests. A time limit ends
//! the second step, and [`JoinSet::shutdown`](crate::fiber::JoinSet::shutdown) is the third.
//! ```
//! use anabranch::{Cx, JoinError, channel::{self, Receiver, Sender}, select, sync::Event};
//! use std::time::Duration;
//!
//! /// A connection: requests, and where the answers go.
//! type Connection = (Receiver<u32>, Sender<u32>);
//!
//! fn connection(cx: &Cx<'_>, (requests, answers): Connection, stop: &Event) -> Option<()> {
//!     loop {
//!         let request = select!(cx, {
//!             request = requests.receiving() => request.ok(),
//!             () = stop.waiting() => None,                        // between two requests
//!         });
//!         let n = request.ok()??;
//!         answers.send(cx, n * n).ok()?;
//!     }
//! }
//!
//! /// Returns how many connections were cancelled.
//! fn serve(cx: &Cx<'_>, accepts: &Receiver<Connection>, stop: &Event) -> usize {
//!     cx.scope(|s| {
//!         let mut connections = s.join_set();
//!         // 1. Accepts until it is told to stop, or until the scope is cancelled.
//!         while let Ok(Some(accepted)) = select!(cx, {
//!             accepted = accepts.receiving() => accepted.ok(),
//!             () = stop.waiting() => None,
//!         }) {
//!             connections.spawn(|cx| connection(cx, accepted, stop));
//!             while let Ok(Some(_)) = connections.try_join_next() {} // those that have ended
//!         }
//!         // 2. Lets them end for a while. A panic of one does not end the wait for the others.
//!         let drained = cx.timeout(Duration::from_millis(20), |cx| loop {
//!             match connections.join_next(cx) {
//!                 Ok(None) => return Ok(()),
//!                 Ok(Some(_)) | Err(JoinError::Panicked(_)) => {}
//!                 Err(error) => return Err(error),
//!             }
//!         });
//!         // 3. Cancels the others, and waits for them.
//!         let left = if drained.is_ok() { 0 } else { connections.len() };
//!         connections.shutdown(cx);
//!         left
//!     })
//! }
//!
//! let stop = Event::new();
//! let (connect, accepts) = channel::bounded(16);
//! let (cancelled, _) = anabranch::run(|cx| {
//!     cx.join(
//!         |cx| serve(cx, &accepts, &stop),
//!         |cx| {
//!             // A client that asks, and one that does not take its answers.
//!             let ((requests, to_server), (answers, from_server)) = (channel::bounded(1), channel::bounded(1));
//!             connect.send(cx, (to_server, answers)).unwrap();
//!             requests.send(cx, 7).unwrap();
//!             assert_eq!(from_server.recv(cx), Ok(49));
//!             let ((slow, to_server), (answers, untaken)) = (channel::rendezvous(), channel::rendezvous());
//!             connect.send(cx, (to_server, answers)).unwrap();
//!             slow.send(cx, 1).unwrap();                          // returns when the server has it
//!             stop.set();
//!             untaken
//!         },
//!     )
//! });
//! assert_eq!(cancelled, 1);
//! ```
//! `examples/servers/src/serve.rs` in the repository does this with sockets, and `examples/servers` has programs that
//! use it.
//!
//! A [`Pool`](crate::Pool) that is dropped performs the third step alone: it cancels its fibers and waits for them.
//!
//! # Supervision
//! [`Cx::supervise`](crate::Cx::supervise) restarts a fiber that has panicked, with a growing delay, and gives up when
//! that happens too often. Its terms correspond to Erlang's:
//!
//! | Erlang | anabranch |
//! |---|---|
//! | supervisor, `one_for_one` | [`Cx::supervise`](crate::Cx::supervise) |
//! | `transient` child | [`Supervisor::keep`](crate::fiber::Supervisor::keep) |
//! | `permanent` child | [`Supervisor::keep_always`](crate::fiber::Supervisor::keep_always) |
//! | `temporary` child | a [`JoinSet`](crate::fiber::JoinSet) of the scope |
//! | `one_for_all` | a fiber of the supervisor that runs a [`Cx::scope`](crate::Cx::scope) |
//! | intensity and period | [`Supervision::max_restarts`](crate::fiber::Supervision::max_restarts) |
//! | the supervisor gives up, its own supervisor acts | the panic is resumed, and nested supervisors act on it |
//! | a report of the supervisor | [`Supervision::on_restart`](crate::fiber::Supervision::on_restart) |
//!
//! A fiber that fails with an error instead of a panic is not restarted, like a transient child that exits normally. To
//! have it restarted, let it panic.
//! ```
//! use anabranch::{channel, fiber::Supervision};
//! use std::{sync::atomic::{AtomicU32, Ordering}, time::Duration};
//!
//! let (sender, jobs) = channel::unbounded();
//! (0..10).for_each(|n| sender.try_send(n).unwrap());
//! drop(sender);
//! let (sum, restarts) = (AtomicU32::new(0), AtomicU32::new(0));
//! let policy = Supervision::new().max_restarts(2, Duration::from_secs(60));
//! anabranch::run(|cx| {
//!     cx.supervise(&policy, |s| {
//!         for worker in 0..2 {
//!             s.keep(&format!("worker-{worker}"), |cx| {
//!                 while let Ok(n) = jobs.recv(cx) {
//!                     assert_ne!(n, 5, "a bad job");              // the job is lost, the worker starts again
//!                     sum.fetch_add(n, Ordering::Relaxed);
//!                 }
//!             });
//!         }
//!         s.keep("meter", |_| _ = restarts.fetch_add(1, Ordering::Relaxed)); // a fiber of another kind
//!     });
//! });
//! assert_eq!(sum.into_inner(), 40);
//! # assert_eq!(restarts.into_inner(), 1);
//! ```
//!
//! # Spans that follow their fibers
//! A span of `tracing` that is entered belongs to its thread. When its fiber waits, other fibers of the thread run
//! inside it. [`Builder::fiber_hooks`](crate::Builder::fiber_hooks) sets what happens at such a switch. With the
//! feature `tracing` there are hooks, `TracingSpans`, that leave the spans of a fiber that suspends, and enter them
//! again when it resumes:
//!
//! ```text
//! let pool = Pool::builder().fiber_hooks(TracingSpans).build_default()?;
//! ```
//!
//! # Metrics
//! With the feature `metrics`, `Stats::report_metrics` reports the counters of a pool to the recorder of the crate
//! `metrics`. A fiber can do that at intervals:
//!
//! ```text
//! pool.spawn(|cx| loop {
//!     anabranch::pool::stats().report_metrics("main");
//!     cx.sleep(Duration::from_secs(10))?;
//! });
//! ```
