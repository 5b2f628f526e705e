//! Code that may wait: `run`, `spawn`, and the operations of a [`Cx`](crate::Cx).
//!
//! On systems without fibers (neither Unix nor Windows), this module has only the operations that a thread can perform
//! alone.

pub(crate) mod attempt;
#[expect(clippy::module_inception, reason = "the token itself, beside what it can do")]
pub(crate) mod cx;
pub(crate) mod fiber_local;
pub(crate) mod limit;
pub(crate) mod one_fiber;
pub(crate) mod operation;
pub(crate) mod plain_thread;
pub(crate) mod wait;

cfg_if! {
    if #[cfg(all(any(unix, windows), not(loom)))] {
        mod block;
        mod child;
        pub(crate) mod handle;
        mod join;
        pub(crate) mod join_error;
        mod join_set;
        mod list;
        mod map;
        mod map_unordered;
        mod race;
        mod scope;
        mod scope_data;
        mod sleep_async;
        pub(crate) mod spawn;
        mod spawn_async;
        mod supervise;
        mod try_scope;
    }
}

cfg_if! {
    if #[cfg(not(loom))] {
        mod block_on;
        mod blocking;
        pub(crate) mod cancel_check;
        mod cancel_handle;
        mod own_locals;
        mod run;
        pub(crate) mod thread;
        mod time;
    }
}

#[cfg(not(loom))]
pub use self::{cancel_handle::CancelHandle, run::run, time::Interval};
#[cfg(all(any(unix, windows), not(loom)))]
pub use self::{
    child::ScopedHandle,
    handle::JoinHandle,
    join_error::JoinError,
    join_set::{JoinSet, Joining},
    list::{fibers, report_all, report_all_with_stacks},
    map_unordered::Arrivals,
    race::{FallibleRacers, Racers},
    scope::{FiberScope, Spawner},
    sleep_async::{SleepAsync, sleep_async},
    spawn::{spawn, spawn_named},
    spawn_async::spawn_async,
    supervise::{Restart, Supervision, Supervisor},
    try_scope::{TryScope, TrySpawner},
};
pub use self::{
    cx::Cx,
    fiber_local::FiberLocal,
    operation::{Operation, OperationFuture},
};
