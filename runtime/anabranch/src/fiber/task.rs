//! A job: the work of a fiber, as one word.
//!
//! A spawned job is one block on the heap: a vtable, the state that its handle reads, the function and, in the same
//! place, the result. The queue and the handle share the block, and the last of them frees it. The latch that reports
//! the end to the handle decides which of the two is the last (see `wait::latch`), so a block has no count. A fork of
//! `Cx::join` is a job too, in the form of the `Offer` that was published for it; its address is marked.

use crate::fork::offer::Offer;
use std::{marker::PhantomData, panic::Location, ptr::NonNull, sync::Arc};

/// Returns the name of a block.
type NameOf = unsafe fn(NonNull<Header>) -> Option<Arc<str>>;

/// The operations on a block.
pub(crate) struct Vtable {
    /// Runs the job on the current fiber, drops the fiber's locals, and gives up the share of the queue. Does not
    /// unwind.
    pub(crate) run: unsafe fn(NonNull<Header>),
    /// Returns the name of the block; `None` for the many blocks without a name.
    pub(crate) name: Option<NameOf>,
    /// Moves the result to the `Option` that the pointer points to.
    pub(crate) take: unsafe fn(NonNull<Header>, *mut ()),
    /// Drops the remaining parts of the block and frees it.
    pub(crate) end: unsafe fn(NonNull<Header>),
    pub(crate) place: Place,
}

/// Where a block was allocated: in a worker's page or on the heap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Page,
    Heap,
}

/// The head of every block.
pub(crate) struct Header {
    pub(crate) vtable: &'static Vtable,
    /// Where the fiber was spawned.
    pub(crate) origin: &'static Location<'static>,
}

impl Vtable {
    /// Takes the result out. Returns `None` if there is none, or it has been taken.
    ///
    /// # Safety
    /// The block has this vtable. Its function returns `T` and has ended. No other thread takes the result.
    pub(crate) unsafe fn take_result<T>(&self, block: NonNull<Header>) -> Option<T> {
        let mut result = None::<T>;
        // SAFETY: the caller guarantees that the function of the block returns `T` and has ended, and that no other
        // thread takes the result. `result` is an `Option<T>`.
        unsafe { (self.take)(block, (&raw mut result).cast()) };
        result
    }
}

/// A job. See the [module](self). A thread takes it from its queue and runs it once.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    address: NonNull<Header>,
    _shared: PhantomData<*const Offer>,
}

// SAFETY: the caller of `new` guarantees that any thread may run the block, and an `Offer` is `Sync`.
unsafe impl Send for Job {}
// SAFETY: a shared job gives only copies of its address. Any thread may run the block, and an `Offer` is `Sync`.
unsafe impl Sync for Job {}

const OFFER: usize = 1;

impl Job {
    /// # Safety
    /// A block with this head is alive until the job has been run, and may be run by any thread.
    pub(crate) unsafe fn new(block: NonNull<Header>) -> Self {
        Self { address: block, _shared: PhantomData }
    }

    /// Creates the job of a fork of `Cx::join`.
    pub(crate) fn offer(offer: Arc<Offer>) -> Self {
        let offer = Arc::into_raw(offer).cast::<Header>().map_addr(|address| address | OFFER);
        Self { address: NonNull::new(offer.cast_mut()).expect("marked"), _shared: PhantomData }
    }

    /// Returns the offer, if the job is one.
    fn as_offer(self) -> Option<*const Offer> {
        let address = self.address.as_ptr();
        (address.addr() & OFFER != 0).then(|| address.map_addr(|address| address & !OFFER).cast_const().cast())
    }

    /// Runs the job on the current fiber. `clear_locals` drops the fiber's locals.
    ///
    /// # Safety
    /// It has not been run, and is not run again. The thread is on the stack of a fiber, which is not pinned.
    #[inline]
    pub(crate) unsafe fn run(self, clear_locals: impl FnOnce()) {
        match self.as_offer() {
            // SAFETY: the caller guarantees that the job has not been run. The caller of `new` keeps the block alive
            // until then. The stack is that of a fiber, as the caller guarantees.
            None => unsafe { (self.address.as_ref().vtable.run)(self.address) },
            // SAFETY: `offer` made the pointer from an `Arc`. The caller runs the job once, so the `Arc` is taken back
            // once.
            Some(offer) => unsafe { Arc::from_raw(offer) }.run(clear_locals),
        }
    }

    /// Returns where it was spawned, if that is known.
    ///
    /// # Safety
    /// It has not been run, and is not run during the call.
    #[inline]
    pub(crate) unsafe fn origin(self) -> Option<&'static Location<'static>> {
        // SAFETY: the caller guarantees that the job is not run before this returns. The caller of `new` keeps the
        // block alive until then.
        unsafe { if self.as_offer().is_none() { Some(self.address.as_ref().origin) } else { None } }
    }

    /// # Safety
    /// It has not been run, and is not run during the call.
    #[inline]
    pub(crate) unsafe fn name(self) -> Option<Arc<str>> {
        if self.as_offer().is_some() {
            return None;
        }
        // SAFETY: the caller guarantees that the job is not run before this returns. The caller of `new` keeps the
        // block alive until then.
        unsafe { self.address.as_ref().vtable.name.and_then(|name| name(self.address)) }
    }
}

/// A type that can be the name of a block.
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

impl Name for &'static str {
    const IS_ONE: bool = true;

    fn get(&self) -> Option<Arc<str>> {
        Some(Arc::from(*self))
    }
}
