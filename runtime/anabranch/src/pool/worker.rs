//! A worker: one thread's entry in the list of a pool. Each of the pool's own threads has an entry for life, and a
//! guest leases an entry for each root.
//!
//! | part                                       | its state                                   | operations              |
//! |--------------------------------------------|---------------------------------------------|-------------------------|
//! | [`compute`](Compute)                       | forks, tasks, parts of broadcasts           | [`Worker::fork_join`]   |
//! | [`fibers`](Fibers)                         | queues, timers and stacks                   | [`Worker::scheduler`]   |
//! | [`parking`](Parking)                       | parker, reactor, the call that woke it      |                         |
//! | [`roots`](Roots)                           | the roots of its guests                     |                         |
//! | [`wait`](ThreadWait)                       | what its thread waits for                   |                         |
//!
//! The slot of a worker is in `pool::slot`, the index of its thread in `pool::thread_index`.

use crate::{
    fiber::fibers::{Fibers, Scheduler},
    fork::{compute::Compute, frame::Lineage},
    pool::{
        counter::Counter, parking::Parking, registry::Registry, roots::Roots, stats::Counters, status::Status,
        thread_wait::ThreadWait,
    },
    sys::{
        asymmetric_fence::Fence,
        sync::{AtomicU64, Ordering},
        thread::{self, thread_local},
    },
    time::Clock,
    trace::Tracer,
};
use std::{cell::Cell, ptr};

/// See the [module](self).
///
/// In this order, so that the pointer to a worker is also the one to its jobs: each spawned fiber costs five
/// instructions less.
#[repr(C)]
pub(crate) struct Worker {
    pub(crate) fibers: Fibers,
    pub(crate) compute: Compute,
    pub(crate) parking: Parking,
    pub(crate) roots: Roots,
    pub(crate) wait: ThreadWait,
    pub(crate) counters: Counters,
    registry: *const Registry,
    pub(crate) index: usize,
    /// The thread that holds the worker entry, as the system knows it.
    thread: AtomicU64,
    /// Not zero while the worker entry is off the list, so that no thread searches it. Changed by the thread that holds
    /// the worker entry.
    pub(crate) is_unlisted: Counter,
    pub(crate) status: Status,
    /// The worker entry of one of the pool's own threads, and not of guests.
    pub(crate) is_own: bool,
    pub(crate) trace: Tracer,
}

/// A worker, for the operations on its [`Compute`] work that also need the worker or its pool: publishing forks
/// (`pool::publish`, `pool::helpers`), running work (`pool::run_work`, `pool::pending`), stealing (`pool::steal`), and
/// waiting for stolen work (`pool::join_wait`).
///
/// Unless otherwise noted, only the thread that holds the worker entry calls the operations.
#[derive(Clone, Copy)]
pub(crate) struct ForkJoin<'a> {
    pub(crate) worker: &'a Worker,
}

// SAFETY: only the thread that holds the worker entry accesses the cells of `compute`, `roots` and `wait`, the worker's
// own part of `fibers`, and the phase in `counters`. A worker entry changes its holder by its status, which orders
// these accesses. `registry` owns the worker, and lives longer.
unsafe impl Send for Worker {}
// SAFETY: only the thread that holds the worker entry accesses the fields that are not made for sharing. `registry`
// owns the worker, and lives longer.
unsafe impl Sync for Worker {}

/// The worker entry of a thread that is in no pool: always asked, so that every fork takes the slow path.
static NOBODY: Worker = Worker {
    registry: ptr::null(),
    index: usize::MAX,
    is_own: false,
    thread: AtomicU64::new(0),
    status: Status::vacant(),
    is_unlisted: Counter::new(),
    fibers: Fibers::new(Fence::Symmetric, false),
    compute: Compute::outside(),
    parking: Parking::new(),
    roots: Roots::new(),
    wait: ThreadWait::new(),
    counters: Counters::new(),
    trace: Tracer::OFF,
};

