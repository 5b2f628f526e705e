//! The operations for threads that have no `Cx`. They block the thread, and start no pool.

use crate::{
    channel::{
        Closed, ClosedError, Receive, Received, ReceiverSet, Select, TryRecvError, TrySendError, broadcast,
        mpmc::{Receiver, Sender},
        oneshot, watch,
    },
    cx::{
        Operation,
        limit::Limit,
        operation::{block_again_for, block_for},
        plain_thread::{timed_out, with_blocking_cx},
    },
    sys::sync::Arc,
    time::NEVER,
    wait::{TimedOut, suspend::WaitReason},
};
use std::{
    iter::{self, FusedIterator},
    time::{Duration, Instant},
};

impl<T> Sender<T> {
    /// Like [`send`](Self::send), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns the value in an error if the channel is closed.
    ///
    /// ```
    /// use std::thread;
    ///
    /// let (sender, receiver) = anabranch::channel::bounded(1);
    /// let squares = thread::spawn(move || (1..=3).for_each(|n| sender.send_blocking(n * n).unwrap()));
    /// assert_eq!(receiver.iter_blocking().collect::<Vec<_>>(), [1, 4, 9]);
    /// squares.join().unwrap();
    /// ```
    #[inline]
    #[track_caller]
    pub fn send_blocking(&self, value: T) -> Result<(), ClosedError<T>> {
        match self.try_send(value) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(value)) => Err(ClosedError(value)),
            Err(TrySendError::Full(value)) => {
                block_again_for(&self.sending(value), WaitReason::new(&"Sender::send_blocking"))
            }
        }
    }
}

impl<T> Receiver<T> {
    /// Like [`recv`](Self::recv), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed and empty.
    ///
    /// ```
    /// use anabranch::{Operation, TimedOut, channel};
    /// use std::{thread, time::Duration};
    ///
    /// let (sender, receiver) = channel::unbounded();
    /// let early = receiver.receiving().blocking_timeout(Duration::from_millis(1));
    /// assert_eq!(early, Err(TimedOut));
    /// let sending = thread::spawn(move || sender.send_blocking("hello"));
    /// assert_eq!(receiver.recv_blocking(), Ok("hello"));
    /// assert!(receiver.recv_blocking().is_err(), "the sender has ended");
    /// # sending.join().unwrap().unwrap();
    /// ```
    #[inline]
    #[track_caller]
    pub fn recv_blocking(&self) -> Result<T, Closed> {
        self.block(WaitReason::new(&"Receiver::recv_blocking"))
    }

    pub(super) fn block(&self, reason: WaitReason) -> Result<T, Closed> {
        match self.try_recv() {
            Ok(value) => Ok(value),
            Err(TryRecvError::Closed) => Err(Closed),
            Err(TryRecvError::Empty) => block_again_for(&self.receiving(), reason),
        }
    }

    /// Like [`recv_many`](Self::recv_many), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed and empty.
    #[track_caller]
    pub fn recv_many_blocking(&self, into: &mut Vec<T>, limit: usize) -> Result<usize, Closed> {
        if limit == 0 {
            return Ok(0);
        }
        into.push(self.recv_blocking()?);
        Ok(1 + self.channel.try_recv_many(into, limit - 1).unwrap_or(0))
    }
}

impl<T> oneshot::Receiver<T> {
    /// Like [`recv`](Self::recv), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns `Closed` if the sender was dropped without sending, or if the value was received before.
    ///
    /// ```
    /// use anabranch::channel::oneshot;
    /// use std::thread;
    ///
    /// let (sender, mut receiver) = oneshot::channel();
    /// thread::spawn(move || sender.send(42));
    /// assert_eq!(receiver.recv_blocking(), Ok(42));
    /// ```
    #[inline]
    #[track_caller]
    pub fn recv_blocking(&mut self) -> Result<T, Closed> {
        block_for(&self.receiving(), WaitReason::new(&"oneshot::Receiver::recv_blocking"))
    }
}

impl<T> watch::Receiver<T> {
    /// Like [`recv`](Self::recv), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed and there is nothing more to receive.
    #[inline]
    #[track_caller]
    pub fn recv_blocking(&mut self) -> Result<Arc<T>, Closed> {
        block_for(&self.receiving(), WaitReason::new(&"watch::Receiver::recv_blocking"))
    }

