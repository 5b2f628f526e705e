//! The handle of a spawned fiber.

use crate::{
    cx::{
        Cx,
        attempt::Attempt,
        canceller::{Cancel, Canceller},
    },
    fiber::task::{Header, Vtable},
    pool::threads::PanicHandler,
    sys::sync::{AtomicBool, AtomicU64, Ordering},
    time::NEVER,
    wait::{
        Cancelled, TimedOut,
        cancel::CancelScope,
        future::AsyncWait,
        latch::{Latch, LatchWait},
        suspend::WaitReason,
        waitable::Place,
        waiter::{Outcome, Waiter},
    },
};
use std::{
    any::Any,
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    ptr::NonNull,
    task::{Context, Poll},
};

/// What the handle sees of a task.
#[repr(C)]
pub(super) struct Shared {
    head: Header,
    pub(super) done: Latch,
    pub(super) scope: CancelScope,
    /// How many grips there are. Not those of the queue: see [`TaskRef`].
    grips: AtomicU64,
    /// The handle is gone, though others have grips.
    is_abandoned: AtomicBool,
}

impl Shared {
    pub(super) fn new(vtable: &'static Vtable) -> Self {
        Self {
            head: Header { vtable },
            done: Latch::new(),
            scope: CancelScope::unattached(),
            grips: AtomicU64::new(1),
            is_abandoned: AtomicBool::new(false),
        }
    }

    /// For the fiber, before it tells of its end: whether nobody will take the result, although there is somebody to
    /// tell.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Acquire)
    }
}

/// What a task has come to, in its block.
pub(super) type Ended<T> = Result<Result<T, JoinError>, Untold>;

/// A panic of which nobody was told. If nobody ever is, it goes to the panic handler.
pub(super) struct Untold(Box<(Option<Box<dyn Any + Send>>, PanicHandler)>);

impl Untold {
    #[cold]
    pub(super) fn new(payload: Box<dyn Any + Send>, handler: PanicHandler) -> Self {
        Self(Box::new((Some(payload), handler)))
    }

    /// The payload, for somebody who is told.
    pub(super) fn tell(mut self) -> Box<dyn Any + Send> {
        self.0.0.take().expect("told once")
    }
}

impl Drop for Untold {
    fn drop(&mut self) {
        let (payload, handler) = &mut *self.0;
        if let Some(payload) = payload.take() {
            handler.report(payload);
        }
    }
}

/// A share of a task's block, that of its handle and of what was made from it: they count themselves, and the last of
/// them says that nobody will wait for the end, or frees the block if that has come.
pub(super) struct TaskRef<T> {
    block: NonNull<Shared>,
    _result: PhantomData<fn() -> T>,
}

// SAFETY: the result goes to one thread, and can be sent, by the bounds of whoever spawns; the rest is made for
// sharing.
unsafe impl<T> Send for TaskRef<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for TaskRef<T> {}

impl<T> TaskRef<T> {
    /// # Safety
    /// The block ends with an [`Ended<T>`](Ended), and this is its first task.
    pub(super) unsafe fn new(block: NonNull<Shared>) -> Self {
        Self { block, _result: PhantomData }
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the block is there as long as there is a task.
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
    /// The task is done, and the caller is the one handle.
    unsafe fn take(&self) -> Result<T, JoinError> {
        // SAFETY: the caller's word.
        let ended = unsafe { self.take_ended() };
        let ended = ended.expect("a `JoinHandle` was polled after it had returned the result");
        ended.unwrap_or_else(|panic| Err(JoinError::Panicked(panic.tell())))
    }

    /// `None` if it was taken before.
    ///
    /// # Safety
    /// As for `take`.
    unsafe fn take_ended(&self) -> Option<Ended<T>> {
        // SAFETY: the caller's word, and the contract of `new`.
        unsafe { self.vtable().take_result(self.block.cast()) }
    }
}

impl<T> Clone for TaskRef<T> {
    fn clone(&self) -> Self {
        self.shared().grips.fetch_add(1, Ordering::Relaxed);
        Self { ..*self }
    }
}

impl<T> Drop for TaskRef<T> {
    fn drop(&mut self) {
        let shared = self.shared();
        // Acquire, and release below: the last one comes after all that was done with the others. Where there is but
        // one, nobody can make another.
        let is_last = shared.grips.load(Ordering::Acquire) == 1 || shared.grips.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last && !shared.done.give_up() {
            // SAFETY: the job is done, so all belongs to the last task.
            unsafe { (self.vtable().end)(self.block.cast()) };
        }
    }
}

/// Waits for the end of a fiber, unless it has come: who gathers results in a cancelled scope gets those that are
/// there.
pub(super) fn wait_for_end(done: &Latch, cx: &Cx<'_>, reason: WaitReason) -> Result<(), Cancelled> {
    if done.is_notified() {
        return Ok(());
    }
    cx.checkpoint()?;
    while !done.is_notified() {
        if cx.wait(&LatchWait::new(done), NEVER, reason) == Outcome::Cancelled && !done.is_notified() {
            return Err(Cancelled);
        }
    }
    Ok(())
}

/// A spawned fiber's handle: for its result, and to cancel it.
///
/// Dropping it lets the fiber go on alone; a panic of the fiber, before or after, goes to the [panic
/// handler](crate::Builder::on_panic). It is a future too, so async code can `.await` it.
///
/// [`join`](Self::join) takes the handle, also when the wait is cancelled: the result is lost then. Who wants to come
/// back for it waits by [`wait`](Self::wait), which leaves the handle where it is, and joins afterwards:
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

