//! The receiver of a stream, and its wait for a value.

use crate::{
    channel::{
        Closed, RecvError, TryRecvError,
        set::source::{Source, received},
        spsc::stream::{consumer::Consumer, wait::StreamWait},
    },
    cx::{
        Cx,
        attempt::{Attempt, OperationWait, OwnerCell, wait_boxed},
    },
    fiber::switch::PendingSwitch,
    sys::{carrier::is_large, prefetch::prefetch},
    time::NEVER,
    wait::{
        Cancelled, WaitError,
        future::count_ready,
        suspend::{WaitReason, leave},
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{fmt, iter, iter::FusedIterator, ptr};

/// The receiving end of a stream. Dropping it closes the stream, and drops the values in it.
// See `spsc` for the alignment.
#[repr(align(64))]
pub struct Receiver<T> {
    pub(super) consumer: Consumer<T>,
}

impl<T> Receiver<T> {
    /// Receives the next value; waits for it if there is none.
    ///
    /// # Errors
    /// Returns `Closed` if the stream is closed and empty, `Cancelled` if the wait is cancelled.
    #[inline(always)]
    #[track_caller]
    pub fn recv(&mut self, cx: &Cx<'_>) -> Result<T, RecvError> {
        self.recv_for(cx, WaitReason::new(&"spsc::Receiver::recv"))
    }

    #[inline(always)]
    fn recv_for(&mut self, cx: &Cx<'_>, reason: WaitReason) -> Result<T, RecvError> {
        if const { is_large::<T>() } {
            return self.recv_large(cx, reason);
        }
        let may_proceed = cx.checkpoint_fast();
        if may_proceed && let Some(value) = self.consumer.pop_fast() {
            return Ok(value);
        }
        if may_proceed
            && self.consumer.is_apart()
            && let Some(value) = self.consumer.pop_apart()
        {
            return Ok(value);
        }
        let operation = self.receiving();
        let mut result = None;
        let mut switch = operation.begin(cx, may_proceed, reason, &mut result);
        loop {
            if let Some(result) = result {
                return result;
            }
            leave(switch);
            switch = operation.resume(cx, reason, &mut result);
        }
    }

    #[inline(never)]
    fn recv_large(&mut self, cx: &Cx<'_>, reason: WaitReason) -> Result<T, RecvError> {
        cx.checkpoint()?;
        if let Some(received) = self.consumer.pop::<Box<T>>() {
            return Ok(*received?);
        }
        match wait_boxed(cx, &self.receiving(), Receiving::attempt_large, NEVER, reason) {
            Ok(received) => Ok(*received?),
            Err(_) => Err(RecvError::Cancelled),
        }
    }

    /// Receives the next value if there is one. Does not wait.
    ///
    /// # Errors
    /// Returns `Empty` if there is no value, `Closed` if the stream is closed and empty.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if const { is_large::<T>() } {
            return Ok(*self.consumer.pop::<Box<T>>().ok_or(TryRecvError::Empty)??);
        }
        if let Some(value) = self.consumer.pop_fast() {
            return Ok(value);
        }
        Ok(self.consumer.pop().ok_or(TryRecvError::Empty)??)
    }

    /// Receives up to `limit` values and appends them to `into`; waits while there is none. Returns how many. For a
    /// time limit use [`Cx::timeout`].
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
    /// Returns an error if the stream is closed and empty.
    pub async fn recv_many_async(&mut self, into: &mut Vec<T>, limit: usize) -> Result<usize, Closed> {
        if limit == 0 {
            count_ready().await;
            return Ok(0);
        }
        into.push(self.receiving().await?);
        let before = into.len();
        into.extend(self.drain().take(limit - 1));
        Ok(into.len() - before + 1)
    }

    /// Iterates over all values, each received as with [`recv`](Self::recv), until the stream is closed. If a wait is
    /// cancelled, that error is the last item. So use `?` in a loop; `sum`, `collect` and the like return a `Result`.
    ///
    /// ```
    /// use anabranch::{Cancelled, channel::spsc};
    ///
    /// let (mut sender, mut receiver) = spsc::unbounded();
    /// (1..=3).for_each(|n| sender.try_send(n).unwrap());
    /// drop(sender);
    /// anabranch::run(|cx| assert_eq!(receiver.iter(cx).sum::<Result<u32, _>>(), Ok(6)));
    /// ```
    #[track_caller]
    pub fn iter<'a>(&'a mut self, cx: &'a Cx<'_>) -> impl FusedIterator<Item = Result<T, Cancelled>> + 'a {
        let reason = WaitReason::new(&"spsc::Receiver::iter");
        received(move || self.recv_for(cx, reason))
    }

    #[doc(alias = "try_iter")]
    /// Iterates over the values that can be received now, without waiting.
    pub fn drain(&mut self) -> impl FusedIterator<Item = T> + '_ {
        iter::from_fn(|| self.try_recv().ok()).fuse()
    }

    /// Returns the receive as an [operation](crate::Operation): for a wait with a time limit, for async code, for
    /// [`Select`](crate::channel::Select) and [`select!`](crate::select). A future that is dropped early has received
    /// nothing.
    ///
    /// ```
    /// use anabranch::channel::spsc;
    ///
    /// let (mut sender, mut receiver) = spsc::bounded(1);
    /// let echo = anabranch::spawn_async(async move { receiver.receiving().await });
    /// anabranch::run(|cx| {
    ///     sender.send(cx, "hello").unwrap();
    ///     assert_eq!(echo.join(cx).unwrap(), Ok("hello"));
    /// });
    /// ```
    pub fn receiving(&mut self) -> Receiving<'_, T> {
        Receiving { consumer: OwnerCell::new(&mut self.consumer), wait: StreamWait::new() }
    }

    /// Closes the stream: values sent before can still be received, and nothing can be sent any more.
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

    /// Returns whether the stream is closed. There may still be something to receive.
    pub fn is_closed(&self) -> bool {
        self.consumer.is_closed()
    }

    /// Returns whether there is nothing to receive now.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.consumer.is_empty()
    }

    /// Returns how many values can be received now. Takes time linear in that number: a shared exact count would cost
    /// each message more than all its other work.
    pub fn len(&self) -> usize {
        self.consumer.len()
    }

    /// Returns the capacity, or `None` if it is unlimited.
    pub fn capacity(&self) -> Option<usize> {
        self.consumer.capacity()
    }
}

