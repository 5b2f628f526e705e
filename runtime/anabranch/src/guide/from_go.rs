//! Coming from Go: goroutines, channels and `context`.
//!
//! | Go | anabranch | |
//! |---|---|---|
//! | `go f()` | [`spawn(\|cx\| f(cx))`](crate::spawn) | returns a handle |
//! | `sync.WaitGroup` | [`Cx::scope`](crate::Cx::scope) | waits for its fibers, which may borrow |
//! | `errgroup` | [`Cx::try_join`](crate::Cx::try_join), [`Cx::map_concurrent`](crate::Cx::map_concurrent) | the first error cancels the others |
//! | `make(chan T, n)` | [`channel::bounded(n)`](crate::channel::bounded) | two ends, both can be cloned |
//! | `make(chan T)` | [`channel::rendezvous()`](crate::channel::rendezvous) | |
//! | `ch <- v`, `v, ok := <-ch` | `sender.send(cx, v)?`, `receiver.recv(cx)` | |
//! | `close(ch)` | drop the senders, or `sender.close()` | a later send returns an error instead of a panic |
//! | `for v := range ch` | `for v in receiver.iter(cx)` | |
//! | `select { case v := <-ch: .. }` | [`select!(cx, { v = receiver.receiving() => .. })`](crate::select) | both choose at random |
//! | `default:` | `default => ..` | |
//! | `time.After(d)` in `select` | `_ = cx.sleeping(d) => ..` | |
//! | `time.Sleep`, `time.Ticker` | [`Cx::sleep`](crate::Cx::sleep), [`Cx::interval`](crate::Cx::interval) | |
//! | `context.Context` | [`Cx`](crate::Cx) | each wait takes it, so no `select` on `ctx.Done()` is needed |
//! | `context.WithTimeout` | [`Cx::timeout`](crate::Cx::timeout) | for one wait `receiver.receiving().timeout(cx, d)` |
//! | `context.WithCancel` | [`Cx::cancellable`](crate::Cx::cancellable) | |
//! | `ctx.Err()` | [`Cx::check`](crate::Cx::check) | |
//! | `sync.Mutex`, `RWMutex`, `Once`, `Cond` | [`sync`](crate::sync) | `mutex.lock(cx)?`, dropped guards unlock |
//! | `runtime.Gosched` | [`Cx::yield_now`](crate::Cx::yield_now) | |
//! | `GOMAXPROCS` | `ANABRANCH_NUM_THREADS`, [`Builder::threads`](crate::Builder::threads) | |
//! | the goroutine profile | [`fibers()`](crate::fiber::fibers) | |
//!
//! # A pipeline
//! ```
//! use anabranch::channel;
//!
//! let (numbers, number) = channel::bounded(8);
//! let (squares, square) = channel::bounded(8);
//! let sum = anabranch::run(|cx| {
//!     cx.scope(|s| {
//!         s.spawn(move |cx| (1..=3u32).try_for_each(|n| numbers.send(cx, n)).is_ok());
//!         for _ in 0..2 {
//!             let (number, squares) = (number.clone(), squares.clone());
//!             s.spawn(move |cx| {
//!                 for n in number.iter(cx) {
//!                     let Ok(n) = n else { return };              // cancelled
//!                     if squares.send(cx, n * n).is_err() {
//!                         return;
//!                     }
//!                 }
//!             });
//!         }
//!         drop(squares);                                          // the fibers have the other senders
//!         square.iter(s).sum::<Result<u32, _>>()
//!     })
//! });
//! assert_eq!(sum, Ok(14));
//! ```
//!
//! # Lifetimes of fibers
//! A goroutine outlives the function that starts it. A fiber of [`Cx::scope`](crate::Cx::scope) does not: the scope
//! waits for it, also when its body fails or panics. Prefer scopes; `spawn` is for fibers that serve the whole program.
//! A fiber of the default pool that still runs when `main` returns ends with the process, as in Go.
//!
//! A panic in a goroutine ends the process. If a fiber panics, `join` of its handle returns the panic as an error, and
//! a scope passes it on to its caller:
//! ```
//! use anabranch::JoinError;
//!
//! let failed = anabranch::run(|cx| anabranch::spawn(|_| panic!("no input")).join(cx));
//! assert!(matches!(failed, Err(JoinError::Panicked(_))));
//! ```
//!
//! # Cancellation without `ctx.Done()`
//! ```
//! use anabranch::{Cx, Error, channel};
//! use std::time::Duration;
//!
//! fn worker(cx: &Cx<'_>, jobs: &channel::Receiver<u32>) -> Result<u32, Error> {
//!     let mut done = 0;
//!     loop {
//!         done += jobs.recv(cx)?;                                 // returns an error when the time is up
//!     }
//! }
//!
//! let (_sender, jobs) = channel::unbounded();
//! let late = anabranch::run(|cx| cx.timeout(Duration::from_millis(1), |cx| worker(cx, &jobs)));
//! assert!(late.unwrap_err().is_timeout());
//! ```
//!
//! # Differences of the runtime
//! - **No preemption.** Go interrupts a goroutine that computes for long. Here the other fibers of the thread wait
//!   until the fiber waits or calls [`Cx::yield_now`](crate::Cx::yield_now). A computation inside
//!   [`Cx::blocking`](crate::Cx::blocking) does not delay them: see [`compute_and_serve`](super::compute_and_serve).
//! - **No migration.** A goroutine may continue on another thread. A fiber that has begun stays on its thread. Any
//!   thread of the pool can begin a fiber.
//! - **Fixed stacks.** A goroutine's stack grows. A fiber has 256 KiB, or 1 MiB if the crate is compiled with debug
//!   assertions. [`Builder::fiber_stack_size`](crate::Builder::fiber_stack_size) changes the size. Only the pages that
//!   a fiber touches take memory. An overflow ends the process with a message that names the fiber.
//! - **Deadlocks are reported.** Go ends a program in which all goroutines sleep. Here the pool prints a report and the
//!   program continues to hang: see [`tuning`](super::tuning#finding-a-hang).
//! - **The network poller is in `net`.** With the feature `net`, a fiber that waits for a socket of that module
//!   suspends, as a goroutine does. The sockets of `std::net` block the thread.
