//! Fibers that nobody has to wait for, and the handles of those who do.

use crate::{
    cx::canceller::{Cancel, Canceller},
    pool::{
        Pool,
        fibers::{fiber::Fiber, jobs::Job},
        registry::Registry,
        worker::Worker,
    },
    sys::unwind::catch_unwind,
    time::NEVER,
    wait::{
        Cancelled, Cx, TimedOut,
        cancel::CancelScope,
        cx::{Deadline, Reason, Strand},
        future::{AsyncWait, Handed},
        place::Place,
        slot::{Slot, SlotWait},
        waiter::{Outcome, Waiter},
    },
};
use std::{
    any::Any,
    cell::UnsafeCell,
    fmt,
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// What becomes of a spawned function.
pub(super) enum Stage<F, T> {
    Unstarted(F),
    Ended(T),
    Empty,
}

/// A spawned fiber: what it is to run, and then its result.
///
/// `stage` belongs to whoever runs the job, and from the notification of `done` on to the one handle.
struct Task<F, T> {
    scope: CancelScope,
    done: Slot,
    name: Option<Arc<str>>,
    stage: UnsafeCell<Stage<F, Result<T, JoinError>>>,
}

// SAFETY: the function and the result go from one thread to another, once each, as said above; the rest is made for sharing.
unsafe impl<F: Send, T: Send> Sync for Task<F, T> {}

impl<F, T> Job for Task<F, T>
where
    F: FnOnce(&Cx<'_>) -> Result<T, JoinError> + Send,
    T: Send,
{
    fn run(self: Arc<Self>, fiber: &Fiber) {
        // SAFETY: a job is run once, and the handle waits for `done`.
        let Stage::Unstarted(function) = (unsafe { self.stage.get().replace(Stage::Empty) }) else {
            unreachable!("a job is run once")
        };
        // SAFETY: a job is run once, and nobody has waited in it; detached below, before the fiber ends.
        unsafe { self.scope.attach(fiber.waiter()) };
        fiber.set_root(&self.scope);
        let result = {
            let cx = Cx::new(fiber, &self.scope, Deadline::NONE, fiber.locals());
            catch_unwind(AssertUnwindSafe(|| function(&cx))).unwrap_or_else(|panic| Err(JoinError::Panicked(panic)))
        };
        fiber.clear_root(&self.scope);
        self.scope.detach();
        fiber.clear_locals();
        match result {
            // Without a handle there is nobody to wait for it, now or later.
            Err(JoinError::Panicked(panic)) if Arc::strong_count(&self) == 1 => fiber.report(panic),
            // SAFETY: as above.
            result => unsafe { *self.stage.get() = Stage::Ended(result) },
        }
        if Arc::strong_count(&self) > 1 {
            self.done.notify();
        }
        // A result that nobody wants is dropped here.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(self))) {
            fiber.report(panic);
        }
    }

    fn name(&self) -> Option<Arc<str>> {
        self.name.clone()
    }
}

/// A task as its handle sees it.
trait Joinable<T>: Send + Sync {
    fn done(&self) -> &Slot;

    fn scope(&self) -> &CancelScope;

    /// # Safety
    /// The task is done, and the caller is the one handle.
    unsafe fn take(&self) -> Result<T, JoinError>;
}

impl<F: Send, T: Send> Joinable<T> for Task<F, T> {
    fn done(&self) -> &Slot {
        &self.done
    }

    fn scope(&self) -> &CancelScope {
        &self.scope
    }

    unsafe fn take(&self) -> Result<T, JoinError> {
        // SAFETY: the caller's word.
        match unsafe { self.stage.get().replace(Stage::Empty) } {
            Stage::Ended(result) => result,
            _ => panic!("a `JoinHandle` was polled after it had returned the result"),
        }
    }
}

/// Spawns a fiber in the pool that the caller is in, or else in the default one.
///
/// A panic in it is in the result; when the handle is gone by then it goes to the panic handler of the pool.
///
/// The fiber runs when a worker has time for it, and goes on when the handle is dropped. It has to be `'static`;
/// [`Cx::scope`] is for fibers that borrow. When the pool is dropped it is cancelled and waited for. It is in no scope
/// of whoever spawns it: it inherits neither cancellation nor deadline.
///
/// Costs an allocation, and memory for a stack only if it waits.
///
/// # Panics
/// Outside of any pool, when the default pool cannot be made.
///
/// ```
/// let handle = anabranch::spawn(|_| 6 * 7);
/// assert_eq!(anabranch::run(|cx| handle.join(cx)).unwrap(), 42);
/// ```
pub fn spawn<F, T>(function: F) -> JoinHandle<T>
where
    F: FnOnce(&Cx<'_>) -> T + Send + 'static,
    T: Send + 'static,
{
    match Worker::current().registry() {
        Some(registry) => spawn_task(registry, None, |cx| Ok(function(cx))),
        None => Pool::default().spawn(function),
    }
}

pub(super) fn spawn_task<F, T>(registry: &Registry, name: Option<&str>, function: F) -> JoinHandle<T>
where
    F: FnOnce(&Cx<'_>) -> Result<T, JoinError> + Send + 'static,
    T: Send + 'static,
{
    let task = Arc::new(Task {
        scope: CancelScope::unattached(),
        done: Slot::new(),
        name: name.map(Arc::from),
        stage: UnsafeCell::new(Stage::Unstarted(function)),
    });
    registry.post(Arc::clone(&task) as Arc<dyn Job>);
    JoinHandle { wait: None, task }
}

impl Pool {
    /// As [`spawn`], in this pool.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    /// let handle = pool.spawn(|_| "done");
    /// assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), "done");
    /// ```
    pub fn spawn<F, T>(&self, function: F) -> JoinHandle<T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_task(self.registry(), None, |cx| Ok(function(cx)))
    }

    /// As [`spawn`](Self::spawn), with a name, which [`Pool::fibers`] shows.
    pub fn spawn_named<F, T>(&self, name: &str, function: F) -> JoinHandle<T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_task(self.registry(), Some(name), |cx| Ok(function(cx)))
    }
}

/// Waits for the end of a fiber, unless it has come: who gathers results in a cancelled scope gets those that are
/// there.
pub(super) fn wait_for_end(done: &Slot, cx: &Cx<'_>, reason: Reason) -> Result<(), Cancelled> {
    if done.is_notified() {
        return Ok(());
    }
    cx.checkpoint()?;
    while !done.is_notified() {
        if cx.wait(&SlotWait::new(done), NEVER, reason) == Outcome::Cancelled && !done.is_notified() {
            return Err(Cancelled);
        }
    }
    Ok(())
}

/// A spawned fiber's handle: for its result, and to cancel it.
///
/// Dropping it lets the fiber go on alone. It is a future too, so async code can `.await` it.
pub struct JoinHandle<T> {
    /// The wait of async code.
    wait: Option<Pin<Box<AsyncWait<Done<T>>>>>,
    task: Arc<dyn Joinable<T>>,
}

impl<T> JoinHandle<T> {
    /// Waits for the fiber's result. If it has ended there is nothing to wait for: then the result is had in a
    /// cancelled scope too.
    ///
    /// # Errors
    /// [`JoinError::Panicked`] with the payload when the fiber panicked; [`JoinError::Aborted`] when it was a future
    /// that was cancelled. [`JoinError::Cancelled`] when the wait was cancelled; the fiber goes on, and its result is
    /// lost. ([`wait`](Self::wait) keeps the handle.)
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

    /// Waits until the fiber has ended.
    ///
    /// # Errors
    /// When the wait was cancelled and the fiber has not ended.
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        let reason = Reason::new(&"JoinHandle");
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
        Canceller::new(Whole(Arc::clone(&self.task)))
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

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// A task as what is cancelled.
struct Whole<T>(Arc<dyn Joinable<T>>);

impl<T> Cancel for Whole<T> {
    fn cancel(&self) {
        self.0.scope().cancel();
    }

    fn is_cancelled(&self) -> bool {
        self.0.scope().is_cancelled()
    }
}

/// The end of a task as a place for async code.
struct Done<T> {
    // Ends before the task, to which it refers.
    wait: SlotWait<&'static Slot>,
    _task: Arc<dyn Joinable<T>>,
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

impl<T> Handed for Done<T> {
    fn pass_on(&self) {}
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        while !this.is_finished() {
            let wait = this.wait.get_or_insert_with(|| {
                let slot: *const Slot = this.task.done();
                // SAFETY: in the task, which `_task` keeps for as long as the wait lives.
                let wait = SlotWait::new(unsafe { &*slot });
                Box::pin(AsyncWait::new(Done { wait, _task: Arc::clone(&this.task) }))
            });
            if wait.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        // SAFETY: done, and this is the one handle.
        Poll::Ready(unsafe { this.task.take() })
    }
}

/// Why there is no result of a fiber.
#[derive(Debug)]
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

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::TimedOut => TimedOut.fmt(f),
            Self::Aborted => f.write_str("the future was cancelled"),
            Self::Panicked(payload) => {
                let text = payload.downcast_ref::<&str>().copied();
                let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
                write!(f, "the fiber panicked: {}", text.unwrap_or("with a payload that is no text"))
            }
        }
    }
}

impl std::error::Error for JoinError {}
