//! The fibers of a worker: their queues, timers and stacks.
//!
//! [`Fibers`] has the data, and the operations that need nothing else. [`Scheduler`] has the operations that also need
//! the worker or its pool: running fibers (`fiber::scheduler`), jobs (`fiber::jobs`), the balance of load
//! (`fiber::placement`) and idle stacks (`fiber::idle_stacks`).

use crate::{
    fiber::{
        fiber::Fiber, kick::Kick, own_store::OwnStore, placed::Placed, ready::Inbox, ready_queue::ReadyQueue,
        run_queue::RunQueue, stack::pool::StackPool, task::Job,
    },
    pool::{stack_request::StackRequests, worker::Worker},
    sys::{
        asymmetric_fence::Fence,
        clock::Instant,
        sync::{Mutex, lock},
    },
    time::{
        NEVER,
        timers::{Key, Timers},
    },
};
use crossbeam_utils::CachePadded;
use std::{
    cell::{Cell, RefCell},
    mem, ptr,
    time::Duration,
};

/// After this many turns of fibers the worker takes work from elsewhere: a fiber to begin, a task or a fork.
const ELSEWHERE_EVERY: u32 = if cfg!(shuttle) { 4 } else { 16 };

/// See the [module](self). The jobs are first: see [`Worker`].
#[repr(C)]
pub(crate) struct Fibers {
    /// Fibers that have not started. On cache lines of its own, as are `inbox` and `local`: searching threads read the
    /// rest of a worker all the time.
    pub(crate) jobs: CachePadded<RunQueue<Job>>,
    /// Fibers that other threads have woken.
    pub(crate) inbox: CachePadded<Inbox<Fiber>>,
    /// The state that only the worker's thread accesses.
    pub(crate) local: CachePadded<Local>,
    /// Kicks from other threads. They are rare, so this has no cache line of its own.
    pub(crate) kicks: Inbox<Kick>,
    pub(crate) blocks: Blocks,
    /// Fibers to start that other threads have placed here.
    pub(crate) placed: Placed<Job>,
    /// The requests for the stacks of the fibers, and of the worker's thread.
    pub(crate) stack_requests: StackRequests,
    /// The number of times that the worker has looked for a job.
    pub(super) ticks: Cell<u32>,
    rounds: Cell<u32>,
    /// Whether the pool has hooks for fibers, or is traced. Then each switch passes through the worker's own stack.
    pub(super) are_observed: bool,
}

/// The state of a worker's fibers that only the worker's thread accesses.
pub(crate) struct Local {
    pub(crate) ready: ReadyQueue<Fiber>,
    /// When the present round of fibers began, see `PoolClock::tick_at`.
    pub(crate) tick: Cell<u32>,
    pub(crate) balance: Balance,
    timers: RefCell<Timers<*const Fiber>>,
    pub(super) idle: IdleStacks,
    /// The store for the blocks of fibers that are spawned here.
    pub(crate) store: OwnStore,
}

/// When a worker compares its load with that of others. See `fiber::placement`.
pub(crate) struct Balance {
    /// The number of fibers from which on the worker compares its load.
    pub(super) compares_from: Cell<usize>,
    /// The other workers with which it has not compared its load in this round, this one included; 0 before a round.
    pub(super) left_in_round: Cell<usize>,
    /// The number of comparisons.
    pub(super) compared: Cell<usize>,
    /// The number of fibers that wait for blocking calls.
    pub(super) blocking_calls: Cell<usize>,
}

/// The stacks and blocks that no fiber uses. See `fiber::idle_stacks`.
pub(crate) struct IdleStacks {
    pub(super) stacks: RefCell<Option<StackPool>>,
    /// The blocks that have a stack and no function to run.
    pub(super) idle: RefCell<Vec<*const Fiber>>,
    /// The blocks without a stack.
    pub(super) stackless: RefCell<Vec<*const Fiber>>,
    /// Whether there were more fibers than the worker keeps stacks ready for.
    pub(super) has_surplus: Cell<bool>,
    /// When the worker gives the memory of the surplus back.
    pub(super) trim_at: Cell<Option<Instant>>,
}

/// All blocks of a worker. They do not move.
#[expect(clippy::vec_box, reason = "a block must not move when the list grows")]
pub(crate) struct Blocks(Mutex<Vec<Box<Fiber>>>);

// SAFETY: a lock guards the list. The blocks are in boxes, and a `Fiber` is `Sync`.
unsafe impl Sync for Blocks {}

/// A worker, for the operations on its fibers that also need the worker or its pool. See the [module](self).
///
/// Unless otherwise noted, only the thread that holds the worker entry calls the operations, on its own stack.
#[derive(Clone, Copy)]
pub(crate) struct Scheduler<'a> {
    pub(crate) worker: &'a Worker,
}

