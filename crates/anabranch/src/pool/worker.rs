//! A worker: one thread's entry in the list of a pool. The pool's own threads have one for life, a guest leases one for
//! each root.

use crate::{
    fiber::{
        fiber::Fiber,
        kick::Kick,
        limits::Limits,
        own_store::OwnStore,
        placed::{Patience, Placed},
        ready::Inbox,
        ready_queue::ReadyQueue,
        run_queue::RunQueue,
        stack::pool::StackPool,
        status::FiberStatus,
        task::Job,
    },
    fork::{frame::Lineage, stack::ForkStack, task::Tasks},
    pool::{
        counter::Counter,
        registry::Registry,
        sleep::{Call, Called},
        stack_request::StackRequests,
        stats::Counters,
        status::Status,
    },
    reactor::slot::Slot,
    sys::{
        asymmetric_fence::Fence,
        clock::Instant,
        parker::Parker,
        sync::{AtomicPtr, AtomicU64, Mutex, Ordering, lock},
        thread::{self, thread_local},
    },
    time::timers::Timers,
    trace::Tracer,
};
use crossbeam_utils::CachePadded;
use std::{
    cell::{Cell, RefCell},
    mem,
    ptr::{self, NonNull},
};

/// The state of a worker for its fibers. See `fiber::scheduler`.
pub(crate) struct Fibers {
    /// Fibers that have not started. On cache lines of its own, as are `inbox` and `local`: searching threads read the
    /// rest of a worker all the time.
    pub(crate) jobs: CachePadded<RunQueue<Job>>,
    /// Fibers to start that other threads have placed here.
    placed: Placed<Job>,
    /// Fibers that other threads have woken.
    pub(crate) inbox: CachePadded<Inbox<Fiber>>,
    /// Kicks from other threads. They are rare, so this has no cache line of its own.
    pub(crate) kicks: Inbox<Kick>,
    /// The state that only the worker's thread accesses.
    pub(crate) local: CachePadded<Local>,
    pub(crate) blocks: Blocks,
    pub(crate) ticks: Cell<u32>,
    pub(crate) rounds: Cell<u32>,
}

/// The state of a worker's fibers that only the worker's thread accesses.
pub(crate) struct Local {
    pub(crate) ready: ReadyQueue<Fiber>,
    /// When the present round of fibers began, see `Registry::tick_at`.
    pub(crate) tick: Cell<u32>,
    /// The number of fibers from which on the worker compares its load with that of others, and the number of
    /// comparisons. See `fiber::placement`.
    pub(crate) compares_from: Cell<usize>,
    /// The other workers with which it has not compared its load in this round, this one included; 0 before a round.
    pub(crate) left_in_round: Cell<usize>,
    pub(crate) compared: Cell<usize>,
    /// The number of fibers that wait for blocking calls.
    pub(crate) blocking_calls: Cell<usize>,
    pub(crate) timers: RefCell<Timers<*const Fiber>>,
    pub(crate) stacks: RefCell<Option<StackPool>>,
    /// The store for the blocks of fibers that are spawned here.
    pub(crate) store: OwnStore,
    /// The blocks that have a stack and no function to run, and the blocks without a stack.
    pub(crate) idle: RefCell<Vec<*const Fiber>>,
    pub(crate) bare: RefCell<Vec<*const Fiber>>,
    /// Whether there were more fibers than the worker keeps stacks ready for, and when it gives their memory back.
    pub(crate) has_surplus: Cell<bool>,
    pub(crate) trim_at: Cell<Option<Instant>>,
}

/// All blocks of a worker. They do not move.
#[expect(clippy::vec_box, reason = "a block must not move when the list grows")]
pub(crate) struct Blocks(Mutex<Vec<Box<Fiber>>>);

// SAFETY: a lock guards the list. The blocks are in boxes, and a `Fiber` is `Sync`.
unsafe impl Sync for Blocks {}

