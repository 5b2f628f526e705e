//! Waiting, for whatever it is and whoever does it: one word behind a thread, a fiber and an async task.
//!
//! Users find [`Trigger`] here, on which they can build what waits.
//!
//! `{current, patience} <- waiter <- place <- {slot, queue}`, `waiter <- parked`, `waiter <- strand`, `{strand, cancel} <- cx`, `{cx, future} <- attempt`. Synchronisation and channels
//! are built on this room alone.

pub(crate) mod attempt;
pub(crate) mod cancel;
pub(crate) mod current;
pub(crate) mod cx;
mod error;
pub(crate) mod future;
pub(crate) mod locals;
pub(crate) mod one_fiber;
pub(crate) mod parked;
mod patience;
pub(crate) mod place;
pub(crate) mod queue;
pub(crate) mod slot;
pub(crate) mod strand;
mod trigger;
pub(crate) mod waiter;

pub use self::{
    cx::Cx,
    error::{Cancelled, TimedOut, WaitError},
    locals::FiberLocal,
    trigger::{Signal, Trigger},
};
