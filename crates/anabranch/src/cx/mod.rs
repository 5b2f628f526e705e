//! What may wait: `run`, `spawn`, and what a [`Cx`](crate::Cx) can do.
//!
//! Where there are no fibers (on systems that are neither Unix nor Windows) this has what a thread can do alone.

pub(crate) mod attempt;
#[cfg(all(any(unix, windows), not(loom)))]
mod block;
#[cfg(not(loom))]
mod block_on;
#[cfg(not(loom))]
mod blocking;
#[cfg(not(loom))]
pub(crate) mod cancel_check;
#[cfg(not(loom))]
mod cancel_handle;
#[cfg(all(any(unix, windows), not(loom)))]
mod child;
#[expect(clippy::module_inception, reason = "the token itself, beside what it can do")]
pub(crate) mod cx;
pub(crate) mod fiber_local;
#[cfg(all(any(unix, windows), not(loom)))]
pub(crate) mod handle;
#[cfg(all(any(unix, windows), not(loom)))]
mod join;
#[cfg(all(any(unix, windows), not(loom)))]
pub(crate) mod join_error;
#[cfg(all(any(unix, windows), not(loom)))]
mod join_set;
pub(crate) mod limit;
#[cfg(all(any(unix, windows), not(loom)))]
mod list;
#[cfg(all(any(unix, windows), not(loom)))]
mod map;
#[cfg(all(any(unix, windows), not(loom)))]
mod map_unordered;
pub(crate) mod one_fiber;
pub(crate) mod operation;
#[cfg(not(loom))]
mod own_locals;
pub(crate) mod plain_thread;
#[cfg(all(any(unix, windows), not(loom)))]
mod race;
#[cfg(not(loom))]
mod run;
#[cfg(all(any(unix, windows), not(loom)))]
mod scope;
#[cfg(all(any(unix, windows), not(loom)))]
mod scope_data;
#[cfg(all(any(unix, windows), not(loom)))]
mod sleep_async;
#[cfg(all(any(unix, windows), not(loom)))]
pub(crate) mod spawn;
#[cfg(all(any(unix, windows), not(loom)))]
mod spawn_async;
#[cfg(all(any(unix, windows), not(loom)))]
mod supervise;
pub(crate) mod take_back;
#[cfg(not(loom))]
pub(crate) mod thread;
#[cfg(not(loom))]
mod time;
#[cfg(all(any(unix, windows), not(loom)))]
mod try_scope;
pub(crate) mod wait;

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
