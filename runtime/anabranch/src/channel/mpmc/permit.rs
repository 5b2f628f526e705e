//! Room that is reserved for a value.

use super::{common::opaque, room_wait::RoomWait, sender::Sender};
use crate::{
    channel::{Closed, ClosedError, SendError, TrySendError, mpmc::shared::Channel},
    cx::{
        Cx,
        attempt::{Attempt, wait_without_deadline},
    },
    wait::{suspend::WaitReason, waitable::waits_by},
};
use std::fmt;

/// The right to send one value without waiting. Created by [`Sender::reserve`]. Dropping it gives the room back.
#[must_use = "it keeps room that others wait for"]
pub struct Permit<'a, T> {
    pub(super) channel: &'a Channel<T>,
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
    pub fn reserve(&self, cx: &Cx<'_>) -> Result<Permit<'_, T>, SendError<()>> {
        let reason = WaitReason::new(&"Sender::reserve");
        cx.checkpoint()?;
        Ok(wait_without_deadline(cx, &self.reserving(), reason)??)
    }

    /// Like [`reserve`](Self::reserve), without waiting.
    ///
    /// # Errors
    /// Returns `Full` if there is no room, `Closed` if the channel is closed.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.channel.try_reserve(1)?;
        Ok(Permit { channel: &self.channel })
    }

    /// Returns the reservation as an [operation](crate::Operation): for a wait with a time limit, for async code, on
    /// plain threads, for [`Select`](crate::channel::Select) and [`select!`](crate::select). So a selection makes a
    /// value only if its arm is chosen. A future that is dropped early has reserved nothing.
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
        Reserving { wait: RoomWait::new(&self.channel, 1) }
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
        self.channel.unreserve(1);
    }
}

/// Reserving room, as an operation. Created by [`Sender::reserving`].
pub struct Reserving<'a, T> {
    wait: RoomWait<'a, T>,
}

impl<'a, T> Attempt for Reserving<'a, T> {
    type Output = Result<Permit<'a, T>, Closed>;

    const NAME: &'static &'static str = &"Sender::reserve";

    fn attempt(&self) -> Option<Self::Output> {
        Some(self.wait.attempt()?.map(|()| Permit { channel: self.wait.channel }))
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

crate::cx::operation::into_future!(Reserving<'a, T>, ['a, T];);

waits_by!(wait: Reserving<'_, T>, [T]);

opaque!(Permit<'_>, Reserving<'_>);
