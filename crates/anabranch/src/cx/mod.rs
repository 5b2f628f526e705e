//! What may wait: `run`, `spawn`, and what a [`Cx`](crate::Cx) can do.

mod block_on;
mod canceller;
mod child;
mod handle;
mod join;
mod ledger;
mod list;
mod map;
mod race;
mod run;
mod scope;
mod service;
mod sleep_async;
mod spawn;
mod time;

pub use self::{
    block_on::spawn_async,
    canceller::Canceller,
    child::ScopedHandle,
    handle::{JoinError, JoinHandle},
    list::{FiberInfo, FiberState, fibers},
    race::{FallibleRacers, Racers},
    run::run,
    scope::{FiberScope, Spawner},
    service::{Service, spawn_service},
    sleep_async::{SleepAsync, sleep_async},
    spawn::spawn,
    time::Interval,
};
