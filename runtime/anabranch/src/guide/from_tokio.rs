//! Coming from tokio: tasks become fibers, and `.await` becomes a call with a `cx`.
//!
//! | tokio | anabranch | |
//! |---|---|---|
//! | `Runtime::block_on` | [`run(\|cx\| ..)`](crate::run) | |
//! | `async fn f()` | `fn f(cx: &Cx<'_>)` | |
//! | `tokio::spawn(future)` | [`spawn(\|cx\| ..)`](crate::spawn), [`spawn_async(future)`](crate::spawn_async) | |
//! | `handle.await` | [`handle.join(cx)`](crate::JoinHandle::join) | a handle is a future too |
//! | `handle.abort()` | [`handle.cancel()`](crate::JoinHandle::cancel) | the function continues, and its waits return `Cancelled` |
//! | `JoinSet` | [`JoinSet`](crate::fiber::JoinSet) of a [`Cx::scope`](crate::Cx::scope) | fibers may borrow |
//! | `FuturesUnordered`, `buffer_unordered` | [`Cx::map_unordered`](crate::Cx::map_unordered); in order [`Cx::map_concurrent`](crate::Cx::map_concurrent) | |
//! | `join!`, `try_join!` | [`Cx::join`](crate::Cx::join), [`Cx::try_join`](crate::Cx::try_join) | the halves may run in parallel |
//! | `select!` over async blocks | [`Cx::race`](crate::Cx::race), [`Cx::race_ok`](crate::Cx::race_ok) | each racer is a closure |
//! | `select!` over channels, timers, futures | [`select!`](crate::select) | `if` and `else` as in tokio, but a result that does not match runs `else` at once |
//! | `time::sleep`, `timeout`, `interval` | [`Cx::sleep`](crate::Cx::sleep), [`Cx::timeout`](crate::Cx::timeout), [`Cx::interval`](crate::Cx::interval) | for one wait [`Operation::timeout`](crate::Operation::timeout) |
//! | `time::pause`, `advance` | [`time::ManualClock`](crate::time::ManualClock) | one clock for each pool |
//! | `task::yield_now` | [`Cx::yield_now`](crate::Cx::yield_now) | |
//! | `CancellationToken` | [`Cx::cancellable`](crate::Cx::cancellable) | |
//! | `task_local!` | [`FiberLocal`](crate::fiber::FiberLocal) | |
//! | `sync::{Mutex, RwLock, Semaphore, Barrier, OnceCell}` | [`sync`](crate::sync) | see [below](#locks-and-time-limits) |
//! | `sync::Notify` | [`sync::Notify`](crate::sync::Notify) | [`sync::Event`](crate::sync::Event) stays set |
//! | `sync::mpsc` | [`channel::bounded`](crate::channel::bounded), [`channel::spsc`](crate::channel::spsc) | receivers of `bounded` can be cloned |
//! | `sync::{oneshot, watch, broadcast}` | [`oneshot`](crate::channel::oneshot), [`watch`](crate::channel::watch), [`broadcast`](crate::channel::broadcast) | |
//! | `spawn_blocking`, `block_in_place` | [`Cx::blocking`](crate::Cx::blocking) | the closure may borrow, and its loops use all cores |
//! | `net`, `signal` | `net`, `signal`, with the features of these names | methods take a `Cx`; async code awaits `accepting()`, `readable()`, `read_async(..)` |
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
//! [`Cancelled`](crate::Cancelled), and so do all later waits in the scope. The function returns via `?`, and its
//! destructors run in order. See [`cancellation`](super::cancellation).
//!
//! # Parallel work
//! Parallel loops need no second pool: a fiber may run a [parallel iterator](crate::iter) anywhere. Like a task, it
//! then keeps its thread, and the other fibers of the thread wait. So a computation of more than about a millisecond
//! goes into [`Cx::blocking`](crate::Cx::blocking), as it goes into `spawn_blocking` on tokio. Its loops use all cores,
//! and it may borrow. [`compute_and_serve`](super::compute_and_serve) compares the two in a server.
//! ```
//! use anabranch::prelude::*;
//!
//! let sums = anabranch::run(|cx| {
//!     cx.map_concurrent(4, 0..8u64, |cx, n| cx.blocking(|| (0..n).into_par_iter().sum::<u64>()))
//! });
//! assert_eq!(sums.unwrap()[7], 21);
//! ```
//! A call that blocks the thread, such as reading a file, also blocks the other fibers of that thread.
//! [`Cx::blocking`](crate::Cx::blocking) runs such calls on threads that the pool keeps for them. The closure may
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
//!     receiver.receiving().await.unwrap()
//! }
//!
//! assert_eq!(anabranch::run(|cx| cx.block_on(handler(100))), Ok(4950));
//! ```
//! The [operations](crate::Operation) of channels and locks can be awaited for this, and their futures may be dropped
//! at any time. A future that needs tokio's runtime has to enter it at each poll: do not hold a guard of
//! `Handle::enter` across a wait. [`with_tokio`](super::with_tokio) shows this, and sockets of tokio on fibers.
//!
//! # Channels
//! | tokio | anabranch | |
//! |---|---|---|
//! | `sender.send(v).await`, `receiver.recv().await` | `sending(v).await`, `receiving().await` | with a `cx`: `send(cx, v)`, `recv(cx)` |
//! | `timeout(duration, receiver.recv()).await` | the same with `receiving()`; `receiving().timeout(cx, duration)` | |
//! | `blocking_send(v)`, `blocking_recv()` | `send_blocking(v)`, `recv_blocking()` | blocks on a worker, where tokio panics |
//! | `recv_many(&mut v, n)` | the same | |
//! | `reserve()`, `reserve_many(n)`, `reserve_owned()` | the same | |
//! | `try_reserve()`, `try_reserve_many(n)`, `try_reserve_owned()` | the same | |
//! | `closed()` | the same, `closing()` for `select!` | all senders |
//! | `strong_count()`, `weak_count()` | `sender_count()`, `weak_sender_count()`, `receiver_count()` | |
//! | `downgrade()` | the same | |
//! | `watch`: `send_modify`, `send_if_modified` | the same | change a clone: receivers keep the old value |
//! | `watch`: `wait_for(condition)` | the same | |
//! | `watch`: `borrow_and_update()`, `changed()` | `try_recv()`, `recv(cx)` | an `Arc` of the value |
//! | `ReceiverStream`, `PollSender` | `into_stream()`, `into_sink()` | feature `futures` |
//!
//! An example of each row, in this order:
//! ```
//! use anabranch::{Cancelled, Operation, channel::{TrySendError, bounded, watch}};
//! use std::time::Duration;
//!
//! anabranch::run(|cx| {
//!     let (sender, receiver) = bounded(2);
//!     cx.block_on(async { sender.sending(1).await.unwrap() })?;
//!     assert_eq!(receiver.receiving().timeout(cx, Duration::from_secs(1)), Ok(Ok(1)));
//!     sender.send_blocking(2).unwrap();
//!     assert_eq!(receiver.recv_blocking(), Ok(2));
//!     sender.send(cx, 3).unwrap();
//!     assert_eq!(receiver.recv_many(cx, &mut Vec::new(), 9), Ok(1));
//!     let (one, two) = (sender.reserve(cx).unwrap(), sender.clone().reserve_owned(cx).unwrap());
//!     assert_eq!(sender.try_reserve().err(), Some(TrySendError::Full(())));
//!     assert!(sender.clone().try_reserve_owned().is_err());
//!     assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 1));
//!     drop((one, two));
//!     sender.reserve_many(cx, 2).unwrap().for_each(|permit| permit.send(4).unwrap());
//!     assert!(sender.try_reserve_many(2).is_err());
//!     drop(receiver);
//!     sender.closed(cx)?;
//!     assert!(sender.downgrade().upgrade().is_some());
//!
//!     let (sender, mut receiver) = watch::channel(1);
//!     sender.send_modify(|n| *n += 1).unwrap();
//!     assert_eq!(sender.send_if_modified(|_| false), Ok(false));
//!     assert_eq!(receiver.wait_for(cx, |n| *n > 1).as_deref(), Ok(&2));
//!     sender.send(3).unwrap();
//!     assert_eq!(receiver.recv(cx).as_deref(), Ok(&3));
//!     Ok::<_, Cancelled>(())
//! })
//! .unwrap();
//! ```
//!
//! # Locks and time limits
//! | tokio | with a `cx` | in async code |
//! |---|---|---|
//! | `mutex.lock().await` | `mutex.lock(cx)?` | `mutex.locking().await` |
//! | `lock.read().await`, `write().await` | `lock.read(cx)?`, `write(cx)?` | `lock.reading().await`, `writing().await` |
//! | `semaphore.acquire().await`, `acquire_many(n).await` | `acquire(cx)?`, `acquire_many(cx, n)?` | `acquiring(n).await` |
//! | `notify.notified().await` | `notify.notified(cx)?` | `notify.notifying().await` |
//! | `barrier.wait().await`, `cell.get_or_init(..).await` | `wait(cx)?`, `get_or_init(cx, ..)?` | `wait_async()`, `get_or_init_async(..)` |
//! | `listener.accept().await` | `listener.accept(cx)?` | `listener.accepting().await` |
//! | `timeout(d, mutex.lock()).await` | `mutex.locking().timeout(cx, d)` | the timeout of the runtime |
//! | `blocking_lock()`, `blocking_read()` | `locking().blocking()`, `reading().blocking()`, without a `cx` | |
//!
//! `MutexGuard::map`, `lock_owned`, `acquire_owned`, `Semaphore::close`, `notify_one`, `notify_waiters` and the methods
//! that begin with `try_` are named as in tokio. `acquire(cx)` distinguishes `Closed` from `Cancelled`.
//! ```
//! use anabranch::{Operation, WaitError, sync::{AcquireError, Mutex, MutexGuard, Notify, RwLock, Semaphore}};
//! use std::{sync::Arc, time::Duration};
//!
//! anabranch::run(|cx| {
//!     let pair = Arc::new(Mutex::new((1, 2)));
//!     *MutexGuard::map(pair.lock(cx)?, |pair| &mut pair.0) = 3;
//!     cx.block_on(async { pair.locking().await.1 += 1 })?;
//!     let guard = Arc::clone(&pair).lock_owned(cx)?;
//!     assert_eq!(*guard, (3, 3));
//!     let late = pair.locking().timeout(cx, Duration::from_millis(1));
//!     assert_eq!(late.unwrap_err(), WaitError::TimedOut);
//!     let names = RwLock::new(vec!["ana"]);
//!     names.write(cx)?.push("bea");
//!     assert_eq!(cx.block_on(async { names.reading().await.len() })?, 2);
//!     let jobs = Semaphore::new(3);
//!     let two = cx.block_on(jobs.acquiring(2))?.unwrap();
//!     assert!(jobs.try_acquire_many(2).is_err());
//!     jobs.close();
//!     drop(two);
//!     assert_eq!((jobs.is_closed(), jobs.acquire(cx).err()), (true, Some(AcquireError::Closed)));
//!     let notify = Notify::new();
//!     notify.notify_one();
//!     notify.notified(cx)?;
//!     Ok::<_, AcquireError>(())
//! })
//! .unwrap();
//! ```
