//! Attempting and waiting, independent of how the operations are stored.

use crate::{
    cx::Cx,
    time::NEVER,
    wait::{
        WaitError,
        future::{AsyncTurn, poll_counted},
        suspend::WaitReason,
        waitable::Waitable,
        waiter::Selected,
    },
};
use std::{
    cell::Cell,
    task::{Context, Poll, ready},
};

/// A number of operations, and the order in which they are attempted: their own, or at random.
///
/// A random order is a shuffle that continues as far as the attempts do (Fisher and Yates). So of the operations that
/// can be done each is equally likely, at any index. The shuffle permutes the indices in the cells of `order`, which
/// are a permutation from the beginning: each run makes a new one from the last.
pub(super) struct Choice {
    count: usize,
    is_biased: bool,
    /// An operation that ended a wait and then could not be done. It may have been given something.
    pub(super) late: Cell<Option<usize>>,
}

/// The deadlines of a selection.
#[derive(Clone, Copy)]
pub(super) struct Deadlines {
    /// When one of the operations becomes ready by time alone.
    pub(super) operations: u64,
    /// When the selection gives up.
    pub(super) own: u64,
}

impl Deadlines {
    /// Takes the earliest deadline of the operations.
    pub(super) fn of(operations: impl Iterator<Item = u64>) -> Self {
        Self { operations: operations.min().unwrap_or(NEVER), own: NEVER }
    }
}

impl Choice {
    pub(super) fn new(count: usize, is_biased: bool) -> Self {
        Self { count, is_biased, late: Cell::new(None) }
    }

    /// Attempts the operations until one succeeds. Returns its index.
    pub(super) fn try_one<'o>(
        &self,
        order: impl Fn(usize) -> &'o Cell<u32>,
        attempt: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if self.is_biased {
            return (0..self.count).find(|&index| attempt(index));
        }
        let mut dice = Dice::new();
        (0..self.count).find_map(|turn| {
            let chosen = turn + dice.below(self.count - turn);
            order(turn).swap(order(chosen));
            let index = order(turn).get() as usize;
            attempt(index).then_some(index)
        })
    }

    /// Returns the index of the operation that is registered as number `turn`: they are registered at random, too.
    fn at<'o>(&self, turn: usize, order: impl Fn(usize) -> &'o Cell<u32>) -> usize {
        if self.is_biased { turn } else { order(turn).get() as usize }
    }

    /// Attempts the operation that ended the wait.
    fn try_this(&self, index: usize, attempt: impl Fn(usize) -> bool) -> bool {
        let is_done = attempt(index);
        if !is_done {
            self.late.set(Some(index));
        }
        is_done
    }

    /// Attempts and waits until an operation succeeds. Returns its index.
    pub(super) fn do_one<'p, 'o, P: Waitable + ?Sized + 'p>(
        &self,
        cx: &Cx<'_>,
        deadlines: Deadlines,
        reason: WaitReason,
        order: impl Fn(usize) -> &'o Cell<u32>,
        waitable: impl Fn(usize) -> &'p P,
        attempt: impl Fn(usize) -> bool,
    ) -> Result<usize, WaitError> {
        let until = deadlines.operations.min(deadlines.own);
        loop {
            if let Some(index) = self.try_one(&order, &attempt) {
                return Ok(index);
            }
            match cx.wait_any(self.count, |turn| waitable(self.at(turn, &order)), until, reason) {
                Selected::Cancelled => return Err(WaitError::Cancelled),
                Selected::TimedOut if deadlines.own <= deadlines.operations => {
                    return self.try_one(&order, &attempt).ok_or(WaitError::TimedOut);
                }
                // The operation with the deadline can be done now.
                Selected::TimedOut => {}
                Selected::Ready(turn) => {
                    let index = self.at(turn as usize, &order);
                    if self.try_this(index, &attempt) {
                        return Ok(index);
                    }
                    // A future may wake itself again and again, for what another fiber of this thread does.
                    cx.checkpoint()?;
                }
            }
        }
    }

    /// Like [`do_one`](Self::do_one), in async code.
    ///
    /// # Safety
    /// The contract of [`AsyncTurn::poll`] holds, and the order does not change while the wait lasts.
    pub(super) unsafe fn poll_one<'p, 'o, P: Waitable + ?Sized + 'p>(
        &self,
        turn: &mut AsyncTurn,
        order: impl Fn(usize) -> &'o Cell<u32>,
        waitable: impl Fn(usize) -> &'p P,
        attempt: impl Fn(usize) -> bool,
        context: &mut Context<'_>,
    ) -> Poll<usize> {
        poll_counted(context, |context| {
            loop {
                if !turn.is_waiting()
                    && let Some(index) = self.try_one(&order, &attempt)
                {
                    return Poll::Ready(index);
                }
                // SAFETY: the caller upholds the contract of `AsyncTurn::poll`: the waitables stay in place while the
                // wait lasts.
                let selected = unsafe { turn.poll(self.count, |turn| waitable(self.at(turn, &order)), context) };
                let index = self.at(ready!(selected), &order);
                if self.try_this(index, &attempt) {
                    return Poll::Ready(index);
                }
            }
        })
    }

    /// Ends the wait of [`poll_one`](Self::poll_one), if there is one: see [`AsyncTurn::leave`].
    ///
    /// # Safety
    /// The waitables are those of the last `poll_one`, in the same order.
    pub(super) unsafe fn leave<'p, 'o, P: Waitable + ?Sized + 'p>(
        &self,
        turn: &mut AsyncTurn,
        order: impl Fn(usize) -> &'o Cell<u32>,
        waitable: impl Fn(usize) -> &'p P,
    ) -> Option<usize> {
        // SAFETY: the caller passes the waitables of the last `poll_one`, in the same order.
        let selected = unsafe { turn.leave(|turn| waitable(self.at(turn, &order))) };
        selected.map(|turn| self.at(turn, &order))
    }
}

/// A pseudo-random generator, by Marsaglia's xorshift.
///
/// The rest of a draw is used for the next one: a number below `n` uses up as much of it as `n` has bits. The first
/// eight draws of a shuffle of up to eleven use up 27 of 32 bits.
struct Dice {
    rest: u32,
    /// How many more draws the rest is good for.
    left: u32,
}

/// How many draws one step of the generator yields.
#[cfg(not(any(loom, shuttle)))]
const DRAWS: u32 = 8;

impl Dice {
    fn new() -> Self {
        Self { rest: 0, left: 0 }
    }

    #[cfg(not(any(loom, shuttle)))]
    #[inline]
    fn below(&mut self, count: usize) -> usize {
        if self.left == 0 {
            self.throw();
        }
        self.left -= 1;
        let wide = u64::from(self.rest) * count as u64;
        self.rest = wide as u32;
        (wide >> 32) as usize
    }

    #[cfg(not(any(loom, shuttle)))]
    #[inline]
    fn throw(&mut self) {
        thread_local!(static STATE: Cell<u32> = const { Cell::new(0x9E37_79B9) });
        let mut state = STATE.get();
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        STATE.set(state);
        *self = Self { rest: state, left: DRAWS };
    }

    /// Returns zero in a model, whose executions have to be the same each time.
    #[cfg(loom)]
    fn below(&mut self, _: usize) -> usize {
        let _ = (self.rest, self.left);
        0
    }

    #[cfg(shuttle)]
    fn below(&mut self, count: usize) -> usize {
        let _ = (self.rest, self.left);
        crate::sys::chance::up_to(count) - 1
    }
}
