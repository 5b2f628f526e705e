//! The handle of a spawned fiber.

use crate::{
    cx::{
        Cx,
        attempt::Attempt,
        cancel_handle::{Cancel, CancelHandle},
        join_error::JoinError,
    },
    fiber::task::{Header, Vtable},
    pool::panic_handler::PanicHandler,
    sys::{
        carrier::is_large,
        sync::{AtomicBool, AtomicU64, Ordering},
    },
    time::NEVER,
    wait::{
        Cancelled,
        cancel::CancelScope,
        future::{AsyncWait, poll_counted},
        latch::{Latch, LatchWait},
        suspend::WaitReason,
        waitable::waits_by,
        waiter::Selected,
    },
};
use std::{
    any::Any,
    fmt,
    future::Future,
    marker::PhantomData,
    ops::Deref,
    pin::Pin,
    ptr::NonNull,
    task::{Context, Poll, ready},
};

/// The part of a task that its handle accesses.
#[repr(C)]
pub(super) struct Shared {
    head: Header,
    pub(super) done: Latch,
    pub(super) scope: CancelScope,
    /// The number of [`TaskRef`]s. The queue's share is not counted.
    references: AtomicU64,
    /// Whether the handle was dropped while other [`TaskRef`]s are left.
    is_abandoned: AtomicBool,
}

impl Shared {
    pub(super) fn new(head: Header) -> Self {
        Self {
            head,
            done: Latch::new(),
            scope: CancelScope::unattached(),
            references: AtomicU64::new(1),
            is_abandoned: AtomicBool::new(false),
        }
    }

    /// Returns whether no handle will take the result, although there is a [`TaskRef`] to notify. The fiber calls this
    /// before it notifies its end.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Acquire)
    }
}

/// The outcome of a task, in its block.
pub(super) type Ended<T> = Result<Result<T, JoinError>, UnreportedPanic>;

/// A panic that no handle has taken yet. If it is dropped before that, it goes to the panic handler.
pub(super) struct UnreportedPanic(Box<(Option<Box<dyn Any + Send>>, PanicHandler)>);

impl UnreportedPanic {
    #[cold]
    pub(super) fn new(payload: Box<dyn Any + Send>, handler: PanicHandler) -> Self {
        Self(Box::new((Some(payload), handler)))
    }

    /// Returns the payload to a caller that reports it.
    pub(super) fn into_payload(mut self) -> Box<dyn Any + Send> {
        self.0.0.take().expect("the panic was reported before")
    }
}

impl Drop for UnreportedPanic {
    fn drop(&mut self) {
        let (payload, handler) = &mut *self.0;
        if let Some(payload) = payload.take() {
            handler.report(payload);
        }
    }
}

/// A counted reference to a task's block, of its handle or of an object that was made from the handle. The last
/// reference releases the latch, or frees the block if the job has ended.
pub(super) struct TaskRef<T> {
    block: NonNull<Shared>,
    _result: PhantomData<fn() -> T>,
}

// SAFETY: the spawning functions require `T: Send`, and only one thread takes the result. The rest of `Shared` may be
// shared.
unsafe impl<T> Send for TaskRef<T> {}
// SAFETY: through a shared reference only `Shared` can be accessed, which may be shared.
unsafe impl<T> Sync for TaskRef<T> {}

impl<T> TaskRef<T> {
    /// # Safety
    /// The block ends with an [`Ended<T>`](Ended), or an `Ended<Box<T>>` if `T` is [large](is_large). This is the first
    /// reference to it.
    pub(super) unsafe fn new(block: NonNull<Shared>) -> Self {
        Self { block, _result: PhantomData }
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the block is alive as long as there is a `TaskRef`.
        unsafe { self.block.as_ref() }
    }

