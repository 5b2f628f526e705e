//! Waiting: one protocol for threads, fibers and async tasks.
//!
//! `{current_stack, spin_wait} <- waiter <- waitable <- {latch, queue}`, `waiter <- parked`, `waiter <- suspend`,
//! `{suspend, cancel} <- cx`, `{cx, future} <- attempt`. Synchronisation and channels are built on this module alone.

#[cfg(not(loom))]
pub(crate) mod awaited_lock;
pub(crate) mod cancel;
pub(crate) mod current_stack;
pub(crate) mod error;
pub(crate) mod error_macros;
pub(crate) mod future;
pub(crate) mod latch;
pub(crate) mod parked;
pub(crate) mod queue;
mod spin_wait;
pub(crate) mod state_word;
pub(crate) mod suspend;
pub(crate) mod waitable;
pub(crate) mod waiter;

pub use self::error::{Cancelled, TimedOut, WaitError};