    /// Like [`iter`](Self::iter), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    #[track_caller]
    pub fn iter_blocking(&mut self) -> impl FusedIterator<Item = Arc<T>> + '_ {
        let reason = WaitReason::new(&"watch::Receiver::iter_blocking");
        iter::from_fn(move || block_for(&self.receiving(), reason).ok()).fuse()
    }
}

impl<T> broadcast::Receiver<T> {
    /// Like [`recv`](Self::recv), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns `Closed` if the channel is closed and there is nothing more to receive, `Lagged` once if values were
    /// missed.
    #[inline]
    #[track_caller]
    pub fn recv_blocking(&mut self) -> Result<Arc<T>, broadcast::ClosedOrLagged> {
        block_for(&self.receiving(), WaitReason::new(&"broadcast::Receiver::recv_blocking"))
    }

    /// Like [`iter`](Self::iter), for threads without a [`Cx`](crate::Cx): blocks the thread. Missed values appear as
    /// an error among the items. See [plain threads](crate::channel#plain-threads).
    #[track_caller]
    pub fn iter_blocking(&mut self) -> impl FusedIterator<Item = Result<Arc<T>, broadcast::Lagged>> + '_ {
        let reason = WaitReason::new(&"broadcast::Receiver::iter_blocking");
        let next = move || match block_for(&self.receiving(), reason) {
            Ok(value) => Some(Ok(value)),
            Err(broadcast::ClosedOrLagged::Lagged(missed)) => Some(Err(broadcast::Lagged(missed))),
            Err(broadcast::ClosedOrLagged::Closed) => None,
        };
        iter::from_fn(next).fuse()
    }
}

impl<R: Receive> ReceiverSet<R> {
    /// Like [`recv`](Self::recv), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns `Closed` if there is no member.
    #[inline]
    #[track_caller]
    pub fn recv_blocking(&mut self) -> Result<Received<R>, Closed> {
        block_for(&self.receiving(), WaitReason::new(&"ReceiverSet::recv_blocking"))
    }

    /// Like [`iter`](Self::iter), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    #[track_caller]
    pub fn iter_blocking(&mut self) -> impl FusedIterator<Item = Received<R>> + '_ {
        let reason = WaitReason::new(&"ReceiverSet::iter_blocking");
        iter::from_fn(move || block_for(&self.receiving(), reason).ok()).fuse()
    }
}

impl<O: Operation> Select<O> {
    /// Like [`wait`](Self::wait), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// A selection without operations waits forever.
    ///
    /// ```
    /// use anabranch::channel::{self, Select};
    ///
    /// let (senders, receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| channel::unbounded()).unzip();
    /// let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
    /// senders[3].send_blocking("three").unwrap();
    /// assert_eq!(select.blocking(), (3, Ok("three")));
    /// ```
    #[track_caller]
    pub fn blocking(&mut self) -> (usize, O::Done) {
        let done = self.block(None, WaitReason::new(&"Select::blocking"));
        done.unwrap_or_else(|TimedOut| unreachable!("there is no limit"))
    }

    /// Like [`blocking`](Self::blocking), with a timeout.
    ///
    /// # Errors
    /// Returns an error once the timeout elapses.
    #[track_caller]
    pub fn blocking_timeout(&mut self, timeout: Duration) -> Result<(usize, O::Done), TimedOut> {
        self.block(Some(Limit::For(timeout)), WaitReason::new(&"Select::blocking"))
    }

    /// Like [`blocking`](Self::blocking), with a deadline.
    ///
    /// # Errors
    /// Returns an error once the deadline passes.
    #[track_caller]
    pub fn blocking_deadline(&mut self, deadline: Instant) -> Result<(usize, O::Done), TimedOut> {
        self.block(Some(Limit::Until(deadline)), WaitReason::new(&"Select::blocking"))
    }

    fn block(&mut self, limit: Option<Limit>, reason: WaitReason) -> Result<(usize, O::Done), TimedOut> {
        with_blocking_cx(|cx| self.wait_to(cx, limit.map_or(NEVER, |limit| limit.tick(cx)), reason)).map_err(timed_out)
    }
}
