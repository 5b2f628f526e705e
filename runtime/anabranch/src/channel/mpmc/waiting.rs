//! Registering at the queues of waiters, and leaving them. The [channel](super::shared) explains the queues.

use super::{
    shared::Channel,
    state::{Offer, Target, Wakes, wake},
};
use crate::{
    channel::closing::CloseQueue,
    wait::{
        queue::Entry,
        waitable::{Armed, Ended},
    },
};

impl<T> Channel<T> {
    pub(crate) fn register_sender(&self, entry: &Entry<Offer<T>>, mut armed: Armed) -> bool {
        let waiter = armed.address();
        let retries = armed.waiter().retries();
        let mut state = self.lock();
        let has_receiver = self.capacity == 0 && state.receivers.has_other_than(waiter);
        // A sender that wants several permits is handed them.
        let missing = entry.with_armed(&mut armed, |offer| {
            offer.retries = offer.missing == 1 && retries;
            offer.missing as usize
        });
        if state.is_closed || state.room(self.capacity) >= missing || has_receiver {
            return false;
        }
        state.senders.push_back(entry, armed);
        // Sets aside what room there is. That is too little for this sender, so its wait does not end here.
        let wakes = if missing > 1 { state.refill(self.capacity) } else { Wakes::default() };
        let listener = state.listeners.as_mut().and_then(|listeners| listeners.select_other_than(waiter));
        drop(state);
        wakes.wake();
        wake(listener);
        true
    }

    pub(crate) fn unregister_sender(&self, entry: &Entry<Offer<T>>, ended: Ended) {
        self.lock().senders.remove(entry, ended);
    }

    /// Registers a waiter for the closing of the channel.
    pub(crate) fn register_closing(&self, entry: &Entry<()>, armed: Armed) -> bool {
        CloseQueue::register(&self.state, |state| &mut state.closing, |state| state.is_closed, entry, armed)
    }

    pub(crate) fn unregister_closing(&self, entry: &Entry<()>, ended: Ended) {
        self.lock().closing.remove(entry, ended);
    }

    pub(crate) fn register_receiver(&self, entry: &Entry<Target<T>>, armed: Armed) -> bool {
        let mut state = self.lock();
        if !state.is_bare() || self.capacity == 0 && state.senders.has_other_than(armed.address()) {
            return false;
        }
        state.queue_of(armed.waiter()).push_back(entry, armed);
        true
    }

    /// Removes an entry. Returns `false` if it is not in the queue, or no longer.
    pub(crate) fn unregister_receiver(&self, entry: &Entry<Target<T>>, ended: Ended) -> bool {
        let mut state = self.lock();
        // SAFETY: the lock is held. While the entry is linked, its waiter is alive.
        let Some(waiter) = (unsafe { entry.waiter() }) else { return false };
        state.queue_of(waiter).remove(entry, ended)
    }
}
