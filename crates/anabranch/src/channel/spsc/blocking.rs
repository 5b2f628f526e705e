//! The operations of streams for threads that have no `Cx`. They block the thread, and start no pool.

use super::{permit::Permit, receiver::Receiver, reserving::Reserving, sender::Sender};
use crate::{
    channel::{
        Closed, ClosedError, PushError, RecvTimeoutError, ReserveTimeoutError, SendTimeoutError, TryRecvError,
        TrySendError,
        error::{closed, refused},
    },
    cx::{
        limit::Limit,
        plain_thread::{block_again_for, block_for, blocking},
    },
    wait::{TimedOut, suspend::WaitReason},
};
use std::collections::VecDeque;

impl<T> Sender<T> {
    blocking! {
        /// # Errors
        /// Returns the value in an error if the stream is closed.
        send_blocking, send_blocking_deadline, send_blocking_timeout: like send, at "spsc::Sender::send_blocking"
        fn(&mut self, value: T) -> (), ClosedError<T> | SendTimeoutError<T>;
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
        /// use anabranch::channel::spsc;
        /// use std::thread;
        ///
        /// let (mut sender, receiver) = spsc::bounded(2);
        /// let sending = thread::spawn(move || (1..=3).for_each(|n| sender.send_blocking(n).unwrap()));
        /// assert_eq!(receiver.into_iter().sum::<u32>(), 6);
        /// # sending.join().unwrap();
        /// ```
    }

    blocking! {
        /// # Errors
        /// Returns an error if the stream is closed.
        reserve_blocking, reserve_blocking_deadline, reserve_blocking_timeout: like reserve, at "spsc::Sender::reserve_blocking"
        fn(&mut self) -> Permit<'_, T>, Closed | ReserveTimeoutError;
        |limit, reason| {
            block_for(&Reserving::new(&mut self.producer), limit, reason)??;
            Ok(Permit { producer: &mut self.producer })
        }, |_| Closed;
    }

    /// Like [`send_all`](Self::send_all), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns an error if the stream is closed. Values that were not sent are still in `values`.
    #[track_caller]
    pub fn send_all_blocking(&mut self, values: &mut VecDeque<T>) -> Result<(), Closed> {
        let reason = WaitReason::new(&"spsc::Sender::send_all_blocking");
        while !values.is_empty() {
            match self.producer.push_all(values) {
                Ok(()) => {}
                Err(PushError::Closed) => return Err(Closed),
                Err(PushError::Full) => {
                    let room = block_again_for(&Reserving::new(&mut self.producer), None, reason);
                    room.unwrap_or_else(|TimedOut| unreachable!("there is no limit"))?;
                }
            }
        }
        Ok(())
    }
}

impl<T> Receiver<T> {
    blocking! {
        /// # Errors
        /// Returns `Closed` if the stream is closed and empty.
        recv_blocking, recv_blocking_deadline, recv_blocking_timeout: like recv, at "spsc::Receiver::recv_blocking"
        fn(&mut self) -> T, Closed | RecvTimeoutError;
        |limit, reason| self.block(limit, reason), closed;
    }

    pub(in crate::channel) fn block(
        &mut self,
        limit: Option<Limit>,
        reason: WaitReason,
    ) -> Result<T, RecvTimeoutError> {
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
    /// Returns `Closed` if the stream is closed and empty.
    #[track_caller]
    pub fn recv_many_blocking(&mut self, into: &mut Vec<T>, limit: usize) -> Result<usize, Closed> {
        if limit == 0 {
            return Ok(0);
        }
        into.push(self.recv_blocking()?);
        let before = into.len();
        into.extend(self.drain().take(limit - 1));
        Ok(into.len() - before + 1)
    }
}
