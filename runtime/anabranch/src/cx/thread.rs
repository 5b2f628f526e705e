//! A plain thread that waits: it parks, and gives up its slot in the pool meanwhile.
//!
//! The thread is in a pool, as a guest or as one of the pool's own, so other threads can take its forks while it waits.
//! It runs nothing else itself: such work could wait for a lock that the thread holds further down on its stack.

use crate::{
    fiber::{
        fiber::Fiber,
        status::{FiberStatus, State},
        switch::PendingSwitch,
    },
    pool::{
        hazard::{Hazard, HazardKind},
        worker::Worker,
    },
    sys::{
        clock::Instant,
        sync::{Ordering, hint},
    },
    time::{Clock, NEVER},
    trace,
    wait::{
        current_stack::Stack,
        parked::Parked,
        suspend::{Suspend, WaitReason, leave},
        waiter::{Selected, Waiter},
    },
};
use std::{cell::Cell, marker::PhantomData, ptr, sync::Arc, thread, time::Duration};

/// How often a thread checks whether its wait is over before it parks.
const SPINS_BEFORE_PARK: usize = if cfg!(shuttle) { 2 } else { 200 };

/// After how many shares a thread yields. The system divides its time among threads, so a sender that shares a core
/// with its receiver need not switch to it after each share. But what the thread has forked may wait for its slot.
const SHARES: u32 = if cfg!(shuttle) { 1 } else { 16 };

/// See the [module](self).
pub(crate) struct BlockingThread {
    shared: Arc<Parked>,
    /// How many shares it may still have before it yields.
    shares: Cell<u32>,
    /// The clock of the pool in which `run` began. The thread may be in another pool when it waits, but its deadlines
    /// are ticks of this clock.
    clock: Clock,
    /// The worker entry on which `run` began.
    worker: *const Worker,
    _bound_to_its_thread: PhantomData<*mut ()>,
}

impl BlockingThread {
    /// Creates the owner for the calling thread, which is in a pool until the owner ends.
    pub(crate) fn new() -> Self {
        let shared = Parked::new();
        shared.waiter.bind_to(Stack::current());
        let worker = Worker::current();
        worker.wait.runs.set(worker.wait.runs.get() + 1);
        Self {
            shared,
            shares: Cell::new(SHARES),
            clock: worker.clock().clone(),
            worker,
            _bound_to_its_thread: PhantomData,
        }
    }
}

impl Drop for BlockingThread {
    fn drop(&mut self) {
        // SAFETY: the thread has held the worker entry since `new`, as `runs` demands, so the entry is alive.
        let runs = unsafe { &(*self.worker).wait.runs };
        runs.set(runs.get() - 1);
    }
}

impl BlockingThread {
    /// Reports, once, that a fiber is about to block its thread by `run`. A wait for another fiber of the thread would
    /// never end, and nothing else would report it.
    #[cold]
    fn warn_on_a_fiber(&self, reason: WaitReason) {
        let Some(fiber) = self.shared.waiter.stack().fiber() else { return };
        // SAFETY: this object is on the stack of that fiber, which runs, so the fiber is alive.
        let fiber = unsafe { &*fiber.cast::<Fiber>() };
        let home = fiber.home();
        if let Some(registry) = home.registry()
            && registry.pool_threads.is_first_run_on_fiber()
        {
            registry.pool_threads.report_hazard(&Hazard {
                kind: HazardKind::RunOnFiber,
                fiber: fiber.card().name(),
                worker: home.index,
                spawned_at: fiber.card().origin(),
                others: (home.counters.live.get() as usize).saturating_sub(1),
                waits: Some(reason),
                lasted: Duration::ZERO,
            });
        }
    }
}

/// Shows in the status of a worker entry what its thread waits for.
struct Shown<'a> {
    worker: &'a Worker,
    /// The previous status: a waiting thread may have to run a broadcast, which waits in turn.
    outer: Option<Before>,
}

struct Before {
    state: State,
    reason: WaitReason,
    since: u32,
    waiter: *mut (),
}

