//! The receiver of a stream, and what it waits for: a value.

use crate::{
    channel::{
        Closed, RecvError, RecvTimeoutError, TryRecvError,
        set::source::{Source, received},
        spsc::stream::{consumer::Consumer, wait::StreamWait},
    },
    cx::{
        Cx,
        attempt::{Attempt, begin, go_on, wait_async_for, wait_for},
    },
    fiber::switch::PendingSwitch,
    sys::prefetch::prefetch,
    time::NEVER,
    wait::{
        Cancelled, WaitError,
        suspend::{WaitReason, leave},
        waitable::Place,
        waiter::Waiter,
    },
};
use std::{
    cell::UnsafeCell,
    fmt, iter,
    iter::FusedIterator,
    ptr,
    time::{Duration, Instant},
};

/// The end of a stream that receives. Dropping it closes the stream, and drops what is in it.
// See `spsc` for the alignment.
#[repr(align(64))]
pub struct Receiver<T> {
    pub(super) consumer: Consumer<T>,
}

impl<T> Receiver<T> {
    /// Receives the next value; waits for it if there is none.
    ///
    /// # Errors
    /// When the stream is closed and all was received, or the wait was cancelled.
    #[inline(always)]
    #[track_caller]
    pub fn recv(&mut self, cx: &Cx<'_>) -> Result<T, RecvError> {
        let goes_on = cx.goes_on();
        if goes_on && let Some(value) = self.consumer.pop_fast() {
            return Ok(value);
        }
        if goes_on
            && self.consumer.is_apart()
            && let Some(value) = self.consumer.pop_apart()
        {
            return Ok(value);
        }
        let operation = self.receiving();
        let (reason, mut result) = (WaitReason::new(&"spsc::Receiver::recv"), None);
        let mut switch = operation.begin(cx, goes_on, reason, &mut result);
        loop {
            if let Some(result) = result {
                return result;
            }
            leave(switch);
            switch = operation.go_on(cx, reason, &mut result);
        }
    }

