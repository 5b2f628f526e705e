//! The sending ends.

use super::{
    common::{common, opaque},
    receiver::Receiver,
};
use crate::{
    channel::{
        ClosedError, PushError, SendError, TrySendError, USED_AGAIN,
        mpmc::{shared::Channel, state::Offer},
    },
    cx::{
        Cx,
        attempt::{Attempt, wait_again_for, wait_boxed},
    },
    sys::{
        carrier::{self, Carrier, is_large},
        sync::Arc,
    },
    time::NEVER,
    wait::{
        queue::Entry,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{cell::Cell, fmt, mem};

/// The number of queued values from which a sending fiber lets others run twice as often; with twice as many, three
/// times as often, and so on. A receiver gets the same share of the thread as each sender, so otherwise the queue would
/// outgrow the caches.
const LONG: usize = if cfg!(shuttle) { 2 } else { 256 };

/// The sending end of a channel; may be cloned. When the last sender is dropped, the channel is closed.
pub struct Sender<T> {
    pub(super) channel: Arc<Channel<T>>,
}

/// A [`Sender`] that does not keep the channel open. Created by [`Sender::downgrade`].
pub struct WeakSender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    /// Sends a value; waits while there is no room.
    ///
    /// # Errors
    /// Returns the value in `Closed` if the channel is closed, in `Cancelled` if the wait is cancelled.
    #[inline]
    #[track_caller]
    pub fn send(&self, cx: &Cx<'_>, value: T) -> Result<(), SendError<T>> {
        if cx.checkpoint().is_err() {
            return Err(SendError::Cancelled(value));
        }
        let reason = WaitReason::new(&"Sender::send");
        if const { is_large::<T>() } {
            return self.send_large(cx, Box::new(value), reason).map_err(SendError::unboxed);
        }
        match self.channel.try_send(value) {
            Ok(len) => {
                cx.spend(len / LONG);
                Ok(())
            }
            Err((PushError::Closed, value)) => Err(SendError::Closed(value)),
            Err((PushError::Full, value)) => self.send_slow(cx, value, reason),
        }
    }

    #[inline(never)]
    fn send_slow(&self, cx: &Cx<'_>, value: T, reason: WaitReason) -> Result<(), SendError<T>> {
        let operation = self.sending(value);
        match wait_again_for(cx, &operation, NEVER, reason) {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(SendError::Cancelled(operation.into_unsent())),
        }
    }

    /// Sends a large value, after the checkpoint.
    #[inline(never)]
    fn send_large(&self, cx: &Cx<'_>, value: Box<T>, reason: WaitReason) -> Result<(), SendError<Box<T>>> {
        match self.channel.try_send(value) {
            Ok(len) => {
                cx.spend(len / LONG);
                Ok(())
            }
            Err((PushError::Closed, value)) => Err(SendError::Closed(value)),
            Err((PushError::Full, value)) => self.send_large_slow(cx, value, reason),
        }
    }

    #[inline(never)]
    fn send_large_slow(&self, cx: &Cx<'_>, value: Box<T>, reason: WaitReason) -> Result<(), SendError<Box<T>>> {
        let operation = self.sending_boxed(value);
        match wait_boxed(cx, &*operation, Sending::attempt_as::<Box<T>>, NEVER, reason) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(value)) => Err(SendError::Closed(value)),
            Err(_) => Err(SendError::Cancelled(operation.take().expect("it was not sent"))),
        }
    }

    /// A function of its own, so that no copy of the value stays on the stack during the wait.
    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "a large value does not travel over the stack")]
    fn sending_boxed(&self, value: Box<T>) -> Box<Sending<'_, T>> {
        Box::new(self.sending(*value))
    }

    /// Sends a value if there is room; in a rendezvous, if a thread or fiber waits in a receive.
    ///
    /// In a [rendezvous](crate::channel::rendezvous) `Ok` means that the value was received. So this does not reach a
    /// waiting future (`receiver.receiving().await`, an async `select!`), which may be dropped before it is polled
    /// again. Nor does it reach a member of a [`ReceiverSet`](crate::channel::ReceiverSet). These receive from a
    /// waiting sender: use [`send`](Self::send) or [`sending`](Self::sending). The same holds for a selection with a
    /// `default`, and for [`Select::try_now`](crate::channel::Select::try_now).
    ///
    /// # Errors
    /// Returns the value in `Full` if there is no room, or, in a rendezvous, no such receiver; returns it in `Closed`
    /// if the channel is closed.
    ///
    /// ```
    /// use anabranch::channel::{TrySendError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// assert!(sender.try_send(1).is_ok());
    /// assert!(matches!(sender.try_send(2), Err(TrySendError::Full(2))));
    /// drop(receiver);
    /// assert!(matches!(sender.try_send(3), Err(TrySendError::Closed(3))));
    /// ```
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        if const { is_large::<T>() } {
            let sent = self.channel.try_send(Box::new(value));
            return sent.map(|_| ()).map_err(|(error, value)| TrySendError::new((error, *value)));
        }
        self.channel.try_send(value).map(|_| ()).map_err(TrySendError::new)
    }

    /// Returns the send as an [operation](crate::Operation): for a wait with a time limit, for async code, for
    /// [`Select`](crate::channel::Select) and [`select!`](crate::select). If the wait ends early, the operation still
    /// has the value; a future that is dropped early drops it.
    ///
    /// # Panics
    /// The operation panics if it is used again after it has completed.
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, channel::bounded};
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = bounded(1);
    /// anabranch::run(|cx| {
    ///     sender.send(cx, "first").unwrap();
    ///     let mut send = sender.sending("second");
    ///     assert_eq!(send.timeout(cx, Duration::from_millis(1)), Err(WaitError::TimedOut));
    ///     assert_eq!(send.into_inner(), Some("second"));
    /// });
    /// let task = anabranch::spawn_async(async move { sender.sending("third").await });
    /// assert!(receiver.iter_blocking().eq(["first", "third"]));
    /// # assert!(anabranch::run(|cx| task.join(cx)).unwrap().is_ok());
    /// ```
    pub fn sending(&self, value: T) -> Sending<'_, T> {
        let entry = Entry::new(Offer::value(value));
        Sending { channel: &self.channel, entry, is_woken: Cell::new(false) }
    }

    /// Returns whether `receiver` receives from this channel.
    pub fn is_to(&self, receiver: &Receiver<T>) -> bool {
        Arc::ptr_eq(&self.channel, &receiver.channel)
    }

    /// Returns a sender that does not keep the channel open.
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::unbounded::<u8>();
    /// let weak = sender.downgrade();
    /// assert!(weak.upgrade().is_some());
    /// drop(sender);
    /// assert!(weak.upgrade().is_none() && receiver.is_closed());
    /// ```
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { channel: Arc::clone(&self.channel) }
    }

    /// Returns whether there is no room now; in a rendezvous, whether no thread or fiber waits in a receive.
    /// [`try_send`](Self::try_send) would then fail.
    pub fn is_full(&self) -> bool {
        self.channel.is_full()
    }
}