/// Receiving from a stream, as an operation. Created by [`Receiver::receiving`].
// The wait comes first, for the entry of a persistent operation: see `channel::set::member`.
#[repr(C)]
pub struct Receiving<'a, T> {
    wait: StreamWait,
    consumer: OwnerCell<&'a mut Consumer<T>>,
}

impl<T> Receiving<'_, T> {
    #[inline(always)]
    fn consumer(&self) -> &Consumer<T> {
        // SAFETY: no attempt runs while this reference is used.
        unsafe { self.consumer.get() }
    }

    /// The slow part of [`recv`](Receiver::recv), up to leaving.
    #[inline(never)]
    fn begin(
        &self,
        cx: &Cx<'_>,
        may_proceed: bool,
        reason: WaitReason,
        result: &mut Option<Result<T, RecvError>>,
    ) -> Option<PendingSwitch> {
        if may_proceed && cx.begin_local(self) {
            return cx.suspend(NEVER, reason);
        }
        self.begin_slow(cx, may_proceed, reason, result)
    }

    #[inline(never)]
    fn begin_slow(
        &self,
        cx: &Cx<'_>,
        may_proceed: bool,
        reason: WaitReason,
        result: &mut Option<Result<T, RecvError>>,
    ) -> Option<PendingSwitch> {
        if !may_proceed && cx.checkpoint_slow().is_err() {
            *result = Some(Err(RecvError::Cancelled));
            return None;
        }
        if let Some(received) = self.consumer.with(|consumer| consumer.pop::<T>()) {
            *result = Some(received.map_err(|Closed| RecvError::Closed));
            return None;
        }
        let mut ended = None;
        let switch = self.wait_for(reason).begin(cx, &mut ended);
        *result = ended.map(flat);
        switch
    }

    /// The part of [`recv`](Receiver::recv) after the wait.
    #[inline(never)]
    fn resume(
        &self,
        cx: &Cx<'_>,
        reason: WaitReason,
        result: &mut Option<Result<T, RecvError>>,
    ) -> Option<PendingSwitch> {
        if cx.ended_local()
            && let Some(value) = self.consumer.with(|consumer| consumer.pop_fast())
        {
            *result = Some(Ok(value));
            return None;
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
        let mut ended = None;
        let switch = self.wait_for(reason).resume(cx, &mut ended);
        *result = ended.map(flat);
        switch
    }

    fn attempt_large(&self) -> Option<Result<Box<T>, Closed>> {
        self.consumer.with(|consumer| consumer.pop())
    }

    fn wait_for(&self, reason: WaitReason) -> OperationWait<'_, Self> {
        OperationWait { operation: self, deadline: NEVER, reason }
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

    const NAME: &'static &'static str = &"spsc::Receiver::recv";

    const IS_EXCLUSIVE: bool = true;

    #[inline]
    fn attempt(&self) -> Option<Self::Output> {
        if const { is_large::<T>() } {
            return self.attempt_large().map(|received| received.map(|value| *value));
        }
        self.consumer.with(|consumer| match consumer.pop_fast() {
            Some(value) => Some(Ok(value)),
            None => consumer.pop(),
        })
    }

    fn before_spin(&self) {
        self.consumer.with(|consumer| consumer.before_spin());
    }

    #[inline]
    fn is_bare(&self) -> bool {
        self.consumer().is_empty()
    }

    #[inline]
    fn prefetch(&self) {
        prefetch(ptr::from_ref(self.consumer()).cast());
    }

    fn withdraw(&self) -> bool {
        self.wait.withdraw_outlet(self.consumer())
    }
}

crate::cx::operation::into_future!(Receiving<'_, T>, [T];);

// SAFETY: an address leaves the word by `unregister`, or by a thread that then selects the wait before `unregister`
// ends. The operation borrows the end, and an attempt that fails does not move it.
unsafe impl<T> Waitable for Receiving<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        self.wait.register_consumer(self.consumer(), armed)
    }

    #[inline]
    fn register_local(&self, armed: Armed) -> bool {
        self.wait.register_consumer_local(self.consumer(), armed)
    }

    fn unregister(&self, ended: Ended) {
        self.wait.unregister_consumer(self.consumer(), ended);
    }

    #[inline]
    fn register_persistent(&self, armed: Armed) -> bool {
        self.wait.register_persistent(self.consumer(), armed)
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
    fn register(&self, wait: &StreamWait, armed: Armed) -> bool {
        wait.register_persistent(&self.consumer, armed)
    }

    fn withdraw(&self, wait: &StreamWait, _: Ended) -> bool {
        wait.withdraw_outlet(&self.consumer)
    }

    fn pass_on(&self) {}
}