thread_local! {
    static CURRENT: Cell<*const Worker> = const { Cell::new(&raw const NOBODY) };
    /// The result of `thread::number_of_current`, once it has been called.
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

impl Worker {
    pub(crate) fn new(
        registry: *const Registry,
        threads: usize,
        index: usize,
        is_own: bool,
        fence: Fence,
        has_hooks: bool,
        trace: Tracer,
    ) -> Self {
        Self {
            registry,
            index,
            is_own,
            thread: AtomicU64::new(0),
            status: Status::vacant(),
            is_unlisted: Counter::new(),
            fibers: Fibers::new(fence, has_hooks || trace.is_on()),
            compute: Compute::new(fence, threads),
            parking: Parking::new(),
            roots: Roots::new(),
            wait: ThreadWait::new(),
            counters: Counters::new(),
            trace,
        }
    }

    /// Returns the operations on the worker's compute work.
    #[inline(always)]
    pub(crate) fn fork_join(&self) -> ForkJoin<'_> {
        ForkJoin { worker: self }
    }

    /// Returns the operations on the worker's fibers.
    #[inline(always)]
    pub(crate) fn scheduler(&self) -> Scheduler<'_> {
        Scheduler { worker: self }
    }

    /// Returns the calling thread's worker entry: `NOBODY` outside of every pool.
    ///
    /// The reference is valid for as long as the thread stays in the pool, that is until the call that entered the pool
    /// returns. All users of the reference end before.
    #[inline(always)]
    pub(crate) fn current<'a>() -> &'a Worker {
        // SAFETY: the pointer is `NOBODY`, or `occupy` set it to a worker entry that its caller keeps alive.
        unsafe { &*CURRENT.get() }
    }

    /// Makes this the calling thread's worker entry and gives back the one it had.
    ///
    /// # Safety
    /// No other thread holds the worker entry, and it stays alive until the thread takes another.
    pub(crate) unsafe fn occupy(worker: *const Worker) -> *const Worker {
        CURRENT.replace(worker)
    }

    /// Lets the calling thread be in no pool. The caller puts it back on its worker entry.
    pub(crate) fn leave() {
        CURRENT.set(&raw const NOBODY);
    }

    /// Returns the pool of this worker; `None` for the worker entry outside of every pool.
    pub(crate) fn registry(&self) -> Option<&Registry> {
        // SAFETY: the registry owns its workers, so it is alive; the pointer of the worker entry outside is null.
        unsafe { self.registry.as_ref() }
    }

    /// Returns the lineage of what this thread runs now; null for a root, and outside of every pool.
    pub(crate) fn lineage(&self) -> *const Lineage {
        if self.registry.is_null() { ptr::null() } else { self.compute.stack.lineage() }
    }

    #[inline]
    pub(crate) fn is_of(&self, registry: &Registry) -> bool {
        ptr::eq(self.registry, registry)
    }

    /// Records the calling thread as the holder of this worker entry, for `sysmon`.
    #[inline]
    pub(crate) fn note_thread(&self) {
        if THREAD.get() == 0 {
            THREAD.set(thread::number_of_current());
        }
        let thread = u64::from(THREAD.get());
        if self.thread.load(Ordering::Relaxed) != thread {
            self.thread.store(thread, Ordering::Relaxed);
        }
    }

    pub(crate) fn thread(&self) -> u32 {
        self.thread.load(Ordering::Relaxed) as u32
    }

    /// Returns whether a thread works here, and has since the heartbeat worker last called this, unless the root
    /// `may_be_new`.
    pub(crate) fn is_worth_requesting(&self, may_be_new: bool) -> bool {
        (self.roots.is_known() || may_be_new) && self.status.is_occupied()
    }

    /// Returns whether the worker has begun fibers that have not ended.
    pub(crate) fn owns_fibers(&self) -> bool {
        self.counters.live.get() > 0
    }

    /// Returns whether the thread takes compute work: forks, tasks, and the other halves of loops. Not while it owns
    /// fibers that have begun, which would wait meanwhile; then a thread without such fibers takes the work. If the
    /// pool can have no such thread, every thread takes compute work.
    pub(crate) fn takes_pieces(&self) -> bool {
        !self.owns_fibers() || self.registry().is_some_and(|registry| registry.pool_threads.lacks_spares())
    }

    /// Returns the clock for the waits of this worker's fibers.
    pub(crate) fn clock(&self) -> &Clock {
        &self.registry().expect("only members of a pool wait by its clock").time.clock
    }
}