common!(Sender);

impl<T> WeakSender<T> {
    /// Returns a sender if there still is one.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.channel.try_add_sender().then(|| Sender { channel: Arc::clone(&self.channel) })
    }

    /// Returns the number of senders, without weak ones.
    pub fn sender_count(&self) -> usize {
        self.channel.sender_count()
    }

    /// Returns the number of weak senders. While other threads create or drop ends, the number may be inaccurate.
    ///
    /// ```
    /// let (sender, _receiver) = anabranch::channel::unbounded::<u8>();
    /// let weak = sender.downgrade();
    /// let other = weak.clone();
    /// assert_eq!((weak.sender_count(), weak.weak_sender_count()), (1, 2));
    /// drop(other);
    /// assert_eq!(sender.weak_sender_count(), 1);
    /// ```
    pub fn weak_sender_count(&self) -> usize {
        Channel::weak_sender_count(&self.channel)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.add_sender();
        Self { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.channel.remove_sender();
    }
}

/// Sending, as an operation. Created by [`Sender::sending`].
pub struct Sending<'a, T> {
    channel: &'a Channel<T>,
    entry: Entry<Offer<T>>,
    /// Woken for room, and has not looked for it.
    is_woken: Cell<bool>,
}

impl<T> Sending<'_, T> {
    /// Returns the value, or `None` if the send has completed.
    pub fn into_inner(self) -> Option<T> {
        self.take()
    }

    fn take<V: Carrier<T>>(&self) -> Option<V> {
        // SAFETY: the operation does not wait, so its entry is in no queue.
        unsafe { self.entry.with(|offer| carrier::take(&mut offer.value)) }
    }

    /// Returns the value after a wait that was cancelled.
    fn into_unsent(self) -> T {
        self.into_inner().expect("it was not sent")
    }

    #[inline]
    fn attempt_as<V: Carrier<T>>(&self) -> Option<Result<(), V>> {
        // SAFETY: the operation does not wait, so its entry is in no queue.
        let (value, is_taken) = unsafe {
            self.entry.with(|offer| (carrier::take::<T, V>(&mut offer.value), mem::take(&mut offer.is_taken)))
        };
        // During the wait another thread may have taken the value. That is reported once.
        let Some(value) = value else {
            assert!(is_taken, "{USED_AGAIN}");
            return Some(Ok(()));
        };
        let sent = self.channel.try_send(value);
        self.pass_on();
        match sent {
            Ok(_) => Some(Ok(())),
            Err((PushError::Closed, value)) => Some(Err(value)),
            Err((PushError::Full, value)) => {
                // SAFETY: the operation does not wait, so its entry is in no queue.
                unsafe { self.entry.with(|offer| carrier::put(value, &mut offer.value)) };
                None
            }
        }
    }
}

