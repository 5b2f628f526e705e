//! Pools beyond [`Pool`]: the caller's place in a pool, pending work, statistics, hooks, hazards and reports.
//!
//! A [`Pool`] runs forks, tasks and fibers on its threads. Most programs use the default pool, which the first call
//! makes. A [`Builder`](crate::Builder) makes other pools, and fails with a [`BuildError`]. This module has:
//!
//! - functions for the pool that the caller is in: [`current_num_threads`], [`current_thread_index`],
//!   [`current_pool_id`], [`in_pool`];
//! - [`broadcast`] and [`spawn_broadcast`], which run a closure on every thread of that pool;
//! - [`run_pending`], [`run_pending_local`] and [`has_pending`], for a thread that must wait in a loop;
//! - [`stats`], the counters of a pool and of its workers ([`Stats`], [`WorkerStats`], [`LatencyHistogram`]);
//! - the arguments of handlers: [`Hazard`], [`FiberHooks`], [`ThreadBuilder`];
//! - a [`Report`] of the threads and fibers of a pool.
//!
//! ```
//! use anabranch::{Pool, pool};
//!
//! let two = Pool::builder().threads(2).build()?;
//! assert_eq!(two.install(pool::current_num_threads), 2);
//! assert_eq!(two.install(|| pool::broadcast(|index| index)), [0, 1]);
//! assert_eq!(pool::current_thread_index(), None); // outside of any pool
//! println!("{}", two.stats());
//! # Ok::<(), pool::BuildError>(())
//! ```

// The private modules: a `Registry` has a list of workers. A pool thread runs the main loop on one of them, which
// steals work and sleeps when there is none. The system monitor finds blocked threads.

pub(crate) mod admission;
pub(crate) mod indices;
pub(crate) mod sleep;
pub(crate) mod status;

cfg_if! {
    if #[cfg(not(loom))] {
        pub(crate) mod blocked_thread;
        pub(crate) mod blocking_threads;
        mod broadcast;
        mod build;
        mod build_error;
        pub(crate) mod builder;
        mod clock;
        pub(crate) mod counter;
        mod crowding;
        mod current_thread;
        mod deadlock;
        pub(crate) mod default_pool;
        mod demand;
        mod fork_credit;
        pub(crate) mod guest;
        pub(crate) mod handle;
        pub(crate) mod hazard;
        mod heartbeat;
        mod helpers;
        pub(crate) mod hooks;
        pub(crate) mod id;
        pub(crate) mod injected;
        pub(crate) mod inspect;
        pub(crate) mod join_wait;
        pub(crate) mod latency;
        pub(crate) mod live;
        mod main_loop;
        pub(crate) mod panic_handler;
        pub(crate) mod parking;
        mod pending;
        mod publish;
        pub(crate) mod registry;
        pub(crate) mod report;
        mod roots;
        mod run_work;
        mod slot;
        pub(crate) mod slots;
        pub(crate) mod stack_request;
        mod stack_text;
        pub(crate) mod stacks;
        mod standstill;
        pub(crate) mod stats;
        mod steal;
        mod steal_backoff;
        pub(crate) mod sysmon;
        mod thread_builder;
        mod thread_index;
        mod thread_main;
        pub(crate) mod thread_wait;
        pub(crate) mod threads;
        mod traced;
        pub(crate) mod worker;
        pub(crate) mod worker_list;
    }
}

#[cfg(all(feature = "metrics", not(loom)))]
mod stats_metrics;
#[cfg(all(feature = "tracing", not(loom)))]
mod tracing_spans;

#[cfg(all(feature = "tracing", not(loom)))]
pub use self::tracing_spans::TracingSpans;
#[cfg(not(loom))]
pub use self::{
    broadcast::{broadcast, spawn_broadcast},
    build_error::BuildError,
    default_pool::{current_num_threads, current_pool_id, in_pool, stats},
    hazard::{Hazard, HazardKind},
    hooks::{FiberHooks, HookedFiber},
    id::PoolId,
    latency::LatencyHistogram,
    pending::{has_pending, run_pending, run_pending_local},
    report::{FiberInfo, FiberState, LockHolder, Report, ThreadInfo, ThreadState},
    stats::{Stats, WorkerStats},
    thread_builder::ThreadBuilder,
    thread_index::current_thread_index,
};
// The root of the crate exports it.
#[cfg(not(loom))]
pub(crate) use self::handle::Pool;
