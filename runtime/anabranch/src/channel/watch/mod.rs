//! Watch channels: many receivers get the latest value, such as a setting, a state or a progress.

mod closing;
mod values;

pub use self::closing::Closing;

use crate::{
    channel::{
        Closed, ClosedError, RecvError, TryRecvError,
        set::source::{Source, received},
        versioned::{News, Versioned, alone},
    },
    cx::{
        Cx,
        attempt::{Attempt, OwnerCell, wait_without_deadline},
    },
    sys::sync::Arc,
    wait::{
        Cancelled,
        queue::Entry,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{fmt, iter::FusedIterator};

/// Creates a channel that holds one value, the latest one. Senders replace it, and receivers get it.
///
/// ```
/// use anabranch::channel::watch;
///
/// let (sender, mut receiver) = watch::channel("starting");
/// assert_eq!(*receiver.get(), "starting");
/// anabranch::run(|cx| {
///     cx.join(
///         |_| sender.send("running").unwrap(),
///         |cx| assert_eq!(*receiver.recv(cx).unwrap(), "running"),
///     );
/// });
/// ```
pub fn channel<T>(first: T) -> (Sender<T>, Receiver<T>) {
    let versioned = Arc::new(Versioned::new(Arc::new(first), false));
    (Sender { versioned: Arc::clone(&versioned) }, Receiver { versioned, seen: 0 })
}

/// The sending end of a watch channel; may be cloned.
pub struct Sender<T> {
    versioned: Arc<Versioned<Arc<T>>>,
}

/// A [`Sender`] that does not keep the channel open. Created by [`Sender::downgrade`].
pub struct WeakSender<T> {
    versioned: Arc<Versioned<Arc<T>>>,
}

/// The receiving end of a watch channel; may be cloned.
pub struct Receiver<T> {
    versioned: Arc<Versioned<Arc<T>>>,
    /// The version that was received last.
    seen: u64,
}

impl<T> Sender<T> {
    /// Replaces the value, and wakes all receivers that wait for a new value. The value is replaced even if there is no
    /// receiver, for receivers that are created later. Never waits. Allocates once.
    ///
    /// # Errors
    /// Returns the value if the channel was closed by [`close`](Self::close).
    pub fn send(&self, value: T) -> Result<(), ClosedError<T>> {
        match self.versioned.publish(Arc::new(value), std::mem::replace) {
            // The old value is dropped here, outside of the lock.
            Ok(_old) => Ok(()),
            Err(value) => Err(ClosedError(alone(value))),
        }
    }

    /// Returns the latest value.
    pub fn get(&self) -> Arc<T> {
        self.versioned.look(|state| Arc::clone(&state.content))
    }

    /// Creates another receiver. It counts the latest value as received, and waits for the next value.
    ///
    /// ```
    /// let (sender, _) = anabranch::channel::watch::channel(1);
    /// let mut receiver = sender.subscribe();
    /// assert!(receiver.try_recv().is_err());
    /// sender.send(2).unwrap();
    /// assert_eq!(*receiver.try_recv().unwrap(), 2);
    /// ```
    pub fn subscribe(&self) -> Receiver<T> {
        self.versioned.add_receiver();
        let seen = self.versioned.look(|state| state.version);
        Receiver { versioned: Arc::clone(&self.versioned), seen }
    }

    /// Returns whether the channel is closed, so that a send would fail.
    ///
    /// ```
    /// let (sender, mut receiver) = anabranch::channel::watch::channel(1);
    /// sender.send(2).unwrap();
    /// sender.close();
    /// assert!(sender.is_closed() && sender.send(3).is_err());
    /// assert_eq!(receiver.try_recv().as_deref(), Ok(&2));
    /// ```
    pub fn is_closed(&self) -> bool {
        self.versioned.is_refusing()
    }

    /// Closes the channel. Receivers can still receive a value that was sent before; a later send fails.
    ///
    /// Receivers cannot close the channel, because other receivers use it too.
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

    /// Returns whether there is a receiver.
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

impl<T> Receiver<T> {
    /// Returns the latest value, whether this receiver has received it or not.
    pub fn get(&self) -> Arc<T> {
        self.versioned.look(|state| Arc::clone(&state.content))
    }

    /// Returns whether there is a value that this receiver has not received.
    pub fn has_changed(&self) -> bool {
        self.versioned.look(|state| state.version) != self.seen
    }

    fn next(&mut self) -> Option<Result<Arc<T>, Closed>> {
        self.versioned.look(|state| {
            if state.version != self.seen {
                self.seen = state.version;
                return Some(Ok(Arc::clone(&state.content)));
            }
            state.is_closed.then_some(Err(Closed))
        })
    }

    /// Receives the latest value. Waits if this receiver has received it before. Skips the values in between.
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed and there is nothing more to receive, `Cancelled` if the wait is
    /// cancelled.
    #[track_caller]
    pub fn recv(&mut self, cx: &Cx<'_>) -> Result<Arc<T>, RecvError> {
        self.recv_for(cx, WaitReason::new(&"watch::Receiver::recv"))
    }

    fn recv_for(&mut self, cx: &Cx<'_>, reason: WaitReason) -> Result<Arc<T>, RecvError> {
        cx.checkpoint()?;
        Ok(wait_without_deadline(cx, &self.receiving(), reason)??)
    }

    /// Like [`recv`](Self::recv), without waiting.
    ///
    /// # Errors
    /// Returns `Empty` if there is no new value, or `Closed` if there will never be one.
    pub fn try_recv(&mut self) -> Result<Arc<T>, TryRecvError> {
        Ok(self.next().ok_or(TryRecvError::Empty)??)
    }

    /// Iterates over the values that [`recv`](Self::recv) returns, until the channel is closed. If a wait is cancelled,
    /// that error is the last item. So use `?` in a loop; `sum`, `collect` and the like return a `Result`.
    ///
    /// ```
    /// use anabranch::{Cancelled, channel::watch};
    ///
    /// let (sender, mut receiver) = watch::channel(0);
    /// let _watching = anabranch::spawn(move |cx| {
    ///     for setting in receiver.iter(cx) {
    ///         println!("{}", setting?);
    ///     }
    ///     Ok::<_, Cancelled>(())
    /// });
    /// sender.send(1).unwrap();
    /// ```
    #[track_caller]
    pub fn iter<'a>(&'a mut self, cx: &'a Cx<'_>) -> impl FusedIterator<Item = Result<Arc<T>, Cancelled>> + 'a {
        let reason = WaitReason::new(&"watch::Receiver::iter");
        received(move || self.recv_for(cx, reason))
    }

    /// Returns the receive as an [operation](crate::Operation): for a wait with a time limit, for async code, for
    /// [`Select`](crate::channel::Select) and [`select!`](crate::select). A future that is dropped early has received
    /// nothing.
    pub fn receiving(&mut self) -> Receiving<'_, T> {
        let versioned: *const Versioned<Arc<T>> = &*self.versioned;
        // SAFETY: the receiver keeps the versioned value alive, and the operation borrows the receiver.
        let news = News::of(unsafe { &*versioned });
        Receiving { news, receiver: OwnerCell::new(self) }
    }

    /// Returns whether the channel is closed, so that no value will be sent. There may still be a value to receive.
    pub fn is_closed(&self) -> bool {
        self.versioned.look(|state| state.is_closed)
    }

    /// Returns whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.versioned, &other.versioned)
    }
}