impl<T> Attempt for Sending<'_, T> {
    type Output = Result<(), ClosedError<T>>;

    const NAME: &'static &'static str = &"Sender::send";

    fn attempt(&self) -> Option<Self::Output> {
        if const { is_large::<T>() } {
            self.attempt_as::<Box<T>>().map(|sent| sent.map_err(|value| ClosedError(*value)))
        } else {
            self.attempt_as::<T>().map(|sent| sent.map_err(ClosedError))
        }
    }

    #[inline]
    fn is_bare(&self) -> bool {
        self.channel.is_nearly_full()
    }

    fn pass_on(&self) {
        if self.is_woken.take() {
            self.channel.call_next_sender();
        }
    }
}

crate::cx::operation::into_future!(Sending<'_, T>, [T];);

// SAFETY: an address leaves the queue by `unregister`, or by a selection, both under the lock of the channel.
unsafe impl<T> Waitable for Sending<'_, T> {
    fn register(&self, mut armed: Armed) -> bool {
        let has_value = self.entry.with_armed(&mut armed, |offer| {
            offer.is_taken = false;
            offer.value.is_some()
        });
        // An offer without a value is one for a permit.
        has_value && self.channel.register_sender(&self.entry, armed)
    }

    fn unregister(&self, mut ended: Ended) {
        if !ended.is_selected() {
            return self.channel.unregister_sender(&self.entry, ended);
        }
        let forget = |offer: &mut Offer<T>| {
            if offer.is_taken {
                // SAFETY: the field is valid for writes. It is written without being read: the value now belongs to
                // another thread, and a `Box` must not even be moved here.
                unsafe { (&raw mut offer.value).write(None) };
            }
            self.is_woken.set(!offer.is_taken && offer.retries);
        };
        self.entry.with_selected(&mut ended, forget);
    }
}

impl<T> Drop for Sending<'_, T> {
    fn drop(&mut self) {
        self.pass_on();
    }
}

opaque!(WeakSender, Sending<'_>);

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::{channel::unbounded, run, spawn};

    /// The remainder of a share of 100 after a message is sent while so many senders wait.
    fn left(cx: &Cx<'_>, waiting: usize) -> u32 {
        let (sender, _receiver) = unbounded();
        (0..waiting).for_each(|n| sender.try_send(n).unwrap());
        cx.waiter().budget().set(100);
        sender.send(cx, 0).unwrap();
        cx.waiter().budget().get()
    }

    #[test]
    fn fiber_yields_earlier_if_more_values_wait() {
        let on_a_fiber = spawn(|cx| [0, 200, 300, 1000, 100_000].map(|waiting| left(cx, waiting)));
        assert_eq!(run(|cx| on_a_fiber.join(cx)).unwrap(), [99, 99, 98, 96, 92]);
        // On a thread there is no other fiber that it would let run.
        assert_eq!(run(|cx| left(cx, 100_000)), 99);
    }
}
