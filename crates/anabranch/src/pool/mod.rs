//! The pool: its workers, and the threads that run them.
//!
//! A [`Registry`](registry::Registry) has a list of [workers](worker::Worker). A pool thread runs the [main
//! loop](main_loop) on one of them, which [steals](steal) work and [sleeps](sleep) when there is none. The [system
//! monitor](sysmon) finds blocked threads.

pub(crate) mod admission;
#[cfg(not(loom))]
pub(crate) mod blocking_threads;
#[cfg(not(loom))]
mod broadcast;
#[cfg(not(loom))]
mod build;
#[cfg(not(loom))]
mod build_error;
#[cfg(not(loom))]
mod builder;
#[cfg(not(loom))]
mod clock;
#[cfg(not(loom))]
pub(crate) mod counter;
#[cfg(not(loom))]
mod crowding;
#[cfg(not(loom))]
mod current_thread;
#[cfg(not(loom))]
mod deadlock;
#[cfg(not(loom))]
pub(crate) mod default_pool;
#[cfg(not(loom))]
mod demand;
#[cfg(not(loom))]
mod fork_credit;
#[cfg(not(loom))]
pub(crate) mod guest;
#[cfg(not(loom))]
pub(crate) mod handle;
#[cfg(not(loom))]
pub(crate) mod hazard;
#[cfg(not(loom))]
mod heartbeat;
#[cfg(not(loom))]
mod helpers;
#[cfg(not(loom))]
pub(crate) mod hooks;
#[cfg(not(loom))]
pub(crate) mod id;
pub(crate) mod indices;
#[cfg(not(loom))]
pub(crate) mod injected;
#[cfg(not(loom))]
pub(crate) mod inspect;
#[cfg(not(loom))]
pub(crate) mod join_wait;
#[cfg(not(loom))]
pub(crate) mod latency;
#[cfg(not(loom))]
pub(crate) mod live;
#[cfg(not(loom))]
mod main_loop;
#[cfg(not(loom))]
pub(crate) mod panic_handler;
#[cfg(not(loom))]
pub(crate) mod parking;
#[cfg(not(loom))]
mod pending;
#[cfg(not(loom))]
mod publish;
#[cfg(not(loom))]
pub(crate) mod registry;
#[cfg(not(loom))]
pub(crate) mod report;
#[cfg(not(loom))]
mod roots;
#[cfg(not(loom))]
mod run_work;
pub(crate) mod sleep;
#[cfg(not(loom))]
mod slot;
#[cfg(not(loom))]
pub(crate) mod slots;
#[cfg(not(loom))]
pub(crate) mod stack_request;
#[cfg(not(loom))]
mod stack_text;
#[cfg(not(loom))]
pub(crate) mod stacks;
#[cfg(not(loom))]
mod standstill;
#[cfg(not(loom))]
pub(crate) mod stats;
#[cfg(all(feature = "metrics", not(loom)))]
mod stats_metrics;
pub(crate) mod status;
#[cfg(not(loom))]
mod steal;
#[cfg(not(loom))]
mod steal_backoff;
#[cfg(not(loom))]
pub(crate) mod sysmon;
#[cfg(not(loom))]
mod thread_builder;
#[cfg(not(loom))]
mod thread_index;
#[cfg(not(loom))]
mod thread_main;
#[cfg(not(loom))]
pub(crate) mod thread_wait;
#[cfg(not(loom))]
pub(crate) mod threads;
#[cfg(not(loom))]
mod traced;
#[cfg(all(feature = "tracing", not(loom)))]
mod tracing_spans;
#[cfg(not(loom))]
pub(crate) mod worker;
#[cfg(not(loom))]
pub(crate) mod worker_list;

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
