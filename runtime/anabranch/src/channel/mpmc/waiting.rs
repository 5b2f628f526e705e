//! Registering at the queues of waiters, and leaving them. The [channel](super::shared) explains the queues.

use super::{
    shared::{Channel, Locked},
    state::{Offer, Target, Wakes, wake},
};
use crate::{
    channel::closing::CloseQueue,
    wait::{queue::Entry, waiter::Waiter},
};

impl<T> Channel<T> {
    /// # Safety
    /// The contract of [`Waitable::register`](crate::wait::waitable::Waitable::register) holds, with an entry of the
    /// waitable.
    pub(crate) unsafe fn register_sender(&self, entry: &Entry<Offer<T>>, waiter: *const Waiter, ticket: u32) -> bool {
        let mut state = self.lock();
        let has_receiver = self.capacity == 0 && state.receivers.has_other_than(waiter);
        // SAFETY: the entry is in no queue, and the waiter alive. One that wants several permits is handed them.
        let missing = unsafe {
            entry.with(|offer| {
                offer.retries = offer.missing == 1 && (*waiter).retries();
                offer.missing as usize
            })
        };
        if state.is_closed || state.room(self.capacity) >= missing || has_receiver {
            return false;
        }
        // SAFETY: the entry is in no queue. The caller keeps the waiter armed and alive, and the entry in place, until
        // it is taken off or removed.
        unsafe { state.senders.push_back(entry, waiter, ticket) };
        // Sets aside what room there is. That is too little for this sender, so its wait does not end here.
        let wakes = if missing > 1 { state.refill(self.capacity) } else { Wakes::default() };
        let listener = state.listeners.as_mut().and_then(|listeners| listeners.select_other_than(waiter));
        drop(state);
        wakes.wake();
        wake(listener);
        true
    }

    /// # Safety
    /// The contract of [`Waitable::unregister`](crate::wait::waitable::Waitable::unregister) holds, and the wait was
    /// not selected from here.
    pub(crate) unsafe fn unregister_sender(&self, entry: &Entry<Offer<T>>) {
        // SAFETY: the caller promises that the entry is in this queue, or was taken off it.
        unsafe { self.lock().senders.remove(entry) };
    }

    /// Registers a waiter for the closing of the channel.
    ///
    /// # Safety
    /// The contract of [`Waitable::register`](crate::wait::waitable::Waitable::register) holds, with an entry of the
    /// waitable.
    pub(crate) unsafe fn register_closing(&self, entry: &Entry<()>, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and the entry in place, until it is taken off or
        // removed.
        unsafe {
            CloseQueue::register(
                &self.state,
                |state| &mut state.closing,
                |state| state.is_closed,
                entry,
                waiter,
                ticket,
            )
        }
    }

    /// # Safety
    /// The entry was registered by [`register_closing`](Self::register_closing).
    pub(crate) unsafe fn unregister_closing(&self, entry: &Entry<()>) {
        // SAFETY: the caller promises that the entry was registered here.
        unsafe { self.lock().closing.remove(entry) };
    }

    /// # Safety
    /// The contract of [`register_sender`](Self::register_sender) holds.
    pub(crate) unsafe fn register_receiver(
        &self,
        entry: &Entry<Target<T>>,
        waiter: *const Waiter,
        ticket: u32,
    ) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and the entry in place, until it is taken off or
        // removed.
        unsafe { self.enqueue(self.lock(), entry, waiter, ticket) }
    }

    /// Like [`register_receiver`](Self::register_receiver), for a persistent waiter, which is in no scope and needs no
    /// update.
    ///
    /// # Safety
    /// The contract of [`register_receiver`](Self::register_receiver) holds.
    pub(crate) unsafe fn register_persistent(&self, entry: &Entry<Target<T>>, waiter: *const Waiter) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and the entry in place, until it is taken off or
        // removed.
        unsafe { self.enqueue(self.lock(), entry, waiter, 0) }
    }

    #[inline]
    unsafe fn enqueue(
        &self,
        mut state: Locked<'_, T>,
        entry: &Entry<Target<T>>,
        waiter: *const Waiter,
        ticket: u32,
    ) -> bool {
        if !state.is_bare() || self.capacity == 0 && state.senders.has_other_than(waiter) {
            return false;
        }
        // SAFETY: the caller keeps the waiter armed, so alive, and the entry in place, until it is taken off or
        // removed.
        unsafe { state.queue_of(waiter).push_back(entry, waiter, ticket) };
        true
    }

    /// Removes an entry. Returns `false` if it is not in the queue, or no longer.
    ///
    /// # Safety
    /// If the entry was registered, then with this channel.
    pub(crate) unsafe fn unregister_receiver(&self, entry: &Entry<Target<T>>) -> bool {
        let mut state = self.lock();
        // SAFETY: the lock is held. The entry is in the queue of its waiter, which is alive while the entry is linked,
        // or in none.
        unsafe {
            let Some(waiter) = entry.waiter() else { return false };
            state.queue_of(waiter).remove(entry)
        }
    }
}
