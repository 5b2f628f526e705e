//! Coming from tokio: tasks become fibers, and `.await` becomes a call with a `cx`.
//!
//! | tokio | anabranch | |
//! |---|---|---|
//! | `Runtime::block_on` | [`run(\|cx\| ..)`](crate::run) | |
//! | `async fn f()` | `fn f(cx: &Cx<'_>)` | |
//! | `tokio::spawn(future)` | [`spawn(\|cx\| ..)`](crate::spawn), [`spawn_async(future)`](crate::spawn_async) | |
//! | `handle.await` | [`handle.join(cx)`](crate::JoinHandle::join) | a handle is a future too |
//! | `handle.abort()` | [`handle.cancel()`](crate::JoinHandle::cancel) | the function continues, and its waits return `Cancelled` |
//! | `JoinSet` | [`Cx::scope`](crate::Cx::scope), [`Cx::map_concurrent`](crate::Cx::map_concurrent) | fibers may borrow |
//! | `join!`, `try_join!` | [`Cx::join`](crate::Cx::join), [`Cx::try_join`](crate::Cx::try_join) | the halves may run in parallel |
//! | `select!` over async blocks | [`Cx::race`](crate::Cx::race), [`Cx::race_ok`](crate::Cx::race_ok) | each racer is a closure |
//! | `select!` over channels and timers | [`select!`](crate::select) | |
//! | `time::sleep`, `timeout`, `interval` | [`Cx::sleep`](crate::Cx::sleep), [`Cx::timeout`](crate::Cx::timeout), [`Cx::interval`](crate::Cx::interval) | |
//! | `time::pause`, `advance` | [`time::ManualClock`](crate::time::ManualClock) | one clock for each pool |
//! | `task::yield_now` | [`Cx::yield_now`](crate::Cx::yield_now) | |
//! | `CancellationToken` | [`Cx::cancellable`](crate::Cx::cancellable) | |
//! | `task_local!` | [`FiberLocal`](crate::FiberLocal) | |
//! | `sync::{Mutex, RwLock, Semaphore, Barrier, OnceCell}` | [`sync`](crate::sync) | |
//! | `sync::Notify` | [`sync::Event`](crate::sync::Event), [`sync::Condvar`](crate::sync::Condvar) | |
//! | `sync::mpsc` | [`channel::bounded`](crate::channel::bounded), [`channel::spsc`](crate::channel::spsc) | receivers of `bounded` can be cloned |
//! | `sync::{oneshot, watch, broadcast}` | [`oneshot`](crate::channel::oneshot), [`watch`](crate::channel::watch), [`broadcast`](crate::channel::broadcast) | |
//! | `spawn_blocking`, `block_in_place` | [`Cx::blocking`](crate::Cx::blocking) | the closure may borrow |
//! | `net`, `signal` | `net`, `signal`, with the features of these names | methods take a `Cx`; `.._async` forms |
//! | `io::{AsyncReadExt, AsyncWriteExt}` | [`std::io`], over `stream.with(cx)` | synchronous libraries work unchanged |
//! | `fs`, `process` | [`Cx::blocking`](crate::Cx::blocking) | |
//!
//! # Functions instead of futures
//! ```
//! use anabranch::{Cx, WaitError};
//! use std::time::Duration;
//!
//! fn fetch(cx: &Cx<'_>, n: u64) -> Result<u64, WaitError> {
//!     cx.sleep(Duration::from_millis(n))?;
//!     Ok(n * n)
//! }
//!
//! let replies = anabranch::run(|cx| {
//!     cx.timeout(Duration::from_secs(60), |cx| {
//!         let (squares, first) = cx.join(
//!             |cx| cx.map_concurrent(50, 0..10, fetch),                      // 50 at a time, results in order
//!             |cx| cx.race((|cx: &Cx<'_>| fetch(cx, 60_000), |cx: &Cx<'_>| fetch(cx, 2))),
//!         );
//!         Ok::<_, WaitError>((squares?, first?))
//!     })
//! });
//! assert_eq!(replies.map(|(squares, first)| (squares[9], first)), Ok((81, 4)));
//! ```
//! A fiber has a stack of its own. So recursion needs no `Box::pin`, and a callback of a synchronous library may wait
//! if it captures the `cx`. A fiber that has begun stays on its thread, so values on its stack need not be `Send`. The
//! closure of `spawn` and its result must be `Send`.
//!
//! # Cancellation
//! Aborting a tokio task drops its future at an `.await`. Here a cancelled wait returns
//! [`Cancelled`](crate::Cancelled), and so do all later waits in the scope. The function returns by `?` and its
//! destructors run in order. See [`cancellation`](super::cancellation).
//!
//! # Parallel work
//! Fibers and parallel loops share the threads, so a fiber may run a [parallel iterator](crate::iter) anywhere.
//! Computations need neither a second pool nor `spawn_blocking`.
//! ```
//! use anabranch::prelude::*;
//!
//! let sums = anabranch::run(|cx| {
//!     cx.map_concurrent(4, 0..8u64, |_, n| Ok::<u64, anabranch::Cancelled>((0..n).into_par_iter().sum()))
//! });
//! assert_eq!(sums.unwrap()[7], 21);
//! ```
//! A call that blocks the thread, such as reading a file, also blocks the other fibers of that thread.
//! [`Cx::blocking`](crate::Cx::blocking) makes such calls on threads that the pool has for them. The closure may
//! borrow, so there are no counterparts of `tokio::fs`:
//! ```
//! use anabranch::Cx;
//! use std::{fs, io, path::Path};
//!
//! fn read(cx: &Cx<'_>, path: &Path) -> io::Result<String> {
//!     cx.blocking(|| fs::read_to_string(path))?
//! }
//!
//! let missing = anabranch::run(|cx| read(cx, Path::new("/no/such/file")));
//! assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
//! ```
//!
//! # Sockets, and both runtimes in one program
//! With the feature `net` fibers have sockets of their own, whose streams also implement `AsyncRead` and `AsyncWrite`
//! of `futures-io`. [`Cx::block_on`](crate::Cx::block_on) waits for a future of any runtime, and suspends the fiber
//! meanwhile. In the other direction, a tokio task awaits a result of the pool:
//! ```
//! use anabranch::{channel::oneshot, prelude::*};
//!
//! async fn handler(n: u64) -> u64 {                               // on any executor
//!     let (sender, mut receiver) = oneshot::channel();
//!     anabranch::spawn(move |_| sender.send((0..n).into_par_iter().sum()));
//!     receiver.recv_async().await.unwrap()
//! }
//!
//! assert_eq!(anabranch::run(|cx| cx.block_on(handler(100))), Ok(4950));
//! ```
//! Locks and channels have `.._async` methods for this. Their futures may be dropped at any time. A future that needs
//! tokio's runtime has to enter it at each poll: do not hold a guard of `Handle::enter` across a wait. See
//! [`hazards`](super::hazards).