impl<'a> Shown<'a> {
    fn new(worker: &'a Worker, reason: WaitReason, waiter: *const Waiter, has_deadline: bool) -> Self {
        let card = &worker.wait.status;
        let state = card.state();
        let reason_before = if state == State::Idle { None } else { card.reason() };
        let outer = reason_before.map(|reason| Before {
            state,
            reason,
            since: card.since(),
            waiter: worker.wait.waiter.load(Ordering::Relaxed),
        });
        if outer.is_none()
            && let Some(name) = thread::current().name()
        {
            card.set_name(name.into());
        }
        worker.wait.waiter.store(waiter.cast_mut().cast(), Ordering::Relaxed);
        card.suspend(reason, worker.registry().map_or(0, |registry| registry.time.tick_at(Instant::now())));
        if has_deadline {
            card.set(State::SuspendedUntil);
        }
        worker.trace.waiting(reason.what, reason.at);
        Self { worker, outer }
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        let card = &self.worker.wait.status;
        let waiter = match &self.outer {
            Some(before) => {
                card.suspend(before.reason, before.since);
                card.set(before.state);
                self.worker.trace.waiting(before.reason.what, before.reason.at);
                before.waiter
            }
            None => {
                self.worker.trace.state(trace::State::Working);
                card.set(State::Idle);
                card.clear_name();
                ptr::null_mut()
            }
        };
        self.worker.wait.waiter.store(waiter, Ordering::Relaxed);
    }
}

// SAFETY: the waiter belongs to this thread alone, and `suspend` ends when it has been selected. A later wake-up leaves
// a token in the parker, after which every wait here checks its waiter again.
unsafe impl Suspend for BlockingThread {
    fn waiter(&self) -> *const Waiter {
        Parked::waiter(&self.shared)
    }

    fn suspend(&self, deadline: u64, reason: WaitReason) -> Option<PendingSwitch> {
        let me = Worker::current();
        let waiter = &self.shared.waiter;
        me.fork_join().publish_all();
        me.announce();
        let _woken_by_the_clock = (deadline != NEVER).then(|| {
            let shared = Arc::clone(&self.shared);
            self.clock().subscribe(Arc::new(move || shared.parker.unpark()))
        });
        for _ in 0..SPINS_BEFORE_PARK {
            if waiter.selected().is_some() {
                return None;
            }
            hint::spin_loop();
        }
        self.warn_on_a_fiber(reason);
        // Not before: to publish the status costs more than a wait that is over at once.
        let _shown = Shown::new(me, reason, self.waiter(), deadline != NEVER);
        let mut is_long = false;
        while waiter.selected().is_none() {
            me.fibers.answer_stack_requests_while_waiting();
            if deadline != NEVER && self.clock().tick() >= deadline && waiter.select_itself(Selected::TimedOut) {
                return None;
            }
            me.park_beside(&self.shared.parker, self.clock().park_bound(deadline), &mut is_long);
        }
        None
    }

    fn yield_now(&self) -> Option<PendingSwitch> {
        Worker::current().yield_slot();
        None
    }

    fn pause(&self) {
        let left = self.shares.get() - 1;
        self.shares.set(if left > 0 { left } else { SHARES });
        if left == 0 {
            leave(self.yield_now());
        }
    }

    fn shares_thread(&self) -> bool {
        false
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Does nothing: threads have names of their own.
    fn set_name(&self, _: Arc<str>) {}
}

/// Returns the status of the calling fiber or thread, if it waits by `waiter` in a pool. Returns `None` for the waiter
/// of a future, which another thread may drop.
///
/// # Safety
/// The waiter is alive. The caller does not use the status after the wait.
pub(crate) unsafe fn status_of_waiting<'a>(waiter: *const Waiter) -> Option<&'a FiberStatus> {
    let fiber = Stack::current().fiber().unwrap_or(ptr::null());
    // SAFETY: the fiber runs this, and its block lives longer than its wait. A thread stays in its pool while it waits.
    // The caller keeps the waiter alive.
    unsafe {
        if ptr::eq(waiter.cast(), fiber) {
            return Some(&(*fiber.cast::<Fiber>()).card);
        }
        let me = Worker::current();
        ((*waiter).resumes() && !(*waiter).has_home() && me.registry().is_some()).then_some(&me.wait.status)
    }
}
