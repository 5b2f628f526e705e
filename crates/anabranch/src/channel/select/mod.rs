//! Waiting for the first of several operations.
//!
//! An operation is a place together with an attempt (see `wait::attempt`). To select is to attempt one after the other, and, if
//! none succeeds, to wait at all their places at once, with one waiter, whose word says which of them ended the wait. That one
//! is attempted first: it may have been given something. What another place was about to give goes to others, since the word
//! was decided already.
//!
//! In async code the same is done by one future, which ends its wait when it is dropped. What was handed over by then is the
//! operation's to pass on (see `wait::attempt`).
//!
//! Fair means: the operations are attempted in random order, so that of those that can be done each is chosen with the same
//! probability, wherever it is. What goes on waiting, as the members of a set do, has its turn: see `channel::set`.

// `choose <- {arms <- future, standing <- any_number}`.
mod any_number;
mod arms;
mod choose;
mod future;
mod standing;

pub use self::{any_number::Select, choose::Operation};

/// What the expansion of [`select!`](crate::select) refers to.
#[doc(hidden)]
pub mod __select {
    pub use super::{
        arms::{arm, choose, into_done},
        future::choose_async,
    };
}
