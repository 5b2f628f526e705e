//! Hazards: what can block a program of fibers, and the one limit of soundness.
//!
//! | hazard | what happens | instead |
//! |---|---|---|
//! | a wait inside of a scoped thread-local | use after free in another crate | end the scope before the wait |
//! | a `std` lock held across a wait | the thread blocks, and its fibers with it | [`sync::Mutex`](crate::sync::Mutex) |
//! | a foreign call that blocks | the same | a thread of its own for the call |
//! | [`run`](crate::run) on a fiber | the same | pass the fiber's `cx` down |
//! | a long computation on a fiber | the other fibers of its thread wait | [`Cx::yield_now`](crate::Cx::yield_now), or parallel code |
//! | a large stack frame | the process ends with a message | [`Builder::fiber_stack_size`](crate::Builder::fiber_stack_size) |
//! | `fork()` without `exec` | the child's pool has no threads | fork before the first use |
//!
//! # The limit of soundness: thread-locals
//! Fibers of one thread share its thread-locals, and any of them may run while another waits. Some crates, and one part
//! of `std`, rely on what holds for threads alone: code that uses a thread-local ends before other code of the thread
//! begins, or was called by it. Waits break this. Safe functions of such crates can then use memory after it was freed,
//! and this crate cannot prevent it. All fibers with stacks of their own have this limit, in every language. **Do not
//! wait**
//! - **inside of a scoped thread-local** (`scoped_tls`, `scoped-tls-hkt`, and whatever lends a reference for the time
//!   of a call). Two fibers leave their scopes in any order. The one that leaves last restores the reference of the one
//!   that has gone.
//! - **inside of the initialiser of a `thread_local!`**. It is passed no `Cx`; it would have to take one from a scoped
//!   thread-local. A second fiber then finds the variable uninitialised and initialises it too. What it has borrowed is
//!   dropped when the first one continues.
//! - **while a guard is entered that has to be left in order**, such as that of a runtime: it may check the order, or
//!   rely on it.
//!
//! Enter and leave these between two waits. Keep a fiber's own values in a [`FiberLocal`](crate::FiberLocal):
//! ```
//! use anabranch::{Cx, FiberLocal};
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
//! Apart from this limit safe code is sound. A `Cx` that is used on a foreign stack panics, and a fiber never leaves a
//! stack that has compute work open: it blocks its thread instead. The documentation of [`Cx`](crate::Cx) has both.
//!
//! # Locks across waits
//! A begun fiber stays on its thread. If it waits while it holds a `std::sync::MutexGuard`, the next fiber of that
//! thread that locks the mutex blocks the thread. The first fiber cannot continue, so the lock stays locked. A
//! `RefCell` borrow in a thread-local panics in the same place. The lock of standard output belongs to the thread:
//! other fibers of the thread write in between, and other threads block. A guard of [`sync`](crate::sync) may be held
//! across waits:
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
//! A `std` lock is fine in compute code, also across a [`join`](crate::join): see [`from_rayon`](super::from_rayon).
//!
//! # Calls that block the thread
//! Reading a file, a `std` channel, a system call that sleeps: the thread stands still, and so do the fibers that have
//! begun on it. On Linux another thread takes over the remaining work of the pool, but begun fibers do not move. Use a
//! channel of this crate, a future by [`Cx::block_on`](crate::Cx::block_on), or a thread of its own
//! ([`from_tokio`](super::from_tokio) has an example).
//!
//! These calls of this crate block the thread of a fiber too:
//! - [`run`](crate::run). It parks the thread and does not suspend the fiber, since code without a `cx` may call it:
//!   the initialiser of a `thread_local!`, for example. If it waits for a fiber of its own thread, it never ends.
//! - A compute [`join`](crate::join), a loop or a [`scope`](crate::scope), while it waits for what another thread has
//!   taken.
//! - A wait inside [`Pool::install`](crate::Pool::install) or [`Pool::run`](crate::Pool::run) of another pool.
//! - A wait in a `Drop` that runs because of a panic. Other fibers must not run in a thread that unwinds. Inside of
//!   [`Cx::shield`](crate::Cx::shield), and for a lock or a permit, such a wait works and blocks the thread. Any other
//!   returns [`Cancelled`](crate::Cancelled) at once. The holder of that lock must not be a fiber of the same thread.
//!
//! The pool reports the first wait of a fiber inside of `run`. On Linux it also reports a fiber that has blocked its
//! thread for a second while others are bound to it. [`tuning`](super::tuning) shows how to receive these reports.
//!
//! # Stack size
//! A fiber's stack has 256 KiB, or 1 MiB where this crate is compiled with debug assertions. A fiber that needs more
//! runs into the guard below it, and the process ends with a message that names the fiber. C code that is compiled
//! without `-fstack-clash-protection` can step over the guard with a frame larger than it: see
//! [`Builder::fiber_guard_size`](crate::Builder::fiber_guard_size). Deep recursion belongs into compute code on a
//! thread with a large stack, or behind a larger [`fiber_stack_size`](crate::Builder::fiber_stack_size):
//! ```
//! let pool = anabranch::Pool::builder().threads(1).fiber_stack_size(4 << 20).build()?;
//! fn depth(n: u32) -> u32 {
//!     let frame = std::hint::black_box([n; 256]);                 // 1 KiB
//!     if n == 0 { 0 } else { 1 + depth(frame[0] - 1) }
//! }
//! assert_eq!(pool.run(|cx| pool.spawn(|_| depth(1000)).join(cx)).unwrap(), 1000);
//! # Ok::<(), anabranch::BuildError>(())
//! ```
//!
//! # `fork()`
//! The child process has one thread: the one that called `fork`. A pool that was made before has no threads there, and
//! locks that other threads held stay locked. Do not use this crate in a child between `fork` and `exec`. A program
//! that continues in children makes its first pool after the fork. [`std::process::Command`] is no concern.
