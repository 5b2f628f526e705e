//! Rounds: a queue of waiters whose waits all end at once, though the lock is let go between two batches of wake-ups.
//!
//! Each entry says in which round it joined. Who ends a round begins the next, and then takes off the entries of the
//! old one, a batch at a time. As all join at the back they are in the order of rounds, so those of the old one are in
//! front.

use crate::{
    sys::sync::{Mutex, lock},
    wait::{
        queue::{Entry, Queue, Wakes},
        waiter::{Waiter, Wake},
    },
};

/// See the [module](self).
pub(crate) struct Rounds {
    queue: Queue<u64>,
    /// The present one.
    number: u64,
}

impl Rounds {
    pub(crate) const fn new() -> Self {
        Self { queue: Queue::new(), number: 0 }
    }

    /// The present round.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// # Safety
    /// As for [`Queue::push_back`]; the caller is who waits with this entry.
    pub(crate) unsafe fn join(&mut self, entry: &Entry<u64>, waiter: *const Waiter, ticket: u32) {
        // SAFETY: the caller's word.
        unsafe {
            entry.with(|round| *round = self.number);
            self.queue.push_back(entry, waiter, ticket);
        }
    }

    /// Takes an entry out. `false`: it was taken off before.
    ///
    /// # Safety
    /// The entry joined this queue.
    pub(crate) unsafe fn leave(&mut self, entry: &Entry<u64>) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.queue.remove(entry) }
    }

    /// Ends the wait of the first whose wait goes on, whichever its round.
    pub(crate) fn decide_first(&mut self) -> Option<Wake> {
        self.queue.decide_first(|_| ())
    }

    /// The present round is over. The caller goes on with [`decide_some`](Self::decide_some).
    pub(crate) fn end(&mut self) -> u64 {
        let ended = self.number;
        self.number += 1;
        ended
    }

    /// Ends the waits of `round` and of those before, as long as there is room in `wakes`.
    pub(crate) fn decide_some(&mut self, round: u64, wakes: &mut Wakes) {
        while !wakes.is_full()
            && let Some(&mut joined) = self.queue.first()
            && joined <= round
        {
            wakes.push(self.queue.decide_head(|_| ()));
        }
    }
}

/// Wakes all who wait in a round that has ended: those in `wakes`, then the others, by `decide_some`, under the lock
/// again.
pub(crate) fn wake_round<S>(mut wakes: Wakes, state: &Mutex<S>, mut decide_some: impl FnMut(&mut S, &mut Wakes)) {
    loop {
        let is_full = wakes.is_full();
        wakes.wake_all();
        if !is_full {
            return;
        }
        wakes = Wakes::new();
        decide_some(&mut lock(state), &mut wakes);
    }
}
