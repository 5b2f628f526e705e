//! The state of a worker's fibers that only the worker's thread accesses: the ready fibers, the free stacks and the
//! timers.

use crate::{
    fiber::{
        fiber::Fiber,
        ready::List,
        stack::{
            overflow,
            pool::{StackConfig, StackError, StackPool},
        },
        task_alloc::Store,
    },
    pool::worker::Worker,
    sys::sync::{Mutex, lock},
    time::{
        NEVER,
        timers::{Key, Timers},
    },
};
use std::{
    cell::{Cell, RefCell},
    ptr,
};

/// The number of times in a row that a fiber that was just woken precedes those that have waited longer.
const MAX_CHAIN: u32 = 3;

/// The number of idle stacks that a worker keeps ready, with the memory that they have touched.
const MAX_IDLE: usize = if cfg!(shuttle) { 1 } else { 256 };

/// See the [module](self).
pub(crate) struct Local {
    /// The fiber that a fiber of this worker has woken last. It runs as soon as its waker waits, while the data from
    /// the waker are still in the caches.
    next: Cell<*const Fiber>,
    chain: Cell<u32>,
    ready: List<Fiber>,
    /// The number of fibers that may still run in this round.
    left: Cell<u32>,
    /// The number of fibers that have begun and not ended.
    live: Cell<usize>,
    timers: RefCell<Timers<*const Fiber>>,
    stacks: RefCell<Option<StackPool>>,
    /// The store for the blocks of fibers that are spawned here. Null until the first spawn.
    store: Cell<*mut Store>,
    /// The blocks that have a stack and no function to run, and the blocks without a stack.
    idle: RefCell<Vec<*const Fiber>>,
    bare: RefCell<Vec<*const Fiber>>,
}

/// All blocks of a worker. They do not move.
#[expect(clippy::vec_box, reason = "a block must not move when the list grows")]
pub(crate) struct Blocks(Mutex<Vec<Box<Fiber>>>);

// SAFETY: a lock guards the list. The blocks are in boxes, and a `Fiber` is `Sync`.
unsafe impl Sync for Blocks {}

impl Blocks {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn add(&self, home: *const Worker) -> *const Fiber {
        let mut blocks = lock(&self.0);
        blocks.push(Box::new(Fiber::new(home)));
        let fiber = &**blocks.last().expect("just pushed");
        fiber.bind_to_own_stack();
        fiber
    }

    /// Calls `look` for each block while the list is locked.
    pub(crate) fn for_each(&self, mut look: impl FnMut(&Fiber)) {
        lock(&self.0).iter().for_each(|fiber| look(fiber));
    }
}

impl Local {
    pub(crate) const fn new() -> Self {
        Self {
            next: Cell::new(ptr::null()),
            chain: Cell::new(0),
            ready: List::new(),
            left: Cell::new(0),
            live: Cell::new(0),
            timers: RefCell::new(Timers::new()),
            stacks: RefCell::new(None),
            store: Cell::new(ptr::null_mut()),
            idle: RefCell::new(Vec::new()),
            bare: RefCell::new(Vec::new()),
        }
    }

    // ---- ready fibers ----

    /// Adds a fiber that was woken on its own worker.
    ///
    /// # Safety
    /// The fiber is suspended, or about to be, and in no list.
    #[inline]
    pub(crate) unsafe fn make_ready(&self, fiber: *const Fiber) {
        // SAFETY: the caller guarantees that the fiber is suspended, or about to be, and in no list. It continues only
        // after it is taken from here, so it is alive until then.
        unsafe {
            if self.next.get().is_null() {
                (*fiber).fetch();
                self.next.set(fiber);
            } else {
                // Behind several others, the fiber is prefetched when it has become the first.
                if !self.ready.has_two() {
                    (*fiber).fetch();
                }
                self.ready.push(fiber);
            }
        }
    }

    /// Puts a fiber behind all ready fibers.
    #[inline]
    pub(crate) fn make_last(&self, fiber: &Fiber) {
        // SAFETY: the fiber runs, so it is alive and in no list, and it suspends now.
        unsafe { self.ready.push(fiber) };
    }

    /// Begins a round: `count` fibers may run before the worker looks for other work.
    pub(crate) fn begin_round(&self, count: u32) {
        self.left.set(count);
    }

