//! A job: what a fiber runs, as one word.
//!
//! What is spawned lies in one block on the heap: a table of what can be done with it, what its handle looks at, the
//! function and, in the same place, the result. Two have it, the queue in which it waits to be started and the handle,
//! and the last of them frees it. That is decided by the word with which the end is told to the handle (see
//! `wait::latch`), so a block has no count. A fork of `Cx::join` is a job too, as the `Offer` that it was published as;
//! its address is marked.

use crate::{
    fiber::{
        fiber::Fiber,
        task_alloc::{self, Store},
    },
    fork::offer::Offer,
    pool::worker::Worker,
};
use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    marker::PhantomData,
    ptr::NonNull,
    sync::Arc,
};

/// Tells what a block is called.
type NameOf = unsafe fn(NonNull<Header>) -> Option<Arc<str>>;

/// What can be done with a block.
pub(crate) struct Vtable {
    /// Runs it on a fiber, to the end, that of the fiber's locals included, and gives up the share of the queue. Does
    /// not unwind.
    pub(crate) run: unsafe fn(NonNull<Header>, &Fiber),
    /// What it is called; `None` for the many that are called nothing.
    pub(crate) name: Option<NameOf>,
    /// Takes the result out, an `Option` of it, to where this points.
    pub(crate) take: unsafe fn(NonNull<Header>, *mut ()),
    /// Drops what is left of it and frees it.
    pub(crate) end: unsafe fn(NonNull<Header>),
    pub(crate) place: Place,
}

/// Where a block lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Page,
    Heap,
}

/// What every block begins with.
pub(crate) struct Header {
    pub(crate) vtable: &'static Vtable,
}

impl Vtable {
    /// Takes the result out. `None`: there is none, or none any more.
    ///
    /// # Safety
    /// The function of this block, which is of these vtable, returns `T` and has ended; the caller is the only one who
    /// asks.
    pub(crate) unsafe fn take_result<T>(&self, block: NonNull<Header>) -> Option<T> {
        let mut result = None::<T>;
        // SAFETY: the caller's word.
        unsafe { (self.take)(block, (&raw mut result).cast()) };
        result
    }
}

/// See the [module](self). To be run once, by whoever has it then.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    address: NonNull<Header>,
    _shared: PhantomData<*const Offer>,
}

// SAFETY: what can be spawned can be sent, by the bounds of whoever makes a job; an offer is made for sharing.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

const OFFER: usize = 1;

impl Job {
    /// # Safety
    /// A block with this head is alive until the job has been run, and may be run by any thread.
    pub(crate) unsafe fn new(block: NonNull<Header>) -> Self {
        Self { address: block, _shared: PhantomData }
    }

    /// A fork that may wait.
    pub(crate) fn offer(offer: Arc<Offer>) -> Self {
        let offer = Arc::into_raw(offer).cast::<Header>().map_addr(|address| address | OFFER);
        Self { address: NonNull::new(offer.cast_mut()).expect("marked"), _shared: PhantomData }
    }

    /// The offer that it is.
    fn as_offer(self) -> Option<*const Offer> {
        let address = self.address.as_ptr();
        (address.addr() & OFFER != 0).then(|| address.map_addr(|address| address & !OFFER).cast_const().cast())
    }

    /// # Safety
    /// It has not been run, and is not run again.
    #[inline]
    pub(crate) unsafe fn run(self, fiber: &Fiber) {
        match self.as_offer() {
            // SAFETY: alive until it has been run, by the caller's word.
            None => unsafe { (self.address.as_ref().vtable.run)(self.address, fiber) },
            // SAFETY: made from an `Arc` by `offer`, and given back once.
            Some(offer) => unsafe { Arc::from_raw(offer) }.run(|| fiber.clear_locals()),
        }
    }

    /// # Safety
    /// It has not been run, and is not while this looks.
    #[inline]
    pub(crate) unsafe fn name(self) -> Option<Arc<str>> {
        if self.as_offer().is_some() {
            return None;
        }
        // SAFETY: alive, by the caller's word.
        unsafe { self.address.as_ref().vtable.name.and_then(|name| name(self.address)) }
    }
}

/// What may be the name of a block.
pub(crate) trait Name: Send + Sync {
    const IS_ONE: bool;

    fn get(&self) -> Option<Arc<str>>;
}

impl Name for () {
    const IS_ONE: bool = false;

    fn get(&self) -> Option<Arc<str>> {
        None
    }
}

impl Name for Arc<str> {
    const IS_ONE: bool = true;

    fn get(&self) -> Option<Arc<str>> {
        Some(Self::clone(self))
    }
}

/// Puts a block on the heap: into a page of this worker's, if it is one and the block is small. `make` is told which.
#[inline]
pub(crate) fn allocate<B>(make: impl FnOnce(Place) -> B) -> NonNull<B> {
    let layout = Layout::new::<B>();
    let here = Worker::current();
    // Threads outside of a pool share their seat.
    let place = if task_alloc::suits(layout) && here.registry().is_some() { Place::Page } else { Place::Heap };
    // SAFETY: of some size, since a block has a head, and written before anybody reads it. The seat is this thread's.
    unsafe {
        let address = match place {
            Place::Page => Store::take(here.fibers.local.open_store(), layout),
            Place::Heap => Some(alloc(layout)),
        };
        let Some(block) = address.and_then(|address| NonNull::new(address.cast::<B>())) else {
            handle_alloc_error(layout)
        };
        block.write(make(place));
        block
    }
}

/// Drops a block and frees it, also when the dropping panics.
///
/// # Safety
/// It comes from [`allocate`], from this place, and nobody else has it any more.
#[inline]
pub(crate) unsafe fn release<B>(block: NonNull<B>, place: Place) {
    struct Free<B>(NonNull<B>, Place);

    impl<B> Drop for Free<B> {
        fn drop(&mut self) {
            let block = self.0.as_ptr().cast();
            // SAFETY: from `allocate`, and what was in it has been dropped. The seat is this thread's; one outside of a
            // pool has no store.
            unsafe {
                match self.1 {
                    Place::Page => Store::free(Worker::current().fibers.local.store(), block),
                    Place::Heap => dealloc(block, Layout::new::<B>()),
                }
            }
        }
    }

    let free = Free(block, place);
    // SAFETY: the caller's word.
    unsafe { free.0.drop_in_place() };
}

impl Name for &'static str {
    const IS_ONE: bool = true;

    fn get(&self) -> Option<Arc<str>> {
        Some(Arc::from(*self))
    }
}
