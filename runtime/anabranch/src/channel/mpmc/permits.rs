//! Room that is reserved for several values.

use super::{common::opaque, permit::Permit, room_wait::RoomWait, sender::Sender};
use crate::{
    channel::{Closed, PushError, SendError, TrySendError, mpmc::shared::Channel},
    cx::{
        Cx,
        attempt::{Attempt, wait_without_deadline},
    },
    wait::{suspend::WaitReason, waitable::waits_by},
};
use std::{fmt, iter::FusedIterator};

/// An iterator over the permits that [`Sender::reserve_many`] has reserved. Dropping it gives the remaining room back.
#[must_use = "it keeps room that others wait for"]
pub struct Permits<'a, T> {
    channel: &'a Channel<T>,
    count: u32,
}

impl<T> Sender<T> {
    /// Waits until there is room for `count` values, and reserves it. Room that becomes free is set aside until it is
    /// enough, so smaller requests cannot starve this request.
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed, `Cancelled` if the wait is cancelled. Nothing is reserved then.
    ///
    /// # Panics
    /// Panics if `count` is more than the capacity, or than a `u32` holds.
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::bounded(3);
    /// anabranch::run(|cx| {
    ///     for (permit, letter) in sender.reserve_many(cx, 2).unwrap().zip(["a", "b"]) {
    ///         permit.send(letter).unwrap();
    ///     }
    ///     assert_eq!(receiver.drain().collect::<String>(), "ab");
    /// });
    /// ```
    #[track_caller]
    pub fn reserve_many(&self, cx: &Cx<'_>, count: usize) -> Result<Permits<'_, T>, SendError<()>> {
        let reason = WaitReason::new(&"Sender::reserve_many");
        cx.checkpoint()?;
        Ok(wait_without_deadline(cx, &self.reserving_many(count), reason)??)
    }

    /// Like [`reserve_many`](Self::reserve_many), without waiting.
    ///
    /// # Errors
    /// Returns `Full` if there is too little room, `Closed` if the channel is closed.
    ///
    /// ```
    /// use anabranch::channel::{TrySendError, bounded};
    ///
    /// let (sender, _receiver) = bounded::<u32>(3);
    /// let permits = sender.try_reserve_many(2).unwrap();
    /// assert_eq!(sender.try_reserve_many(2).err(), Some(TrySendError::Full(())));
    /// drop(permits);
    /// assert!(sender.try_reserve_many(3).is_ok());
    /// ```
    pub fn try_reserve_many(&self, count: usize) -> Result<Permits<'_, T>, TrySendError<()>> {
        // No channel has room for more: see `State::permits`.
        let count = u32::try_from(count).map_err(|_| PushError::Full)?;
        self.channel.try_reserve(count)?;
        Ok(Permits { channel: &self.channel, count })
    }

    /// Returns the reservation as an [operation](crate::Operation): for a wait with a time limit, for async code, on
    /// plain threads, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    ///
    /// # Panics
    /// Panics if `count` is more than the capacity, or than a `u32` holds.
    pub fn reserving_many(&self, count: usize) -> ReservingMany<'_, T> {
        let count = u32::try_from(count).expect("a count that a `u32` holds");
        ReservingMany { wait: RoomWait::new(&self.channel, count) }
    }
}

impl<'a, T> Iterator for Permits<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.count = self.count.checked_sub(1)?;
        Some(Permit { channel: self.channel })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl<T> ExactSizeIterator for Permits<'_, T> {}
impl<T> FusedIterator for Permits<'_, T> {}

impl<T> Drop for Permits<'_, T> {
    fn drop(&mut self) {
        if self.count > 0 {
            self.channel.unreserve(self.count);
        }
    }
}

/// Reserving room for several values, as an operation. Created by [`Sender::reserving_many`].
pub struct ReservingMany<'a, T> {
    wait: RoomWait<'a, T>,
}

impl<'a, T> Attempt for ReservingMany<'a, T> {
    type Output = Result<Permits<'a, T>, Closed>;

    const NAME: &'static &'static str = &"Sender::reserve_many";

    fn attempt(&self) -> Option<Self::Output> {
        let RoomWait { channel, count, .. } = self.wait;
        Some(self.wait.attempt()?.map(|()| Permits { channel, count }))
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

crate::cx::operation::into_future!(ReservingMany<'a, T>, ['a, T];);

waits_by!(wait: ReservingMany<'_, T>, [T]);

opaque!(Permits<'_>, ReservingMany<'_>);
