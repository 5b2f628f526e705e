//! Every value to every receiver: events.

use super::{
    Closed, RecvError, RecvTimeoutError, Refused, TryRecvError,
    board::{Board, News},
};
use crate::{
    sys::sync::Arc,
    wait::{
        Cx,
        attempt::{Attempt, wait_async_for, wait_for, wait_long_for},
        cx::Reason,
        place::Place,
        waiter::Waiter,
    },
};
use std::{
    cell::UnsafeCell,
    collections::VecDeque,
    fmt,
    time::{Duration, Instant},
};

/// Makes a channel that keeps the last `capacity` values, and of which each receiver gets all.
///
/// Sending never waits: a receiver that has fallen behind by more than `capacity` misses the oldest ones, and is told how many.
///
/// # Panics
/// When `capacity` is zero.
///
/// ```
/// use anabranch::channel::broadcast;
///
/// let (sender, mut one) = broadcast::channel(2);
/// let mut other = sender.subscribe();
/// sender.send("a").unwrap();
/// assert_eq!(*one.try_recv().unwrap(), "a");
/// sender.send("b").unwrap();
/// sender.send("c").unwrap();
/// drop(sender);
/// anabranch::run(|cx| {
///     assert!(one.iter(cx).map(|text| *text).eq(["b", "c"]));
///     assert!(other.iter(cx).map(|text| *text).eq(["b", "c"]));
/// });
/// assert_eq!((one.missed(), other.missed()), (0, 1));
/// ```
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "what is not kept cannot be received");
    let board = Arc::new(Board::new(Log { values: VecDeque::with_capacity(capacity + 1), capacity }));
    (Sender { board: Arc::clone(&board) }, Receiver { board, next: 0, missed: 0 })
}

/// The last values; the version of the board is the number of those that were ever sent.
struct Log<T> {
    values: VecDeque<Arc<T>>,
    capacity: usize,
}

/// The end of a broadcast channel that sends; may be cloned.
pub struct Sender<T> {
    board: Arc<Board<Log<T>>>,
}

/// The end of a broadcast channel that receives; may be cloned, and each clone receives all.
pub struct Receiver<T> {
    board: Arc<Board<Log<T>>>,
    /// The number of the next value.
    next: u64,
    missed: u64,
}

impl<T> Sender<T> {
    /// Sends a value to all receivers, and wakes those that wait. One allocation, whatever their number.
    ///
    /// # Errors
    /// When there is no receiver; the value comes back.
    pub fn send(&self, value: T) -> Result<(), Refused<T>> {
        if self.is_closed() {
            return Err(Refused(value));
        }
        let oldest = self.board.publish(Arc::new(value), |log, value| {
            log.values.push_back(value);
            if log.values.len() > log.capacity { log.values.pop_front() } else { None }
        });
        // A broadcast channel is closed by its last sender alone.
        drop(oldest);
        Ok(())
    }

    /// Another receiver, for what is sent from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        self.board.add_receiver();
        let next = self.board.look(|state| state.version);
        Receiver { board: Arc::clone(&self.board), next, missed: 0 }
    }

    /// Whether there is no receiver now.
    pub fn is_closed(&self) -> bool {
        !self.board.has_receivers()
    }
}

impl<T> Receiver<T> {
    /// How many values were missed so far, since they came faster than they were received.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How many values there are to receive now.
    pub fn len(&self) -> usize {
        self.board.look(|state| state.content.values.len().min((state.version - self.next) as usize))
    }

