//! Raids of several stacks with one barrier. [`stack`](super::stack) has the protocol.
//!
//! A barrier interrupts every core that runs a thread of the process, and takes some ten microseconds. With one for
//! each stack, a raid among 16 busy threads took 60 us on average, and up to 500.
//!
//! A barrier takes until each thread that it interrupts has a core, which may be milliseconds on a busy host. So the
//! raider holds no lock meanwhile, and the owners go on: they take their gate at each pop, and find it free.

use crate::{
    fork::{offer::Offer, publication::Publication, stack::ForkStack},
    sys::{
        asymmetric_fence::{self, Fence},
        parker::Parker,
        sync::{Ordering, lock},
    },
};
use std::sync::Arc;

/// The number of raids after which the number of frames that a raid publishes no longer doubles.
const MAX_DOUBLINGS: u32 = 16;

/// Stacks that are closed. See the [module](self).
#[must_use = "the stacks stay closed until the raid publishes"]
pub(crate) struct Raid<'a, W> {
    closed: Vec<Closed<'a, W>>,
}

/// A closed stack, and what the raider has read when it closed it.
struct Closed<'a, W> {
    owner: W,
    stack: &'a ForkStack,
    /// The number of the root, if the owner is asked.
    demand: Option<u64>,
    serves: u64,
}

impl<'a, W: Copy> Raid<'a, W> {
    pub(crate) fn new() -> Self {
        Self { closed: Vec::new() }
    }

    /// Closes the stack of an owner, or leaves it as it is if a raid can find nothing. `roots` counts the roots that
    /// the worker entry of the owner has had.
    pub(crate) fn add(&mut self, owner: W, stack: &'a ForkStack, roots: impl FnOnce() -> u64) {
        let gate = lock(&stack.gate);
        let newest = stack.newest();
        if newest.is_null() {
            return;
        }
        let demand = stack.is_requested().then(roots);
        if stack.fence == Fence::Asymmetric {
            // It is closed if another raider is about to publish.
            let is_swept = gate.swept.is_some() && gate.swept == demand.map(|root| (root, newest));
            if is_swept || stack.signals.is_closed.load(Ordering::Relaxed) {
                return;
            }
            stack.signals.is_closed.store(true, Ordering::Relaxed);
        }
        self.closed.push(Closed { owner, stack, demand, serves: gate.serves });
    }

    /// Publishes the oldest frames for each owner, and opens the stacks again. Calls `published` with the number of
    /// them: at most `most`, and twice as many at each raid that follows, since a blocked owner may wait for all.
    pub(crate) fn publish(
        self,
        most: usize,
        parker: impl Fn(W) -> *const Parker,
        offer: impl Fn(W, Arc<Offer>),
        mut published: impl FnMut(W, usize),
    ) {
        if self.closed.iter().any(|closed| closed.stack.fence == Fence::Asymmetric) {
            asymmetric_fence::heavy();
        }
        for Closed { owner, stack, demand, serves } in self.closed {
            let mut gate = lock(&stack.gate);
            let newest = stack.tail.load(Ordering::Acquire);
            let most = most.saturating_mul(1 << gate.raids.min(MAX_DOUBLINGS));
            gate.raids += 1;
            // SAFETY: the barrier came after the stack was closed, and this thread has the gate, so no pop of a linked
            // frame ends. The acquire load of `tail` makes the frames visible. The owner ends a published frame as a
            // `Popped`.
            let publication = unsafe { Publication::new(&mut gate, newest) };
            let count = publication.publish(&stack.shelf, parker(owner), most, |made| offer(owner, made));
            let is_swept = gate.oldest.is_null() && gate.serves == serves;
            gate.swept = demand.filter(|_| is_swept).map(|root| (root, newest.cast_const()));
            if stack.fence == Fence::Asymmetric {
                stack.signals.is_closed.store(false, Ordering::Release);
            }
            drop(gate);
            published(owner, count);
        }
    }
}
