//! The operations of streams for threads that have no `Cx`. They block the thread, and start no pool.

use super::{receiver::Receiver, sender::Sender};
use crate::{
    channel::{Closed, ClosedError, PushError, TryRecvError, TrySendError},
    cx::operation::block_again_for,
    wait::suspend::WaitReason,
};
use std::collections::VecDeque;

impl<T> Sender<T> {
    /// Like [`send`](Self::send), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns the value in an error if the stream is closed.
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
    #[inline]
    #[track_caller]
    pub fn send_blocking(&mut self, value: T) -> Result<(), ClosedError<T>> {
        match self.try_send(value) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(value)) => Err(ClosedError(value)),
            Err(TrySendError::Full(value)) => {
                block_again_for(&self.sending(value), WaitReason::new(&"spsc::Sender::send_blocking"))
            }
        }
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
                Err(PushError::Full) => drop(block_again_for(&self.reserving(), reason)?),
            }
        }
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Like [`recv`](Self::recv), for threads without a [`Cx`](crate::Cx): blocks the thread. See
    /// [plain threads](crate::channel#plain-threads).
    ///
    /// # Errors
    /// Returns `Closed` if the stream is closed and empty.
    #[inline]
    #[track_caller]
    pub fn recv_blocking(&mut self) -> Result<T, Closed> {
        self.block(WaitReason::new(&"spsc::Receiver::recv_blocking"))
    }

    pub(in crate::channel) fn block(&mut self, reason: WaitReason) -> Result<T, Closed> {
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
