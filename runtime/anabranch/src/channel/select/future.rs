//! `select!` in async code: the arms in one future.
//!
//! The future owns the operations, so they are pinned with it, and its `Drop` ends the wait. They are nested pairs,
//! `((((), a), b), c)`, of known types. So the future can be sent if the operations can.
//!
//! A `Select` keeps its operations itself and lends itself to the future. A future may be forgotten, but the operations
//! pinned in it and the operations in the vector of a `Select` are not moved. So the selection ends the wait before it
//! moves an operation, whatever has happened to the future. An operation that outlives the selection passes on anything
//! that it was handed but did not use.

use super::choose::Choice;
use crate::{
    channel::select::macro_arms::{AnyArm, OneArm},
    wait::future::{AsyncTurn, poll_counted},
};
use std::{
    marker::PhantomPinned,
    pin::Pin,
    task::{Context, Poll},
};

/// Any number of arms.
#[doc(hidden)]
pub trait Arms {
    const LEN: usize;
    const IS_TIMED: bool;
    /// The results of the arms, nested in the same way.
    type Done;

    fn arm(&self, index: usize) -> &dyn AnyArm;

    fn take_done(&self) -> Self::Done;
}

impl Arms for () {
    const LEN: usize = 0;
    const IS_TIMED: bool = false;
    type Done = ();

    fn arm(&self, _: usize) -> &dyn AnyArm {
        unreachable!("an index is below the number of arms")
    }

    fn take_done(&self) {}
}

impl<A: Arms, O: OneArm> Arms for (A, O) {
    const LEN: usize = A::LEN + 1;
    const IS_TIMED: bool = A::IS_TIMED || O::IS_TIMED;
    type Done = (A::Done, Option<O::Done>);

    #[inline]
    fn arm(&self, index: usize) -> &dyn AnyArm {
        if index == A::LEN { &self.1 } else { self.0.arm(index) }
    }

    fn take_done(&self) -> Self::Done {
        (self.0.take_done(), self.1.take_done())
    }
}

/// Completes one of the operations, or none if there is a default and no operation is ready.
#[doc(hidden)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Choosing<A: Arms> {
    arms: A,
    turn: AsyncTurn,
    choice: Choice,
    has_default: bool,
    _pinned: PhantomPinned,
}

#[doc(hidden)]
pub fn choose_async<A: Arms>(arms: A, is_biased: bool, has_default: bool, has_else: bool) -> Choosing<A> {
    const {
        assert!(
            !A::IS_TIMED,
            "`cx.sleeping`, `after` and `ticking` are for waits with a `cx` or of a thread: async code has `sleep_async`"
        )
    };
    (0..A::LEN).for_each(|index| arms.arm(index).turn().set(index as u32));
    let choice = Choice::new(A::LEN, is_biased);
    // Where no arm takes part, no attempt succeeds, and that is the end.
    let has_default = has_default || has_else && !(0..A::LEN).any(|index| arms.arm(index).is_enabled());
    Choosing { arms, turn: AsyncTurn::new(), choice, has_default, _pinned: PhantomPinned }
}

impl<A: Arms> Future for Choosing<A> {
    type Output = A::Done;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<A::Done> {
        // SAFETY: only the results of the operations are moved out.
        let this = unsafe { self.get_unchecked_mut() };
        let arms = &this.arms;
        let order = |turn: usize| arms.arm(turn).turn();
        let attempt = |index: usize| arms.arm(index).attempt();
        if this.has_default {
            return poll_counted(context, |_| {
                this.choice.try_one(order, attempt);
                Poll::Ready(arms.take_done())
            });
        }
        // SAFETY: the arms are pinned with this future, whose `Drop` ends the wait.
        let done = unsafe { this.choice.poll_one(&mut this.turn, order, |index| arms.arm(index), attempt, context) };
        done.map(|_| arms.take_done())
    }
}

impl<A: Arms> Drop for Choosing<A> {
    fn drop(&mut self) {
        let arms = &self.arms;
        // SAFETY: these are the arms of `poll`, in the same order.
        unsafe { self.choice.leave(&mut self.turn, |turn| arms.arm(turn).turn(), |index| arms.arm(index)) };
    }
}
