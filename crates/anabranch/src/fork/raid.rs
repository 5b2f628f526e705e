//! Raids of several stacks with one barrier. [`stack`](super::stack) has the protocol.
//!
//! A barrier interrupts every core that runs a thread of the process, and takes some ten microseconds. With one for
//! each stack, a raid among 16 busy threads took 60 us on average, and up to 500.
//!
//! A raider holds the gates of all stacks that it has closed. It takes them in the order of the workers, so two raiders
//! do not wait for each other, and a thread that holds its own gate waits for no other one.

use crate::{
    fork::{
        offer::Offer,
        stack::{Closed, ForkStack},
    },
    sys::{
        asymmetric_fence::{self, Fence},
        parker::Parker,
    },
};
use std::sync::Arc;

/// Stacks that are closed, each with its owner. See the [module](self).
#[must_use = "the stacks stay closed until the raid publishes"]
pub(crate) struct Raid<'a, W> {
    closed: Vec<(W, &'a ForkStack, Closed<'a>)>,
}

impl<'a, W: Copy> Raid<'a, W> {
    pub(crate) fn new() -> Self {
        Self { closed: Vec::new() }
    }

    /// Adds the stack of an owner, unless there is nothing to be found. Owners are added in the order of their numbers.
    /// `roots` counts the roots that the owner's worker entry has had.
    pub(crate) fn add(&mut self, owner: W, stack: &'a ForkStack, roots: impl FnOnce() -> u64) {
        self.closed.extend(stack.close(roots).map(|closed| (owner, stack, closed)));
    }

    /// Publishes the oldest frames for each owner, at most `most` in the first raid, and opens the stacks again. Calls
    /// `published` with the number of them.
    pub(crate) fn publish(
        self,
        most: usize,
        parker: impl Fn(W) -> *const Parker,
        offer: impl Fn(W, Arc<Offer>),
        mut published: impl FnMut(W, usize),
    ) {
        if self.closed.iter().any(|(_, stack, _)| stack.fence() == Fence::Asymmetric) {
            asymmetric_fence::heavy();
        }
        for (owner, stack, closed) in self.closed {
            // SAFETY: `closed` is of this stack. The barrier came after all stacks were closed.
            let count = unsafe { stack.publish_closed(closed, parker(owner), most, |made| offer(owner, made)) };
            published(owner, count);
        }
    }
}
