//! The receiving end.

use super::common::{common, opaque};
use crate::{
    channel::{
        Closed, RecvError, TryRecvError,
        mpmc::{shared::Channel, state::Target},
        set::source::{Source, received},
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
        Cancelled,
        future::count_ready,
        queue::Entry,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{
    cell::{Cell, UnsafeCell},
    fmt, iter,
    iter::FusedIterator,
};

/// The receiving end of a channel; may be cloned. Each value goes to one of the clones. When the last receiver is
/// dropped, the channel is closed and the values in it are dropped.
pub struct Receiver<T> {
    pub(in crate::channel) channel: Arc<Channel<T>>,
}

impl<T> Receiver<T> {
    /// Receives the next value; waits for it if there is none.
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed and empty, `Cancelled` if the wait is cancelled.
    #[inline(always)]
    #[track_caller]
    pub fn recv(&self, cx: &Cx<'_>) -> Result<T, RecvError> {
        self.recv_for(cx, WaitReason::new(&"Receiver::recv"))
    }

    #[inline(always)]
    fn recv_for(&self, cx: &Cx<'_>, reason: WaitReason) -> Result<T, RecvError> {
        cx.checkpoint()?;
        if const { is_large::<T>() } {
            return self.recv_large(cx, reason);
        }
        match self.channel.try_recv() {
            Ok(value) => Ok(value),
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Err(TryRecvError::Empty) => self.recv_slow(cx, reason),
        }
    }

    /// Receives a large value, after the checkpoint.
    #[inline(never)]
    fn recv_large(&self, cx: &Cx<'_>, reason: WaitReason) -> Result<T, RecvError> {
        match self.channel.try_recv::<Box<T>>() {
            Ok(value) => Ok(*value),
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Err(TryRecvError::Empty) => {
                let operation = self.receiving_boxed();
                match wait_boxed(cx, &*operation, Receiving::attempt_as::<Box<T>>, NEVER, reason) {
                    Ok(received) => Ok(*received?),
                    Err(_) => Err(RecvError::Cancelled),
                }
            }
        }
    }

    /// A function of its own, so that its room for a value does not stay on the stack during the wait.
    #[inline(never)]
    fn receiving_boxed(&self) -> Box<Receiving<'_, T>> {
        Box::new(self.receiving())
    }

    #[inline(always)]
    fn recv_slow(&self, cx: &Cx<'_>, reason: WaitReason) -> Result<T, RecvError> {
        match wait_again_for(cx, &self.receiving(), NEVER, reason) {
            Ok(received) => Ok(received?),
            Err(_) => Err(RecvError::Cancelled),
        }
    }

    /// Receives the next value if there is one; in a rendezvous, if a sender waits.
    ///
    /// # Errors
    /// Returns `Empty` if there is no value, `Closed` if the channel is closed and empty.
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        if const { is_large::<T>() } {
            return self.channel.try_recv::<Box<T>>().map(|value| *value);
        }
        self.channel.try_recv()
    }

    /// Receives up to `limit` values and appends them to `into`; waits while there is none. Returns how many. For a
    /// time limit use [`Cx::timeout`].
    ///
    /// # Errors
    /// Returns the errors of [`recv`](Self::recv).
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
            Err(TryRecvError::Closed) => Err(RecvError::Closed),
            Err(TryRecvError::Empty) => {
                into.push(self.recv_slow(cx, WaitReason::new(&"Receiver::recv_many"))?);
                Ok(1 + self.channel.try_recv_many(into, limit - 1).unwrap_or(0))
            }
        }
    }

    /// Like [`recv_many`](Self::recv_many), for async code. A future that is dropped before it is ready has received
    /// nothing.
    ///
    /// # Errors
    /// Returns an error if the channel is closed and empty.
    pub async fn recv_many_async(&self, into: &mut Vec<T>, limit: usize) -> Result<usize, Closed> {
        if limit == 0 {
            count_ready().await;
            return Ok(0);
        }
        into.push(self.receiving().await?);
        Ok(1 + self.channel.try_recv_many(into, limit - 1).unwrap_or(0))
    }

    /// Iterates over all values, each received as with [`recv`](Self::recv), until the channel is closed. If a wait is
    /// cancelled, that error is the last item. So use `?` in a loop; `sum`, `collect` and the like return a `Result`.
    ///
    /// ```
    /// use anabranch::{Cancelled, WaitError, channel};
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = channel::unbounded();
    /// (1..=3).for_each(|n| sender.try_send(n).unwrap());
    /// anabranch::run(|cx| {
    ///     // The sender is there yet, so this waits for more, and is no sum.
    ///     let early = cx.timeout(Duration::from_millis(1), |cx| {
    ///         Ok(receiver.iter(cx).sum::<Result<u32, Cancelled>>()?)
    ///     });
    ///     assert_eq!(early, Err(WaitError::TimedOut));
    ///     (4..=6).for_each(|n| sender.try_send(n).unwrap());
    ///     drop(sender);
    ///     assert_eq!(receiver.iter(cx).sum::<Result<u32, _>>(), Ok(15));
    /// });
    /// ```
    #[track_caller]
    pub fn iter<'a>(&'a self, cx: &'a Cx<'_>) -> impl FusedIterator<Item = Result<T, Cancelled>> + 'a {
        let reason = WaitReason::new(&"Receiver::iter");
        received(move || self.recv_for(cx, reason))
    }

    #[doc(alias = "try_iter")]
    /// Iterates over the values that can be received now, without waiting.
    pub fn drain(&self) -> impl FusedIterator<Item = T> + '_ {
        iter::from_fn(|| self.try_recv().ok()).fuse()
    }

    /// Returns the receive as an [operation](crate::Operation): for a wait with a time limit, for async code, for
    /// [`Select`](crate::channel::Select) and [`select!`](crate::select). An operation that is dropped, or whose future
    /// is dropped, has received nothing.
    ///
    /// ```
    /// use anabranch::{Operation, WaitError, channel::unbounded};
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = unbounded();
    /// let late = anabranch::run(|cx| receiver.receiving().timeout(cx, Duration::from_millis(1)));
    /// assert_eq!(late, Err(WaitError::TimedOut));
    /// let task = anabranch::spawn_async(async move { receiver.receiving().await });
    /// sender.send_blocking(1).unwrap();
    /// assert_eq!(anabranch::run(|cx| task.join(cx)).unwrap(), Ok(1));
    /// ```
    pub fn receiving(&self) -> Receiving<'_, T> {
        let (entry, handed) = (Entry::new(Target::NONE), UnsafeCell::new(None));
        Receiving { channel: &self.channel, entry, handed, is_woken: Cell::new(false) }
    }
}