impl Fibers {
    pub(crate) const fn new(fence: Fence, are_observed: bool) -> Self {
        Self {
            jobs: CachePadded::new(RunQueue::new(fence)),
            placed: Placed::new(),
            inbox: CachePadded::new(Inbox::new()),
            kicks: Inbox::new(),
            local: CachePadded::new(Local {
                ready: ReadyQueue::new(),
                tick: Cell::new(0),
                balance: Balance {
                    compares_from: Cell::new(0),
                    left_in_round: Cell::new(0),
                    compared: Cell::new(0),
                    blocking_calls: Cell::new(0),
                },
                timers: RefCell::new(Timers::new()),
                idle: IdleStacks {
                    stacks: RefCell::new(None),
                    idle: RefCell::new(Vec::new()),
                    stackless: RefCell::new(Vec::new()),
                    has_surplus: Cell::new(false),
                    trim_at: Cell::new(None),
                },
                store: OwnStore::new(),
            }),
            blocks: Blocks(Mutex::new(Vec::new())),
            ticks: Cell::new(0),
            rounds: Cell::new(0),
            stack_requests: StackRequests::new(),
            are_observed,
        }
    }

    /// Marks the thread as about to park, until [`come_back`](Self::come_back). Returns `false` if it must not park,
    /// since another thread has injected a fiber or a kick.
    #[must_use]
    pub(crate) fn go_away(&self) -> bool {
        let is_away = self.kicks.go_away();
        if is_away && !self.inbox.go_away() {
            self.kicks.come_back();
            return false;
        }
        is_away
    }

    /// Removes the marks after the thread has parked.
    pub(crate) fn come_back(&self) {
        self.inbox.come_back();
        self.kicks.come_back();
    }

    /// Returns whether another thread has woken or kicked a fiber of this worker.
    pub(crate) fn were_woken(&self) -> bool {
        !self.inbox.is_empty() || !self.kicks.is_empty()
    }

    /// Gives back the memory that a burst of fibers took, if that was some time ago.
    pub(crate) fn trim(&self) {
        self.local.idle.trim(&self.blocks);
    }

    /// Returns how long the thread may rest before it [gives memory back](Self::trim).
    pub(crate) fn time_to_trim(&self) -> Option<Duration> {
        self.local.idle.time_to_trim()
    }

    /// Answers the kicks of other threads. Only the worker's thread calls this.
    pub(crate) fn answer_kicks(&self) {
        if !self.kicks.is_empty() {
            Kick::answer_all(&self.kicks, |kick| {
                if ptr::eq(kick, &self.stack_requests.kick) {
                    self.answer_stack_requests(false);
                } else {
                    // SAFETY: the other kicks in the box are those of this worker's fibers, and this is the worker's
                    // thread.
                    unsafe { Fiber::answer(kick) };
                }
            });
        }
    }

    /// Returns the fiber to switch to from one that suspends. It may be the same one. Returns `None` if the worker's
    /// own stack has to choose.
    #[inline]
    pub(crate) fn next_across(&self) -> Option<*const Fiber> {
        let ready = &self.local.ready;
        if !self.inbox.is_empty() || ready.is_empty() {
            return None;
        }
        ready.take_next()
    }

    /// Counts the turns of this worker's fibers. Every [`ELSEWHERE_EVERY`] calls it is the turn of work from elsewhere,
    /// and this returns the number of that turn.
    pub(crate) fn next_turn_of_others(&self) -> Option<u32> {
        let rounds = self.rounds.get().wrapping_add(1);
        self.rounds.set(rounds);
        rounds.is_multiple_of(ELSEWHERE_EVERY).then_some(rounds / ELSEWHERE_EVERY)
    }
}

/// The timers of a worker's fibers.
impl Local {
    pub(crate) fn add_timer(&self, deadline: u64, fiber: &Fiber) -> Key {
        self.balance.compare_next();
        self.ready.note_timer();
        self.timers.borrow_mut().insert(deadline, ptr::from_ref(fiber))
    }

    pub(crate) fn remove_timer(&self, key: Key) {
        self.timers.borrow_mut().remove(key);
    }

    /// Returns when the first timer is due.
    pub(super) fn next_deadline(&self) -> u64 {
        self.timers.borrow().next_deadline().unwrap_or(NEVER)
    }

    /// Returns when the last of the timers is due that are within `slack` nanoseconds of the first.
    pub(super) fn last_deadline_within(&self, slack: u64) -> u64 {
        self.timers.borrow().last_deadline_within(slack).unwrap_or(NEVER)
    }

    /// Takes a timer that is due, and returns the fiber with the deadline.
    pub(super) fn pop_timer(&self, now: u64) -> Option<(u64, *const Fiber)> {
        self.timers.borrow_mut().pop_due(now)
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
