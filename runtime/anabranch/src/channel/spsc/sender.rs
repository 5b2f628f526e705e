//! The sender of a stream, and its wait for room.

use super::{receiver::Receiver, reserving::Reserving};
use crate::{
    channel::{Closed, ClosedError, PushError, SendError, TrySendError, USED_AGAIN, spsc::stream::producer::Producer},
    cx::{
        Cx,
        attempt::{Attempt, wait_again_for, wait_without_deadline},
    },
    sys::carrier::is_large,
    time::NEVER,
    wait::{future::count_ready, suspend::WaitReason, waitable::waits_by},
};
use std::{cell::Cell, collections::VecDeque, fmt};

/// The sending end of a stream. Dropping it closes the stream.
// See `spsc` for the alignment.
#[repr(align(64))]
pub struct Sender<T> {
    pub(super) producer: Producer<T>,
}

impl<T> Sender<T> {
    /// Sends a value. Waits while there is no room.
    ///
    /// # Errors
    /// Returns the value: in `Closed` if the stream is closed, in `Cancelled` if the wait is cancelled.
    #[inline]
    #[track_caller]
    pub fn send(&mut self, cx: &Cx<'_>, value: T) -> Result<(), SendError<T>> {
        if const { is_large::<T>() } {
            let sent = self.send_large(cx, Box::new(value), WaitReason::new(&"spsc::Sender::send"));
            return sent.map_err(SendError::unboxed);
        }
        let may_proceed = cx.checkpoint_fast();
        let value = match if may_proceed { self.producer.push_fast(value) } else { Err(value) } {
            Ok(()) => return Ok(()),
            Err(value) => value,
        };
        self.send_slow(cx, may_proceed, value, WaitReason::new(&"spsc::Sender::send"))
    }

    #[inline(never)]
    fn send_slow(&mut self, cx: &Cx<'_>, may_proceed: bool, value: T, reason: WaitReason) -> Result<(), SendError<T>> {
        if !may_proceed && cx.checkpoint_slow().is_err() {
            return Err(SendError::Cancelled(value));
        }
        let pushed =
            if self.producer.is_apart() { self.producer.push_remote(value) } else { self.producer.push_local(value) };
        match pushed {
            Ok(()) => Ok(()),
            Err(value) => self.send_shared(cx, value, reason),
        }
    }

    #[inline(never)]
    fn send_shared(&mut self, cx: &Cx<'_>, value: T, reason: WaitReason) -> Result<(), SendError<T>> {
        match self.producer.push(value) {
            Ok(()) => Ok(()),
            Err((PushError::Closed, value)) => Err(SendError::Closed(value)),
            Err((PushError::Full, value)) => self.send_waiting(cx, value, reason),
        }
    }

    #[inline(never)]
    fn send_waiting(&mut self, cx: &Cx<'_>, value: T, reason: WaitReason) -> Result<(), SendError<T>> {
        let operation = self.sending(value);
        match wait_again_for(cx, &operation, NEVER, reason) {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(SendError::Cancelled(operation.into_inner().expect("it was not sent"))),
        }
    }

    #[inline(never)]
    fn send_large(&mut self, cx: &Cx<'_>, mut value: Box<T>, reason: WaitReason) -> Result<(), SendError<Box<T>>> {
        if cx.checkpoint().is_err() {
            return Err(SendError::Cancelled(value));
        }
        loop {
            value = match self.producer.push(value) {
                Ok(()) => return Ok(()),
                Err((PushError::Closed, value)) => return Err(SendError::Closed(value)),
                Err((PushError::Full, value)) => value,
            };
            // Closed or not: the next attempt finds out.
            if wait_without_deadline(cx, &self.reserving(), reason).is_err() {
                return Err(SendError::Cancelled(value));
            }
        }
    }

