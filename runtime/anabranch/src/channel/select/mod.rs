//! Waiting for the first of several operations.
//!
//! An operation is a waitable together with an attempt (see `cx::attempt`). A selection attempts one operation after
//! the other. If none succeeds, it waits at all their waitables at once with one waiter, whose word records which of
//! them ended the wait. That operation is attempted first, as it may have been given something. A value that another
//! waitable was about to hand over goes to other waiters, because the word is already selected.
//!
//! In async code one future does the same. It ends its wait when it is dropped. The operation passes on what was handed
//! over by then (see `cx::attempt`).
//!
//! A fair selection attempts the operations in random order. So each operation that is ready is chosen with the same
//! probability, whatever its index. Operations that keep waiting, like the members of a set, take turns: see
//! `channel::set`.

// `choose <- {arms <- future, persistent <- any_number}`.
#[cfg(not(loom))]
mod awaiting;
mod choose;
mod dynamic;
mod future;
mod macro_arms;
mod persistent;
mod select_macro;

#[cfg(not(loom))]
pub use self::awaiting::{Awaiting, awaiting};
pub use crate::channel::select::dynamic::Select;

/// The items that the expansion of [`select!`](crate::select) refers to.
#[doc(hidden)]
pub mod __select {
    pub use super::future::choose_async;
    pub use crate::channel::select::macro_arms::{arm, arm_if, choose, choose_blocking, into_done};
}
