//! What may wait: `run`, `spawn`, and what a [`Cx`](crate::Cx) can do.

mod block_on;
mod canceller;
mod join;
mod list;
mod map;
mod race;
mod run;
mod scope;
mod service;
mod spawn;
mod time;

pub use self::{
    block_on::spawn_async,
    canceller::Canceller,
    list::{FiberInfo, FiberState, fibers},
    race::Racers,
    run::run,
    scope::{FiberScope, ScopedHandle, Spawner},
    service::{Service, spawn_service},
    spawn::{JoinError, JoinHandle, spawn},
    time::Interval,
};
