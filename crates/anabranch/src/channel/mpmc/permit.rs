//! Room that is reserved for a value.

use super::{common::opaque, sender::Sender};
use crate::{
    channel::{
        Closed, ClosedError, PushError, ReserveError, ReserveTimeoutError, TryReserveError,
        mpmc::{shared::Channel, state::Offer},
    },
    cx::{
        Cx,
        attempt::{Attempt, wait_async_for, wait_within, wait_without_deadline},
        limit::timed,
    },
    wait::{queue::Entry, suspend::WaitReason, waitable::Waitable, waiter::Waiter},
};
use std::{cell::Cell, fmt};

/// The right to send one value without waiting. Made by [`Sender::reserve`]. Dropping it gives the room back.
#[must_use = "it keeps room that others wait for"]
pub struct Permit<'a, T> {
    channel: &'a Channel<T>,
}

impl<T> Sender<T> {
    /// Waits until there is room for a value, and reserves it: for values that are made only when they can be sent.
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed, `Cancelled` if the wait is cancelled.
    ///
    /// # Panics
    /// Panics on a rendezvous, which has no room to reserve.
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::bounded(1);
    /// anabranch::run(|cx| {
    ///     let permit = sender.reserve(cx).unwrap();
    ///     assert!(sender.try_send("no room").is_err());
    ///     permit.send("made late").unwrap();
    ///     assert_eq!(receiver.recv(cx), Ok("made late"));
    /// });
    /// ```
    #[track_caller]
    pub fn reserve(&self, cx: &Cx<'_>) -> Result<Permit<'_, T>, ReserveError> {
        let reason = WaitReason::new(&"Sender::reserve");
        cx.checkpoint()?;
        Ok(wait_without_deadline(cx, &self.reserving(), reason)??)
    }

    timed! {
        /// # Panics
        /// Panics on a rendezvous, which has no room to reserve.
        ///
        /// # Errors
        /// Returns `Closed` if the channel is closed, `Cancelled` if the wait is cancelled,
        reserve_deadline, reserve_timeout: like reserve, at "Sender::reserve"
        fn(&self, cx: &Cx<'_>) -> Result<Permit<'_, T>, ReserveTimeoutError>;
        |limit, reason| Ok(wait_within(cx, &self.reserving(), limit, reason)??);
    }

    /// Like [`reserve`](Self::reserve), for async code. A future that is dropped has reserved nothing.
    ///
    /// # Errors
    /// Returns an error if the channel is closed.
    ///
    /// # Panics
    /// Panics on a rendezvous, which has no room to reserve.
    pub async fn reserve_async(&self) -> Result<Permit<'_, T>, Closed> {
        wait_async_for(self.reserving()).await
    }

    /// Like [`reserve`](Self::reserve), without waiting.
    ///
    /// # Errors
    /// Returns `Full` if there is no room, `Closed` if the channel is closed.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TryReserveError> {
        self.channel.try_reserve()?;
        Ok(Permit { channel: &self.channel })
    }

    /// Returns the reservation as an operation, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    /// So a value is made only if its arm is chosen.
    ///
    /// # Panics
    /// Panics on a rendezvous, which has no room to reserve.
    ///
    /// ```
    /// use anabranch::{channel, select};
    ///
    /// let (sender, receiver) = channel::bounded(1);
    /// anabranch::run(|cx| {
    ///     let sent = select!(cx, {
    ///         permit = sender.reserving() => permit.unwrap().send("made late").is_ok(),
    ///         default => false,
    ///     });
    ///     assert_eq!((sent, receiver.recv(cx)), (Ok(true), Ok("made late")));
    /// });
    /// ```
    pub fn reserving(&self) -> Reserving<'_, T> {
        assert!(self.capacity() != Some(0), "there is no room in a rendezvous");
        let offer = Offer::new(None);
        Reserving {
            channel: &self.channel,
            entry: Entry::new(offer),
            has_permit: Cell::new(false),
            is_woken: Cell::new(false),
        }
    }
}

impl<T> Permit<'_, T> {
    /// Sends a value into the reserved room.
    ///
    /// # Errors
    /// Returns the value if the channel has been closed meanwhile.
    pub fn send(self, value: T) -> Result<(), ClosedError<T>> {
        let this = std::mem::ManuallyDrop::new(self);
        this.channel.send_reserved(value).map_err(ClosedError)
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.channel.unreserve();
    }
}

/// Reserving room, as an operation. Made by [`Sender::reserving`].
pub struct Reserving<'a, T> {
    channel: &'a Channel<T>,
    entry: Entry<Offer<T>>,
    has_permit: Cell<bool>,
    /// Woken for room, and has not looked for it.
    is_woken: Cell<bool>,
}

impl<'a, T> Attempt for Reserving<'a, T> {
    type Output = Result<Permit<'a, T>, Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        if self.has_permit.take() {
            return Some(Ok(Permit { channel: self.channel }));
        }
        let reserved = self.channel.try_reserve();
        self.pass_on();
        match reserved {
            Ok(()) => Some(Ok(Permit { channel: self.channel })),
            Err(PushError::Closed) => Some(Err(Closed)),
            Err(PushError::Full) => None,
        }
    }

    fn pass_on(&self) {
        if self.has_permit.take() {
            self.channel.unreserve();
        }
        if self.is_woken.take() {
            self.channel.call_next_sender();
        }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by a selection, both under the lock of the channel.
unsafe impl<T> Waitable for Reserving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the entry is in no queue. The caller keeps the waiter armed and alive, and this object in place,
        // until `unregister`.
        unsafe {
            self.entry.with(|offer| offer.is_taken = false);
            self.channel.register_sender(&self.entry, waiter, ticket)
        }
    }

    unsafe fn unregister(&self, is_selected: bool) {
        if is_selected {
            // SAFETY: the queue selected this wait, so the entry is no longer linked.
            let (is_taken, retries) = unsafe { self.entry.with(|offer| (offer.is_taken, offer.retries)) };
            self.has_permit.set(is_taken);
            self.is_woken.set(!is_taken && retries);
        } else {
            // SAFETY: the caller has registered here, and its wait has ended.
            unsafe { self.channel.unregister_sender(&self.entry) };
        }
    }
}

impl<T> Drop for Reserving<'_, T> {
    fn drop(&mut self) {
        self.pass_on();
    }
}

opaque!(Permit<'_>, Reserving<'_>);
