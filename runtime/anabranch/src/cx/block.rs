//! The memory block of a fiber, spawned alone or in a scope: the state that its handles share, its name, and its
//! function or result.
//!
//! The thread that runs the job is the only one to access `stage`, until it notifies the end of the job. From then on
//! only the handle accesses it. The last of the two frees the block (see `fiber::task`).

use crate::{
    fiber::{
        fiber::Fiber,
        task::{Header, Job, Name, Place, Vtable},
        task_alloc::{self, Store},
    },
    pool::worker::Worker,
};
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    panic::Location,
    ptr::{self, NonNull},
    sync::Arc,
};

/// See the [module](self).
#[repr(C)]
pub(super) struct Block<S, F, T, N> {
    pub(super) shared: S,
    name: N,
    stage: Stage<F, T>,
}

/// The function of a fiber before it runs, or its result afterwards.
enum Stage<F, T> {
    Unstarted(F),
    Ended(T),
    Empty,
}

/// The part of a block that its handles access.
///
/// # Safety
/// The first field of the implementing type is a [`Header`].
pub(super) unsafe trait Shared<F, T>: Sized {
    /// Implements [`Vtable::run`] for blocks of this shared part, a function `F` and a result `T`.
    ///
    /// # Safety
    /// The contract of [`Vtable::run`] holds.
    unsafe fn run<N: Name>(block: NonNull<Block<Self, F, T, N>>, fiber: &Fiber);
}

impl<S: Shared<F, T>, F, T, N: Name> Block<S, F, T, N> {
    const fn vtable(place: Place) -> Vtable {
        Vtable {
            run: Self::run,
            name: if N::IS_ONE { Some(Self::name) } else { None },
            take: Self::take,
            end: Self::end,
            place,
        }
    }

    const IN_PAGE: Vtable = Self::vtable(Place::Page);
    const ON_HEAP: Vtable = Self::vtable(Place::Heap);

    /// Allocates a block for a function that has not been started. Returns the address of the shared part, and the job,
    /// which the caller enqueues. `origin` is the place in the program that spawns it.
    ///
    /// # Safety
    /// The block stays alive until the job has been run, and any thread may run the job.
    #[inline]
    pub(super) unsafe fn allocate(
        origin: &'static Location<'static>,
        name: N,
        function: F,
        shared: impl FnOnce(Header) -> S,
    ) -> (NonNull<S>, Job) {
        let block = allocate(|place| {
            let vtable = match place {
                Place::Page => &Self::IN_PAGE,
                Place::Heap => &Self::ON_HEAP,
            };
            Self { shared: shared(Header { vtable, origin }), name, stage: Stage::Unstarted(function) }
        });
        // SAFETY: by the contract of `Shared` the block begins with a header. The caller keeps it alive until the job
        // has been run, by any thread.
        (block.cast(), unsafe { Job::new(block.cast()) })
    }

    /// Takes the function out, for the caller to call it.
    ///
    /// # Safety
    /// The block is alive, and the caller runs its job.
    pub(super) unsafe fn start(this: *mut Self) -> F {
        // SAFETY: a job is run once, and until it has ended only its thread, the caller, accesses the stage.
        match unsafe { ptr::replace(&raw mut (*this).stage, Stage::Empty) } {
            Stage::Unstarted(function) => function,
            _ => unreachable!("a job is run once"),
        }
    }

    /// Stores the result of the function.
    ///
    /// # Safety
    /// The block is alive, and the caller, which runs its job, has [started](Self::start) it.
    pub(super) unsafe fn finish(this: *mut Self, result: T) {
        // SAFETY: until the job has ended only its thread, the caller, accesses the stage, which is empty.
        unsafe { (&raw mut (*this).stage).write(Stage::Ended(result)) };
    }

    /// Takes the result out, if there is one.
    ///
    /// # Safety
    /// The block is alive. Either the caller is the one handle and the job has ended, or the caller is the job and no
    /// handle will take the result.
    pub(super) unsafe fn take_result(this: *mut Self) -> Option<T> {
        // SAFETY: by the contract the caller is the only one to access the stage.
        match unsafe { ptr::replace(&raw mut (*this).stage, Stage::Empty) } {
            Stage::Ended(result) => Some(result),
            _ => None,
        }
    }

    /// Implements [`Vtable::run`].
    unsafe fn run(block: NonNull<Header>) {
        // SAFETY: the vtable belongs to blocks of this type, and the caller upholds the contract. The job runs on the
        // current fiber, which outlives it.
        unsafe { S::run(block.cast::<Self>(), &*Fiber::current()) };
    }

    /// Implements [`Vtable::name`].
    unsafe fn name(block: NonNull<Header>) -> Option<Arc<str>> {
        // SAFETY: the vtable belongs to blocks of this type, and the caller keeps the block alive.
        unsafe { (*block.cast::<Self>().as_ptr()).name.get() }
    }

    /// Implements [`Vtable::take`].
    unsafe fn take(block: NonNull<Header>, place: *mut ()) {
        // SAFETY: the vtable belongs to blocks of this type. The job has ended, and the caller is the one handle.
        // `place` points to an `Option` of the result.
        unsafe { *place.cast() = Self::take_result(block.cast::<Self>().as_ptr()) };
    }

    /// Implements [`Vtable::end`].
    pub(super) unsafe fn end(block: NonNull<Header>) {
        // SAFETY: the vtable belongs to blocks of this type, and the caller is the last of the job and the handles to
        // use the block.
        unsafe { release(block.cast::<Self>(), block.as_ref().vtable.place) };
    }
}

/// Allocates a block. A small block of a worker is in a page of that worker, any other block is on the heap. Passes the
/// choice to `make`.
#[inline]
fn allocate<B>(make: impl FnOnce(Place) -> B) -> NonNull<B> {
    let layout = Layout::new::<B>();
    let here = Worker::current();
    // Threads outside of a pool share their worker entry.
    let place = if task_alloc::suits(layout) && here.registry().is_some() { Place::Page } else { Place::Heap };
    // SAFETY: the layout has a size, since a block has a head, and the block is written before it is read. This thread
    // holds the worker entry, so it is the owner of the store.
    unsafe {
        let address = match place {
            Place::Page => Store::take(here.fibers.local.store.open(), layout),
            Place::Heap => Some(alloc(layout)),
        };
        let Some(block) = address.and_then(|address| NonNull::new(address.cast::<B>())) else {
            handle_alloc_error(layout)
        };
        block.write(make(place));
        block
    }
}

/// Drops a block and frees it, even if the drop panics.
///
/// # Safety
/// The block was [allocated](allocate) in this place, and no other thread uses it any more.
#[inline]
unsafe fn release<B>(block: NonNull<B>, place: Place) {
    struct Free<B>(NonNull<B>, Place);

    impl<B> Drop for Free<B> {
        fn drop(&mut self) {
            let block = self.0.as_ptr().cast();
            // SAFETY: the block is from `allocate`, and its content has been dropped. This thread holds the worker
            // entry, so the store is its own; a worker entry outside of every pool has none.
            unsafe {
                match self.1 {
                    Place::Page => Store::free(Worker::current().fibers.local.store.get(), block),
                    Place::Heap => dealloc(block, Layout::new::<B>()),
                }
            }
        }
    }

    let free = Free(block, place);
    // SAFETY: the block is from `allocate`, and the caller guarantees that no other thread uses it.
    unsafe { free.0.drop_in_place() };
}
