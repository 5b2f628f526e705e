//! Raids of several stacks with one barrier. [`stack`](super::stack) has the protocol.
//!
//! A barrier interrupts every core that runs a thread of the process, and takes some ten microseconds. With one for
//! each stack, a raid among 16 busy threads took 60 us on average, and up to 500.
//!
//! A barrier takes until each thread that it interrupts has a core, which may be milliseconds on a busy host. So the
//! raider holds no lock meanwhile, and the owners go on: they take their gate at each pop, and find it free.

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
    closed: Vec<(W, &'a ForkStack, Closed)>,
}

impl<'a, W: Copy> Raid<'a, W> {
    pub(crate) fn new() -> Self {
        Self { closed: Vec::new() }
    }

    /// Adds the stack of an owner, unless there is nothing to be found. `roots` counts the roots that the worker entry
    /// of the owner has had.
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