    fn vtable(&self) -> &'static Vtable {
        self.shared().head.vtable
    }

    fn done(&self) -> &Latch {
        &self.shared().done
    }

    fn scope(&self) -> &CancelScope {
        &self.shared().scope
    }

    /// # Safety
    /// The task has ended, and the caller is the one handle.
    unsafe fn take(&self) -> Result<T, JoinError> {
        // SAFETY: the caller is the one handle, and has seen that the task has ended.
        unsafe {
            if const { is_large::<T>() } {
                self.take_stored::<Box<T>>().map(|result| *result)
            } else {
                self.take_stored::<T>()
            }
        }
    }

    /// # Safety
    /// The contract of [`take_ended`](Self::take_ended) holds.
    unsafe fn take_stored<S>(&self) -> Result<S, JoinError> {
        // SAFETY: the caller upholds the contract.
        let ended = unsafe { self.take_ended::<S>() };
        let ended = ended.expect("a `JoinHandle` was polled after it had returned the result");
        ended.unwrap_or_else(|panic| Err(JoinError::Panicked(panic.into_payload())))
    }

    /// Takes the outcome. Returns `None` if it was taken before.
    ///
    /// # Safety
    /// The task has ended, and the caller is the one handle. `S` is what the block stores: `T`, or a box if it is
    /// large.
    unsafe fn take_ended<S>(&self) -> Option<Ended<S>> {
        // SAFETY: the caller is the one handle, and has seen that the task has ended. By the contract of `new` the
        // block ends with an `Ended<S>`.
        unsafe { self.vtable().take_result(self.block.cast()) }
    }

    /// Drops the outcome, unless it was taken before.
    ///
    /// # Safety
    /// The task has ended, and the caller is the one handle.
    unsafe fn discard(&self) {
        // SAFETY: the caller is the one handle, and has seen that the task has ended.
        unsafe {
            if const { is_large::<T>() } {
                drop(self.take_ended::<Box<T>>());
            } else {
                drop(self.take_ended::<T>());
            }
        }
    }
}

impl<T> Clone for TaskRef<T> {
    fn clone(&self) -> Self {
        self.shared().references.fetch_add(1, Ordering::Relaxed);
        Self { ..*self }
    }
}

impl<T> Drop for TaskRef<T> {
    fn drop(&mut self) {
        let shared = self.shared();
        // Acquire, and release below: the last drop happens after all accesses through other references. If this is the
        // only reference, no thread can make another.
        let is_last =
            shared.references.load(Ordering::Acquire) == 1 || shared.references.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last && !shared.done.give_up() {
            // SAFETY: the job has ended and no longer uses the block. This is the last reference.
            unsafe { (self.vtable().end)(self.block.cast()) };
        }
    }
}

/// Waits for the end of a fiber, unless it has ended. So a caller in a cancelled scope can still collect the results of
/// fibers that have ended.
pub(super) fn wait_for_end(done: &Latch, cx: &Cx<'_>, reason: WaitReason) -> Result<(), Cancelled> {
    if done.is_notified() {
        return Ok(());
    }
    cx.checkpoint()?;
    while !done.is_notified() {
        if cx.wait(&LatchWait::new(done), NEVER, reason) == Selected::Cancelled && !done.is_notified() {
            return Err(Cancelled);
        }
    }
    Ok(())
}

/// The handle of a spawned fiber: it returns the fiber's result, and can cancel the fiber.
///
/// If it is dropped, the fiber continues without it. A panic of the fiber then goes to the [panic
/// handler](crate::Builder::on_panic). The handle is also a future, so async code can `.await` it.
///
/// [`join`](Self::join) consumes the handle, even if the wait is cancelled: the result is lost then. To keep the
/// result, first call [`wait`](Self::wait), which borrows the handle, and join afterwards:
/// ```
/// use anabranch::WaitError;
/// use std::time::Duration;
///
/// let mut handle = anabranch::spawn(|cx| cx.sleep(Duration::from_millis(5)).map(|()| 42));
/// anabranch::run(|cx| {
///     let late = cx.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(handle.wait(cx)?));
///     // Now or later; a fiber that has ended is joined without a wait.
///     if late.is_err() {
///         handle.wait(cx).unwrap();
///     }
///     assert_eq!(handle.join(cx).unwrap(), Ok(42));
/// });
/// ```
pub struct JoinHandle<T> {
    /// The wait of async code.
    wait: Option<Pin<Box<AsyncWait<Done<T>>>>>,
    task: TaskRef<T>,
}

impl<T> JoinHandle<T> {
    pub(super) fn new(task: TaskRef<T>) -> Self {
        Self { wait: None, task }
    }

    /// Converts the handle into a wait for the end alone, without the result or the panic.
    pub(super) fn into_done(self) -> Done<T> {
        Done::new(self.task.clone())
    }

    /// Waits for the fiber's result. If the fiber has ended, this returns the result without waiting, even in a
    /// cancelled scope.
    ///
    /// # Errors
    /// - Returns [`JoinError::Panicked`] with the payload if the fiber panicked.
    /// - Returns [`JoinError::Aborted`] if the fiber was a future that was cancelled.
    /// - Returns [`JoinError::Cancelled`] if the wait was cancelled. Then **the result is lost**: this drops the
    ///   handle, and the fiber continues without it. [`wait`](Self::wait) keeps the handle.
    #[track_caller]
    pub fn join(mut self, cx: &Cx<'_>) -> Result<T, JoinError> {
        self.wait(cx)?;
        // SAFETY: the task has ended, and this is the one handle.
        unsafe { self.task.take() }
    }

