//! Channels with any number of senders and receivers, as users see them.

use super::{
    Closed, RecvError, RecvTimeoutError, Refused, SendError, SendTimeoutError, TryRecvError, TrySendError,
    operation::{Attempt, wait_async_for, wait_for},
    set::Source,
    shared::{Channel, Nothing, Offer, Stuck},
};
use crate::{
    sys::sync::Arc,
    time::NEVER,
    wait::{Cx, cx::Reason, future::Handed, place::Place, queue::Entry, waiter::Waiter},
};
use std::{
    cell::Cell,
    fmt,
    time::{Duration, Instant},
};

/// Makes a channel with room for `capacity` values.
///
/// Its memory is allocated here (that of very large channels when it is needed), and none afterwards.
///
/// # Panics
/// When `capacity` is zero. (See [`rendezvous`].)
///
/// ```
/// use anabranch::channel;
///
/// anabranch::run(|cx| {
///     let (sender, receiver) = channel::bounded(16);
///     cx.scope(|s| {
///         for worker in 0..4 {
///             let sender = sender.clone();
///             s.spawn(move |cx| sender.send(cx, worker * worker).unwrap());
///         }
///         drop(sender);
///         s.spawn(move |cx| assert_eq!(receiver.iter(cx).sum::<u32>(), 14));
///     });
/// });
/// ```
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "a channel without room is a rendezvous");
    new(Some(capacity))
}

/// Makes a channel with room for any number of values. Sending never waits.
///
/// An idle one takes no more than 256 bytes if its values are small; what it has grown by it gives back as it is drained.
///
/// ```
/// let (sender, receiver) = anabranch::channel::unbounded();
/// sender.try_send("a").unwrap();
/// sender.clone().try_send("b").unwrap();
/// assert_eq!(receiver.drain().collect::<String>(), "ab");
/// ```
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    new(None)
}

/// Makes a channel without room: a sender waits until a receiver is there, and the other way round.
///
/// ```
/// let (sender, receiver) = anabranch::channel::rendezvous();
/// anabranch::run(|cx| {
///     assert!(sender.try_send(1).is_err(), "there is nobody");
///     let ((), got) = cx.join(move |cx| sender.send(cx, 2).unwrap(), move |cx| receiver.recv(cx));
///     assert_eq!(got, Ok(2));
/// });
/// ```
pub fn rendezvous<T>() -> (Sender<T>, Receiver<T>) {
    new(Some(0))
}

fn new<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(capacity));
    (Sender { channel: Arc::clone(&channel) }, Receiver { channel })
}

/// The end of a channel that sends; may be cloned. When the last one is dropped the channel is closed.
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

/// The end of a channel that receives; may be cloned, and each value goes to one of the clones. When the last one is dropped the
/// channel is closed, and what is in it is dropped.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
}

/// A [`Sender`] that does not keep the channel open. Made by [`Sender::downgrade`].
pub struct WeakSender<T> {
    channel: Arc<Channel<T>>,
}

/// The right to send one value without waiting. Made by [`Sender::reserve`]; dropping it gives the room back.
#[must_use = "it keeps room that others wait for"]
pub struct Permit<'a, T> {
    channel: &'a Channel<T>,
}

impl<T> Sender<T> {
    /// Sends a value; waits while there is no room.
    ///
    /// # Errors
    /// When the channel is closed, or the wait was cancelled; the value comes back.
    #[inline]
    #[track_caller]
    pub fn send(&self, cx: &Cx<'_>, value: T) -> Result<(), SendError<T>> {
        if cx.checkpoint().is_err() {
            return Err(SendError::Cancelled(value));
        }
        match self.channel.try_send(value) {
            Ok(()) => Ok(()),
            Err((Stuck::Closed, value)) => Err(SendError::Closed(value)),
            Err((Stuck::Full, value)) => self.send_slowly(cx, value, Reason::new(&"Sender::send")),
        }
    }

    #[inline(never)]
    fn send_slowly(&self, cx: &Cx<'_>, value: T, reason: Reason) -> Result<(), SendError<T>> {
        let operation = self.sending(value);
        match wait_for(cx, &operation, NEVER, reason) {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(SendError::Cancelled(operation.into_value())),
        }
    }

