//! Hooks: callbacks for the start, suspension, resumption and end of fibers.
//!
//! The worker's own stack calls the hooks of suspension and resumption. So a pool without hooks pays nothing where one
//! fiber switches to the next, and one predictable branch where the worker's own stack resumes a fiber. In a pool with
//! hooks each switch passes through that stack (`Scheduler::resume_observed`).

use crate::{pool::panic_handler::PanicHandler, sys::unwind::catch_unwind, wait::current_stack::apart};
use std::{any::Any, panic::AssertUnwindSafe};

/// Callbacks for the start, suspension, resumption and end of a fiber; see
/// [`Builder::fiber_hooks`](crate::Builder::fiber_hooks).
///
/// Each hook runs on the thread of the fiber, between the code of this fiber and the code of another fiber. It must be
/// short, and must not wait. A panic in it goes to the [panic handler](crate::Builder::on_panic), and the fiber
/// continues.
pub trait FiberHooks: Send + Sync + 'static {
    /// The data that [`suspend`](Self::suspend) saves for [`resume`](Self::resume). It stays on the thread.
    type Saved: 'static;

    /// The fiber is about to run for the first time.
    fn start(&self, fiber: &HookedFiber<'_>) {
        let _ = fiber;
    }

    /// The fiber is about to leave its thread to other fibers. A fiber that blocks its thread instead does not suspend.
    fn suspend(&self, fiber: &HookedFiber<'_>) -> Self::Saved;

    /// The fiber continues on the same thread. If `suspend` has panicked, this is not called.
    fn resume(&self, fiber: &HookedFiber<'_>, saved: Self::Saved);

    /// The function of the fiber has returned or panicked, and its [fiber-locals](crate::fiber::FiberLocal) were
    /// dropped. A fiber that waits for its end may continue before this is called.
    fn end(&self, fiber: &HookedFiber<'_>) {
        let _ = fiber;
    }
}

/// The fiber for which a hook is called.
#[derive(Debug)]
pub struct HookedFiber<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) worker: usize,
}

impl HookedFiber<'_> {
    /// Returns the name of the fiber, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name
    }

    /// Returns the index of its worker, which stays the same from its start to its end.
    pub fn worker(&self) -> usize {
        self.worker
    }
}

/// The value that a hook has saved, of whatever type.
pub(crate) type Saved = Box<dyn Any>;

/// Hooks of any type.
pub(crate) trait AnyHooks: Send + Sync {
    fn start(&self, fiber: &HookedFiber<'_>);
    fn suspend(&self, fiber: &HookedFiber<'_>) -> Saved;
    fn resume(&self, fiber: &HookedFiber<'_>, saved: Saved);
    fn end(&self, fiber: &HookedFiber<'_>);
}

impl<H: FiberHooks> AnyHooks for H {
    fn start(&self, fiber: &HookedFiber<'_>) {
        FiberHooks::start(self, fiber);
    }

    fn suspend(&self, fiber: &HookedFiber<'_>) -> Saved {
        Box::new(FiberHooks::suspend(self, fiber))
    }

    fn resume(&self, fiber: &HookedFiber<'_>, saved: Saved) {
        let saved = saved.downcast().expect("a pool has one kind of hooks");
        FiberHooks::resume(self, fiber, *saved);
    }

    fn end(&self, fiber: &HookedFiber<'_>) {
        FiberHooks::end(self, fiber);
    }
}

/// Runs a hook in the middle of a switch. Returns `None` if it panicked.
pub(crate) fn run<R>(on_panic: &PanicHandler, hook: impl FnOnce() -> R) -> Option<R> {
    apart(|| catch_unwind(AssertUnwindSafe(hook)).map_err(|panic| on_panic.report(panic)).ok())
}
