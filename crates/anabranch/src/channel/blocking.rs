//! The operations for threads that have no `Cx`. They block the thread, and start no pool.

use crate::{
    channel::{
        Closed, ClosedError, Receive, Received, ReceiverSet, RecvTimeoutError, ReserveTimeoutError, Select,
        SendTimeoutError, TryRecvError, TrySendError, broadcast,
        error::{closed, refused},
        mpmc::{Permit, Permits, Receiver, Sender},
        oneshot, watch,
    },
    cx::{
        Operation,
        limit::Limit,
        plain_thread::{block_again_for, block_for, blocking, timed_out, with_blocking_cx},
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
    blocking! {
        /// # Errors
        /// Returns the value in an error if the channel is closed.
        send_blocking, send_blocking_deadline, send_blocking_timeout: like send, at "Sender::send_blocking"
        fn(&self, value: T) -> (), ClosedError<T> | SendTimeoutError<T>;
        |limit, reason| match self.try_send(value) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(value)) => Err(SendTimeoutError::Closed(value)),
            Err(TrySendError::Full(value)) => {
                let operation = self.sending(value);
                match block_again_for(&operation, limit, reason) {
                    Ok(sent) => Ok(sent?),
                    Err(TimedOut) => Err(SendTimeoutError::TimedOut(operation.into_value())),
                }
            }
        }, refused;
        ///
        /// ```
        /// use std::thread;
        ///
        /// let (sender, receiver) = anabranch::channel::bounded(1);
        /// let squares = thread::spawn(move || (1..=3).for_each(|n| sender.send_blocking(n * n).unwrap()));
        /// assert_eq!(receiver.iter_blocking().collect::<Vec<_>>(), [1, 4, 9]);
        /// squares.join().unwrap();
        /// ```
    }

    blocking! {
        /// # Panics
        /// Panics on a rendezvous, which has no room to reserve.
        ///
        /// # Errors
        /// Returns an error if the channel is closed.
        reserve_blocking, reserve_blocking_deadline, reserve_blocking_timeout: like reserve, at "Sender::reserve_blocking"
        fn(&self) -> Permit<'_, T>, Closed | ReserveTimeoutError;
        |limit, reason| Ok(block_for(&self.reserving(), limit, reason)??), |_| Closed;
    }

    blocking! {
        /// # Panics
        /// Panics if `count` is more than the capacity, or than a `u32` holds.
        ///
        /// # Errors
        /// Returns an error if the channel is closed.
        reserve_many_blocking, reserve_many_blocking_deadline, reserve_many_blocking_timeout: like reserve_many, at "Sender::reserve_many_blocking"
        fn(&self, count: usize) -> Permits<'_, T>, Closed | ReserveTimeoutError;
        |limit, reason| Ok(block_for(&self.reserving_many(count), limit, reason)??), |_| Closed;
    }
}

impl<T> Receiver<T> {
    blocking! {
        /// # Errors
        /// Returns `Closed` if the channel is closed and empty.
        recv_blocking, recv_blocking_deadline, recv_blocking_timeout: like recv, at "Receiver::recv_blocking"
        fn(&self) -> T, Closed | RecvTimeoutError;
        |limit, reason| self.block(limit, reason), closed;
        ///
        /// ```
        /// use anabranch::channel::{self, RecvTimeoutError};
        /// use std::{thread, time::Duration};
        ///
        /// let (sender, receiver) = channel::unbounded();
        /// let early = receiver.recv_blocking_timeout(Duration::from_millis(1));
        /// assert_eq!(early, Err(RecvTimeoutError::TimedOut));
        /// let sending = thread::spawn(move || sender.send_blocking("hello"));
        /// assert_eq!(receiver.recv_blocking(), Ok("hello"));
        /// assert!(receiver.recv_blocking().is_err(), "the sender has ended");
        /// # sending.join().unwrap().unwrap();
        /// ```
    }

