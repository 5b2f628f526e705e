//! The waiting side of the models: a thread with the waiter and the parker of threads, behind the shipped `Cx`.

use crate::{
    cx::cx::{Cx, Deadline},
    fiber::locals::Locals,
    fiber::switch::PendingSwitch,
    sys::sync::Arc,
    time::{Clock, NEVER},
    wait::{
        cancel::CancelScope,
        parked::Parked,
        suspend::{Suspend, WaitReason},
        waiter::{Selected, Waiter},
    },
};
use loom::thread::{self, JoinHandle};

pub(super) struct Thread {
    parked: Arc<Parked>,
    clock: Clock,
    locals: Locals,
}

impl Thread {
    pub(super) fn new() -> Self {
        Self::with(Parked::like_a_fiber())
    }

    /// Creates a thread whose waiter other threads already know.
    pub(super) fn with(parked: Arc<Parked>) -> Self {
        Self { parked, clock: Clock::system(), locals: Locals::new() }
    }

    /// Returns the permission to wait in a scope.
    pub(super) fn cx<'a>(&'a self, scope: &'a CancelScope) -> Cx<'a> {
        Cx::new(self, scope, Deadline::NONE, &self.locals)
    }

    /// Like `cx`, for waits that are never cancelled.
    pub(super) fn shielded<R>(&self, body: impl FnOnce(&Cx<'_>) -> R) -> R {
        body(&self.cx(&CancelScope::root(self.waiter())))
    }
}

/// Like `BlockingThread`, without a pool and without a clock. In a model a deadline may have passed at any time, so it
/// passes at once.
// SAFETY: `suspend` ends when the waiter has been selected; a wake-up that comes later is a reason to look.
unsafe impl Suspend for Thread {
    fn waiter(&self) -> *const Waiter {
        Parked::waiter(&self.parked)
    }

    fn suspend(&self, deadline: u64, _: WaitReason) -> Option<PendingSwitch> {
        while self.parked.waiter.selected().is_none() {
            if deadline != NEVER && self.parked.waiter.select_itself(Selected::TimedOut) {
                return None;
            }
            self.parked.parker.park();
        }
        None
    }

    fn yield_now(&self) -> Option<PendingSwitch> {
        None
    }

    fn shares_thread(&self) -> bool {
        false
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn set_name(&self, _: std::sync::Arc<str>) {}
}

/// A thread that cannot be cancelled.
pub(super) fn spawn<R: 'static>(body: impl FnOnce(&Cx<'_>) -> R + 'static) -> JoinHandle<R> {
    thread::spawn(|| Thread::new().shielded(body))
}

/// A thread that is cancelled with the root.
pub(super) fn spawn_below<R: 'static>(
    root: &Arc<CancelScope>,
    body: impl FnOnce(&Cx<'_>) -> R + 'static,
) -> JoinHandle<R> {
    let root = Arc::clone(root);
    thread::spawn(move || {
        let owner = Thread::new();
        // SAFETY: the root and the owner live longer.
        let scope = unsafe { CancelScope::below(&root, owner.waiter(), false) };
        body(&owner.cx(&scope))
    })
}

/// A root scope in which no thread waits directly.
pub(super) fn root() -> Arc<CancelScope> {
    Arc::new(CancelScope::root(std::ptr::null()))
}

/// Why a model waits.
pub(super) fn reason() -> WaitReason {
    WaitReason::new(&"model")
}
