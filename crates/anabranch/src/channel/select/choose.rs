//! Attempting and waiting, whatever the operations are kept in.

use crate::{
    channel::operation::Attempt,
    wait::{Cancelled, Cx, cx::Reason, place::Place, waiter::Outcome},
};
use std::cell::Cell;

/// Something that can be waited for together with others: by [`select!`](crate::select) and by [`Select`].
///
/// Made by `receiving` and `sending` of the ends of channels, by [`Cx::sleeping`] and by [`Trigger::waiting`]. It is sealed:
/// what else is to be waited for is best built on a channel or a trigger.
#[allow(private_bounds, reason = "sealed")]
pub trait Operation: Attempt<Output = <Self as Operation>::Done> {
    /// What there is when it is done.
    type Done;
}

impl<A: Attempt> Operation for A {
    type Done = A::Output;
}

/// The first of them that succeeds, in a circle.
pub(super) fn try_one(count: usize, first: usize, attempt: impl Fn(usize) -> bool) -> Option<usize> {
    (first..count).chain(0..first).find(|&index| attempt(index))
}

/// Attempts and waits until one succeeds: which.
pub(super) fn do_one<'p, P: Place + ?Sized + 'p>(
    cx: &Cx<'_>,
    count: usize,
    first: usize,
    deadline: u64,
    reason: Reason,
    place: impl Fn(usize) -> &'p P,
    attempt: impl Fn(usize) -> bool,
) -> Result<usize, Cancelled> {
    loop {
        if let Some(index) = try_one(count, first, &attempt) {
            return Ok(index);
        }
        match cx.wait_any(count, &place, first, deadline, reason) {
            Outcome::Cancelled => return Err(Cancelled),
            // The one that has the deadline can be done now.
            Outcome::TimedOut => {}
            Outcome::Ready(index) => {
                if attempt(index as usize) {
                    return Ok(index as usize);
                }
            }
        }
    }
}

/// A number that is hard to foretell, by Marsaglia's xorshift.
pub(super) fn random_below(count: usize) -> usize {
    // An execution of a model is to be the same each time.
    if cfg!(loom) {
        return 0;
    }
    thread_local!(static STATE: Cell<u32> = const { Cell::new(0x9E37_79B9) });
    let mut state = STATE.get();
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    STATE.set(state);
    ((u64::from(state) * count as u64) >> 32) as usize
}