/// A receive, as an operation. Created by [`Receiver::receiving`].
pub struct Receiving<'a, T> {
    news: News<'a, Arc<T>>,
    receiver: OwnerCell<&'a mut Receiver<T>>,
}

impl<T> Attempt for Receiving<'_, T> {
    type Output = Result<Arc<T>, Closed>;

    const NAME: &'static &'static str = &"watch::Receiver::recv";

    fn attempt(&self) -> Option<Self::Output> {
        self.receiver.with(|receiver| receiver.next())
    }
}

crate::cx::operation::into_future!(Receiving<'_, T>, [T];);

// SAFETY: `news` upholds the contract of `Waitable`, and every call is forwarded to it.
unsafe impl<T> Waitable for Receiving<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        self.news.register(self.receiver.with(|receiver| receiver.seen), armed)
    }

    fn unregister(&self, ended: Ended) {
        self.news.unregister(ended);
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

/// The clone counts the same values as received.
impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.versioned.add_receiver();
        Self { versioned: Arc::clone(&self.versioned), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.versioned.remove_receiver();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("watch::Sender").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("watch::WeakSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("watch::Receiver").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("watch::Receiving").finish_non_exhaustive()
    }
}

impl<T> Source for Receiver<T> {
    type Value = Arc<T>;
    type Wait = Entry<u64>;

    fn wait() -> Entry<u64> {
        Entry::new(0)
    }

    fn receive(&mut self) -> Result<Arc<T>, TryRecvError> {
        self.try_recv()
    }

    fn register(&self, wait: &Entry<u64>, armed: Armed) -> bool {
        self.versioned.register(wait, self.seen, armed)
    }

    fn withdraw(&self, wait: &Entry<u64>, ended: Ended) -> bool {
        self.versioned.unregister(wait, ended)
    }

    fn pass_on(&self) {}
}
