//! A channel for one value.

use super::{
    closing::by_its_wait,
    error::{Closed, RecvError, TryRecvError},
    packet::{self, State},
};
use crate::{
    channel::set::source::Source,
    cx::{
        Cx, Operation,
        attempt::{Attempt, OwnerCell, wait_again_for, wait_boxed},
    },
    sys::carrier::{Carrier, is_large},
    time::NEVER,
    wait::{
        Cancelled,
        state_word::WaitNode,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::fmt;

/// Creates a channel for one value, such as a reply or a result.
///
/// It makes a single allocation. Sending is one atomic exchange, receiving a value that was sent is one load.
///
/// ```
/// use anabranch::channel::oneshot;
///
/// let (sender, mut receiver) = oneshot::channel();
/// anabranch::spawn(move |_| sender.send(42));
/// assert_eq!(anabranch::run(|cx| receiver.recv(cx)), Ok(42));
/// ```
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sending, receiving) = packet::packet();
    (Sender { end: sending }, Receiver { end: Some(receiving) })
}

/// The sending end of a one-shot channel. Dropping it closes the channel.
pub struct Sender<T> {
    end: packet::Sending<T>,
}

/// The receiving end of a one-shot channel. Dropping it closes the channel.
pub struct Receiver<T> {
    /// `None` once the value or the end of the channel was received.
    end: Option<packet::Receiving<T>>,
}

impl<T> Sender<T> {
    /// Sends the value. Never waits.
    ///
    /// # Errors
    /// Returns the value if the receiver is gone or has closed the channel.
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::oneshot::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send("lost").unwrap_err().0, "lost");
    /// ```
    #[inline]
    pub fn send(self, value: T) -> Result<(), super::ClosedError<T>> {
        self.end.send(value).map_err(super::ClosedError)
    }

    /// Returns whether the receiver is gone or has closed the channel, so that sending would fail.
    pub fn is_closed(&self) -> bool {
        self.end.is_refused()
    }

    /// Waits until the receiver is gone or has closed the channel. So a sender can stop work whose result no receiver
    /// will get.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    ///
    /// ```
    /// use anabranch::channel::oneshot;
    ///
    /// let (mut sender, receiver) = oneshot::channel::<u32>();
    /// anabranch::run(|cx| {
    ///     let (no_receiver, ()) = cx.join(|cx| sender.closed(cx), |_| drop(receiver));
    ///     assert!(no_receiver.is_ok() && sender.is_closed());
    /// });
    /// ```
    #[track_caller]
    pub fn closed(&mut self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        self.closing().wait(cx)
    }

    /// Returns the wait until the receiver is gone as an [operation](crate::Operation): for a wait with a time limit,
    /// for async code, on plain threads, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    pub fn closing(&mut self) -> Closing<'_> {
        Closing { wait: self.end.closing() }
    }

    /// Returns whether this is the other end of `receiver`'s channel.
    pub fn is_to(&self, receiver: &Receiver<T>) -> bool {
        receiver.end.as_ref().is_some_and(|end| end.address() == self.end.address())
    }
}

impl<T> Receiver<T> {
    /// Waits for the value.
    ///
    /// # Errors
    /// Returns [`RecvError::Closed`] if the sender was dropped before a send, or if the value was received before.
    /// Returns [`RecvError::Cancelled`] if the wait is cancelled; the caller may receive again.
    #[inline]
    #[track_caller]
    pub fn recv(&mut self, cx: &Cx<'_>) -> Result<T, RecvError> {
        cx.checkpoint()?;
        match self.try_recv() {
            Ok(value) => Ok(value),
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Err(TryRecvError::Empty) => self.recv_slow(cx, WaitReason::new(&"oneshot::Receiver::recv")),
        }
    }

    #[inline(never)]
    fn recv_slow(&mut self, cx: &Cx<'_>, reason: WaitReason) -> Result<T, RecvError> {
        if const { is_large::<T>() } {
            return match wait_boxed(cx, &self.receiving(), Receiving::attempt_as::<Box<T>>, NEVER, reason) {
                Ok(received) => Ok(*received?),
                Err(_) => Err(RecvError::Cancelled),
            };
        }
        match wait_again_for(cx, &self.receiving(), NEVER, reason) {
            Ok(received) => Ok(received?),
            Err(_) => Err(RecvError::Cancelled),
        }
    }

