//! A fiber of a scope, and its handle.

use crate::{
    cx::{Cx, handle::wait_for_end, scope_data::ScopeData, spawn::Stage},
    fiber::{
        fiber::Fiber,
        task::{self, Header, Job, Name, Place, Vtable},
    },
    sys::unwind::catch_unwind,
    wait::{
        Cancelled,
        cancel::CancelScope,
        latch::Latch,
        suspend::{Strand, WaitReason},
    },
};
use std::{
    fmt,
    marker::PhantomData,
    panic::AssertUnwindSafe,
    ptr::{self, NonNull},
    sync::Arc,
};

/// What the handle sees of a fiber of a scope.
#[repr(C)]
struct Shared {
    head: Header,
    done: Latch,
    data: *const ScopeData,
}

/// A fiber of a scope. `stage` belongs to whoever runs the job, and from the notification of `done` on to the one
/// handle; the block to the last of the two (see `fiber::task`).
#[repr(C)]
struct Child<F, T, N> {
    shared: Shared,
    name: N,
    stage: Stage<F, T>,
}

impl<F, T, N> Child<F, T, N>
where
    F: FnOnce(&Cx<'_>) -> T + Send,
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

    /// The table for a block at this place.
    fn table(place: Place) -> &'static Vtable {
        match place {
            Place::Page => &Self::IN_PAGE,
            Place::Heap => &Self::ON_HEAP,
        }
    }

    /// As [`Vtable::run`].
    unsafe fn run(block: NonNull<Header>, fiber: &Fiber) {
        let this = block.cast::<Self>().as_ptr();
        // SAFETY: the block is there until its end has been told. A job is run once, and the handle waits for `done`:
        // until then the stage is this function's.
        unsafe {
            let data = (*this).shared.data;
            let Stage::Unstarted(function) = ptr::replace(&raw mut (*this).stage, Stage::Empty) else {
                unreachable!("a job is run once")
            };
            let result = {
                // The data is there until this child leaves it, and the fiber waits nowhere else meanwhile.
                let scope = CancelScope::below(&(*data).cancel, fiber.waiter(), false);
                let cx = Cx::new(fiber, &scope, (*data).deadline, fiber.locals());
                catch_unwind(AssertUnwindSafe(|| function(&cx)))
            };
            fiber.clear_locals();
            match result {
                Ok(result) => (&raw mut (*this).stage).write(Stage::Ended(result)),
                // Before the handle hears of it, for which this is a cancellation.
                Err(panic) => (*data).note(panic),
            }
            // Without a handle a result is dropped here, while what it borrows is there.
            let dropped = if (*this).shared.done.tell() {
                None
            } else {
                catch_unwind(AssertUnwindSafe(|| Self::end(block))).err()
            };
            // Entered by whoever made it, and this is the last touch.
            ScopeData::leave(data, dropped);
        }
    }

    /// As [`Vtable::name`].
    unsafe fn name(block: NonNull<Header>) -> Option<Arc<str>> {
        // SAFETY: of this type, and alive, by the caller's word.
        unsafe { (*block.cast::<Self>().as_ptr()).name.get() }
    }

    /// As [`Vtable::take`]. There is no result if it panicked.
    unsafe fn take_to(block: NonNull<Header>, place: *mut ()) {
        // SAFETY: of this type, and the caller's, as is the place, by its word.
        unsafe {
            let stage = ptr::replace(&raw mut (*block.cast::<Self>().as_ptr()).stage, Stage::Empty);
            if let Stage::Ended(result) = stage {
                *place.cast() = Some(result);
            }
        }
    }

    /// As [`Vtable::end`].
    unsafe fn end(block: NonNull<Header>) {
        // SAFETY: the caller's word.
        unsafe { task::release(block.cast::<Self>(), block.as_ref().vtable.place) };
    }
}

