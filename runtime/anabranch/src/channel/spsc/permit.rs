//! Reserving room in a stream.

use super::{
    reserving::{Permit, Reserving},
    sender::Sender,
};
use crate::{
    channel::{SendError, TrySendError},
    cx::{Cx, attempt::wait_without_deadline},
    wait::suspend::WaitReason,
};

impl<T> Sender<T> {
    /// Waits until there is room for a value, and reserves it: for values that are made only when they can be sent.
    ///
    /// # Errors
    /// Returns `Closed` if the stream is closed, `Cancelled` if the wait is cancelled.
    ///
    /// ```
    /// use anabranch::channel::spsc;
    ///
    /// let (mut sender, mut receiver) = spsc::bounded(1);
    /// anabranch::run(|cx| {
    ///     let permit = sender.reserve(cx).unwrap();
    ///     permit.send("made late").unwrap();
    ///     assert_eq!(receiver.recv(cx), Ok("made late"));
    /// });
    /// ```
    #[track_caller]
    pub fn reserve(&mut self, cx: &Cx<'_>) -> Result<Permit<'_, T>, SendError<()>> {
        let reason = WaitReason::new(&"spsc::Sender::reserve");
        cx.checkpoint()?;
        Ok(wait_without_deadline(cx, &self.reserving(), reason)??)
    }

    /// Like [`reserve`](Self::reserve), without waiting.
    ///
    /// # Errors
    /// Returns `Full` if there is no room, `Closed` if the stream is closed.
    pub fn try_reserve(&mut self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.producer.check()?;
        Ok(Permit { producer: &mut self.producer })
    }

    /// Returns the reservation as an [operation](crate::Operation): for a wait with a time limit, for async code, on
    /// plain threads, and for [`select!`](crate::select).
    ///
    /// # Panics
    /// The operation panics if it is attempted again after it has completed, because the permit then owns the sender.
    ///
    /// ```
    /// use anabranch::{Operation, channel::spsc};
    /// use std::time::Duration;
    ///
    /// let (mut sender, mut receiver) = spsc::bounded(1);
    /// anabranch::run(|cx| {
    ///     let permit = sender.reserving().timeout(cx, Duration::from_secs(9)).unwrap().unwrap();
    ///     permit.send("made late").unwrap();
    ///     assert_eq!(receiver.recv(cx), Ok("made late"));
    /// });
    /// ```
    pub fn reserving(&mut self) -> Reserving<'_, T> {
        Reserving::new(&mut self.producer)
    }
}
