//! Reserved room that owns its sender.

use super::{permit::Permit, sender::Sender};
use crate::{
    channel::{Closed, ClosedError, SendError, TrySendError},
    cx::Cx,
};
use std::{fmt, mem};

/// The right to send one value without waiting, together with the sender. Created by [`Sender::reserve_owned`]. Unlike
/// a [`Permit`] it can be stored and sent to another fiber. Dropping it gives the room back.
#[must_use = "it keeps room that others wait for"]
pub struct OwnedPermit<T> {
    /// `None` once the room was used or given back.
    sender: Option<Sender<T>>,
}

impl<T> Sender<T> {
    /// Like [`reserve`](Self::reserve), for a permit that owns the sender. Clone the sender to keep one. For a time
    /// limit use [`Cx::timeout`].
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed, `Cancelled` if the wait is cancelled. The sender is dropped then.
    ///
    /// # Panics
    /// Panics on a rendezvous, which has no room to reserve.
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::bounded(1);
    /// anabranch::run(|cx| {
    ///     let permit = sender.reserve_owned(cx).unwrap();
    ///     let sending = anabranch::spawn(move |_| permit.send("from another fiber").is_ok());
    ///     assert_eq!(receiver.recv(cx), Ok("from another fiber"));
    ///     assert!(sending.join(cx).unwrap());
    /// });
    /// ```
    #[track_caller]
    pub fn reserve_owned(self, cx: &Cx<'_>) -> Result<OwnedPermit<T>, SendError<()>> {
        keep(self.reserve(cx)?);
        Ok(OwnedPermit { sender: Some(self) })
    }

    /// Like [`reserve_owned`](Self::reserve_owned), for async code. A future that is dropped has reserved nothing.
    ///
    /// # Errors
    /// Returns an error if the channel is closed.
    ///
    /// # Panics
    /// Panics on a rendezvous, which has no room to reserve.
    pub async fn reserve_owned_async(self) -> Result<OwnedPermit<T>, Closed> {
        keep(self.reserving().await?);
        Ok(OwnedPermit { sender: Some(self) })
    }

    /// Like [`reserve_owned`](Self::reserve_owned), without waiting.
    ///
    /// # Errors
    /// Returns the sender, and `Full` if there is no room, `Closed` if the channel is closed.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, (Self, TrySendError<()>)> {
        match self.try_reserve().map(keep) {
            Ok(()) => Ok(OwnedPermit { sender: Some(self) }),
            Err(error) => Err((self, error)),
        }
    }
}

/// Keeps the room of a permit that is not used.
fn keep<T>(permit: Permit<'_, T>) {
    mem::forget(permit);
}

impl<T> OwnedPermit<T> {
    /// Sends a value into the reserved room. Returns the sender.
    ///
    /// # Errors
    /// Returns the value if the channel has been closed meanwhile.
    pub fn send(mut self, value: T) -> Result<Sender<T>, ClosedError<T>> {
        let sender = self.sender.take().expect("the room was not used");
        sender.channel.send_reserved(value).map_err(ClosedError)?;
        Ok(sender)
    }

    /// Gives the room back. Returns the sender.
    pub fn release(mut self) -> Sender<T> {
        let sender = self.sender.take().expect("the room was not used");
        sender.channel.unreserve(1);
        sender
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            sender.channel.unreserve(1);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
