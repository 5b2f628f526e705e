//! Room that is kept for a value.

use super::common::opaque;
use crate::{
    channel::{
        Closed, Refused,
        shared::{Channel, Offer, Stuck},
    },
    wait::{attempt::Attempt, place::Place, queue::Entry, waiter::Waiter},
};
use std::{cell::Cell, fmt};

/// The right to send one value without waiting. Made by [`Sender::reserve`]; dropping it gives the room back.
#[must_use = "it keeps room that others wait for"]
pub struct Permit<'a, T> {
    pub(super) channel: &'a Channel<T>,
}

impl<T> Permit<'_, T> {
    /// Sends a value into the room that was kept.
    ///
    /// # Errors
    /// When the channel has been closed meanwhile; the value comes back.
    pub fn send(self, value: T) -> Result<(), Refused<T>> {
        let this = std::mem::ManuallyDrop::new(self);
        this.channel.send_reserved(value).map_err(Refused)
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.channel.unreserve();
    }
}

/// Waiting for room to be kept.
pub(super) struct Reserving<'a, T> {
    pub(super) channel: &'a Channel<T>,
    pub(super) entry: Entry<Offer<T>>,
    pub(super) has_permit: Cell<bool>,
}

impl<T> Attempt for Reserving<'_, T> {
    type Output = Result<(), Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        if self.has_permit.take() {
            return Some(Ok(()));
        }
        match self.channel.try_reserve() {
            Ok(()) => Some(Ok(())),
            Err(Stuck::Closed) => Some(Err(Closed)),
            Err(Stuck::Full) => None,
        }
    }

    fn pass_on(&self) {
        if self.has_permit.take() {
            self.channel.unreserve();
        }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or decided, under the lock of the channel.
unsafe impl<T> Place for Reserving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: not in the queue; the rest is the caller's word.
        unsafe {
            self.entry.with(|offer| offer.is_taken = false);
            self.channel.register_sender(&self.entry, waiter, ticket)
        }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if has_decided {
            // SAFETY: decided from the queue.
            self.has_permit.set(unsafe { self.entry.with(|offer| offer.is_taken) });
        } else {
            // SAFETY: the caller's word.
            unsafe { self.channel.unregister_sender(&self.entry) };
        }
    }
}

impl<T> Drop for Reserving<'_, T> {
    fn drop(&mut self) {
        self.pass_on();
    }
}

opaque!(Permit<'_>);
