//! A fiber of a scope, and its handle.

use crate::{
    cx::{handle::wait_for_end, ledger::Ledger, spawn::Stage},
    pool::fibers::{fiber::Fiber, jobs::Job},
    sys::unwind::catch_unwind,
    wait::{
        Cancelled, Cx,
        cancel::CancelScope,
        cx::{Reason, Strand},
        slot::Slot,
    },
};
use std::{cell::UnsafeCell, fmt, panic::AssertUnwindSafe, sync::Arc};

/// A fiber of a scope. `stage` belongs to whoever runs the job, and from the notification of `done` on to the one handle.
pub(super) struct Child<'scope, F, T> {
    ledger: &'scope Ledger,
    done: Slot,
    name: Option<Arc<str>>,
    stage: UnsafeCell<Stage<F, T>>,
}

// SAFETY: the function and the result go from one thread to another, once each, as said above; the rest is made for sharing.
unsafe impl<F: Send, T: Send> Sync for Child<'_, F, T> {}

impl<'scope, F, T> Child<'scope, F, T> {
    pub(super) fn new(ledger: &'scope Ledger, name: Option<&str>, function: F) -> Self {
        Self {
            ledger,
            done: Slot::new(),
            name: name.map(Arc::from),
            stage: UnsafeCell::new(Stage::Unstarted(function)),
        }
    }
}

impl<F, T> Job for Child<'_, F, T>
where
    F: FnOnce(&Cx<'_>) -> T + Send,
    T: Send,
{
    fn run(self: Arc<Self>, fiber: &Fiber) {
        let ledger: *const Ledger = self.ledger;
        // SAFETY: a job is run once, and the handle waits for `done`.
        let Stage::Unstarted(function) = (unsafe { self.stage.get().replace(Stage::Empty) }) else {
            unreachable!("a job is run once")
        };
        let result = {
            // SAFETY: the ledger is there until this child leaves it, and the fiber waits nowhere else meanwhile.
            let scope = unsafe { CancelScope::below(&(*ledger).cancel, fiber.waiter(), false) };
            let cx = Cx::new(fiber, &scope, self.ledger.deadline, fiber.locals());
            catch_unwind(AssertUnwindSafe(|| function(&cx)))
        };
        fiber.clear_locals();
        match result {
            // SAFETY: as above.
            Ok(result) => unsafe { *self.stage.get() = Stage::Ended(result) },
            // Before the handle hears of it, for which this is a cancellation.
            Err(panic) => self.ledger.note(panic),
        }
        // Without a handle there is nobody to wait for it, now or later.
        if Arc::strong_count(&self) > 1 {
            self.done.notify();
        }
        // A result that nobody wants is dropped here, while what it borrows is there.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(self)));
        // SAFETY: entered by whoever made it, and this is the last touch.
        unsafe { Ledger::leave(ledger, dropped.err()) };
    }

    fn name(&self) -> Option<Arc<str>> {
        self.name.clone()
    }
}

/// A child as its handle sees it.
trait ScopedJoin<T>: Send + Sync {
    fn done(&self) -> &Slot;

    /// The result; `None` if the child panicked.
    ///
    /// # Safety
    /// The child is done, and the caller is the one handle.
    unsafe fn take(&self) -> Option<T>;
}

impl<F: Send, T: Send> ScopedJoin<T> for Child<'_, F, T> {
    fn done(&self) -> &Slot {
        &self.done
    }

    unsafe fn take(&self) -> Option<T> {
        // SAFETY: the caller's word.
        match unsafe { self.stage.get().replace(Stage::Empty) } {
            Stage::Ended(result) => Some(result),
            _ => None,
        }
    }
}

/// The handle of a fiber that was spawned in a scope.
pub struct ScopedHandle<'scope, T> {
    child: Arc<dyn ScopedJoin<T> + 'scope>,
}

impl<'scope, T> ScopedHandle<'scope, T> {
    pub(super) fn new<F>(child: Arc<Child<'scope, F, T>>) -> Self
    where
        F: Send + 'scope,
        T: Send + 'scope,
    {
        Self { child }
    }
}

impl<T> ScopedHandle<'_, T> {
    /// Waits for the fiber's result. If it has ended there is nothing to wait for: then the result is had in a
    /// cancelled scope too.
    ///
    /// # Errors
    /// When the wait was cancelled, as it is when the fiber panicked: the panic cancels the scope, and comes out of
    /// [`Cx::scope`].
    #[track_caller]
    pub fn join(self, cx: &Cx<'_>) -> Result<T, Cancelled> {
        wait_for_end(self.child.done(), cx, Reason::new(&"ScopedHandle::join"))?;
        // SAFETY: done, and this is the one handle.
        unsafe { self.child.take() }.ok_or(Cancelled)
    }

    /// The fiber's result if it has ended, or else the handle back. Never waits.
    ///
    /// # Errors
    /// The handle; inside, [`Cancelled`] when the fiber panicked, as of [`join`](Self::join).
    pub fn try_join(self) -> Result<Result<T, Cancelled>, Self> {
        if self.is_finished() {
            // SAFETY: done, and this is the one handle.
            Ok(unsafe { self.child.take() }.ok_or(Cancelled))
        } else {
            Err(self)
        }
    }

    /// Whether the fiber has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.child.done().is_notified()
    }
}

impl<T> fmt::Debug for ScopedHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
