//! A server that computes: how requests stay fast beside parallel loops.
//!
//! A fiber that has begun stays on its thread. It runs only when the thread returns to it, so it waits for whatever the
//! thread does meanwhile.
//!
//! | a loop is called | what happens to the other fibers |
//! |---|---|
//! | by a fiber, inline | the fibers of its thread wait until the loop is complete; other fibers go on |
//! | by a fiber, in [`Cx::blocking`](crate::Cx::blocking) | they go on: the loop runs on threads without fibers |
//! | by a thread that runs no fibers | they go on |
//!
//! So a fiber that computes for more than about a millisecond should run the computation in
//! [`Cx::blocking`](crate::Cx::blocking). The fiber suspends. A thread without fibers runs the closure, and the
//! parallel loops, joins and sorts in it spread over all cores. The closure may borrow from the fiber. This costs two
//! switches between threads, so short computations should run inline.
//!
//! # Latency over time
//! The worst latency of HTTP requests in each 10 ms of a second, with 16 connections and two threads: without loops,
//! and beside the loops of a thread outside of the pool.
//!
#![doc = include_str!("compute_and_serve.svg")]
//!
//! # The program
//! Fibers serve requests over channels. A light request is answered at once. A heavy one is a parallel loop.
//! ```
//! use anabranch::{Cancelled, Cx, channel::{bounded, oneshot}, prelude::*};
//!
//! enum Request {
//!     Ping(oneshot::Sender<u64>),
//!     Sum(Vec<u64>, oneshot::Sender<u64>),
//! }
//!
//! fn sum(numbers: &[u64]) -> u64 {                                // computes on all cores
//!     numbers.par_iter().map(|n| n * n).sum()
//! }
//!
//! fn serve(cx: &Cx<'_>, request: Request) -> Result<(), Cancelled> {
//!     match request {
//!         Request::Ping(answer) => _ = answer.send(1),
//!         Request::Sum(numbers, answer) => {
//!             let sum = cx.blocking(|| sum(&numbers))?;           // borrows `numbers`
//!             _ = answer.send(sum);
//!         }
//!     }
//!     Ok(())
//! }
//!
//! let answers = anabranch::run(|cx| {
//!     let (sender, requests) = bounded(16);
//!     cx.scope(|s| {
//!         s.spawn(move |cx| cx.scope(|s| {
//!             while let Ok(request) = requests.recv(cx) {
//!                 s.spawn(move |cx| serve(cx, request));          // a fiber for each request
//!             }
//!         }));
//!         let (answer, mut heavy) = oneshot::channel();
//!         sender.send(cx, Request::Sum((0..100_000).collect(), answer)).unwrap();
//!         let (answer, mut light) = oneshot::channel();
//!         sender.send(cx, Request::Ping(answer)).unwrap();
//!         drop(sender);                                           // the server returns
//!         (light.recv(cx).unwrap(), heavy.recv(cx).unwrap())
//!     })
//! });
//! assert_eq!(answers, (1, 333_328_333_350_000));
//! ```
//! The same on tokio and rayon. There are two pools, each with a thread for each core. The closure of `spawn_blocking`
//! must own what it uses:
//! ```text
//! fn sum(numbers: &[u64]) -> u64 {
//!     numbers.par_iter().map(|n| n * n).sum()                     // rayon's threads
//! }
//!
//! async fn serve(request: Request) {
//!     match request {
//!         Request::Ping(answer) => _ = answer.send(1),
//!         Request::Sum(numbers, answer) => {
//!             let sum = spawn_blocking(move || sum(&numbers)).await.unwrap();
//!             _ = answer.send(sum);
//!         }
//!     }
//! }
//!
//! let (sender, mut requests) = mpsc::channel(16);
//! tokio::spawn(async move {
//!     while let Some(request) = requests.recv().await {
//!         tokio::spawn(serve(request));                           // a task for each request
//!     }
//! });
//! ```
//! `examples/servers` in the repository has both as programs: `nucleotides` counts the fragments of DNA sequences that
//! clients send over HTTP, and `nucleotides_tokio` is its twin.
//!
//! # Long sequential computations
//! [`Cx::blocking`](crate::Cx::blocking) is right for sequential computations too. If a computation needs the `cx` in
//! between, keep it on the fiber and call [`Cx::yield_now`](crate::Cx::yield_now) at least every millisecond. The
//! fibers of the thread run at each such call.
//!
//! # Items that wait
//! A loop in [`Cx::blocking`](crate::Cx::blocking) may wait for fibers, in [`run`](crate::run), `recv_blocking`,
//! `send_blocking` and the like: to ask a service, to report progress, or to lock a
//! [`Mutex`](crate::sync::Mutex) that fibers share. Each thread that computes has one item open at a time, and the
//! fibers go on, so a loop of a thousand such items needs no thousand threads. A loop that a fiber calls inline blocks
//! the fiber's thread in such a wait. If the wait is for another fiber of that thread, it never ends, and the pool
//! reports it ([`HazardKind::RunOnFiber`](crate::pool::HazardKind::RunOnFiber)).
//!
//! # How many at a time
//! A pool of T threads runs loops on at most T threads at a time. Further callers wait for a slot, roughly in the order
//! of arrival, and each of them occupies a thread for blocking calls meanwhile. An item that blocks its thread keeps
//! its slot, see [`Builder::threads`](crate::Builder::threads). A semaphore limits the number of heavy requests, and
//! further requests wait as fibers:
//! ```
//! use anabranch::{Cx, prelude::*, sync::{AcquireError, Semaphore}};
//!
//! fn sum(cx: &Cx<'_>, limit: &Semaphore, numbers: &[u64]) -> Result<u64, AcquireError> {
//!     let _permit = limit.acquire(cx)?;
//!     Ok(cx.blocking(|| numbers.par_iter().sum())?)
//! }
//!
//! let limit = Semaphore::new(2);
//! let sums = anabranch::run(|cx| cx.map_concurrent(100, 0..100u64, |cx, n| sum(cx, &limit, &[n, n])));
//! assert_eq!(sums.unwrap().into_iter().sum::<u64>(), 9900);
//! ```
//! [`Builder::max_blocking_threads`](crate::Builder::max_blocking_threads) is the limit for all calls of a pool. Calls
//! beyond the limit wait, including calls for files.
//!
//! # How to find a fiber that computes
//! On Linux the pool reports the first fiber that has kept its thread for a second while the thread had other fibers:
//! by default to standard error, or to a handler of [`Builder::on_hazard`](crate::Builder::on_hazard). Shorter
//! computations are not reported.
//!
//! They show up in [`Pool::stats`](crate::Pool::stats), which is always on. A timer is late if a fiber of the same
//! thread computes, and [`timer_lateness`](crate::pool::WorkerStats::timer_lateness) is a histogram of that:
//! ```
//! use anabranch::Pool;
//! use std::{hint, time::{Duration, Instant}};
//!
//! let pool = Pool::builder().threads(1).build()?;
//! pool.run(|cx| cx.scope(|s| {
//!     s.spawn(|cx| cx.sleep(Duration::from_millis(1)));
//!     s.spawn(|_| {
//!         let begin = Instant::now();
//!         while begin.elapsed() < Duration::from_millis(20) {      // keeps the thread
//!             hint::spin_loop();
//!         }
//!     });
//! }));
//! let late = pool.stats().total().timer_lateness;
//! println!("{late}");                                             // 1, p50 19.1ms, p99 19.1ms, max 19.1ms
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//! A [`trace`](crate::trace) of the program shows which fiber it was, and also covers wake-ups by other fibers and by
//! threads. `anabranch explain` prints how long fibers that could run waited for their thread, and the runs that kept
//! it:
//! ```text
//! $ ANABRANCH_TRACE=run.trace ./program
//! $ anabranch explain run.trace
//! ...
//! Fibers that could run waited for their thread 3204 times: p50 171 us, p99 7.4 ms, max 98 ms.
//! Fibers spawned at losses.rs:110 kept their threads 3 times, for 100 ms at most, after sleep at losses.rs:112 and
//! before sleep at losses.rs:112. Other fibers of the thread could run and waited 21 times. Compute in `Cx::blocking`,
//! or call `Cx::yield_now` now and then.
//! ```
//! `anabranch report` draws a histogram of these waits, and the timeline shows the run.
//!
//! The statistics also have [`blocking_calls`](crate::pool::Stats::blocking_calls), and
//! [`blocking_queued`](crate::pool::Stats::blocking_queued) if calls wait for a thread.
//!
//! # Measure
//! ```text
//! cargo bench -p anabranch-bench --bench compute_and_serve
//! ```
//! This measures timers and an HTTP server beside loops of each kind, and the same on tokio and rayon. With `--picture
//! FILE` it draws the latency of the requests over time.
