//! The pool: frames, shelves, sleep, and the threads that live by them.
//!
//! `frame <- shelf <- fork_stack <- worker <- registry <- builder`; `sleep` and `tasks` stand beside `fork_stack`.

#[cfg(not(loom))]
mod broadcast;
#[cfg(not(loom))]
mod builder;
#[cfg(not(loom))]
pub(crate) mod crew;
#[cfg(not(loom))]
pub(crate) mod fibers;
#[cfg(loom)]
pub(crate) mod fibers {
    //! What of it the models run.
    pub(crate) mod hail;
    pub(crate) mod jobs;
    mod overdue;
    pub(crate) mod pages;
    pub(crate) mod ready;
    pub(crate) mod root;
}
pub(crate) mod fork_stack;
pub(crate) mod frame;
#[cfg(not(loom))]
pub(crate) mod hazard;
#[cfg(not(loom))]
mod monitor;
pub(crate) mod offer;
#[cfg(not(loom))]
pub(crate) mod registry;
#[cfg(not(loom))]
mod search;
#[cfg(not(loom))]
mod seats;
pub(crate) mod shelf;
pub(crate) mod sleep;
#[cfg(not(loom))]
pub(crate) mod stats;
pub(crate) mod status;
#[cfg(not(loom))]
pub(crate) mod tasks;
#[cfg(not(loom))]
pub(crate) mod wait;
#[cfg(not(loom))]
mod work;
#[cfg(not(loom))]
pub(crate) mod worker;

#[cfg(not(loom))]
pub use self::{
    builder::{BuildError, Builder},
    handle::{Pool, current_num_threads},
    hazard::{Hazard, HazardKind},
    stats::{Stats, WorkerStats},
};
#[cfg(not(loom))]
pub(crate) mod handle;
