//! Fibers that nobody has to wait for.

use crate::{
    cx::handle::{JoinError, JoinHandle, Joinable},
    pool::{
        Pool,
        fibers::{fiber::Fiber, jobs::Job},
        registry::Registry,
        worker::Worker,
    },
    sys::unwind::catch_unwind,
    wait::{
        Cx,
        cancel::CancelScope,
        cx::{Deadline, Strand},
        slot::Slot,
    },
};
use std::{cell::UnsafeCell, panic::AssertUnwindSafe, sync::Arc};

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
    JoinHandle::new(task)
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
