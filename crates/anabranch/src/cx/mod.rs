//! What may wait: `run`, `spawn`, and what a [`Cx`](crate::Cx) can do.
//!
//! Where there are no fibers (on systems that are neither Unix nor Windows) there is what a thread can do alone.

mod block_on;
mod call;
mod canceller;
#[cfg(any(unix, windows))]
mod child;
#[cfg(any(unix, windows))]
mod handle;
#[cfg(any(unix, windows))]
mod join;
#[cfg(any(unix, windows))]
mod ledger;
#[cfg(any(unix, windows))]
mod list;
#[cfg(any(unix, windows))]
mod map;
#[cfg(any(unix, windows))]
mod race;
mod run;
#[cfg(any(unix, windows))]
mod scope;
#[cfg(any(unix, windows))]
mod service;
#[cfg(any(unix, windows))]
mod sleep_async;
#[cfg(any(unix, windows))]
mod spawn;
#[cfg(any(unix, windows))]
mod spawn_async;
mod time;

pub use self::{canceller::Canceller, run::run, time::Interval};
#[cfg(any(unix, windows))]
pub use self::{
    child::ScopedHandle,
    handle::{JoinError, JoinHandle},
    list::{FiberInfo, FiberState, fibers},
    race::{FallibleRacers, Racers},
    scope::{FiberScope, Spawner},
    service::{Service, spawn_service},
    sleep_async::{SleepAsync, sleep_async},
    spawn::spawn,
    spawn_async::spawn_async,
};