    /// Like [`recv`](Self::recv), with a deadline.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_deadline(&mut self, cx: &Cx<'_>, instant: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_to(cx, cx.strand.clock().tick_at(instant), WaitReason::new(&"spsc::Receiver::recv"))
    }

    /// Like [`recv`](Self::recv), with a timeout.
    ///
    /// # Errors
    /// As there, and when the time was up.
    #[track_caller]
    pub fn recv_timeout(&mut self, cx: &Cx<'_>, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_to(cx, cx.after(timeout), WaitReason::new(&"spsc::Receiver::recv"))
    }

    fn recv_to(&mut self, cx: &Cx<'_>, deadline: u64, reason: WaitReason) -> Result<T, RecvTimeoutError> {
        cx.checkpoint()?;
        Ok(wait_for(cx, &self.receiving(), deadline, reason)??)
    }

    /// Like [`recv`](Self::recv), for async code. A future that is dropped has received nothing.
    ///
    /// # Errors
    /// When the stream is closed and all was received.
    ///
    /// ```
    /// use anabranch::channel::spsc;
    ///
    /// let (mut sender, mut receiver) = spsc::bounded(1);
    /// let echo = anabranch::spawn_async(async move { receiver.recv_async().await });
    /// anabranch::run(|cx| {
    ///     sender.send(cx, "hello").unwrap();
    ///     assert_eq!(echo.join(cx).unwrap(), Ok("hello"));
    /// });
    /// ```
    pub async fn recv_async(&mut self) -> Result<T, Closed> {
        wait_async_for(self.receiving()).await
    }

    /// Receives the next value if there is one.
    ///
    /// # Errors
    /// When there is none, or the stream is closed and all was received.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if let Some(value) = self.consumer.pop_fast() {
            return Ok(value);
        }
        match self.consumer.pop() {
            Some(Ok(value)) => Ok(value),
            Some(Err(_)) => Err(TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Receives up to `limit` values and puts them at the end of `into`; waits while there is none. How many.
    ///
    /// # Errors
    /// Returns the errors of [`recv`](Self::recv).
    ///
    /// ```
    /// use anabranch::channel::spsc;
    ///
    /// let (mut sender, mut receiver) = spsc::unbounded();
    /// (0..5).for_each(|n| sender.try_send(n).unwrap());
    /// let mut batch = Vec::new();
    /// anabranch::run(|cx| assert_eq!(receiver.recv_many(cx, &mut batch, 3), Ok(3)));
    /// assert_eq!(batch, [0, 1, 2]);
    /// ```
    #[track_caller]
    pub fn recv_many(&mut self, cx: &Cx<'_>, into: &mut Vec<T>, limit: usize) -> Result<usize, RecvError> {
        if limit == 0 {
            return Ok(0);
        }
        into.push(self.recv(cx)?);
        let before = into.len();
        into.extend(self.drain().take(limit - 1));
        Ok(into.len() - before + 1)
    }

    /// Like [`recv_many`](Self::recv_many), for async code. A future that is dropped before it is ready has received
    /// nothing.
    ///
    /// # Errors
    /// Returns the errors of [`recv_async`](Self::recv_async).
    pub async fn recv_many_async(&mut self, into: &mut Vec<T>, limit: usize) -> Result<usize, Closed> {
        if limit == 0 {
            return Ok(0);
        }
        into.push(self.recv_async().await?);
        let before = into.len();
        into.extend(self.drain().take(limit - 1));
        Ok(into.len() - before + 1)
    }

    /// All values that come, each as [`recv`](Self::recv) has it, until the stream is closed. If a wait is cancelled
    /// that is the last item, an error: a loop that is to end then uses `?`, and `sum`, `collect` and the like give a
    /// `Result`.
    ///
    /// ```
    /// use anabranch::{Cancelled, channel::spsc};
    ///
    /// let (mut sender, mut receiver) = spsc::unbounded();
    /// (1..=3).for_each(|n| sender.try_send(n).unwrap());
    /// drop(sender);
    /// anabranch::run(|cx| assert_eq!(receiver.iter(cx).sum::<Result<u32, _>>(), Ok(6)));
    /// ```
    pub fn iter<'a>(&'a mut self, cx: &'a Cx<'_>) -> impl FusedIterator<Item = Result<T, Cancelled>> + 'a {
        received(move || self.recv(cx))
    }

    /// All values that are there, without waiting.
    pub fn drain(&mut self) -> impl FusedIterator<Item = T> + '_ {
        iter::from_fn(|| self.try_recv().ok()).fuse()
    }

    /// The receive as an operation, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    pub fn receiving(&mut self) -> Receiving<'_, T> {
        Receiving { consumer: UnsafeCell::new(&mut self.consumer), wait: StreamWait::new() }
    }

    /// Closes the stream: what was sent can be received, and nothing can be sent any more.
    ///
    /// ```
    /// let (mut sender, mut receiver) = anabranch::channel::spsc::unbounded();
    /// sender.try_send(1).unwrap();
    /// receiver.close();
    /// assert!(sender.try_send(2).is_err());
    /// assert_eq!(receiver.drain().collect::<Vec<_>>(), [1]);
    /// ```
    pub fn close(&mut self) {
        self.consumer.close();
    }

    /// Whether the stream is closed. There may still be something to receive.
    pub fn is_closed(&self) -> bool {
        self.consumer.is_closed()
    }

    /// Whether there is nothing to receive now.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.consumer.is_empty()
    }

    /// How many values there are to receive now. Linear in that number: an exact count kept for all to see would cost
    /// each message more than all the rest.
    pub fn len(&self) -> usize {
        self.consumer.len()
    }

    /// How many values there can be in the stream. `None`: any number.
    pub fn capacity(&self) -> Option<usize> {
        self.consumer.capacity()
    }
}

/// Receiving from a stream, as an operation. Made by [`Receiver::receiving`].
// The wait comes first, for the seat of a standing operation: see `channel::set::member`.
#[repr(C)]
pub struct Receiving<'a, T> {
    wait: StreamWait,
    consumer: UnsafeCell<&'a mut Consumer<T>>,
}

