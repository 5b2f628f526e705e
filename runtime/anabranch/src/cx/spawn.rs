//! Detached fibers.

use crate::{
    cx::{
        block::{self, Block},
        cx::{Cx, Deadline},
        handle::{Ended, JoinHandle, Shared, TaskRef, UnreportedPanic},
        join_error::JoinError,
    },
    fiber::{fiber::Fiber, placement, task::Name},
    pool::{Pool, registry::Registry},
    sys::{carrier::is_large, unwind::catch_unwind},
    wait::suspend::Suspend,
};
use std::{
    panic::{AssertUnwindSafe, Location},
    ptr::NonNull,
    sync::Arc,
};

// SAFETY: it begins with the header.
unsafe impl<F, T> block::Shared<F, Ended<T>> for Shared
where
    F: FnOnce(&Cx<'_>) -> Result<T, JoinError> + Send,
    T: Send,
{
    unsafe fn run<N: Name>(block: NonNull<Block<Self, F, Ended<T>, N>>, fiber: &Fiber) {
        let this = block.as_ptr();
        // SAFETY: the block is alive until `done` has been notified, and this runs its job.
        unsafe {
            let function = Block::start(this);
            let scope = &(*this).shared.scope;
            // There was no wait in it yet. It is detached below, before the fiber ends.
            scope.attach(fiber.waiter());
            fiber.set_root(scope);
            let result = {
                let cx = Cx::new(fiber, scope, Deadline::NONE, fiber.locals());
                catch_unwind(AssertUnwindSafe(|| function(&cx)))
                    .map_err(|payload| UnreportedPanic::new(payload, fiber.panic_handler()))
            };
            fiber.clear_root();
            scope.detach();
            fiber.clear_locals();
            Block::finish(this, result);
            // No handle will take the result. Its drop may panic.
            let discard = || {
                let result = Block::take_result(this);
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(result))) {
                    fiber.report(panic);
                }
            };
            if (*this).shared.is_abandoned() {
                discard();
            }
            if !(*this).shared.done.set() {
                discard();
                Block::<Self, F, Ended<T>, N>::end(block.cast());
            }
        }
    }
}

/// Spawns a fiber in the pool that the caller is in, or else in the default pool.
///
/// [`JoinHandle::join`] reports a panic of the fiber. If the handle is dropped, before or after the panic, the panic
/// goes to the [panic handler](crate::Builder::on_panic) of the pool.
///
/// The fiber runs when a worker has time for it, and continues when the handle is dropped. The function has to be
/// `'static`; [`Cx::scope`] is for fibers that borrow. Dropping the pool cancels the fiber and waits for it. The fiber
/// is in no scope of its spawner: it inherits neither cancellation nor deadline.
///
/// Costs an allocation, and memory for a stack only if it waits.
///
/// # Panics
/// Panics outside of any pool when the default pool cannot be created.
///
/// ```
/// let handle = anabranch::spawn(|_| 6 * 7);
/// assert_eq!(anabranch::run(|cx| handle.join(cx)).unwrap(), 42);
/// ```
#[track_caller]
pub fn spawn<F, T>(function: F) -> JoinHandle<T>
where
    F: FnOnce(&Cx<'_>) -> T + Send + 'static,
    T: Send + 'static,
{
    let registry = Pool::of_caller();
    spawn_task(registry, (), |cx| Ok(function(cx)))
}

/// Spawns a fiber with a name, which [`fibers`](crate::fiber::fibers) shows, in the pool that the caller is in, or else
/// in the default pool. See [`spawn`].
///
/// # Panics
/// Panics outside of any pool when the default pool cannot be created.
///
/// ```
/// use anabranch::{pool::FiberState, sync::Trigger};
///
/// let mut stop = Trigger::new();
/// let signal = stop.signal();
/// let janitor = anabranch::spawn_named("janitor", move |cx| stop.wait(cx));
/// assert!(anabranch::fiber::fibers().iter().any(|fiber| fiber.name() == Some("janitor")));
/// signal.send();
/// assert_eq!(anabranch::run(|cx| janitor.join(cx)).unwrap(), Ok(()));
/// ```
#[track_caller]
pub fn spawn_named<F, T>(name: &str, function: F) -> JoinHandle<T>
where
    F: FnOnce(&Cx<'_>) -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_task(Pool::of_caller(), Arc::from(name), |cx| Ok(function(cx)))
}

#[track_caller]
pub(super) fn spawn_task<F, T, N>(registry: &Registry, name: N, function: F) -> JoinHandle<T>
where
    F: FnOnce(&Cx<'_>) -> Result<T, JoinError> + Send + 'static,
    T: Send + 'static,
    N: Name + 'static,
{
    if const { is_large::<F>() } {
        let function = Box::new(function);
        spawn_small(registry, name, move |cx: &Cx<'_>| function(cx))
    } else {
        spawn_small(registry, name, function)
    }
}

/// Like [`spawn_task`], for a function that is not large.
#[track_caller]
fn spawn_small<F, T, N>(registry: &Registry, name: N, function: F) -> JoinHandle<T>
where
    F: FnOnce(&Cx<'_>) -> Result<T, JoinError> + Send + 'static,
    T: Send + 'static,
    N: Name + 'static,
{
    let task = if const { is_large::<T>() } {
        inject(registry, name, move |cx: &Cx<'_>| function(cx).map(Box::new))
    } else {
        inject(registry, name, function)
    };
    // SAFETY: this is the first reference to the block, whose function returns a `T`, in a box if it is large.
    JoinHandle::new(unsafe { TaskRef::new(task) })
}

/// Enqueues a function, and returns the address of its block.
#[track_caller]
fn inject<F, T, N>(registry: &Registry, name: N, function: F) -> NonNull<Shared>
where
    F: FnOnce(&Cx<'_>) -> Result<T, JoinError> + Send + 'static,
    T: Send + 'static,
    N: Name + 'static,
{
    registry.check_open();
    // SAFETY: the job's share keeps the block alive until it has been run. `F` and `T` are `Send`, so any thread may
    // run it.
    let (task, job) =
        unsafe { Block::<Shared, F, Ended<T>, N>::allocate(Location::caller(), name, function, Shared::new) };
    placement::inject(registry, job);
    task
}

impl Pool {
    /// Spawns a fiber in this pool, as [`spawn`] does.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    /// let handle = pool.spawn(|_| "done");
    /// assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), "done");
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&self, function: F) -> JoinHandle<T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_task(self.registry(), (), |cx| Ok(function(cx)))
    }

    /// Spawns a fiber with a name, which [`Pool::fibers`] shows.
    #[track_caller]
    pub fn spawn_named<F, T>(&self, name: &str, function: F) -> JoinHandle<T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_task(self.registry(), Arc::from(name), |cx| Ok(function(cx)))
    }
}
