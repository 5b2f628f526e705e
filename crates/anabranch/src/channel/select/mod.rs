//! Waiting for the first of several operations.
//!
//! An operation is a place together with an attempt (see `cx::attempt`). To select is to attempt one after the other,
//! and, if none succeeds, to wait at all their places at once, with one waiter, whose word says which of them ended the
//! wait. That one is attempted first: it may have been given something. What another place was about to give goes to
//! others, since the word was decided already.
//!
//! In async code the same is done by one future, which ends its wait when it is dropped. What was handed over by then
//! is the operation's to pass on (see `cx::attempt`).
//!
//! Fair means: the operations are attempted in random order, so that of those that can be done each is chosen with the
//! same probability, wherever it is. What goes on waiting, as the members of a set do, has its turn: see
//! `channel::set`.

// `choose <- {arms <- future, standing <- any_number}`.
mod choose;
mod dynamic;
mod future;
mod macro_arms;
mod persistent;

pub use self::choose::Operation;
pub use crate::channel::select::dynamic::Select;

/// What the expansion of [`select!`](crate::select) refers to.
#[doc(hidden)]
pub mod __select {
    pub use super::future::choose_async;
    pub use crate::channel::select::macro_arms::{arm, choose, into_done};
}
