//! Rounds: a queue of waiters whose waits all end at once, although the lock is released between two batches of
//! wake-ups.
//!
//! Each entry records the round in which it joined. The thread that ends a round begins the next round, and then takes
//! the entries of the old round off, a batch at a time. All entries join at the back, so they are in the order of
//! rounds, with the entries of the old round in front.

use crate::{
    sys::sync::{Mutex, lock},
    wait::{
        queue::{Entry, Queue, Wakes},
        waitable::{Armed, Ended},
        waiter::Wake,
    },
};

/// See the [module](self).
pub(crate) struct Rounds {
    queue: Queue<u64>,
    /// The number of the present round.
    number: u64,
}

impl Rounds {
    pub(crate) const fn new() -> Self {
        Self { queue: Queue::new(), number: 0 }
    }

    /// Returns the number of the present round.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn join(&mut self, entry: &Entry<u64>, mut armed: Armed) {
        entry.with_armed(&mut armed, |round| *round = self.number);
        self.queue.push_back(entry, armed);
    }

    /// Removes an entry. Returns `false` if it was taken off before.
    pub(crate) fn leave(&mut self, entry: &Entry<u64>, ended: Ended) -> bool {
        self.queue.remove(entry, ended)
    }

    /// Ends the wait of the first waiter that still waits, in any round.
    pub(crate) fn select_first(&mut self) -> Option<Wake> {
        self.queue.select_first(|_| ())
    }

    /// Ends the present round and returns its number. The caller continues with [`select_some`](Self::select_some).
    pub(crate) fn end(&mut self) -> u64 {
        let ended = self.number;
        self.number += 1;
        ended
    }

    /// Ends the waits of `round` and of earlier rounds, until `wakes` is full.
    pub(crate) fn select_some(&mut self, round: u64, wakes: &mut Wakes) {
        while !wakes.is_full()
            && let Some(&mut joined) = self.queue.first()
            && joined <= round
        {
            wakes.push(self.queue.select_head(|_| ()));
        }
    }
}

/// Wakes all waiters of a round that has ended: first those in `wakes`, then the others by `select_some`, which runs
/// under the lock.
pub(crate) fn wake_round<S>(mut wakes: Wakes, state: &Mutex<S>, mut select_some: impl FnMut(&mut S, &mut Wakes)) {
    loop {
        let is_full = wakes.is_full();
        wakes.wake_all();
        if !is_full {
            return;
        }
        wakes = Wakes::new();
        select_some(&mut lock(state), &mut wakes);
    }
}
