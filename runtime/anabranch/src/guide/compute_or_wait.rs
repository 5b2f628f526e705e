//! The two kinds of code: code that computes, and code that waits.
//!
//! *Compute code* takes no token. [`join`](crate::join), [`scope`](crate::scope) and the
//! [parallel iterators](crate::iter) are compute code. A thread that waits
//! in them runs no unrelated work.
//!
//! *Waiting code* takes a [`&Cx`](crate::Cx). On a fiber a wait suspends the fiber, and the thread runs other fibers.
//! On a plain thread, inside [`run`](crate::run), a wait parks the thread. A signature therefore says whether a
//! function can wait.
//! ```
//! use anabranch::{Cancelled, Cx, prelude::*};
//! use std::time::Duration;
//!
//! fn checksum(data: &[u8]) -> u64 {                               // computes
//!     data.par_iter().map(|byte| u64::from(*byte)).sum()
//! }
//!
//! fn download(cx: &Cx<'_>, part: u8) -> Result<Vec<u8>, Cancelled> { // waits
//!     cx.sleep(Duration::from_millis(1))?;
//!     Ok(vec![part; 1000])
//! }
//!
//! let sums = anabranch::run(|cx| {
//!     cx.map_concurrent(8, 0..4, |cx, part| download(cx, part).map(|data| checksum(&data)))
//! });
//! assert_eq!(sums, Ok(vec![0, 1000, 2000, 3000]));
//! ```
//!
//! # Which one to call
//! | I have | and want | I call |
//! |---|---|---|
//! | no `cx` | two computations in parallel | [`join`](crate::join) |
//! | no `cx` | a loop in parallel | [`par_iter`, `into_par_iter`](crate::iter) |
//! | no `cx` | any number of tasks that borrow | [`scope`](crate::scope) |
//! | no `cx` | to wait, on this thread | [`run`](crate::run) |
//! | a `cx` | two functions that may wait | [`Cx::join`](crate::Cx::join), [`Cx::try_join`](crate::Cx::try_join) |
//! | a `cx` | the same function for many items, a few at a time | [`Cx::map_concurrent`](crate::Cx::map_concurrent) |
//! | a `cx` | any number of fibers that borrow | [`Cx::scope`](crate::Cx::scope) |
//! | a `cx` | the first of several to finish | [`Cx::race`](crate::Cx::race), [`Cx::race_ok`](crate::Cx::race_ok) |
//! | either | a fiber that outlives the call | [`spawn`](crate::spawn) |
//!
//! # Waiting in parallel code
//! Both halves of [`Cx::join`](crate::Cx::join) may wait, even for each other, and even in a pool of one thread. A fork
//! that does not wait and that no other thread takes costs some nanoseconds. So recursive code can fork at every level.
//! ```
//! use anabranch::{Cx, Pool, channel};
//!
//! let pool = Pool::builder().threads(1).build()?;
//! let (sender, receiver) = channel::rendezvous();
//! let (got, sent) = pool.run(|cx| cx.join(|cx| receiver.recv(cx), |cx| sender.send(cx, 7)));
//! assert_eq!((got, sent), (Ok(7), Ok(())));
//!
//! fn fib(cx: &Cx<'_>, n: u32) -> u64 {
//!     if n < 2 {
//!         return n.into();
//!     }
//!     let (a, b) = cx.join(|cx| fib(cx, n - 1), |cx| fib(cx, n - 2));
//!     a + b
//! }
//! assert_eq!(pool.run(|cx| fib(cx, 15)), 610);
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//!
//! # Code that the compiler rejects
//! A `Cx` is neither `Send` nor `Sync`, and it does not outlive the call that passed it. A closure that compute code
//! may run on another thread cannot use it:
//! ```compile_fail,E0277
//! anabranch::run(|cx| anabranch::join(|| cx.yield_now(), || ()));
//! ```
//! Each closure of `cx.join`, `cx.scope` and `cx.map_concurrent` gets a `cx` of its own instead. Use that `cx`.
//!
//! # Computing on a fiber
//! A fiber may call compute code. While a compute `join` waits for its other half, the thread runs parts of that half
//! or parks. It does not run other fibers, so the other fibers of that thread wait meanwhile. So run a computation of
//! more than about a millisecond in [`Cx::blocking`](crate::Cx::blocking). Then it runs on a thread without fibers, and
//! its loops still spread over all cores:
//! ```
//! use anabranch::prelude::*;
//!
//! let data = vec![1u64; 100_000];
//! let sum = anabranch::run(|cx| cx.blocking(|| data.par_iter().sum::<u64>()));
//! assert_eq!(sum, Ok(100_000));
//! ```
//! [`compute_and_serve`](super::compute_and_serve) is about servers that do this. A long sequential computation delays
//! other fibers too. If it needs the `cx`, call [`Cx::yield_now`](crate::Cx::yield_now) in it now and then:
//! ```
//! fn search(cx: &anabranch::Cx<'_>, limit: u64) -> Option<u64> {
//!     for n in 1..limit {
//!         if n % 1024 == 0 {
//!             cx.yield_now();
//!         }
//!         if n * n == 1_000_000 {
//!             return Some(n);
//!         }
//!     }
//!     None
//! }
//! assert_eq!(anabranch::run(|cx| search(cx, 10_000)), Some(1000));
//! ```
//!
//! # Pools
//! Most programs use the default pool, which the first call makes. [`Pool::builder`](crate::Pool::builder) makes other
//! pools. In a closure of [`Pool::run`](crate::Pool::run) or [`Pool::install`](crate::Pool::install) the same functions
//! use that pool. A fiber that calls into another pool blocks its thread while it waits there.