    pub(super) fn block(&self, limit: Option<Limit>, reason: WaitReason) -> Result<T, RecvTimeoutError> {
        match self.try_recv() {
            Ok(value) => Ok(value),
            Err(TryRecvError::Closed) => Err(RecvTimeoutError::Closed),
            Err(TryRecvError::Empty) => Ok(block_again_for(&self.receiving(), limit, reason)??),
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
    blocking! {
        /// # Errors
        /// Returns `Closed` if the sender was dropped without sending, or if the value was received before.
        recv_blocking, recv_blocking_deadline, recv_blocking_timeout: like recv, at "oneshot::Receiver::recv_blocking"
        fn(&mut self) -> T, Closed | RecvTimeoutError;
        |limit, reason| Ok(block_for(&self.receiving(), limit, reason)??), closed;
        ///
        /// ```
        /// use anabranch::channel::oneshot;
        /// use std::thread;
        ///
        /// let (sender, mut receiver) = oneshot::channel();
        /// thread::spawn(move || sender.send(42));
        /// assert_eq!(receiver.recv_blocking(), Ok(42));
        /// ```
    }
}

impl<T> watch::Receiver<T> {
    blocking! {
        /// # Errors
        /// Returns `Closed` if the channel is closed and there is nothing more to receive.
        recv_blocking, recv_blocking_deadline, recv_blocking_timeout: like recv, at "watch::Receiver::recv_blocking"
        fn(&mut self) -> Arc<T>, Closed | RecvTimeoutError;
        |limit, reason| Ok(block_for(&self.receiving(), limit, reason)??), closed;
    }

    /// Like [`iter`](Self::iter), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    #[track_caller]
    pub fn iter_blocking(&mut self) -> impl FusedIterator<Item = Arc<T>> + '_ {
        let reason = WaitReason::new(&"watch::Receiver::iter_blocking");
        iter::from_fn(move || block_for(&self.receiving(), None, reason).ok()?.ok()).fuse()
    }
}

impl<T> broadcast::Receiver<T> {
    blocking! {
        /// # Errors
        /// Returns `Closed` if the channel is closed and there is nothing more to receive, `Lagged` once if values were
        /// missed.
        recv_blocking, recv_blocking_deadline, recv_blocking_timeout: like recv, at "broadcast::Receiver::recv_blocking"
        fn(&mut self) -> Arc<T>, broadcast::ClosedOrLagged | broadcast::RecvTimeoutError;
        |limit, reason| Ok(block_for(&self.receiving(), limit, reason)??), |error| match error {
            broadcast::RecvTimeoutError::Lagged(missed) => broadcast::ClosedOrLagged::Lagged(missed),
            _ => broadcast::ClosedOrLagged::Closed,
        };
    }

    /// Like [`iter`](Self::iter), for threads without a [`Cx`](crate::Cx): blocks the thread. Missed values appear as
    /// an error among the items. See [plain threads](crate::channel#plain-threads).
    #[track_caller]
    pub fn iter_blocking(&mut self) -> impl FusedIterator<Item = Result<Arc<T>, broadcast::Lagged>> + '_ {
        let reason = WaitReason::new(&"broadcast::Receiver::iter_blocking");
        let next = move || match block_for(&self.receiving(), None, reason).ok()? {
            Ok(value) => Some(Ok(value)),
            Err(broadcast::ClosedOrLagged::Lagged(missed)) => Some(Err(broadcast::Lagged(missed))),
            Err(broadcast::ClosedOrLagged::Closed) => None,
        };
        iter::from_fn(next).fuse()
    }
}

impl<R: Receive> ReceiverSet<R> {
    blocking! {
        /// # Errors
        /// Returns `Closed` if there is no member.
        recv_blocking, recv_blocking_deadline, recv_blocking_timeout: like recv, at "ReceiverSet::recv_blocking"
        fn(&mut self) -> Received<R>, Closed | RecvTimeoutError;
        |limit, reason| Ok(block_for(&self.receiving(), limit, reason)??), closed;
    }

    /// Like [`iter`](Self::iter), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    #[track_caller]
    pub fn iter_blocking(&mut self) -> impl FusedIterator<Item = Received<R>> + '_ {
        let reason = WaitReason::new(&"ReceiverSet::iter_blocking");
        iter::from_fn(move || block_for(&self.receiving(), None, reason).ok()?.ok()).fuse()
    }
}

impl<O: Operation> Select<O> {
    /// Like [`wait`](Self::wait), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// A selection without operations waits for ever.
    ///
    /// ```
    /// use anabranch::channel::{self, Select};
    ///
    /// let (senders, receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| channel::unbounded()).unzip();
    /// let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
    /// senders[3].send_blocking("three").unwrap();
    /// assert_eq!(select.wait_blocking(), (3, Ok("three")));
    /// ```
    #[track_caller]
    pub fn wait_blocking(&mut self) -> (usize, O::Done) {
        let done = self.block(None, WaitReason::new(&"Select::wait_blocking"));
        done.unwrap_or_else(|TimedOut| unreachable!("there is no limit"))
    }

    /// Like [`wait_blocking`](Self::wait_blocking), with a deadline.
    ///
    /// # Errors
    /// Returns an error once the deadline passes.
    #[track_caller]
    pub fn wait_blocking_deadline(&mut self, instant: Instant) -> Result<(usize, O::Done), TimedOut> {
        self.block(Some(Limit::Until(instant)), WaitReason::new(&"Select::wait_blocking"))
    }

    /// Like [`wait_blocking`](Self::wait_blocking), with a timeout.
    ///
    /// # Errors
    /// Returns an error once the timeout elapses.
    #[track_caller]
    pub fn wait_blocking_timeout(&mut self, timeout: Duration) -> Result<(usize, O::Done), TimedOut> {
        self.block(Some(Limit::For(timeout)), WaitReason::new(&"Select::wait_blocking"))
    }

    fn block(&mut self, limit: Option<Limit>, reason: WaitReason) -> Result<(usize, O::Done), TimedOut> {
        with_blocking_cx(|cx| self.wait_to(cx, limit.map_or(NEVER, |limit| limit.tick(cx)), reason)).map_err(timed_out)
    }
}
