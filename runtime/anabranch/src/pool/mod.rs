//! The pool: its workers, and the threads that run them.
//!
//! A [`Registry`](registry::Registry) has a list of [workers](worker::Worker). A pool thread runs the [main
//! loop](main_loop) on one of them, which [steals](steal) work and [sleeps](sleep) when there is none. The [system
//! monitor](sysmon) finds blocked threads.

pub(crate) mod admission;
pub(crate) mod indices;
pub(crate) mod sleep;
pub(crate) mod status;

cfg_if! {
    if #[cfg(not(loom))] {
        pub(crate) mod blocking_threads;
        mod broadcast;
        mod build;
        mod build_error;
        mod builder;
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
    builder::Builder,
    default_pool::{current_num_threads, current_pool_id, in_pool, stats},
    handle::Pool,
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