common!(Receiver);

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.channel.add_receiver();
        Self { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.remove_receiver();
    }
}

/// Receiving, as an operation. Created by [`Receiver::receiving`].
pub struct Receiving<'a, T> {
    channel: &'a Channel<T>,
    entry: Entry<Target<T>>,
    /// The value that was handed over, in a rendezvous. While the entry is in a queue, the lock guards it.
    handed: UnsafeCell<Option<T>>,
    /// Woken for a value, and has not looked for it.
    is_woken: Cell<bool>,
}

impl<T> Receiving<'_, T> {
    #[inline]
    fn attempt_as<V: Carrier<T>>(&self) -> Option<Result<V, Closed>> {
        if self.is_woken.take()
            // SAFETY: an operation is not `Sync`, so only its owner reaches the slot, and it does not wait during an
            // attempt.
            && let Some(value) = carrier::take(unsafe { &mut *self.handed.get() })
        {
            return Some(Ok(value));
        }
        match self.channel.try_recv() {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Closed) => Some(Err(Closed)),
            Err(TryRecvError::Empty) => None,
        }
    }
}

impl<T> Attempt for Receiving<'_, T> {
    type Output = Result<T, Closed>;

    const NAME: &'static &'static str = &"Receiver::recv";

    fn attempt(&self) -> Option<Self::Output> {
        if const { is_large::<T>() } {
            self.attempt_as::<Box<T>>().map(|received| received.map(|value| *value))
        } else {
            self.attempt_as::<T>()
        }
    }

    #[inline]
    fn is_bare(&self) -> bool {
        self.channel.is_probably_empty()
    }

    fn pass_on(&self) {
        if self.is_woken.take() {
            self.channel.pass_on();
        }
    }
}

crate::cx::operation::into_future!(Receiving<'_, T>, [T];);

// SAFETY: an address leaves the queue by `unregister`, or by a selection, both under the lock of the channel.
unsafe impl<T> Waitable for Receiving<'_, T> {
    fn register(&self, mut armed: Armed) -> bool {
        self.entry.with_armed(&mut armed, |target| *target = Target::at(self.handed.get()));
        self.channel.register_receiver(&self.entry, armed)
    }

    fn unregister(&self, ended: Ended) {
        if ended.is_selected() {
            self.is_woken.set(true);
        } else {
            self.channel.unregister_receiver(&self.entry, ended);
            // The bits of a value that came too late belong to its sender.
            // SAFETY: the entry is out of the queue, so the owner has the slot again.
            unsafe { self.handed.get().write(None) };
        }
    }
}

impl<T> Drop for Receiving<'_, T> {
    fn drop(&mut self) {
        self.pass_on();
    }
}

opaque!(Receiving<'_>);

impl<T> Source for Receiver<T> {
    type Value = T;
    type Wait = Entry<Target<T>>;

    fn wait() -> Entry<Target<T>> {
        Entry::new(Target::NONE)
    }

    fn receive(&mut self) -> Result<T, TryRecvError> {
        self.try_recv()
    }

    fn register(&self, wait: &Entry<Target<T>>, armed: Armed) -> bool {
        self.channel.register_receiver(wait, armed)
    }

    fn withdraw(&self, wait: &Entry<Target<T>>, ended: Ended) -> bool {
        self.channel.unregister_receiver(wait, ended)
    }

    fn pass_on(&self) {
        self.channel.pass_on();
    }
}
