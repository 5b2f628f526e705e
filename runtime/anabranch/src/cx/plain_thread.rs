//! Waits of threads that have no [`Cx`]: the thread blocks, and no pool is started.
//!
//! Outside of every pool a thread spins, yields and parks like any thread that waits (see [`attempt`](super::attempt)).
//! It has the waiter of a thread, in a scope that nothing cancels, and the system's clock. The waiter stays with the
//! thread from one wait to the next, because it records whether the awaited thread shares its core.
//!
//! A thread of a pool blocks as in [`run`](crate::run): it gives up its slot meanwhile, other threads can take its
//! forks, and the pool reports a fiber that blocks its thread.

use crate::{
    cx::cx::{Cx, Deadline},
    fiber::{locals::Locals, switch::PendingSwitch},
    sys::{sync::Arc, thread},
    time::{Clock, NEVER},
    wait::{
        TimedOut, WaitError,
        cancel::CancelScope,
        current_stack::Stack,
        parked::Parked,
        suspend::{Suspend, WaitReason},
        waiter::{Selected, Waiter},
    },
};
#[cfg(not(loom))]
use crate::{cx::run::run_here, pool::worker::Worker};
#[cfg(not(any(loom, shuttle)))]
use std::cell::Cell;
use std::marker::PhantomData;

#[cfg(not(any(loom, shuttle)))]
thread::thread_local! {
    /// The waiter of this thread, while the thread does not wait by it.
    static KEPT: Cell<Option<Arc<Parked>>> = const { Cell::new(None) };
}

/// A thread outside of every pool that waits.
struct PlainThread {
    /// `None` only while this is dropped.
    parked: Option<Arc<Parked>>,
    clock: Clock,
    _bound_to_its_thread: PhantomData<*mut ()>,
}

impl PlainThread {
    /// Creates the owner for the calling thread. A wait may run foreign code, such as the waker of a future, which may
    /// wait in turn and then gets a waiter of its own.
    fn new() -> Self {
        // loom's threads share the thread-locals of one thread, and no thread spins in a model or schedule.
        #[cfg(any(loom, shuttle))]
        let kept = None;
        #[cfg(not(any(loom, shuttle)))]
        let kept = KEPT.try_with(Cell::take).unwrap_or_default();
        let parked: Arc<Parked> = kept.unwrap_or_else(Parked::new);
        parked.waiter.bind_to(Stack::current());
        Self { parked: Some(parked), clock: Clock::system(), _bound_to_its_thread: PhantomData }
    }

    fn parked(&self) -> &Arc<Parked> {
        self.parked.as_ref().expect("this is not being dropped")
    }
}

impl Drop for PlainThread {
    fn drop(&mut self) {
        // The thread may be ending. The waiter is then dropped here.
        #[cfg(not(any(loom, shuttle)))]
        let _ = KEPT.try_with(|kept| kept.set(self.parked.take()));
    }
}

// SAFETY: the waiter belongs to this object alone, which is on the stack of one thread, and `suspend` ends when it has
// been selected. A later wake-up leaves a token in the parker, after which every wait here checks its waiter again.
unsafe impl Suspend for PlainThread {
    fn waiter(&self) -> *const Waiter {
        Parked::waiter(self.parked())
    }

    fn suspend(&self, deadline: u64, _: WaitReason) -> Option<PendingSwitch> {
        let Parked { waiter, parker } = &**self.parked();
        while waiter.selected().is_none() {
            if deadline == NEVER {
                parker.park();
                continue;
            }
            // A model has no clock, so a deadline may have passed at any time there.
            let left = if cfg!(loom) { None } else { self.clock.park_bound(deadline).filter(|left| !left.is_zero()) };
            match left {
                Some(left) => {
                    parker.park_timeout(left);
                }
                None if waiter.select_itself(Selected::TimedOut) => {}
                // The thread that has selected the waiter is about to wake it.
                None => parker.park(),
            }
        }
        None
    }

    fn yield_now(&self) -> Option<PendingSwitch> {
        thread::yield_now();
        None
    }

    /// Does nothing: the system divides the time of threads.
    fn pause(&self) {}

    fn shares_thread(&self) -> bool {
        false
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Does nothing: threads have names of their own.
    fn set_name(&self, _: std::sync::Arc<str>) {}
}

/// Returns the clock of the thread's waits: that of its pool, or outside of every pool the system's.
#[cfg(not(loom))]
pub(crate) fn current_clock() -> Clock {
    let worker = Worker::current();
    if worker.registry().is_some() { worker.clock().clone() } else { Clock::system() }
}

/// Runs `body` with a `Cx` by whose waits the calling thread blocks. Nothing cancels it.
pub(crate) fn with_blocking_cx<R>(body: impl FnOnce(&Cx<'_>) -> R) -> R {
    #[cfg(not(loom))]
    if Worker::current().registry().is_some() {
        return run_here(body);
    }
    let owner = PlainThread::new();
    let scope = CancelScope::root(owner.waiter());
    let locals = Locals::new();
    body(&Cx::new(&owner, &scope, Deadline::NONE, &locals))
}

/// Returns the error of a wait that nothing cancels.
pub(crate) fn timed_out(error: WaitError) -> TimedOut {
    match error {
        WaitError::TimedOut => TimedOut,
        WaitError::Cancelled => unreachable!("nothing cancels the scope of a thread that blocks"),
    }
}