    /// Counts a fiber of this round. Returns whether the fiber may run in it.
    #[inline]
    pub(crate) fn count_one(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Takes the next ready fiber.
    #[inline]
    pub(crate) fn take_ready(&self) -> Option<*const Fiber> {
        if !self.next.get().is_null() && (self.chain.get() < MAX_CHAIN || self.ready.is_empty()) {
            self.chain.set(self.chain.get() + 1);
            return Some(self.next.replace(ptr::null()));
        }
        self.chain.set(0);
        self.ready.pop()
    }

    /// Removes a fiber from the ready ones. Returns whether it was there.
    pub(crate) fn unready(&self, fiber: &Fiber) -> bool {
        if ptr::eq(self.next.get(), fiber) {
            self.next.set(ptr::null());
            return true;
        }
        self.ready.remove(fiber)
    }

    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        !self.next.get().is_null() || !self.ready.is_empty()
    }

    /// Returns the list behind the next fiber, for the fibers from the inbox.
    pub(crate) fn ready(&self) -> &List<Fiber> {
        &self.ready
    }

    // ---- timers ----

    pub(crate) fn add_timer(&self, deadline: u64, fiber: &Fiber) -> Key {
        self.timers.borrow_mut().insert(deadline, ptr::from_ref(fiber))
    }

    pub(crate) fn remove_timer(&self, key: Key) {
        self.timers.borrow_mut().remove(key);
    }

    /// Returns when the first timer is due.
    pub(crate) fn next_deadline(&self) -> u64 {
        self.timers.borrow().next_deadline().unwrap_or(NEVER)
    }

    /// Returns when the last of the timers is due that are within `slack` nanoseconds of the first.
    pub(crate) fn last_deadline_within(&self, slack: u64) -> u64 {
        self.timers.borrow().last_deadline_within(slack).unwrap_or(NEVER)
    }

    pub(crate) fn pop_timer(&self, now: u64) -> Option<*const Fiber> {
        self.timers.borrow_mut().pop_due(now)
    }

    // ---- memory of spawned fibers ----

    /// Returns the store of this worker, or null.
    #[inline]
    pub(crate) fn store(&self) -> *const Store {
        self.store.get()
    }

    /// Returns the store of this worker, and makes it first if there is none.
    #[inline]
    pub(crate) fn open_store(&self) -> *const Store {
        if self.store.get().is_null() {
            self.store.set(Store::new());
        }
        self.store.get()
    }

    // ---- stacks ----

    pub(crate) fn live(&self) -> usize {
        self.live.get()
    }

    pub(crate) fn set_live(&self, live: usize) {
        self.live.set(live);
    }

    /// Returns a block with a stack and no function to run.
    pub(crate) fn take_idle(
        &self,
        home: &Worker,
        blocks: &Blocks,
        config: impl FnOnce() -> StackConfig,
    ) -> Result<*const Fiber, StackError> {
        if let Some(fiber) = self.idle.borrow_mut().pop() {
            return Ok(fiber);
        }
        let mut stacks = self.stacks.borrow_mut();
        let stacks = match &mut *stacks {
            Some(stacks) => stacks,
            none => {
                let pool = none.insert(StackPool::new(config())?);
                // If the system refuses it, an overflow still ends the process, without a message.
                let _ = overflow::ensure_alternate_stack();
                pool
            }
        };
        let stack = stacks.take()?;
        let fiber = self.bare.borrow_mut().pop().unwrap_or_else(|| blocks.add(home));
        // SAFETY: the block is new or from `bare`, so it has no stack. It is in a box, so it does not move.
        unsafe { (*fiber).equip(stack) };
        Ok(fiber)
    }

    /// Keeps a block that has no function to run. If too many are kept, returns its stack to the pool.
    pub(crate) fn keep_idle(&self, fiber: *const Fiber) {
        let mut idle = self.idle.borrow_mut();
        idle.push(fiber);
        if idle.len() > MAX_IDLE {
            self.strip(fiber);
            idle.pop();
        }
    }

    fn strip(&self, fiber: *const Fiber) {
        // SAFETY: the block is one of this worker, and blocks live as long as their worker.
        if let Some(stack) = unsafe { (*fiber).strip() }
            && let Some(stacks) = &mut *self.stacks.borrow_mut()
        {
            stacks.give_back(stack);
        }
        self.bare.borrow_mut().push(fiber);
    }

    /// Returns all stacks to the pool. Called when no fiber is live.
    pub(crate) fn strip_all(&self) {
        loop {
            let Some(fiber) = self.idle.borrow_mut().pop() else { break };
            self.strip(fiber);
        }
        self.stacks.borrow_mut().take();
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let store = self.store.get();
        if !store.is_null() {
            // SAFETY: no thread holds the worker entry any more, and none will hold it again, so this is the last use
            // by the owner.
            unsafe { Store::leave(store) };
        }
    }
}
