//! The sending ends.

use super::{Log, receiver::Receiver};
use crate::{
    channel::{
        ClosedError,
        versioned::{Versioned, alone},
    },
    sys::sync::Arc,
};
use std::fmt;

/// The sending end of a broadcast channel; may be cloned.
pub struct Sender<T> {
    pub(super) versioned: Arc<Versioned<Log<T>>>,
}

/// A [`Sender`] that does not keep the channel open. Created by [`Sender::downgrade`].
pub struct WeakSender<T> {
    pub(super) versioned: Arc<Versioned<Log<T>>>,
}

impl<T> Sender<T> {
    /// Sends a value to all receivers, and wakes those that wait. Never waits. Allocates once, whatever the number of
    /// receivers.
    ///
    /// # Errors
    /// Returns the value if there is no receiver or the channel is closed.
    pub fn send(&self, value: T) -> Result<(), ClosedError<T>> {
        let oldest = self.versioned.publish(Arc::new(value), |log, value| {
            log.values.push_back(value);
            if log.values.len() > log.capacity { log.values.pop_front() } else { None }
        });
        match oldest {
            // The oldest value is dropped here, when nothing is locked.
            Ok(_oldest) => Ok(()),
            Err(value) => Err(ClosedError(alone(value))),
        }
    }

    /// Creates another receiver, for the values sent from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        self.versioned.add_receiver();
        let next = self.versioned.look(|state| state.version);
        Receiver { versioned: Arc::clone(&self.versioned), next, missed: 0 }
    }

    /// Returns whether sending would fail: there is no receiver now, or the channel is closed.
    ///
    /// ```
    /// let (sender, mut receiver) = anabranch::channel::broadcast::channel(4);
    /// sender.send(1).unwrap();
    /// sender.close();
    /// assert!(sender.is_closed() && sender.send(2).is_err());
    /// assert!(receiver.drain().map(|n| *n.unwrap()).eq([1]));
    /// ```
    pub fn is_closed(&self) -> bool {
        self.versioned.is_refusing()
    }

    /// Returns how many values are kept for slow receivers.
    pub fn capacity(&self) -> usize {
        self.versioned.look(|state| state.content.capacity)
    }

    /// Closes the channel: values sent before can still be received, and nothing can be sent any more.
    ///
    /// Receivers cannot close it, because other receivers use it too.
    pub fn close(&self) {
        self.versioned.close();
    }

    /// Returns the number of senders, without weak ones.
    pub fn sender_count(&self) -> usize {
        self.versioned.sender_count()
    }

    /// Returns the number of receivers.
    pub fn receiver_count(&self) -> usize {
        self.versioned.receiver_count()
    }

    /// Returns whether a receiver would receive what is sent now.
    pub fn has_receivers(&self) -> bool {
        self.versioned.has_receivers()
    }

    /// Returns a sender that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { versioned: Arc::clone(&self.versioned) }
    }

    /// Returns whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.versioned, &other.versioned)
    }

    /// Returns whether `receiver` receives from this channel.
    pub fn is_to(&self, receiver: &Receiver<T>) -> bool {
        Arc::ptr_eq(&self.versioned, &receiver.versioned)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.versioned.add_sender();
        Self { versioned: Arc::clone(&self.versioned) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.versioned.remove_sender();
    }
}

impl<T> WeakSender<T> {
    /// Returns a sender if there still is one.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.versioned.try_add_sender().then(|| Sender { versioned: Arc::clone(&self.versioned) })
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self { versioned: Arc::clone(&self.versioned) }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Sender").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::WeakSender").finish_non_exhaustive()
    }
}
