//! A drop-in replacement for rayon-core. [rayon](https://docs.rs/rayon) and everything that uses it then runs on
//! [Anabranch](https://docs.rs/anabranch)'s pool.
//!
//! An application adds two lines to its `Cargo.toml`:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { git = "https://github.com/anabranch/anabranch" }
//! ```
//!
//! The interface is that of rayon-core 1.13, and [its documentation](https://docs.rs/rayon-core) applies. The README of
//! this crate has a table of the differences in behaviour. Programs use these functions through the crate `rayon`.
//!
//! The global pool is Anabranch's default pool, so `rayon::join` and `anabranch::join` use the same threads.
//!
//! ```
//! let (a, b) = rayon_core::join(|| 6 * 7, || "both");
//! assert_eq!((a, b), (42, "both"));
//! ```

mod broadcast;
mod builder;
mod configuration;
mod error;
mod fifo;
mod fn_context;
mod global;
mod join;
mod num_threads;
mod panics;
mod scope;
mod scope_fifo;
mod spawn;
mod spawn_handler;
mod tasks;
mod thread_pool;
mod yield_now;

#[allow(deprecated)]
pub use crate::configuration::{Configuration, initialize};
pub use crate::{
    broadcast::{BroadcastContext, broadcast, spawn_broadcast},
    builder::ThreadPoolBuilder,
    error::ThreadPoolBuildError,
    fn_context::FnContext,
    global::current_num_threads,
    join::{join, join_context},
    num_threads::max_num_threads,
    scope::{Scope, in_place_scope, scope},
    scope_fifo::{ScopeFifo, in_place_scope_fifo, scope_fifo},
    spawn::{spawn, spawn_fifo},
    spawn_handler::ThreadBuilder,
    thread_pool::{ThreadPool, current_thread_has_pending_tasks, current_thread_index},
    yield_now::{Yield, yield_local, yield_now},
};

/// The examples of the page that tells how to use this crate have to compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/ONE_POOL.md")]
struct OnePool;