/// See the [module](self).
pub(crate) struct Worker {
    pub(crate) stack: ForkStack,
    pub(crate) parker: Parker,
    /// The reactor of the thread, in which it waits for sockets while it parks. Only the pool's own threads have one.
    pub(crate) reactor: Slot,
    /// The parker at which the thread has parked, if that is another one. A broadcast and a request for stacks unpark
    /// it there too.
    other_parker: Mutex<Option<NonNull<Parker>>>,
    /// Tasks that were spawned here. Any thread may take them.
    pub(crate) tasks: Tasks,
    /// This worker's parts of broadcasts, which only it may run.
    pub(crate) inbox: Tasks,
    /// How many parts of broadcasts are on its stack.
    pub(super) answering: Cell<u32>,
    /// How many calls of `run` that began here are on the stack of its thread, which does not leave the pool before
    /// they return.
    pub(crate) runs: Cell<u32>,
    pub(crate) index: usize,
    /// The worker entry of one of the pool's own threads, and not of guests.
    pub(crate) is_own: bool,
    pub(crate) status: Status,
    pub(crate) fibers: Fibers,
    /// The requests for the stacks of its fibers, and of its thread.
    pub(crate) stack_requests: StackRequests,
    /// What the thread itself waits for while it waits in `run`.
    pub(crate) card: FiberStatus,
    /// The address of the waiter by which it waits, to recognise the holder of a lock.
    pub(crate) waiter: AtomicPtr<()>,
    /// How many waits here are for locks whose holder is known.
    pub(crate) lock_waits: Counter,
    /// How many roots its guests have begun.
    pub(crate) roots: Counter,
    /// How many of them the heartbeat worker knows of.
    known_roots: Counter,
    /// Not zero while the worker entry is off the list, so that no thread searches it. Changed by the thread that holds
    /// the worker entry.
    pub(crate) is_unlisted: Counter,
    pub(crate) counters: Counters,
    /// The thread that holds the worker entry, as the system knows it.
    thread: AtomicU64,
    /// What it was woken for while it slept.
    pub(super) called: Called,
    registry: *const Registry,
    /// Whether the pool has hooks for fibers, or is traced. Then each switch passes through the worker's own stack.
    pub(crate) observes_fibers: bool,
    pub(crate) trace: Tracer,
    /// Whether the guest here measures the work and the span of its root.
    pub(super) measures_root: Cell<bool>,
    /// The binary logarithm of the number of the pool's threads, rounded up. Here since each loop reads it.
    pub(crate) threads_log2: u32,
    /// The index of the thread that it has taken; see `pool::thread_index`.
    pub(super) lease: Cell<Option<usize>>,
    /// Where the last search found something: the next begins there.
    pub(crate) last_victim: Cell<usize>,
}

// SAFETY: only the thread that holds the worker entry accesses `last_victim`, `answering`, `runs`, `lease`, the
// worker's own part of `fibers`, and the phase in `counters`. A worker entry changes its holder by its status, which
// orders these accesses. `registry` owns the worker, and lives longer.
unsafe impl Send for Worker {}
// SAFETY: only the thread that holds the worker entry accesses the fields that are not made for sharing. `registry`
// owns the worker, and lives longer.
unsafe impl Sync for Worker {}

/// The worker entry of a thread that is in no pool: always asked, so that every fork takes the slow path.
static NOBODY: Worker = Worker {
    stack: ForkStack::outside(),
    parker: Parker::new(),
    reactor: Slot::new(),
    other_parker: Mutex::new(None),
    tasks: Tasks::new(),
    inbox: Tasks::new(),
    answering: Cell::new(0),
    runs: Cell::new(0),
    index: usize::MAX,
    is_own: false,
    status: Status::vacant(),
    fibers: Fibers::new(Fence::Symmetric),
    stack_requests: StackRequests::new(),
    card: FiberStatus::new(),
    waiter: AtomicPtr::new(ptr::null_mut()),
    lock_waits: Counter::new(),
    roots: Counter::new(),
    known_roots: Counter::new(),
    is_unlisted: Counter::new(),
    counters: Counters::new(),
    thread: AtomicU64::new(0),
    called: Called::new(),
    registry: ptr::null(),
    observes_fibers: false,
    trace: Tracer::OFF,
    measures_root: Cell::new(false),
    threads_log2: 0,
    lease: Cell::new(None),
    last_victim: Cell::new(0),
};