    /// Sends a value if there is room. Does not wait.
    ///
    /// # Errors
    /// Returns the value: in `Full` if there is no room, in `Closed` if the stream is closed.
    ///
    /// ```
    /// use anabranch::channel::{TrySendError, spsc};
    ///
    /// let (mut sender, receiver) = spsc::bounded(1);
    /// assert!(sender.try_send(1).is_ok());
    /// assert!(matches!(sender.try_send(2), Err(TrySendError::Full(2))));
    /// drop(receiver);
    /// assert!(matches!(sender.try_send(3), Err(TrySendError::Closed(3))));
    /// ```
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        if const { is_large::<T>() } {
            let pushed = self.producer.push(Box::new(value));
            return pushed.map_err(|(error, value)| TrySendError::new((error, *value)));
        }
        let Err(value) = self.producer.push_fast(value) else { return Ok(()) };
        self.producer.push(value).map_err(TrySendError::new)
    }

    /// Sends all values in order, in batches that fill the room there is. A batch takes one atomic exchange. To limit
    /// the time, use [`Cx::timeout`].
    ///
    /// # Errors
    /// Returns an error if the stream is closed or the wait is cancelled. Values that were not sent are still in
    /// `values`.
    ///
    /// ```
    /// use anabranch::channel::spsc;
    /// use std::collections::VecDeque;
    ///
    /// let (mut sender, mut receiver) = spsc::unbounded();
    /// anabranch::run(|cx| sender.send_all(cx, &mut VecDeque::from([1, 2, 3])).unwrap());
    /// assert_eq!(receiver.drain().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[track_caller]
    pub fn send_all(&mut self, cx: &Cx<'_>, values: &mut VecDeque<T>) -> Result<(), SendError<()>> {
        let reason = WaitReason::new(&"spsc::Sender::send_all");
        cx.checkpoint()?;
        while !values.is_empty() {
            match self.producer.push_all(values) {
                Ok(()) => {}
                Err(PushError::Closed) => return Err(SendError::Closed(())),
                Err(PushError::Full) => drop(wait_without_deadline(cx, &self.reserving(), reason)??),
            }
        }
        Ok(())
    }

    /// Like [`send_all`](Self::send_all), for async code. The future may be dropped at any time. Values that were not
    /// sent then are still in `values`.
    ///
    /// # Errors
    /// Returns an error if the stream is closed. Values that were not sent are still in `values`.
    pub async fn send_all_async(&mut self, values: &mut VecDeque<T>) -> Result<(), Closed> {
        count_ready().await;
        while !values.is_empty() {
            match self.producer.push_all(values) {
                Ok(()) => {}
                Err(PushError::Closed) => return Err(Closed),
                Err(PushError::Full) => drop(self.reserving().await?),
            }
        }
        Ok(())
    }

    /// Returns the send as an [operation](crate::Operation): for a wait with a time limit, for async code, for
    /// [`Select`](crate::channel::Select) and [`select!`](crate::select). If the wait ends early, the operation still
    /// has the value; a future that is dropped early drops it.
    ///
    /// # Panics
    /// The operation panics if it is used again after it has completed.
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, channel::spsc};
    /// use std::time::Duration;
    ///
    /// let (mut sender, _receiver) = spsc::bounded(1);
    /// anabranch::run(|cx| {
    ///     sender.send(cx, 1).unwrap();
    ///     let mut send = sender.sending(2);
    ///     assert_eq!(send.timeout(cx, Duration::from_millis(1)), Err(WaitError::TimedOut));
    ///     assert_eq!(send.into_inner(), Some(2));
    /// });
    /// ```
    pub fn sending(&mut self, value: T) -> Sending<'_, T> {
        Sending { reserving: Reserving::new(&mut self.producer), value: Cell::new(Some(value)) }
    }

    /// Closes the stream. Values that were sent before can still be received; a later send fails.
    pub fn close(&mut self) {
        self.producer.close();
    }

    /// Returns whether the stream is closed, so that sending would fail.
    pub fn is_closed(&self) -> bool {
        self.producer.is_closed()
    }

    /// Returns the capacity, or `None` if it is unlimited.
    pub fn capacity(&self) -> Option<usize> {
        self.producer.capacity()
    }

    /// Returns whether there is no room now.
    pub fn is_full(&self) -> bool {
        matches!(self.producer.check(), Err(PushError::Full))
    }

    /// Returns whether this is the other end of `receiver`'s stream.
    pub fn is_to(&self, receiver: &Receiver<T>) -> bool {
        self.producer.address() == receiver.consumer.address()
    }
}

/// A send into a stream, as an operation. Created by [`Sender::sending`].
pub struct Sending<'a, T> {
    reserving: Reserving<'a, T>,
    value: Cell<Option<T>>,
}

impl<T> Sending<'_, T> {
    /// Returns the value, or `None` if the send has completed.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Attempt for Sending<'_, T> {
    type Output = Result<(), ClosedError<T>>;

    const NAME: &'static &'static str = &"spsc::Sender::send";

    fn attempt(&self) -> Option<Self::Output> {
        let value = self.value.take().expect(USED_AGAIN);
        match self.reserving.push(value) {
            Ok(()) => Some(Ok(())),
            Err((PushError::Closed, value)) => Some(Err(ClosedError(value))),
            Err((PushError::Full, value)) => {
                self.value.set(Some(value));
                None
            }
        }
    }

    fn before_spin(&self) {
        self.reserving.before_spin();
    }
}

crate::cx::operation::into_future!(Sending<'_, T>, [T];);

waits_by!(reserving: Sending<'_, T>, [T]);

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("spsc::Sender").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("spsc::Sending").finish_non_exhaustive()
    }
}