/// Makes a fiber of a scope: what is to be put into a queue, and its handle.
///
/// # Safety
/// The child has entered the data, which is there until it has left. The job is run.
pub(super) unsafe fn make<'scope, F, T, N>(
    data: &'scope ScopeData,
    name: N,
    function: F,
) -> (Job, ScopedHandle<'scope, T>)
where
    F: FnOnce(&Cx<'_>) -> T + Send + 'scope,
    T: Send + 'scope,
    N: Name,
{
    let child = task::allocate(|place| {
        let head = Header { vtable: Child::<F, T, N>::table(place) };
        Child::<F, T, N> { shared: Shared { head, done: Latch::new(), data }, name, stage: Stage::Unstarted(function) }
    });
    // SAFETY: the function has been run when the child leaves the data, for which the scope waits, and before that the
    // job lets go of the block; what the handle keeps of it ends within the scope.
    (unsafe { Job::new(child.cast()) }, ScopedHandle { child: child.cast(), _scope: PhantomData, _result: PhantomData })
}

/// The handle of a fiber that was spawned in a scope.
pub struct ScopedHandle<'scope, T> {
    child: NonNull<Shared>,
    _scope: PhantomData<&'scope ()>,
    _result: PhantomData<fn() -> T>,
}

// SAFETY: the result goes to one thread, and can be sent, by the bound of `make`; the rest is made for sharing.
unsafe impl<T> Send for ScopedHandle<'_, T> {}
// SAFETY: as above.
unsafe impl<T> Sync for ScopedHandle<'_, T> {}

impl<T> ScopedHandle<'_, T> {
    fn done(&self) -> &Latch {
        // SAFETY: this is the one handle, and it has not given up.
        unsafe { &(*self.child.as_ptr()).done }
    }

    /// # Safety
    /// The child is done.
    unsafe fn take(self) -> Result<T, Cancelled> {
        // SAFETY: this is the one handle, and the caller's word.
        unsafe { self.vtable().take_result(self.child.cast()) }.ok_or(Cancelled)
    }

    fn vtable(&self) -> &'static Vtable {
        // SAFETY: as in `done`.
        unsafe { (*self.child.as_ptr()).head.vtable }
    }

    /// Waits for the fiber's result. If it has ended there is nothing to wait for: then the result is had in a
    /// cancelled scope too.
    ///
    /// # Errors
    /// When the wait was cancelled, as it is when the fiber panicked: the panic cancels the scope, and comes out of
    /// [`Cx::scope`]. The handle is gone then, and so is the result; [`wait`](Self::wait) keeps it.
    #[track_caller]
    pub fn join(self, cx: &Cx<'_>) -> Result<T, Cancelled> {
        wait_for_end(self.done(), cx, WaitReason::new(&"ScopedHandle::join"))?;
        // SAFETY: it is done.
        unsafe { self.take() }
    }

    /// Waits until the fiber has ended. The result stays where it is, for [`join`](Self::join), which does not wait
    /// then.
    ///
    /// # Errors
    /// When the wait was cancelled and the fiber has not ended. The handle is as good as before.
    ///
    /// ```
    /// use anabranch::WaitError;
    /// use std::time::Duration;
    ///
    /// let sum = anabranch::run(|cx| {
    ///     cx.scope(|s| {
    ///         let mut child = s.spawn(|cx| cx.sleep(Duration::from_millis(5)).map(|()| 42));
    ///         let early = s.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(child.wait(cx)?));
    ///         assert_eq!(early, Err(WaitError::TimedOut));
    ///         child.join(s)
    ///     })
    /// });
    /// assert_eq!(sum, Ok(Ok(42)));
    /// ```
    #[track_caller]
    pub fn wait(&mut self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        wait_for_end(self.done(), cx, WaitReason::new(&"ScopedHandle"))
    }

    /// The fiber's result if it has ended, or else the handle back. Never waits.
    ///
    /// # Errors
    /// The handle; inside, [`Cancelled`] when the fiber panicked, as of [`join`](Self::join).
    pub fn try_join(self) -> Result<Result<T, Cancelled>, Self> {
        if self.is_finished() {
            // SAFETY: it is done.
            Ok(unsafe { self.take() })
        } else {
            Err(self)
        }
    }

    /// Whether the fiber has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.done().is_notified()
    }
}

impl<T> Drop for ScopedHandle<'_, T> {
    fn drop(&mut self) {
        if !self.done().give_up() {
            // SAFETY: the job is done, so all is this handle's.
            unsafe { (self.vtable().end)(self.child.cast()) };
        }
    }
}

impl<T> fmt::Debug for ScopedHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
