//! Waiting, for whatever it is and whoever does it: one word behind a thread, a fiber and an async task.
//!
//! `waiter <- place <- {slot, queue}`, `waiter <- cancel <- cx`. Synchronisation and channels are built on this room alone.

pub(crate) mod cancel;
#[cfg(not(loom))]
pub(crate) mod cx;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
pub(crate) mod future;
#[cfg(not(loom))]
pub(crate) mod locals;
pub(crate) mod place;
pub(crate) mod queue;
pub(crate) mod slot;
pub(crate) mod waiter;

#[cfg(not(loom))]
pub use self::{
    cx::Cx,
    error::{Cancelled, WaitError},
};