    /// As [`send`](Self::send), but waits no longer than until then.
    ///
    /// # Errors
    /// As there, and when the time was up; the value comes back.
    #[track_caller]
    pub fn send_until(&self, cx: &Cx<'_>, value: T, instant: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_to(cx, value, cx.strand.clock().tick_at(instant), Reason::new(&"Sender::send"))
    }

    /// As [`send`](Self::send), but waits no longer than this.
    ///
    /// # Errors
    /// As there, and when the time was up; the value comes back.
    ///
    /// ```
    /// use anabranch::channel::{SendTimeoutError, rendezvous};
    /// use std::time::Duration;
    ///
    /// let (sender, _receiver) = rendezvous();
    /// anabranch::run(|cx| {
    ///     let late = sender.send_timeout(cx, 1, Duration::from_millis(1));
    ///     assert!(matches!(late, Err(SendTimeoutError::TimedOut(1))));
    /// });
    /// ```
    #[track_caller]
    pub fn send_timeout(&self, cx: &Cx<'_>, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_to(cx, value, cx.after(timeout), Reason::new(&"Sender::send"))
    }

    fn send_to(&self, cx: &Cx<'_>, value: T, deadline: u64, reason: Reason) -> Result<(), SendTimeoutError<T>> {
        if cx.checkpoint().is_err() {
            return Err(SendTimeoutError::Cancelled(value));
        }
        let operation = self.sending(value);
        let sent = match operation.attempt() {
            Some(sent) => Ok(sent),
            None => wait_for(cx, &operation, deadline, reason),
        };
        match sent {
            Ok(sent) => Ok(sent?),
            Err(error) => Err(SendTimeoutError::new(error, operation.into_value())),
        }
    }

    /// As [`send`](Self::send), for async code. A future that is dropped before it is ready drops the value, or has just
    /// sent it.
    ///
    /// # Errors
    /// When the channel is closed; the value comes back.
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::bounded(1);
    /// let sending = anabranch::spawn_async(async move { sender.send_async("hello").await });
    /// anabranch::run(|cx| {
    ///     assert_eq!(receiver.recv(cx), Ok("hello"));
    ///     assert!(sending.join(cx).unwrap().is_ok());
    /// });
    /// ```
    pub async fn send_async(&self, value: T) -> Result<(), Refused<T>> {
        wait_async_for(self.sending(value)).await
    }

    /// Sends a value if there is room; in a rendezvous, if a receiver waits.
    ///
    /// # Errors
    /// When there is none, or the channel is closed; the value comes back.
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
        self.channel.try_send(value).map_err(|(stuck, value)| match stuck {
            Stuck::Full => TrySendError::Full(value),
            Stuck::Closed => TrySendError::Closed(value),
        })
    }

    /// Waits until there is room for a value, and keeps it: for values that are made only when they can be sent.
    ///
    /// # Errors
    /// When the channel is closed, or the wait was cancelled.
    ///
    /// # Panics
    /// In a rendezvous, where there is no room to be kept.
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
    pub fn reserve(&self, cx: &Cx<'_>) -> Result<Permit<'_, T>, RecvError> {
        let reason = Reason::new(&"Sender::reserve");
        cx.checkpoint()?;
        let operation = self.reserving();
        match operation.attempt() {
            Some(reserved) => reserved?,
            None => match wait_for(cx, &operation, NEVER, reason) {
                Ok(reserved) => reserved?,
                Err(_) => return Err(RecvError::Cancelled),
            },
        }
        Ok(Permit { channel: &self.channel })
    }

    /// As [`reserve`](Self::reserve), for async code. A future that is dropped has kept nothing.
    ///
    /// # Errors
    /// When the channel is closed.
    ///
    /// # Panics
    /// In a rendezvous.
    pub async fn reserve_async(&self) -> Result<Permit<'_, T>, Closed> {
        wait_async_for(self.reserving()).await?;
        Ok(Permit { channel: &self.channel })
    }

    /// As [`reserve`](Self::reserve), without waiting. `None`: there is no room, or the channel is closed.
    pub fn try_reserve(&self) -> Option<Permit<'_, T>> {
        self.channel.try_reserve().ok().map(|()| Permit { channel: &self.channel })
    }

    fn reserving(&self) -> Reserving<'_, T> {
        assert!(self.capacity() != Some(0), "there is no room in a rendezvous");
        let offer = Offer { value: None, is_taken: false };
        Reserving { channel: &self.channel, entry: Entry::new(offer), has_permit: Cell::new(false) }
    }

    /// The send as an operation, for [`Select`](super::Select) and [`select!`](crate::select).
    pub fn sending(&self, value: T) -> Sending<'_, T> {
        let offer = Offer { value: Some(value), is_taken: false };
        Sending { channel: &self.channel, entry: Entry::new(offer) }
    }

    /// A sender that does not keep the channel open.
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

    /// Whether there is no room now; in a rendezvous, whether no receiver waits.
    pub fn is_full(&self) -> bool {
        self.channel.is_full()
    }
}

