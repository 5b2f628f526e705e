//! Receivers as iterators of plain threads.

use crate::{
    channel::{mpmc, spsc},
    wait::suspend::WaitReason,
};
use std::{fmt, iter::FusedIterator};

/// The values of a receiver, each received as with `recv_blocking`, until the channel is closed.
///
/// Created by `iter_blocking` and by the [`IntoIterator`] of [`Receiver`](mpmc::Receiver) and
/// [`spsc::Receiver`](spsc::Receiver). `R` is the receiver, or a reference to it.
pub struct BlockingIter<R> {
    receiver: R,
    /// Names the place that made the iterator: `next` may be called by an adapter of another crate.
    reason: WaitReason,
}

impl<R> BlockingIter<R> {
    #[track_caller]
    fn new(receiver: R) -> Self {
        Self { receiver, reason: WaitReason::new(&"Receiver::iter_blocking") }
    }
}

impl<T> mpmc::Receiver<T> {
    /// Iterates over all values until the channel is closed, for threads without a [`Cx`](crate::Cx): blocks the
    /// thread. See [plain threads](crate::channel#plain-threads).
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::unbounded();
    /// std::thread::spawn(move || (1..=3).for_each(|n| sender.try_send(n).unwrap()));
    /// assert!(receiver.iter_blocking().eq([1, 2, 3]));
    /// ```
    #[track_caller]
    pub fn iter_blocking(&self) -> BlockingIter<&Self> {
        BlockingIter::new(self)
    }
}

impl<T> spsc::Receiver<T> {
    /// Iterates over all values until the stream is closed, for threads without a [`Cx`](crate::Cx): blocks the
    /// thread. See [plain threads](crate::channel#plain-threads).
    #[track_caller]
    pub fn iter_blocking(&mut self) -> BlockingIter<&mut Self> {
        BlockingIter::new(self)
    }
}

macro_rules! iterators {
    ($($receiver:ty),*) => {$(
        /// Blocks the thread: see [plain threads](crate::channel#plain-threads).
        impl<T> IntoIterator for $receiver {
            type Item = T;
            type IntoIter = BlockingIter<Self>;

            #[track_caller]
            fn into_iter(self) -> BlockingIter<Self> {
                BlockingIter::new(self)
            }
        }

        impl<T> Iterator for BlockingIter<$receiver> {
            type Item = T;

            #[inline]
            fn next(&mut self) -> Option<T> {
                self.receiver.block(self.reason).ok()
            }
        }

        // A channel that is closed and empty stays so.
        impl<T> FusedIterator for BlockingIter<$receiver> {}
    )*};
}

iterators!(mpmc::Receiver<T>, &mpmc::Receiver<T>, spsc::Receiver<T>, &mut spsc::Receiver<T>);

impl<R> fmt::Debug for BlockingIter<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingIter").finish_non_exhaustive()
    }
}