impl<T> Receiving<'_, T> {
    /// All of [`recv`](Receiver::recv) that is no matter of a glance, up to leaving.
    #[inline(never)]
    fn begin(
        &self,
        cx: &Cx<'_>,
        goes_on: bool,
        reason: WaitReason,
        result: &mut Option<Result<T, RecvError>>,
    ) -> Option<PendingSwitch> {
        if goes_on && cx.begin_here(self) {
            return cx.suspend(NEVER, reason);
        }
        self.begin_slow(cx, goes_on, reason, result)
    }

    #[inline(never)]
    fn begin_slow(
        &self,
        cx: &Cx<'_>,
        goes_on: bool,
        reason: WaitReason,
        result: &mut Option<Result<T, RecvError>>,
    ) -> Option<PendingSwitch> {
        if !goes_on && cx.checkpoint_slow().is_err() {
            *result = Some(Err(RecvError::Cancelled));
            return None;
        }
        // SAFETY: as for `Reserving`.
        let consumer = unsafe { &mut *self.consumer.get() };
        if let Some(received) = consumer.pop() {
            *result = Some(received.map_err(|_| RecvError::Closed));
            return None;
        }
        let mut waited = None;
        let switch = begin(cx, self, NEVER, reason, &mut waited);
        *result = waited.map(flat);
        switch
    }

    /// What comes after the wait.
    #[inline(never)]
    fn go_on(
        &self,
        cx: &Cx<'_>,
        reason: WaitReason,
        result: &mut Option<Result<T, RecvError>>,
    ) -> Option<PendingSwitch> {
        if cx.ended_here() {
            // SAFETY: as for `Reserving`.
            if let Some(value) = unsafe { &mut *self.consumer.get() }.pop_fast() {
                *result = Some(Ok(value));
                return None;
            }
        }
        self.go_on_slow(cx, reason, result)
    }

    #[inline(never)]
    fn go_on_slow(
        &self,
        cx: &Cx<'_>,
        reason: WaitReason,
        result: &mut Option<Result<T, RecvError>>,
    ) -> Option<PendingSwitch> {
        let mut waited = None;
        let switch = go_on(cx, self, NEVER, reason, &mut waited);
        *result = waited.map(flat);
        switch
    }
}

fn flat<T>(result: Result<Result<T, Closed>, WaitError>) -> Result<T, RecvError> {
    match result {
        Ok(received) => Ok(received?),
        Err(_) => Err(RecvError::Cancelled),
    }
}

impl<T> Attempt for Receiving<'_, T> {
    type Output = Result<T, Closed>;

    const IS_LONE: bool = true;

    #[inline]
    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: as for `Reserving`.
        let consumer = unsafe { &mut *self.consumer.get() };
        match consumer.pop_fast() {
            Some(value) => Some(Ok(value)),
            None => consumer.pop().map(|received| received.map_err(|_| Closed)),
        }
    }

    fn snooze(&self) {
        // SAFETY: as above.
        unsafe { &mut *self.consumer.get() }.snooze();
    }

    #[inline]
    fn is_bare(&self) -> bool {
        // SAFETY: as for `Reserving`.
        unsafe { &**self.consumer.get() }.is_empty()
    }

    #[inline]
    fn prefetch(&self) {
        // SAFETY: as for `Reserving`.
        prefetch(ptr::from_ref(unsafe { &**self.consumer.get() }).cast());
    }

    fn withdraw(&self) -> bool {
        // SAFETY: as for `Reserving`.
        self.wait.withdraw_outlet(unsafe { &**self.consumer.get() })
    }
}

// SAFETY: as for `Reserving`.
unsafe impl<T> Place for Receiving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: as for `Reserving`.
        unsafe { self.wait.register_outlet(&**self.consumer.get(), waiter, ticket) }
    }

    #[inline]
    unsafe fn register_here(&self, waiter: *const Waiter) -> bool {
        // SAFETY: as for `Reserving`.
        unsafe { self.wait.register_outlet_here(&**self.consumer.get(), waiter) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: as above.
        unsafe { self.wait.unregister_outlet(&**self.consumer.get(), has_decided) }
    }

    #[inline]
    unsafe fn listen(&self, waiter: *const Waiter) -> bool {
        // SAFETY: as above.
        unsafe { self.wait.listen(&**self.consumer.get(), waiter) }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("spsc::Receiver");
        shown.field("is_closed", &self.is_closed()).field("is_empty", &self.is_empty()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("spsc::Receiving").finish_non_exhaustive()
    }
}

impl<T> Source for Receiver<T> {
    type Value = T;
    type Wait = StreamWait;

    fn wait() -> StreamWait {
        StreamWait::new()
    }

    #[inline]
    fn receive(&mut self) -> Result<T, TryRecvError> {
        self.try_recv()
    }

    #[inline]
    fn is_bare(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    unsafe fn register(&self, wait: &StreamWait, waiter: *const Waiter) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
        unsafe { wait.listen(&self.consumer, waiter) }
    }

    unsafe fn withdraw(&self, wait: &StreamWait) -> bool {
        wait.withdraw_outlet(&self.consumer)
    }

    fn pass_on(&self) {}
}