impl<T> Receiver<T> {
    /// Receives the next value; waits for it if there is none.
    ///
    /// # Errors
    /// When the channel is closed and all was received, or the wait was cancelled.
    #[inline]
    #[track_caller]
    pub fn recv(&self, cx: &Cx<'_>) -> Result<T, RecvError> {
        cx.checkpoint()?;
        match self.channel.try_recv() {
            Ok(value) => Ok(value),
            Err(Nothing::Closed) => Err(RecvError::Closed),
            Err(Nothing::Empty) => self.recv_slowly(cx, Reason::new(&"Receiver::recv")),
        }
    }

    #[inline(never)]
    fn recv_slowly(&self, cx: &Cx<'_>, reason: Reason) -> Result<T, RecvError> {
        match wait_for(cx, &self.receiving(), NEVER, reason) {
            Ok(received) => Ok(received?),
            Err(_) => Err(RecvError::Cancelled),
        }
    }

    /// As [`recv`](Self::recv), but waits no longer than until then.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_until(&self, cx: &Cx<'_>, instant: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_to(cx, cx.strand.clock().tick_at(instant), Reason::new(&"Receiver::recv"))
    }

    /// As [`recv`](Self::recv), but waits no longer than this.
    ///
    /// # Errors
    /// As there, and when the time was up.
    ///
    /// ```
    /// use anabranch::channel::{RecvTimeoutError, unbounded};
    /// use std::time::Duration;
    ///
    /// let (_sender, receiver) = unbounded::<u8>();
    /// let late = anabranch::run(|cx| receiver.recv_timeout(cx, Duration::from_millis(1)));
    /// assert_eq!(late, Err(RecvTimeoutError::TimedOut));
    /// ```
    #[track_caller]
    pub fn recv_timeout(&self, cx: &Cx<'_>, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_to(cx, cx.after(timeout), Reason::new(&"Receiver::recv"))
    }

    fn recv_to(&self, cx: &Cx<'_>, deadline: u64, reason: Reason) -> Result<T, RecvTimeoutError> {
        cx.checkpoint()?;
        let operation = self.receiving();
        match operation.attempt() {
            Some(received) => Ok(received?),
            None => Ok(wait_for(cx, &operation, deadline, reason)??),
        }
    }

    /// As [`recv`](Self::recv), for async code. A future that is dropped before it is ready has received nothing.
    ///
    /// # Errors
    /// When the channel is closed and all was received.
    pub async fn recv_async(&self) -> Result<T, Closed> {
        wait_async_for(self.receiving()).await
    }

    /// Receives the next value if there is one; in a rendezvous, if a sender waits.
    ///
    /// # Errors
    /// When there is none, or the channel is closed and all was received.
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.try_recv().map_err(|nothing| match nothing {
            Nothing::Empty => TryRecvError::Empty,
            Nothing::Closed => TryRecvError::Closed,
        })
    }

    /// Receives up to `limit` values and puts them at the end of `into`; waits while there is none. How many: not more than
    /// sixteen at a time, which is when more does not make it cheaper.
    ///
    /// # Errors
    /// As for [`recv`](Self::recv).
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::unbounded();
    /// (0..5).for_each(|n| sender.try_send(n).unwrap());
    /// let mut batch = Vec::new();
    /// anabranch::run(|cx| assert_eq!(receiver.recv_many(cx, &mut batch, 3), Ok(3)));
    /// assert_eq!(batch, [0, 1, 2]);
    /// ```
    #[track_caller]
    pub fn recv_many(&self, cx: &Cx<'_>, into: &mut Vec<T>, limit: usize) -> Result<usize, RecvError> {
        cx.checkpoint()?;
        if limit == 0 {
            return Ok(0);
        }
        match self.channel.try_recv_many(into, limit) {
            Ok(count) => Ok(count),
            Err(Nothing::Closed) => Err(RecvError::Closed),
            Err(Nothing::Empty) => {
                into.push(self.recv_slowly(cx, Reason::new(&"Receiver::recv_many"))?);
                Ok(1 + if limit > 1 { self.channel.try_recv_many(into, limit - 1).unwrap_or(0) } else { 0 })
            }
        }
    }

    /// All values that come, each as [`recv`](Self::recv) has it, until there is none any more: the channel was closed, or a
    /// wait cancelled.
    pub fn iter<'a>(&'a self, cx: &'a Cx<'_>) -> impl Iterator<Item = T> + 'a {
        std::iter::from_fn(move || self.recv(cx).ok())
    }

    /// All values that are there, without waiting.
    pub fn drain(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }

    /// The receive as an operation, for [`Select`](super::Select) and [`select!`](crate::select).
    pub fn receiving(&self) -> Receiving<'_, T> {
        Receiving { channel: &self.channel, entry: Entry::new(()), is_woken: Cell::new(false) }
    }
}