    /// Whether there is nothing to receive now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn next(&mut self) -> Option<Result<Arc<T>, Closed>> {
        self.board.look(|state| {
            if state.version == self.next {
                return state.is_closed.then_some(Err(Closed));
            }
            let kept = &state.content.values;
            let first = state.version - kept.len() as u64;
            self.missed += first.saturating_sub(self.next);
            let next = self.next.max(first);
            self.next = next + 1;
            Some(Ok(Arc::clone(&kept[(next - first) as usize])))
        })
    }

    /// Receives the oldest value that is kept and was not received; waits while there is none.
    ///
    /// # Errors
    /// When the channel is closed and there is nothing more to receive, or the wait was cancelled.
    #[track_caller]
    pub fn recv(&mut self, cx: &Cx<'_>) -> Result<Arc<T>, RecvError> {
        cx.checkpoint()?;
        Ok(wait_long_for(cx, &self.receiving(), Reason::new(&"broadcast::Receiver::recv"))??)
    }

    /// As [`recv`](Self::recv), but waits no longer than until then.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_until(&mut self, cx: &Cx<'_>, instant: Instant) -> Result<Arc<T>, RecvTimeoutError> {
        self.recv_to(cx, cx.strand.clock().tick_at(instant), Reason::new(&"broadcast::Receiver::recv"))
    }

    /// As [`recv`](Self::recv), but waits no longer than this.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_timeout(&mut self, cx: &Cx<'_>, timeout: Duration) -> Result<Arc<T>, RecvTimeoutError> {
        self.recv_to(cx, cx.after(timeout), Reason::new(&"broadcast::Receiver::recv"))
    }

    fn recv_to(&mut self, cx: &Cx<'_>, deadline: u64, reason: Reason) -> Result<Arc<T>, RecvTimeoutError> {
        cx.checkpoint()?;
        Ok(wait_for(cx, &self.receiving(), deadline, reason)??)
    }

    /// As [`recv`](Self::recv), for async code. A future that is dropped before it is ready has received nothing.
    ///
    /// # Errors
    /// When the channel is closed and there is nothing more to receive.
    pub async fn recv_async(&mut self) -> Result<Arc<T>, Closed> {
        wait_async_for(self.receiving()).await
    }

    /// As [`recv`](Self::recv), without waiting.
    ///
    /// # Errors
    /// When there is nothing to receive, now or ever.
    pub fn try_recv(&mut self) -> Result<Arc<T>, TryRecvError> {
        match self.next() {
            Some(Ok(value)) => Ok(value),
            Some(Err(Closed)) => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// All that comes, each as [`recv`](Self::recv) has it, until the channel is closed or a wait cancelled.
    pub fn iter<'a>(&'a mut self, cx: &'a Cx<'_>) -> impl Iterator<Item = Arc<T>> + 'a {
        std::iter::from_fn(move || self.recv(cx).ok())
    }

    /// The receive as an operation, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    pub fn receiving(&mut self) -> Receiving<'_, T> {
        let board: *const Board<Log<T>> = &*self.board;
        // SAFETY: the receiver keeps the board for as long as it is borrowed.
        let news = News::after(self.next, unsafe { &*board });
        Receiving { news, receiver: UnsafeCell::new(self) }
    }

    /// Whether nothing will be sent any more. There may still be something to receive.
    pub fn is_closed(&self) -> bool {
        self.board.look(|state| state.is_closed)
    }

    /// Whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.board, &other.board)
    }
}

/// Receiving, as an operation. Made by [`Receiver::receiving`].
pub struct Receiving<'a, T> {
    news: News<'a, Log<T>>,
    receiver: UnsafeCell<&'a mut Receiver<T>>,
}

impl<T> Attempt for Receiving<'_, T> {
    type Output = Result<Arc<T>, Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: an operation is its strand's alone, as it is not `Sync`, and the reference ends here.
        unsafe { &mut *self.receiver.get() }.next()
    }
}

// SAFETY: that of `news`.
unsafe impl<T> Place for Receiving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.news.register(waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { self.news.unregister(has_decided) }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.board.add_sender();
        Self { board: Arc::clone(&self.board) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.board.remove_sender();
    }
}

/// Has seen what the original has seen.
impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.board.add_receiver();
        Self { board: Arc::clone(&self.board), next: self.next, missed: self.missed }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.board.remove_receiver();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Sender").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Receiver").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("broadcast::Receiving").finish_non_exhaustive()
    }
}