    /// Returns the fiber's result if it has ended. Never waits.
    ///
    /// # Errors
    /// Returns the handle if the fiber has not ended. The inner result has the errors of [`join`](Self::join), except
    /// for the errors of the wait.
    ///
    /// ```
    /// let mut handles: Vec<_> = (0..10).map(|n| anabranch::spawn(move |_| n)).collect();
    /// let mut sum = 0;
    /// anabranch::run(|cx| {
    ///     while let Some(handle) = handles.pop() {
    ///         match handle.try_join() {
    ///             Ok(result) => sum += result.unwrap(),
    ///             Err(handle) => {
    ///                 handles.insert(0, handle);
    ///                 cx.yield_now(); // Or something more useful.
    ///             }
    ///         }
    ///     }
    /// });
    /// assert_eq!(sum, 45);
    /// ```
    pub fn try_join(self) -> Result<Result<T, JoinError>, Self> {
        if self.is_finished() {
            // SAFETY: the task has ended, and this is the one handle.
            Ok(unsafe { self.task.take() })
        } else {
            Err(self)
        }
    }

    /// Waits until the fiber has ended. The result is kept for [`join`](Self::join), which then does not wait.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the wait was cancelled and the fiber has not ended. The handle can still be used.
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        let reason = WaitReason::new(&"JoinHandle");
        // A latch has one waiter. If the handle was polled before, that wait ends here.
        self.wait = None;
        wait_for_end(self.task.done(), cx, reason)
    }

    /// Returns whether the fiber has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.done().is_notified()
    }

    /// Returns a handle that cancels the fiber and can be sent elsewhere.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle
    where
        T: 'static,
    {
        CancelHandle::new(Whole(self.task.clone()))
    }

    /// Cancels the fiber: all its waits return [`Cancelled`]. Does not wait for its end.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let handle = anabranch::spawn(|cx| cx.sleep(Duration::from_secs(3600)));
    /// handle.cancel();
    /// assert_eq!(anabranch::run(|cx| handle.join(cx)).unwrap(), Err(anabranch::Cancelled));
    /// ```
    pub fn cancel(&self) {
        self.task.scope().cancel();
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        // The future has a `TaskRef` of its own.
        self.wait = None;
        let shared = self.task.shared();
        if shared.references.load(Ordering::Acquire) == 1 {
            // The last `TaskRef` drops everything.
            return;
        }
        // Cancel handles may keep the block for long, but do not take the result. So it is dropped now, or by the
        // fiber, or, if the two race, with the last reference.
        shared.is_abandoned.store(true, Ordering::Release);
        if self.is_finished() {
            // SAFETY: the task has ended, and this is the one handle.
            unsafe { self.task.discard() };
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// A task as the target of a cancel handle.
struct Whole<T>(TaskRef<T>);

impl<T> Cancel for Whole<T> {
    fn cancel(&self) {
        self.0.scope().cancel();
    }

    fn is_cancelled(&self) -> bool {
        self.0.scope().is_cancelled()
    }
}

/// The latch of a task, which the reference keeps alive.
struct DoneLatch<T>(TaskRef<T>);

impl<T> Deref for DoneLatch<T> {
    type Target = Latch;

    fn deref(&self) -> &Latch {
        self.0.done()
    }
}

/// The end of a task as a waitable for async code.
pub(super) struct Done<T> {
    wait: LatchWait<DoneLatch<T>>,
}

impl<T> Done<T> {
    fn new(task: TaskRef<T>) -> Self {
        Self { wait: LatchWait::new(DoneLatch(task)) }
    }

    pub(super) fn cancel(&self) {
        self.wait.latch().0.scope().cancel();
    }
}

impl<T> Attempt for Done<T> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        self.wait.latch().is_notified().then_some(())
    }
}

waits_by!(wait: Done<T>, [T]);

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        poll_counted(context, |context| {
            while !this.is_finished() {
                let task = &this.task;
                let wait = this.wait.get_or_insert_with(|| Box::pin(AsyncWait::new(Done::new(task.clone()))));
                ready!(wait.as_mut().poll(context));
            }
            // SAFETY: the task has ended, and this is the one handle.
            Poll::Ready(unsafe { this.task.take() })
        })
    }
}