    /// Its end alone, for who wants neither the result nor to be told of a panic.
    pub(super) fn into_done(self) -> Done<T> {
        Done::new(self.task.clone())
    }

    /// Waits for the fiber's result. If it has ended there is nothing to wait for: then the result is had in a
    /// cancelled scope too.
    ///
    /// # Errors
    /// [`JoinError::Panicked`] with the payload when the fiber panicked; [`JoinError::Aborted`] when it was a future
    /// that was cancelled. [`JoinError::Cancelled`] when the wait was cancelled, and then **the result is lost**: the
    /// handle is dropped, the fiber goes on, what it returns is dropped, and if it panics that is reported.
    /// [`wait`](Self::wait) keeps the handle.
    #[track_caller]
    pub fn join(mut self, cx: &Cx<'_>) -> Result<T, JoinError> {
        self.wait(cx)?;
        // SAFETY: done, and this is the one handle.
        unsafe { self.task.take() }
    }

    /// The fiber's result if it has ended, or else the handle back. Never waits.
    ///
    /// # Errors
    /// The handle; the result inside has the errors of [`join`](Self::join) but for those of the wait.
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
            // SAFETY: done, and this is the one handle.
            Ok(unsafe { self.task.take() })
        } else {
            Err(self)
        }
    }

    /// Waits until the fiber has ended. The result stays where it is, for [`join`](Self::join), which does not wait
    /// then.
    ///
    /// # Errors
    /// When the wait was cancelled and the fiber has not ended. The handle is as good as before.
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        let reason = WaitReason::new(&"JoinHandle");
        // A slot has room for one who waits. It was polled before, perhaps: that wait ends here.
        self.wait = None;
        wait_for_end(self.task.done(), cx, reason)
    }

    /// Whether the fiber has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.done().is_notified()
    }

    /// What cancels the fiber, to be given away.
    #[must_use]
    pub fn canceller(&self) -> Canceller
    where
        T: 'static,
    {
        Canceller::new(Whole(self.task.clone()))
    }

    /// Cancels the fiber: all its waits return [`Cancelled`]. It is not waited for.
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
        // With a task of its own.
        self.wait = None;
        let shared = self.task.shared();
        if shared.grips.load(Ordering::Acquire) == 1 {
            // The last task drops all.
            return;
        }
        // Others may keep the block for long. What they want is to cancel the fiber, and not its result: that is
        // dropped now, or by the fiber, or, where the two are just passing each other, by the last of the others.
        shared.is_abandoned.store(true, Ordering::Release);
        if self.is_finished() {
            // SAFETY: done, and this is the one handle.
            drop(unsafe { self.task.take_ended() });
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// A task as what is cancelled.
struct Whole<T>(TaskRef<T>);

impl<T> Cancel for Whole<T> {
    fn cancel(&self) {
        self.0.scope().cancel();
    }

    fn is_cancelled(&self) -> bool {
        self.0.scope().is_cancelled()
    }
}

/// The end of a task as a place for async code.
pub(super) struct Done<T> {
    // Ends before the task, to which it refers.
    wait: LatchWait<&'static Latch>,
    task: TaskRef<T>,
}

impl<T> Done<T> {
    fn new(task: TaskRef<T>) -> Self {
        let slot: *const Latch = task.done();
        // SAFETY: in the task, which `task` keeps for as long as the wait lives.
        Self { wait: LatchWait::new(unsafe { &*slot }), task }
    }

    pub(super) fn cancel(&self) {
        self.task.scope().cancel();
    }
}

impl<T> Attempt for Done<T> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        self.task.done().is_notified().then_some(())
    }
}

// SAFETY: that of `wait`.
unsafe impl<T> Place for Done<T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.wait.register(waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { self.wait.unregister(has_decided) }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        while !this.is_finished() {
            let task = &this.task;
            let wait = this.wait.get_or_insert_with(|| Box::pin(AsyncWait::new(Done::new(task.clone()))));
            if wait.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        // SAFETY: done, and this is the one handle.
        Poll::Ready(unsafe { this.task.take() })
    }
}

/// Why there is no result of a fiber.
pub enum JoinError {
    /// Whoever waited for it was cancelled. The fiber goes on.
    Cancelled,
    /// The time of a [timeout](Cx::timeout) around the wait was up.
    TimedOut,
    /// It was a future, of [`spawn_async`](crate::spawn_async), that was cancelled and dropped before it had ended.
    Aborted,
    /// The fiber panicked; the payload.
    Panicked(Box<dyn Any + Send>),
}

impl From<Cancelled> for JoinError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<TimedOut> for JoinError {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// The text of a panic, if its payload is one.
fn panic_text(payload: &(dyn Any + Send)) -> Option<&str> {
    payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// With the text of the panic, which is what `unwrap` then shows.
impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("Cancelled"),
            Self::TimedOut => f.write_str("TimedOut"),
            Self::Aborted => f.write_str("Aborted"),
            Self::Panicked(payload) => match panic_text(payload.as_ref()) {
                Some(text) => f.debug_tuple("Panicked").field(&text).finish(),
                None => f.debug_tuple("Panicked").field(payload).finish(),
            },
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::TimedOut => TimedOut.fmt(f),
            Self::Aborted => f.write_str("the future was cancelled"),
            Self::Panicked(payload) => {
                let text = panic_text(payload.as_ref()).unwrap_or("with a payload that is no text");
                write!(f, "the fiber panicked: {text}")
            }
        }
    }
}

impl std::error::Error for JoinError {}
