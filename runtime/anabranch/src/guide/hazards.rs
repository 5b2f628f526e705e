//! Hazards: what can block a program of fibers, and the one limit of soundness.
//!
//! | hazard | what happens | instead |
//! |---|---|---|
//! | a wait inside a scoped thread-local | use after free in another crate | end the scope before the wait |
//! | a `std` lock held across a wait | the thread blocks, and so do its fibers | [`sync::Mutex`](crate::sync::Mutex) |
//! | a foreign call that blocks | the thread blocks, and so do its fibers | [`Cx::blocking`](crate::Cx::blocking) |
//! | [`run`](crate::run) on a fiber | the thread blocks, and so do its fibers | pass the fiber's `cx` down |
//! | a long computation on a fiber, also a parallel one | the other fibers of its thread wait; the pool reports the first case | [`Cx::blocking`](crate::Cx::blocking), see [`compute_and_serve`](super::compute_and_serve); or [`Cx::yield_now`](crate::Cx::yield_now) |
//! | a loop around `try_recv` or `try_lock` on a fiber | the other fibers of its thread do not run, even the fiber that would send | `recv(cx)`; or [`Cx::yield_now`](crate::Cx::yield_now) in each round |
//! | a lock's future that was polled, and is then neither polled again nor dropped | it holds up the waiters behind it | await it at once, or drop it: see [below](#futures-that-are-neglected) |
//! | locks taken in two orders | the fibers wait for each other; the pool reports it | one order, or a time limit: see [`tuning`](super::tuning#finding-a-hang) |
//! | a large stack frame | the process ends with a message | [`Builder::fiber_stack_size`](crate::Builder::fiber_stack_size) |
//! | `fork()` without `exec` | the pool has no threads in the child | fork before the first use |
//!
//! # The limit of soundness: thread-locals
//! Fibers of one thread share its thread-locals, and any of them may run while another waits. Some crates, and one part
//! of `std`, rely on an order that holds only without fibers: on a thread, calls return in the reverse order in which
//! they began. Waits break this order. Safe functions of such crates can then use memory after it was freed, and this
//! crate cannot prevent it. All fibers with stacks of their own have this limit, in every language. **Do not wait**
//! - **inside a scoped thread-local** (`scoped_tls`, `scoped-tls-hkt`, and everything else that lends a reference for
//!   the duration of a call). Two fibers may leave their scopes in any order. The fiber that leaves last restores a
//!   reference that belongs to the scope of the other fiber, which has ended.
//! - **inside the initialiser of a `thread_local!`**. The initialiser gets no `Cx`, but it could take one from a scoped
//!   thread-local. During the wait a second fiber finds the variable uninitialised, and initialises it too. When the
//!   first fiber continues, it drops the value that the second fiber has borrowed.
//! - **while you hold a guard that must be dropped in order**, such as the guard of a runtime. Its code may check the
//!   order, or rely on it.
//!
//! Enter and leave these between two waits. Keep a fiber's own values in a [`FiberLocal`](crate::fiber::FiberLocal):
//! ```
//! use anabranch::{Cx, fiber::FiberLocal};
//! use std::cell::Cell;
//!
//! static DEPTH: FiberLocal<Cell<u32>> = FiberLocal::new(|| Cell::new(0));
//!
//! fn nested(cx: &Cx<'_>) -> u32 {
//!     DEPTH.get(cx).set(DEPTH.get(cx).get() + 1);
//!     cx.yield_now();                                             // other fibers have their own value
//!     DEPTH.get(cx).get()
//! }
//! assert_eq!(anabranch::run(|cx| cx.join(nested, nested)), (1, 1));
//! ```
//! Apart from this limit safe code is sound. A wait with a `Cx` of another stack panics. A fiber with compute work open
//! on its stack blocks its thread when it waits. The documentation of [`Cx`](crate::Cx) describes both.
//!
//! # Locks across waits
//! A fiber that has begun stays on its thread. Suppose it waits while it holds a `std::sync::MutexGuard`. The next
//! fiber of that thread that locks the mutex blocks the thread. So the first fiber cannot continue, and the mutex stays
//! locked. With a `RefCell` in a thread-local, the second fiber panics. The lock of standard output belongs to the
//! thread: other fibers of the thread write in between, and other threads block. A guard of [`sync`](crate::sync) may
//! be held across waits:
//! ```
//! use anabranch::sync::Mutex;
//!
//! let total = Mutex::new(0);
//! anabranch::run(|cx| {
//!     cx.map_concurrent(10, 0..10, |cx, n| {
//!         let mut total = total.lock(cx)?;
//!         let before = *total;
//!         cx.yield_now();
//!         *total = before + n;
//!         Ok::<_, anabranch::Cancelled>(())
//!     })
//! })?;
//! assert_eq!(total.into_inner(), 45);
//! # Ok::<(), anabranch::Cancelled>(())
//! ```
//! Compute code may hold a `std` lock, also across a [`join`](crate::join): see [`from_rayon`](super::from_rayon).
//!
//! # Calls that block the thread
//! Reading a file, a receive on a `std` channel, or a system call that sleeps blocks the thread. Then the fibers that
//! have begun on it cannot run either. On Linux another thread takes over the remaining work of the pool, but fibers
//! that have begun do not move. Use a channel of this crate, a future with [`Cx::block_on`](crate::Cx::block_on), or
//! [`Cx::blocking`](crate::Cx::blocking). That runs the call on another thread, and suspends the fiber:
//! ```
//! # let path = "Cargo.toml";
//! let length = anabranch::spawn(move |cx| {
//!     let text = cx.blocking(|| std::fs::read(path))??;
//!     Ok::<_, std::io::Error>(text.len())
//! });
//! assert!(anabranch::run(|cx| length.join(cx)).unwrap()? > 0);
//! # Ok::<(), std::io::Error>(())
//! ```
//! The number of such threads is [limited](crate::Builder::max_blocking_threads). Calls that wait for each other, such
//! as the two ends of a `std` channel, can use up all of them and then wait forever.
//!
//! These calls of this crate block the thread of a fiber too:
//! - [`run`](crate::run). It parks the thread and does not suspend the fiber, since code without a `cx` may call it:
//!   the initialiser of a `thread_local!`, for example. If it waits for a fiber of its own thread, it never ends.
//! - A compute [`join`](crate::join), a loop or a [`scope`](crate::scope) that the fiber calls inline, until it is
//!   complete. Inside [`Cx::blocking`](crate::Cx::blocking) it does not.
//! - A wait inside [`Pool::install`](crate::Pool::install) or [`Pool::run`](crate::Pool::run) of another pool.
//! - A wait in a `Drop` that runs because of a panic, since other fibers must not run in a thread that unwinds. A wait
//!   inside [`Cx::shield`](crate::Cx::shield), and a wait for a lock or a permit, blocks the thread until it succeeds.
//!   The holder of that lock must not be a fiber of the same thread. Any other wait returns
//!   [`Cancelled`](crate::Cancelled) at once.
//!
//! The pool reports the first wait of a fiber inside `run`. On Linux it also reports a fiber that has blocked its
//! thread for a second while the thread has other fibers. [`tuning`](super::tuning) shows how to receive these reports.
//!
//! # Loops that do not wait
//! Functions whose names begin with `try_` never wait, so they do not let other fibers run. A loop around them keeps
//! its thread, and the fiber that would end the loop may belong to the same thread. Wait with the `cx`. If there is no
//! operation that waits for the condition of the loop, yield in each round:
//! ```
//! use anabranch::channel;
//!
//! let pool = anabranch::Pool::builder().threads(1).build()?;
//! let (sender, receiver) = channel::unbounded();
//! let got = pool.run(|cx| cx.scope(|s| {
//!     s.spawn(|cx| sender.send(cx, 7).unwrap());
//!     s.spawn(|cx| loop {
//!         match receiver.try_recv() {
//!             Ok(n) => break n,
//!             Err(_) => cx.yield_now(),
//!         }
//!     }).join(s)
//! }))?;
//! assert_eq!(got, 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Async code has the same hazard with functions that are not `async`. Every `async fn` of this crate occasionally lets
//! other tasks run, even if it is ready at once.
//!
//! # Futures that are neglected
//! A future that waits for a lock or a permit is in a queue once it has been polled. Its turn comes whether its task
//! polls it or not, so the waiters behind it wait for the task. That happens if a task keeps the future and awaits
//! something else: for example in the body of an arm, while another arm of the same selection refers to the future.
//! Await the future to completion, or drop it first. A fiber that waits with its `cx` does nothing else until the wait
//! is over.
//!
//! # Stack size
//! A fiber's stack has 256 KiB, or 1 MiB if this crate is compiled with debug assertions. A fiber that needs more
//! touches the guard below its stack, and the process ends with a message that names the fiber. C code that is compiled
//! without `-fstack-clash-protection` can step over the guard, if one of its frames is larger than the guard: see
//! [`Builder::fiber_guard_size`](crate::Builder::fiber_guard_size). For deep recursion, use compute code on a thread
//! with a large stack, or set a larger [`fiber_stack_size`](crate::Builder::fiber_stack_size):
//! ```
//! let pool = anabranch::Pool::builder().threads(1).fiber_stack_size(4 << 20).build()?;
//! fn depth(n: u32) -> u32 {
//!     let frame = std::hint::black_box([n; 256]);                 // 1 KiB
//!     if n == 0 { 0 } else { 1 + depth(frame[0] - 1) }
//! }
//! assert_eq!(pool.run(|cx| pool.spawn(|_| depth(1000)).join(cx)).unwrap(), 1000);
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//!
//! # `fork()`
//! The child process has one thread: the one that called `fork`. A pool that was made before has no threads there, and
//! locks that other threads held stay locked. Do not use this crate in a child between `fork` and `exec`. A program
//! that works in child processes makes its first pool after the fork. [`std::process::Command`] is not affected.