/// What both ends can be asked.
macro_rules! common {
    ($end:ident) => {
        impl<T> $end<T> {
            /// Closes the channel, for all its ends: what was sent can be received, and nothing can be sent any more.
            ///
            /// ```
            /// let (sender, receiver) = anabranch::channel::unbounded();
            /// sender.try_send(1).unwrap();
            /// receiver.close();
            /// assert!(sender.is_closed() && sender.try_send(2).is_err());
            /// assert_eq!(receiver.drain().collect::<Vec<_>>(), [1]);
            /// ```
            pub fn close(&self) {
                self.channel.close();
            }

            /// Whether the channel is closed. There may still be something to receive.
            pub fn is_closed(&self) -> bool {
                self.channel.is_closed()
            }

            /// How many values there are to receive now.
            pub fn len(&self) -> usize {
                self.channel.len()
            }

            /// Whether there is nothing to receive now.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// How many values there can be. `None`: any number.
            pub fn capacity(&self) -> Option<usize> {
                self.channel.capacity()
            }

            /// Whether both are ends of the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.channel, &other.channel)
            }
        }

        impl<T> fmt::Debug for $end<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($end));
                shown.field("len", &self.len()).field("capacity", &self.capacity());
                shown.field("is_closed", &self.is_closed()).finish_non_exhaustive()
            }
        }
    };
}

common!(Sender);
common!(Receiver);

impl<T> WeakSender<T> {
    /// A sender, if there is one yet.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.channel.try_add_sender().then(|| Sender { channel: Arc::clone(&self.channel) })
    }
}

impl<T> Permit<'_, T> {
    /// Sends a value into the room that was kept.
    ///
    /// # Errors
    /// When the channel has been closed meanwhile; the value comes back.
    pub fn send(self, value: T) -> Result<(), Refused<T>> {
        let this = std::mem::ManuallyDrop::new(self);
        this.channel.send_reserved(value).map_err(Refused)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.add_sender();
        Self { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.channel.add_receiver();
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

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.remove_receiver();
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.channel.unreserve();
    }
}

/// Waiting for room to be kept.
struct Reserving<'a, T> {
    channel: &'a Channel<T>,
    entry: Entry<Offer<T>>,
    has_permit: Cell<bool>,
}

/// Sending, as an operation. Made by [`Sender::sending`].
pub struct Sending<'a, T> {
    channel: &'a Channel<T>,
    entry: Entry<Offer<T>>,
}

/// Receiving, as an operation. Made by [`Receiver::receiving`].
pub struct Receiving<'a, T> {
    channel: &'a Channel<T>,
    entry: Entry<()>,
    /// Woken for a value, and has not looked for it.
    is_woken: Cell<bool>,
}

impl<T> Attempt for Reserving<'_, T> {
    type Output = Result<(), Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        if self.has_permit.take() {
            return Some(Ok(()));
        }
        match self.channel.try_reserve() {
            Ok(()) => Some(Ok(())),
            Err(Stuck::Closed) => Some(Err(Closed)),
            Err(Stuck::Full) => None,
        }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or decided, under the lock of the channel.
