//! What waits in the models: a thread, with the waiter and the parker of threads, behind the `Cx` that ships.

use crate::{
    cx::cx::{Cx, Deadline},
    fiber::locals::Locals,
    fiber::switch::PendingSwitch,
    sys::sync::Arc,
    time::{Clock, NEVER},
    wait::{
        cancel::CancelScope,
        parked::Parked,
        suspend::{Strand, WaitReason},
        waiter::{Outcome, Waiter},
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
        Self::with(Parked::new())
    }

    /// With a waiter that others know already.
    pub(super) fn with(parked: Arc<Parked>) -> Self {
        Self { parked, clock: Clock::system(), locals: Locals::new() }
    }

    /// The permission to wait in a scope.
    pub(super) fn cx<'a>(&'a self, scope: &'a CancelScope) -> Cx<'a> {
        Cx::new(self, scope, Deadline::NONE, &self.locals)
    }

    /// As `cx`, for waits that nobody cancels.
    pub(super) fn shielded<R>(&self, body: impl FnOnce(&Cx<'_>) -> R) -> R {
        body(&self.cx(&CancelScope::root(self.waiter())))
    }
}

/// As `ThreadStrand`, without a pool and without a clock: a deadline may have passed at any time, so it passes at once.
// SAFETY: `suspend` ends when the waiter has been decided; a wake-up that comes later is a reason to look.
unsafe impl Strand for Thread {
    fn waiter(&self) -> *const Waiter {
        Parked::waiter(&self.parked)
    }

    fn suspend(&self, deadline: u64, _: WaitReason) -> Option<PendingSwitch> {
        while self.parked.waiter.outcome().is_none() {
            if deadline != NEVER && self.parked.waiter.decide_for_itself(Outcome::TimedOut) {
                return None;
            }
            self.parked.parker.park();
        }
        None
    }

    fn step_aside(&self) -> Option<PendingSwitch> {
        None
    }

    fn shares_its_thread(&self) -> bool {
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
        let strand = Thread::new();
        // SAFETY: the root and the strand live longer.
        let scope = unsafe { CancelScope::below(&root, strand.waiter(), false) };
        body(&strand.cx(&scope))
    })
}

/// A root in which nobody waits himself.
pub(super) fn root() -> Arc<CancelScope> {
    Arc::new(CancelScope::root(std::ptr::null()))
}

/// Why a model waits.
pub(super) fn reason() -> WaitReason {
    WaitReason::new(&"model")
}
