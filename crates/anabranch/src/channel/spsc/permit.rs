//! Reserved room in a stream.

use super::{reserving::Reserving, sender::Sender};
use crate::{
    channel::{
        Closed, ClosedError, ReserveError, ReserveTimeoutError, TryReserveError, spsc::stream::producer::Producer,
    },
    cx::{
        Cx,
        attempt::{wait_async_for, wait_within, wait_without_deadline},
        limit::timed,
    },
    wait::suspend::WaitReason,
};
use std::fmt;

/// The right to send one value without waiting. Made by [`Sender::reserve`].
#[must_use = "it is there to be used"]
pub struct Permit<'a, T> {
    pub(super) producer: &'a mut Producer<T>,
}

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
    pub fn reserve(&mut self, cx: &Cx<'_>) -> Result<Permit<'_, T>, ReserveError> {
        let reason = WaitReason::new(&"spsc::Sender::reserve");
        cx.checkpoint()?;
        wait_without_deadline(cx, &Reserving::new(&mut self.producer), reason)??;
        Ok(Permit { producer: &mut self.producer })
    }

    timed! {
        /// # Errors
        /// Returns `Closed` if the stream is closed, `Cancelled` if the wait is cancelled,
        reserve_deadline, reserve_timeout: like reserve, at "spsc::Sender::reserve"
        fn(&mut self, cx: &Cx<'_>) -> Result<Permit<'_, T>, ReserveTimeoutError>;
        |limit, reason| {
            wait_within(cx, &Reserving::new(&mut self.producer), limit, reason)??;
            Ok(Permit { producer: &mut self.producer })
        };
    }

    /// Like [`reserve`](Self::reserve), for async code. The future may be dropped at any time.
    ///
    /// # Errors
    /// Returns an error if the stream is closed.
    pub async fn reserve_async(&mut self) -> Result<Permit<'_, T>, Closed> {
        wait_async_for(Reserving::new(&mut self.producer)).await?;
        Ok(Permit { producer: &mut self.producer })
    }

    /// Like [`reserve`](Self::reserve), without waiting.
    ///
    /// # Errors
    /// Returns `Full` if there is no room, `Closed` if the stream is closed.
    pub fn try_reserve(&mut self) -> Result<Permit<'_, T>, TryReserveError> {
        self.producer.check()?;
        Ok(Permit { producer: &mut self.producer })
    }
}

impl<T> Permit<'_, T> {
    /// Sends a value into the reserved room.
    ///
    /// # Errors
    /// Returns the value if the stream has been closed meanwhile.
    pub fn send(self, value: T) -> Result<(), ClosedError<T>> {
        self.producer.push(value).map_err(|(_, value)| ClosedError(value))
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("spsc::Permit").finish_non_exhaustive()
    }
}
