//! The guide: how to use this crate, in short chapters whose examples run.
//!
//! # Reading order
//! 1. [`compute_or_wait`]: the two kinds of code, and how to mix them.
//! 2. [`cancellation`]: scopes, races and time limits, and what a cancelled wait returns.
//! 3. [`channels`]: which channel to choose, and `select!`.
//! 4. [`protocols`]: conversations that the compiler checks.
//! 5. [`servers`]: failures, results as they arrive, supervision, graceful shutdown.
//! 6. `net`, with the feature of that name: sockets, synchronous libraries, deadlines, graceful shutdown.
//! 7. [`compute_and_serve`]: a server that computes, whose light requests stay fast.
//! 8. [`hazards`]: what can block or break a program of fibers. Read this before you release a program.
//! 9. [`tuning`]: threads, stacks, counters, and how to find a hang.
//!
//! [`faq`] has short answers to the first questions.
//!
//! # Coming from elsewhere
//! Each of these chapters begins with a table of corresponding names.
//! - [`from_rayon`]: parallel loops, `join`, scopes, thread pools.
//! - [`from_std`]: `std::sync::mpsc`.
//! - [`from_crossbeam`]: channels and selection between threads.
//! - [`from_flume`]: channels between threads and async code.
//! - [`from_tokio`]: tasks, timers, cancellation, async locks and channels. [`with_tokio`] is about both in one
//!   program.
//! - [`from_go`]: goroutines, channels, `context`.
//!
//! Only rustdoc compiles these chapters; a normal build does not.

pub mod cancellation;
pub mod channels;
pub mod compute_and_serve;
pub mod compute_or_wait;
pub mod faq;
pub mod from_crossbeam;
pub mod from_flume;
pub mod from_go;
pub mod from_rayon;
pub mod from_std;
pub mod from_tokio;
pub mod hazards;
#[cfg(feature = "net")]
pub mod net;
pub mod protocols;
pub mod servers;
pub mod tuning;
pub mod with_tokio;
