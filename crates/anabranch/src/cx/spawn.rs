//! Detached fibers.

use crate::{
    cx::{
        cx::{Cx, Deadline},
        handle::{Ended, JoinError, JoinHandle, Shared, TaskRef, Untold},
    },
    fiber::{
        fiber::Fiber,
        task::{self, Header, Job, Name, Place, Vtable},
    },
    pool::{Pool, registry::Registry, worker::Worker},
    sys::unwind::catch_unwind,
    wait::suspend::Suspend,
};
use std::{
    panic::AssertUnwindSafe,
    ptr::{self, NonNull},
    sync::Arc,
};

/// The stages of a spawned function.
pub(super) enum Stage<F, T> {
    Unstarted(F),
    Ended(T),
    Empty,
}

/// A spawned fiber: its function, and then its result.
///
/// Only the thread that runs the job accesses `stage`, until `done` is notified; then only the one handle does. The
/// last of the two frees the block (see `fiber::task`).
#[repr(C)]
struct Task<F, T, N> {
    shared: Shared,
    name: N,
    stage: Stage<F, Ended<T>>,
}

impl<F, T, N> Task<F, T, N>
where
    F: FnOnce(&Cx<'_>) -> Result<T, JoinError> + Send,
    T: Send,
    N: Name,
{
    const fn vtable(place: Place) -> Vtable {
        Vtable {
            run: Self::run,
            name: if N::IS_ONE { Some(Self::name) } else { None },
            take: Self::take_to,
            end: Self::end,
            place,
        }
    }

    const IN_PAGE: Vtable = Self::vtable(Place::Page);
    const ON_HEAP: Vtable = Self::vtable(Place::Heap);

    /// Returns the vtable for a block at this place.
    fn table(place: Place) -> &'static Vtable {
        match place {
            Place::Page => &Self::IN_PAGE,
            Place::Heap => &Self::ON_HEAP,
        }
    }

    /// Implements [`Vtable::run`].
    unsafe fn run(block: NonNull<Header>, fiber: &Fiber) {
        let this = block.cast::<Self>().as_ptr();
        // SAFETY: the block is alive until `done` has been notified. A job is run once, and the handle waits for
        // `done`, so until then only this function accesses the stage.
        unsafe {
            let Stage::Unstarted(function) = ptr::replace(&raw mut (*this).stage, Stage::Empty) else {
                unreachable!("a job is run once")
            };
            let scope = &(*this).shared.scope;
            // There was no wait in it yet. It is detached below, before the fiber ends.
            scope.attach(fiber.waiter());
            fiber.set_root(scope);
            let result = {
                let cx = Cx::new(fiber, scope, Deadline::NONE, fiber.locals());
                catch_unwind(AssertUnwindSafe(|| function(&cx)))
                    .map_err(|payload| Untold::new(payload, fiber.panic_handler()))
            };
            fiber.clear_root();
            scope.detach();
            fiber.clear_locals();
            (&raw mut (*this).stage).write(Stage::Ended(result));
            // No handle will take the result. Its drop may panic.
            let discard = || {
                let stage = ptr::replace(&raw mut (*this).stage, Stage::Empty);
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(stage))) {
                    fiber.report(panic);
                }
            };
            if (*this).shared.is_abandoned() {
                discard();
            }
            if !(*this).shared.done.set() {
                discard();
                Self::end(block);
            }
        }
    }

    /// Implements [`Vtable::name`].
    unsafe fn name(block: NonNull<Header>) -> Option<Arc<str>> {
        // SAFETY: the vtable belongs to blocks of this type, and the caller keeps the block alive.
        unsafe { (*block.cast::<Self>().as_ptr()).name.get() }
    }

    /// Implements [`Vtable::take`].
    unsafe fn take_to(block: NonNull<Header>, place: *mut ()) {
        // SAFETY: the caller is the one handle of this ended block, and `place` points to an `Option` of its result.
        unsafe { *place.cast() = Self::take(block) };
    }

    /// Takes the result.
    ///
    /// # Safety
    /// The block is of this type, its job has ended, and the caller is the one handle.
    unsafe fn take(block: NonNull<Header>) -> Option<Ended<T>> {
        // SAFETY: the block is of this type. Its job has ended, so only the caller, the one handle, accesses the stage.
        match unsafe { ptr::replace(&raw mut (*block.cast::<Self>().as_ptr()).stage, Stage::Empty) } {
            Stage::Ended(result) => Some(result),
            _ => None,
        }
    }

    /// Implements [`Vtable::end`].
    unsafe fn end(block: NonNull<Header>) {
        // SAFETY: the vtable belongs to blocks of this type, and the caller is the last of the job and the handles to
        // use the block.
        unsafe { task::release(block.cast::<Self>(), block.as_ref().vtable.place) };
    }
}

/// Spawns a fiber in the pool that the caller is in, or else in the default one.
///
/// [`JoinHandle::join`] reports a panic of the fiber. If the handle is dropped, before or after the panic, the panic
/// goes to the [panic handler](crate::Builder::on_panic) of the pool.
///
/// The fiber runs when a worker has time for it, and goes on when the handle is dropped. The function has to be
/// `'static`; [`Cx::scope`] is for fibers that borrow. Dropping the pool cancels the fiber and waits for it. The fiber
/// is in no scope of its spawner: it inherits neither cancellation nor deadline.
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
#[track_caller]
pub fn spawn<F, T>(function: F) -> JoinHandle<T>
where
    F: FnOnce(&Cx<'_>) -> T + Send + 'static,
    T: Send + 'static,
{
    match Worker::current().registry() {
        Some(registry) => spawn_task(registry, (), |cx| Ok(function(cx))),
        None => Pool::default().spawn(function),
    }
}

pub(super) fn spawn_task<F, T, N>(registry: &Registry, name: N, function: F) -> JoinHandle<T>
where
    F: FnOnce(&Cx<'_>) -> Result<T, JoinError> + Send + 'static,
    T: Send + 'static,
    N: Name + 'static,
{
    let task = task::allocate(|place| {
        let shared = Shared::new(Task::<F, T, N>::table(place));
        Task::<F, T, N> { shared, name, stage: Stage::Unstarted(function) }
    });
    let task = task.cast();
    // SAFETY: the job's share keeps the block alive until it has been run. `F` and `T` are `Send`, so any thread may
    // run it.
    registry.inject(unsafe { Job::new(task.cast()) });
    // SAFETY: this is the first reference to the block, whose function returns a `T`.
    JoinHandle::new(unsafe { TaskRef::new(task) })
}

impl Pool {
    /// Spawns a fiber in this pool, as [`spawn`] does.
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
        spawn_task(self.registry(), (), |cx| Ok(function(cx)))
    }

    /// Spawns a fiber with a name, which [`Pool::fibers`] shows.
    pub fn spawn_named<F, T>(&self, name: &str, function: F) -> JoinHandle<T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn_task(self.registry(), Arc::from(name), |cx| Ok(function(cx)))
    }
}