unsafe impl<T> Place for Reserving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: not in the queue; the rest is the caller's word.
        unsafe {
            self.entry.with(|offer| offer.is_taken = false);
            self.channel.register_sender(&self.entry, waiter, ticket)
        }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if has_decided {
            // SAFETY: decided from the queue.
            self.has_permit.set(unsafe { self.entry.with(|offer| offer.is_taken) });
        } else {
            // SAFETY: the caller's word.
            unsafe { self.channel.unregister_sender(&self.entry) };
        }
    }
}

/// Done by `drop`.
impl<T> Handed for Reserving<'_, T> {
    fn pass_on(&self) {}
}

impl<T> Drop for Reserving<'_, T> {
    fn drop(&mut self) {
        if self.has_permit.get() {
            self.channel.unreserve();
        }
    }
}

impl<T> Sending<'_, T> {
    fn into_value(self) -> T {
        // SAFETY: not waiting, so the entry is in no queue.
        unsafe { self.entry.with(|offer| offer.value.take()) }.expect("it was not sent")
    }
}

impl<T> Attempt for Sending<'_, T> {
    type Output = Result<(), Refused<T>>;

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: as above.
        let value = unsafe { self.entry.with(|offer| offer.value.take()) };
        // None is left when it was taken by the wait.
        let Some(value) = value else { return Some(Ok(())) };
        match self.channel.try_send(value) {
            Ok(()) => Some(Ok(())),
            Err((Stuck::Closed, value)) => Some(Err(Refused(value))),
            Err((Stuck::Full, value)) => {
                // SAFETY: as above.
                unsafe { self.entry.with(|offer| offer.value = Some(value)) };
                None
            }
        }
    }
}

// SAFETY: as for `Reserving`.
unsafe impl<T> Place for Sending<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: as for `Reserving`.
        unsafe {
            self.entry.with(|offer| offer.is_taken = false);
            self.channel.register_sender(&self.entry, waiter, ticket)
        }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if !has_decided {
            // SAFETY: the caller's word.
            return unsafe { self.channel.unregister_sender(&self.entry) };
        }
        // SAFETY: decided from the queue.
        let taken = unsafe { self.entry.with(|offer| if offer.is_taken { offer.value.take() } else { None }) };
        // It is another's now.
        std::mem::forget(taken);
    }
}

/// What was taken was sent.
impl<T> Handed for Sending<'_, T> {
    fn pass_on(&self) {}
}

impl<T> Attempt for Receiving<'_, T> {
    type Output = Result<T, Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        self.is_woken.set(false);
        match self.channel.try_recv() {
            Ok(value) => Some(Ok(value)),
            Err(Nothing::Closed) => Some(Err(Closed)),
            Err(Nothing::Empty) => None,
        }
    }
}

// SAFETY: as for `Reserving`.
unsafe impl<T> Place for Receiving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.channel.register_receiver(&self.entry, waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if has_decided {
            self.is_woken.set(true);
        } else {
            // SAFETY: the caller's word.
            unsafe { self.channel.unregister_receiver(&self.entry) };
        }
    }
}

/// Done by `drop`.
impl<T> Handed for Receiving<'_, T> {
    fn pass_on(&self) {}
}

impl<T> Drop for Receiving<'_, T> {
    fn drop(&mut self) {
        if self.is_woken.get() {
            self.channel.pass_on();
        }
    }
}

/// `Debug` for what there is nothing to show of.
macro_rules! opaque {
    ($($name:ident $(<$a:lifetime>)?),*) => {$(
        impl<T> fmt::Debug for $name<$($a,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

opaque!(WeakSender, Permit<'_>, Sending<'_>, Receiving<'_>);

impl<T> Source for Receiver<T> {
    type Value = T;
    type Wait = Entry<()>;

    fn wait() -> Entry<()> {
        Entry::new(())
    }

    fn receive(&mut self) -> Result<T, TryRecvError> {
        self.try_recv()
    }

    unsafe fn register(&self, wait: &Entry<()>, waiter: *const Waiter) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.channel.register_receiver(wait, waiter, 0) }
    }

    unsafe fn unregister(&self, wait: &Entry<()>, has_decided: bool) {
        if !has_decided {
            // SAFETY: the caller's word.
            unsafe { self.channel.unregister_receiver(wait) };
        }
    }

    fn pass_on(&self) {
        self.channel.pass_on();
    }
}