thread_local! {
    static CURRENT: Cell<*const Worker> = const { Cell::new(&raw const NOBODY) };
    /// The result of `thread::number_of_current`, once it has been called.
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

impl Fibers {
    const fn new(fence: Fence) -> Self {
        Self {
            jobs: CachePadded::new(RunQueue::new(fence)),
            placed: Placed::new(),
            inbox: CachePadded::new(Inbox::new()),
            kicks: Inbox::new(),
            local: CachePadded::new(Local {
                ready: ReadyQueue::new(),
                tick: Cell::new(0),
                compares_from: Cell::new(0),
                left_in_round: Cell::new(0),
                compared: Cell::new(0),
                blocking_calls: Cell::new(0),
                timers: RefCell::new(Timers::new()),
                stacks: RefCell::new(None),
                store: OwnStore::new(),
                idle: RefCell::new(Vec::new()),
                bare: RefCell::new(Vec::new()),
                has_surplus: Cell::new(false),
                trim_at: Cell::new(None),
            }),
            blocks: Blocks(Mutex::new(Vec::new())),
            ticks: Cell::new(0),
            rounds: Cell::new(0),
        }
    }
}

impl Blocks {
    /// Adds a block without a stack.
    pub(crate) fn add(&self, home: *const Worker) -> *const Fiber {
        let mut blocks = lock(&self.0);
        blocks.push(Box::new(Fiber::new(home)));
        let fiber = &**blocks.last().expect("just pushed");
        fiber.bind_to_own_stack();
        fiber
    }

    /// Frees these blocks, which are sorted by their addresses.
    ///
    /// # Safety
    /// The blocks are in this list, and no other pointer to them is used any more.
    pub(crate) unsafe fn free(&self, unused: &[*const Fiber]) {
        let mut blocks = lock(&self.0);
        let is_used = |block: &Fiber| unused.binary_search(&ptr::from_ref(block)).is_err();
        let (used, freed): (Vec<_>, Vec<_>) = mem::take(&mut *blocks).into_iter().partition(|block| is_used(block));
        *blocks = used;
        drop(blocks);
        drop(freed);
    }

    /// Calls `look` for each block while the list is locked.
    pub(crate) fn for_each(&self, mut look: impl FnMut(&Fiber)) {
        lock(&self.0).iter().for_each(|fiber| look(fiber));
    }
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
            stack: ForkStack::new(fence),
            parker: Parker::new(),
            reactor: Slot::new(),
            other_parker: Mutex::new(None),
            tasks: Tasks::new(),
            inbox: Tasks::new(),
            answering: Cell::new(0),
            runs: Cell::new(0),
            index,
            is_own,
            status: Status::vacant(),
            fibers: Fibers::new(fence),
            stack_requests: StackRequests::new(),
            card: FiberStatus::new(),
            waiter: AtomicPtr::new(ptr::null_mut()),
            lock_waits: Counter::new(),
            roots: Counter::new(),
            known_roots: Counter::new(),
            is_unlisted: Counter::new(),
            counters: Counters::new(),
            thread: AtomicU64::new(0),
            called: Called::new(),
            registry,
            observes_fibers: has_hooks || trace.is_on(),
            trace,
            measures_root: Cell::new(false),
            threads_log2: threads.next_power_of_two().trailing_zeros(),
            lease: Cell::new(None),
            last_victim: Cell::new(0),
        }
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
        if self.registry.is_null() { ptr::null() } else { self.stack.lineage() }
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

    /// Wakes this sleeper, which was taken off the list of sleepers.
    pub(crate) fn call(&self, call: Call) {
        self.called.set(call);
        self.parker.unpark();
    }

    /// Wakes this worker, wherever it waits, after something was put into its inbox.
    pub(crate) fn call_for_broadcast(&self) {
        self.parker.unpark();
        self.unpark_beside();
    }

    /// Wakes the thread if it has parked at another parker than the worker's.
    pub(crate) fn unpark_beside(&self) {
        if let Some(parker) = *lock(&self.other_parker) {
            // SAFETY: the thread at the parker takes the pointer back under the lock, which this holds, before the
            // parker ends.
            unsafe { parker.as_ref() }.unpark();
        }
    }

    /// While `wait` runs, broadcasts and requests for stacks unpark the thread at `parker`, too: one that comes after
    /// `wait` has looked for them leaves a token there.
    pub(crate) fn while_parked_at<R>(&self, parker: &Parker, wait: impl FnOnce() -> R) -> R {
        // A broadcast that is answered in the middle of a wait may wait in turn, at a parker of its own.
        let outer = lock(&self.other_parker).replace(NonNull::from(parker));
        let result = wait();
        *lock(&self.other_parker) = outer;
        result
    }

    /// Returns whether a thread works here, and has since the heartbeat worker last called this, unless the root
    /// `may_be_new`.
    pub(crate) fn is_worth_requesting(&self, may_be_new: bool) -> bool {
        let roots = self.roots.get();
        let is_old = roots == self.known_roots.get();
        if !is_old {
            self.known_roots.set(roots);
        }
        (is_old || may_be_new) && self.status.is_occupied()
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

    /// Returns whether there is something to take.
    pub(crate) fn has_work(&self) -> bool {
        self.stack.shelf.has_available() || self.has_spawned_work()
    }

    /// Returns whether there are tasks here, or forks that their owner, which waits, will not run soon.
    pub(crate) fn has_stranded_work(&self) -> bool {
        let is_away = self.status.is_occupied() && !self.status.holds_slot();
        !self.tasks.is_empty() || is_away && self.stack.shelf.has_available()
    }

    /// Returns whether there are tasks or fibers to start here: work other than forks.
    pub(crate) fn has_spawned_work(&self) -> bool {
        !self.tasks.is_empty() || self.has_available_jobs()
    }

    /// Returns whether there are fibers to start here that any thread may take, and the limits allow one.
    pub(crate) fn has_available_jobs(&self) -> bool {
        (!self.fibers.jobs.is_empty() || self.has_overdue_jobs()) && self.limits().has_room()
    }

    /// Returns whether this worker has fibers to start, and the limits allow one.
    pub(crate) fn has_jobs(&self) -> bool {
        !(self.fibers.jobs.is_empty() && self.fibers.placed.is_empty()) && self.limits().has_room()
    }

    /// Returns whether there are fibers to start that were placed here, and the limits allow one.
    pub(crate) fn has_placed_jobs(&self) -> bool {
        !self.fibers.placed.is_empty() && self.limits().has_room()
    }

    /// Takes the oldest fiber that was placed here, for the worker itself.
    pub(crate) fn take_placed_job(&self) -> Option<Job> {
        let registry = self.registry()?;
        self.fibers.placed.take(|| registry.micros_at(Instant::now()))
    }

    /// Returns whether this worker has come to its placed fibers so late that other threads may take them.
    pub(crate) fn has_overdue_jobs(&self) -> bool {
        let now = |registry: &Registry| registry.micros_at(Instant::now());
        self.registry().is_some_and(|registry| self.placed().is_overdue(self.patience(), || now(registry)))
    }

    /// Returns how long other threads leave the placed fibers to this worker.
    pub(crate) fn patience(&self) -> Patience {
        match () {
            () if !self.status.is_occupied() => Patience::Idle,
            () if self.status.is_active() => Patience::AtWork,
            () => Patience::None,
        }
    }

    pub(crate) fn placed(&self) -> &Placed<Job> {
        &self.fibers.placed
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.registry().expect("fibers run on the workers of a pool").limits
    }
}
