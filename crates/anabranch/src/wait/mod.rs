//! Waiting, for whatever it is and whoever does it: one word behind a thread, a fiber and an async task.
//!
//! Users find [`Trigger`] here, on which they can build what waits.
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
#[cfg(not(loom))]
mod trigger;
pub(crate) mod waiter;

#[cfg(not(loom))]
pub use self::{
    cx::Cx,
    error::{Cancelled, WaitError},
    locals::FiberLocal,
    trigger::{Signal, Trigger},
};
