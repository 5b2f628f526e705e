//! What may wait: `run`, `spawn`, and what a [`Cx`](crate::Cx) can do.

mod join;
mod run;
mod scope;
mod spawn;
mod time;

pub use self::{
    run::run,
    scope::{Scope, ScopedHandle, Spawner},
    spawn::{JoinError, JoinHandle, spawn},
    time::TimedOut,
};
