//! The wait for room for one value or several.

use crate::{
    channel::{
        Closed, PushError,
        mpmc::{shared::Channel, state::Offer},
    },
    cx::attempt::Attempt,
    wait::{
        queue::Entry,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::cell::Cell;

/// The wait for room. The output of its attempt stands for `count` permits.
pub(super) struct RoomWait<'a, T> {
    pub(super) channel: &'a Channel<T>,
    pub(super) count: u32,
    entry: Entry<Offer<T>>,
    has_permits: Cell<bool>,
    /// Woken for room, and has not looked for it.
    is_woken: Cell<bool>,
}

impl<'a, T> RoomWait<'a, T> {
    /// # Panics
    /// Panics if the channel never has so much room.
    pub(super) fn new(channel: &'a Channel<T>, count: u32) -> Self {
        let capacity = channel.capacity().unwrap_or(usize::MAX);
        assert!(capacity != 0 || count == 0, "there is no room in a rendezvous");
        assert!(capacity >= count as usize, "the channel has room for fewer values");
        let entry = Entry::new(Offer::permits(count));
        Self { channel, count, entry, has_permits: Cell::new(false), is_woken: Cell::new(false) }
    }
}

impl<T> Attempt for RoomWait<'_, T> {
    type Output = Result<(), Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        if self.has_permits.take() {
            return Some(Ok(()));
        }
        let reserved = self.channel.try_reserve(self.count);
        self.pass_on();
        match reserved {
            Ok(()) => Some(Ok(())),
            Err(PushError::Closed) => Some(Err(Closed)),
            Err(PushError::Full) => None,
        }
    }

    fn pass_on(&self) {
        if self.has_permits.take() {
            self.channel.unreserve(self.count);
        }
        if self.is_woken.take() {
            self.channel.call_next_sender();
        }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by a selection, both under the lock of the channel.
unsafe impl<T> Waitable for RoomWait<'_, T> {
    fn register(&self, mut armed: Armed) -> bool {
        self.entry.with_armed(&mut armed, |offer| (offer.is_taken, offer.missing) = (false, self.count));
        self.channel.register_sender(&self.entry, armed)
    }

    fn unregister(&self, ended: Ended) {
        let is_selected = ended.is_selected();
        if !is_selected {
            self.channel.unregister_sender(&self.entry, ended);
        }
        // SAFETY: the entry was removed just now, or the queue selected this wait. So it is no longer linked.
        let (is_taken, retries, missing) =
            unsafe { self.entry.with(|offer| (offer.is_taken, offer.retries, offer.missing)) };
        let is_given = is_selected && is_taken;
        self.has_permits.set(is_given);
        self.is_woken.set(is_selected && !is_taken && retries);
        // The room that was set aside, if the wait has ended without the last permit.
        if !is_given && missing < self.count {
            self.channel.unreserve(self.count - missing);
        }
    }
}

impl<T> Drop for RoomWait<'_, T> {
    fn drop(&mut self) {
        self.pass_on();
    }
}