    /// Receives the value if it was sent. Does not wait.
    ///
    /// # Errors
    /// Returns `Empty` if the value has not been sent yet, or `Closed` if it never will be.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.try_take()
    }

    #[inline]
    fn try_take<V: Carrier<T>>(&mut self) -> Result<V, TryRecvError> {
        match self.end.as_ref().map(|end| end.state()) {
            Some(State::Empty) => Err(TryRecvError::Empty),
            Some(State::Full) => {
                let end = self.end.take().expect("just looked at");
                // SAFETY: the state is `Full`.
                Ok(unsafe { end.take() })
            }
            Some(State::Closed) | None => {
                self.end = None;
                Err(TryRecvError::Closed)
            }
        }
    }

    /// Returns the receive as an [operation](crate::Operation): for a wait with a time limit, for async code, for
    /// [`Select`](crate::channel::Select) and [`select!`](crate::select). The caller may receive again if the wait ends
    /// early.
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, channel::oneshot};
    /// use std::time::Duration;
    ///
    /// let (sender, mut receiver) = oneshot::channel();
    /// let early = anabranch::run(|cx| receiver.receiving().timeout(cx, Duration::from_millis(1)));
    /// assert_eq!(early, Err(WaitError::TimedOut));
    /// let reply = anabranch::spawn_async(async move { receiver.receiving().await });
    /// sender.send(1).unwrap();
    /// assert_eq!(anabranch::run(|cx| reply.join(cx)).unwrap(), Ok(1));
    /// ```
    pub fn receiving(&mut self) -> Receiving<'_, T> {
        Receiving { node: WaitNode::new(), receiver: OwnerCell::new(self) }
    }

    /// Closes the channel if the value has not been sent. A value that was sent can still be received.
    ///
    /// ```
    /// let (sender, mut receiver) = anabranch::channel::oneshot::channel();
    /// receiver.close();
    /// assert!(sender.is_closed() && sender.send(1).is_err());
    /// ```
    pub fn close(&mut self) {
        self.end = self.end.take().and_then(|end| end.refuse().err());
    }

    /// Returns whether no value can be received any more.
    pub fn is_closed(&self) -> bool {
        self.end.as_ref().is_none_or(|end| matches!(end.state(), State::Closed))
    }

    /// Returns whether no value can be received now.
    pub fn is_empty(&self) -> bool {
        !self.end.as_ref().is_some_and(|end| matches!(end.state(), State::Full))
    }
}

/// A receive from a one-shot channel, as an operation. Created by [`Receiver::receiving`].
///
/// It reaches the packet only through the receiver, which gives the packet up when the operation completes.
pub struct Receiving<'a, T> {
    node: WaitNode,
    receiver: OwnerCell<&'a mut Receiver<T>>,
}

impl<T> Receiving<'_, T> {
    fn end(&self) -> Option<&packet::Receiving<T>> {
        // SAFETY: no attempt runs while this reference is used.
        unsafe { self.receiver.get() }.end.as_ref()
    }

    fn attempt_as<V: Carrier<T>>(&self) -> Option<Result<V, Closed>> {
        match self.receiver.with(|receiver| receiver.try_take()) {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Closed) => Some(Err(Closed)),
            Err(TryRecvError::Empty) => None,
        }
    }
}

impl<T> Attempt for Receiving<'_, T> {
    type Output = Result<T, Closed>;

    const NAME: &'static &'static str = &"oneshot::Receiver::recv";

    fn attempt(&self) -> Option<Self::Output> {
        if const { is_large::<T>() } {
            self.attempt_as::<Box<T>>().map(|received| received.map(|value| *value))
        } else {
            self.attempt_as::<T>()
        }
    }
}

crate::cx::operation::into_future!(Receiving<'_, T>, [T];);

// SAFETY: an address leaves the word by `unregister`, or by a swap of the sender, which then selects the wait before
// `unregister` ends. No attempt runs in between, so the receiver keeps its end.
unsafe impl<T> Waitable for Receiving<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        self.end().is_some_and(|end| end.register(&self.node, armed))
    }

    fn unregister(&self, ended: Ended) {
        if let Some(end) = self.end() {
            end.unregister(&self.node, ended);
        }
    }
}

/// Waiting until the receiver is gone, as an operation. Created by [`Sender::closing`].
pub struct Closing<'a> {
    wait: packet::RefusalWait<'a>,
}

by_its_wait!("oneshot": Closing);

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("oneshot::Sender").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("oneshot::Receiver");
        shown.field("is_closed", &self.is_closed()).field("is_empty", &self.is_empty()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("oneshot::Receiving").finish_non_exhaustive()
    }
}

impl<T> Source for Receiver<T> {
    type Value = T;
    type Wait = WaitNode;

    const IS_ONCE: bool = true;

    fn wait() -> WaitNode {
        WaitNode::new()
    }

    fn receive(&mut self) -> Result<T, TryRecvError> {
        self.try_recv()
    }

    fn register(&self, wait: &WaitNode, armed: Armed) -> bool {
        self.end.as_ref().is_some_and(|end| end.register(wait, armed))
    }

    fn withdraw(&self, wait: &WaitNode, _: Ended) -> bool {
        self.end.as_ref().is_some_and(|end| end.withdraw(wait))
    }

    fn pass_on(&self) {}
}
