//! A fiber of a scope, and its handle.

use crate::{
    cx::{
        Cx,
        block::{Block, Shared},
        handle::wait_for_end,
        scope_data::ScopeData,
    },
    fiber::{
        fiber::Fiber,
        task::{Header, Job, Name, Vtable},
    },
    sys::{carrier::is_large, unwind::catch_unwind},
    wait::{
        Cancelled,
        cancel::CancelScope,
        latch::Latch,
        suspend::{Suspend, WaitReason},
    },
};
use std::{
    fmt,
    marker::PhantomData,
    panic::{AssertUnwindSafe, Location},
    ptr::NonNull,
};

/// The part of a scoped fiber that its handle sees.
#[repr(C)]
struct Child {
    head: Header,
    done: Latch,
    data: *const ScopeData,
}

// SAFETY: it begins with the header.
unsafe impl<F: FnOnce(&Cx<'_>) -> Option<T> + Send, T: Send> Shared<F, T> for Child {
    /// There is no result if the function returned none, or panicked.
    unsafe fn run<N: Name>(block: NonNull<Block<Self, F, T, N>>, fiber: &Fiber) {
        let this = block.as_ptr();
        // SAFETY: the block is alive until `done` has been notified, and this runs its job. If the handle has given up,
        // this function is the last to use the block.
        unsafe {
            let data = (*this).shared.data;
            let function = Block::start(this);
            let result = {
                // The scope keeps the data alive until this child leaves it. The fiber, which runs only this, outlives
                // `scope`.
                let scope = CancelScope::below(&(*data).cancel, fiber.waiter(), false);
                let cx = Cx::new(fiber, &scope, (*data).deadline, fiber.locals());
                catch_unwind(AssertUnwindSafe(|| function(&cx)))
            };
            fiber.clear_locals();
            match result {
                Ok(Some(result)) => Block::finish(this, result),
                Ok(None) => {}
                // Before `done` is notified: the handle then reports a cancellation.
                Err(panic) => (*data).note(panic),
            }
            // Without a handle the result is dropped here, while what it borrows is alive.
            let dropped = if (*this).shared.done.set() {
                None
            } else {
                catch_unwind(AssertUnwindSafe(|| Block::<Self, F, T, N>::end(block.cast()))).err()
            };
            // The creator of the child has entered it into the data, and this is the last access to the data.
            ScopeData::leave(data, dropped);
        }
    }
}

/// Creates a fiber of a scope: the job, which the caller enqueues, and its handle. If the function returns `None`, the
/// handle has no result, as after a panic.
///
/// # Safety
/// The child has entered the data, which stays alive until the child has left it. The job is run.
pub(super) unsafe fn make<'scope, F, T, N>(
    data: &'scope ScopeData,
    origin: &'static Location<'static>,
    name: N,
    function: F,
) -> (Job, ScopedHandle<'scope, T>)
where
    F: FnOnce(&Cx<'_>) -> Option<T> + Send + 'scope,
    T: Send + 'scope,
    N: Name,
{
    // SAFETY: the caller upholds the contract.
    let (child, job) = unsafe {
        if const { is_large::<T>() } {
            allocate(data, origin, name, move |cx: &Cx<'_>| function(cx).map(Box::new))
        } else {
            allocate(data, origin, name, function)
        }
    };
    (job, ScopedHandle { child, _scope: PhantomData, _result: PhantomData })
}

/// # Safety
/// The contract of [`make`] holds.
unsafe fn allocate<'scope, F, T, N>(
    data: &'scope ScopeData,
    origin: &'static Location<'static>,
    name: N,
    function: F,
) -> (NonNull<Child>, Job)
where
    F: FnOnce(&Cx<'_>) -> Option<T> + Send + 'scope,
    T: Send + 'scope,
    N: Name,
{
    let shared = |head| Child { head, done: Latch::new(), data };
    // SAFETY: the scope waits until the child has left the data. By then the function has been run, and the job no
    // longer uses the block. The handle cannot outlive the scope. `F` and `T` are `Send`, so any thread may run it.
    unsafe { Block::allocate(origin, name, function, shared) }
}

/// The handle of a fiber that was spawned in a scope.
pub struct ScopedHandle<'scope, T> {
    child: NonNull<Child>,
    _scope: PhantomData<&'scope ()>,
    _result: PhantomData<fn() -> T>,
}

// SAFETY: `make` requires `T: Send`, and only one thread takes the result. The latch and the vtable may be shared.
unsafe impl<T> Send for ScopedHandle<'_, T> {}
// SAFETY: by a shared handle only the latch and the vtable can be accessed, which may be shared.
unsafe impl<T> Sync for ScopedHandle<'_, T> {}

impl<T> ScopedHandle<'_, T> {
    fn child(&self) -> &Child {
        // SAFETY: this is the one handle, which keeps the block alive until it gives up or ends it.
        unsafe { self.child.as_ref() }
    }

    fn done(&self) -> &Latch {
        &self.child().done
    }

    /// # Safety
    /// The child has notified `done`.
    unsafe fn take(self) -> Result<T, Cancelled> {
        // SAFETY: the caller has seen `done`, and this is the one handle, so nothing else accesses the result. `make`
        // boxes a large one.
        let result = unsafe {
            if const { is_large::<T>() } {
                self.vtable().take_result::<Box<T>>(self.child.cast()).map(|result| *result)
            } else {
                self.vtable().take_result(self.child.cast())
            }
        };
        result.ok_or(Cancelled)
    }

    fn vtable(&self) -> &'static Vtable {
        self.child().head.vtable
    }

    /// Waits for the fiber's result. If the fiber has ended, this returns the result without waiting, even in a
    /// cancelled scope.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the wait was cancelled. Also returns it when the fiber panicked: the panic cancels
    /// the scope, and resumes from [`Cx::scope`]. Also returns it when the fiber of a [`Cx::try_scope`] failed;
    /// `try_scope` then returns the error. The handle is consumed, and the result is lost; [`wait`](Self::wait) keeps
    /// both.
    #[track_caller]
    pub fn join(self, cx: &Cx<'_>) -> Result<T, Cancelled> {
        wait_for_end(self.done(), cx, WaitReason::new(&"ScopedHandle::join"))?;
        // SAFETY: the fiber has notified `done`.
        unsafe { self.take() }
    }

    /// Waits until the fiber has ended. The result is kept for [`join`](Self::join), which then does not wait.
    ///
    /// # Errors
    /// Returns [`Cancelled`] when the wait was cancelled and the fiber has not ended. The handle can still be used.
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

    /// Returns the fiber's result if it has ended. Never waits.
    ///
    /// # Errors
    /// Returns the handle if the fiber has not ended. The inner result is [`Cancelled`] when the fiber panicked, as
    /// with [`join`](Self::join).
    pub fn try_join(self) -> Result<Result<T, Cancelled>, Self> {
        if self.is_finished() {
            // SAFETY: the fiber has notified `done`.
            Ok(unsafe { self.take() })
        } else {
            Err(self)
        }
    }

    /// Returns whether the fiber has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.done().is_notified()
    }
}

impl<T> Drop for ScopedHandle<'_, T> {
    fn drop(&mut self) {
        if !self.done().give_up() {
            // SAFETY: the job has notified `done` and does not access the block any more, so the handle is the last to
            // use it.
            unsafe { (self.vtable().end)(self.child.cast()) };
        }
    }
}

impl<T> fmt::Debug for ScopedHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
