//! Attempting and waiting, whatever the operations are kept in.

use crate::{
    time::NEVER,
    wait::{
        Cx, WaitError,
        attempt::Attempt,
        future::{AsyncTurn, circle, poll_pause},
        place::Place,
        strand::Reason,
        waiter::Outcome,
    },
};
use std::{
    cell::Cell,
    task::{Context, Poll, ready},
};

/// Something that can be waited for together with others: by [`select!`](crate::select) and by [`Select`](crate::channel::Select).
///
/// Made by `receiving` and `sending` of the ends of channels, by [`Cx::sleeping`] and
/// [`sleep_async`](crate::sleep_async), by [`Trigger::waiting`](crate::wait::Trigger::waiting), and by what there is in
/// [`sync`](crate::sync) to be locked, acquired or waited for. It is sealed: what else is to be waited for is best built on a
/// channel or a trigger.
#[allow(private_bounds, reason = "sealed")]
pub trait Operation: Attempt<Output = <Self as Operation>::Done> {
    /// What there is when it is done.
    type Done;
}

impl<A: Attempt> Operation for A {
    type Done = A::Output;
}

/// So many operations, and with which of them it begins.
pub(super) struct Circle {
    count: usize,
    first: usize,
    /// One that has ended a wait, and then could not be done. It may have been given something.
    pub(super) late: Cell<Option<usize>>,
}

/// How long a selection goes on.
#[derive(Clone, Copy)]
pub(super) struct Deadlines {
    /// When one of the operations can be done by the time alone.
    pub(super) operations: u64,
    /// When the selection is given up.
    pub(super) own: u64,
}

impl Deadlines {
    /// With those of the operations.
    pub(super) fn of(operations: impl Iterator<Item = u64>) -> Self {
        Self { operations: operations.min().unwrap_or(NEVER), own: NEVER }
    }
}

impl Circle {
    pub(super) fn new(count: usize, first: usize) -> Self {
        Self { count, first, late: Cell::new(None) }
    }

    /// The first that succeeds.
    pub(super) fn try_one(&self, attempt: impl Fn(usize) -> bool) -> Option<usize> {
        circle(self.count, self.first).find(|&index| attempt(index))
    }

    /// The attempt of one that has ended the wait.
    fn try_this(&self, index: usize, attempt: impl Fn(usize) -> bool) -> bool {
        let is_done = attempt(index);
        if !is_done {
            self.late.set(Some(index));
        }
        is_done
    }

    /// Attempts and waits until one succeeds: which.
    pub(super) fn do_one<'p, P: Place + ?Sized + 'p>(
        &self,
        cx: &Cx<'_>,
        deadlines: Deadlines,
        reason: Reason,
        place: impl Fn(usize) -> &'p P,
        attempt: impl Fn(usize) -> bool,
    ) -> Result<usize, WaitError> {
        let until = deadlines.operations.min(deadlines.own);
        loop {
            if let Some(index) = self.try_one(&attempt) {
                return Ok(index);
            }
            match cx.wait_any(self.count, &place, self.first, until, reason) {
                Outcome::Cancelled => return Err(WaitError::Cancelled),
                Outcome::TimedOut if deadlines.own <= deadlines.operations => {
                    return self.try_one(&attempt).ok_or(WaitError::TimedOut);
                }
                // The one that has the deadline can be done now.
                Outcome::TimedOut => {}
                Outcome::Ready(index) => {
                    if self.try_this(index as usize, &attempt) {
                        return Ok(index as usize);
                    }
                }
            }
        }
    }

    /// As [`do_one`](Self::do_one), in async code.
    ///
    /// # Safety
    /// As for [`AsyncTurn::poll`].
    pub(super) unsafe fn poll_one<'p, P: Place + ?Sized + 'p>(
        &self,
        turn: &mut AsyncTurn,
        place: impl Fn(usize) -> &'p P,
        attempt: impl Fn(usize) -> bool,
        context: &mut Context<'_>,
    ) -> Poll<usize> {
        if !turn.is_waiting() {
            ready!(poll_pause(context));
        }
        loop {
            if !turn.is_waiting()
                && let Some(index) = self.try_one(&attempt)
            {
                return Poll::Ready(index);
            }
            // SAFETY: the caller's word.
            let index = ready!(unsafe { turn.poll(self.count, self.first, &place, context) });
            if self.try_this(index, &attempt) {
                return Poll::Ready(index);
            }
        }
    }
}

/// A number that is hard to foretell, by Marsaglia's xorshift. In a model, whose executions are to be the same each time, zero.
#[cfg(not(shuttle))]
pub(super) fn random_below(count: usize) -> usize {
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

#[cfg(shuttle)]
pub(super) fn random_below(count: usize) -> usize {
    crate::sys::chance::up_to(count) - 1
}
