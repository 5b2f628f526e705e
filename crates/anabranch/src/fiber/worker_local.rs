//! What a worker's thread alone knows of its fibers: which can go on, which stacks are free, which timers run.

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

/// How many times in a row a fiber that was just woken goes before those that have waited longer.
const MAX_CHAIN: u32 = 3;

/// How many idle stacks are kept ready to run, with what they have touched of their memory.
const MAX_IDLE: usize = if cfg!(shuttle) { 1 } else { 256 };

/// See the [module](self).
pub(crate) struct Local {
    /// Woken by a fiber of this worker: goes on as soon as that one waits, while what it was told is still in the
    /// caches.
    next: Cell<*const Fiber>,
    chain: Cell<u32>,
    ready: List<Fiber>,
    /// How many may still go on in this round.
    left: Cell<u32>,
    /// How many less if one gives way.
    haste: Cell<u32>,
    /// How many fibers have begun and not ended.
    live: Cell<usize>,
    timers: RefCell<Timers<*const Fiber>>,
    stacks: RefCell<Option<StackPool>>,
    /// Memory for what is spawned here; null until something is.
    store: Cell<*mut Store>,
    /// Blocks with a stack and nothing to do, and blocks without a stack.
    idle: RefCell<Vec<*const Fiber>>,
    bare: RefCell<Vec<*const Fiber>>,
}

/// All blocks of a worker. They stay where they are.
#[expect(clippy::vec_box, reason = "a block must not move when the list grows")]
pub(crate) struct Blocks(Mutex<Vec<Box<Fiber>>>);

// SAFETY: the blocks are in boxes, and what of them is shared is made for it; see `Fiber`.
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

    /// Looks at each block while the list is locked.
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
            haste: Cell::new(0),
            live: Cell::new(0),
            timers: RefCell::new(Timers::new()),
            stacks: RefCell::new(None),
            store: Cell::new(ptr::null_mut()),
            idle: RefCell::new(Vec::new()),
            bare: RefCell::new(Vec::new()),
        }
    }

    // ---- what can go on ----

    /// A fiber was woken on its own worker.
    ///
    /// # Safety
    /// It is suspended, or about to be, and in no list.
    #[inline]
    pub(crate) unsafe fn make_ready(&self, fiber: *const Fiber) {
        // SAFETY: the caller's word.
        unsafe {
            if self.next.get().is_null() {
                (*fiber).fetch();
                self.next.set(fiber);
            } else {
                // Behind several others it is fetched when it has become the first.
                if !self.ready.has_two() {
                    (*fiber).fetch();
                }
                self.ready.push(fiber);
            }
        }
    }

    /// A fiber goes behind all others that can go on.
    #[inline]
    pub(crate) fn make_last(&self, fiber: &Fiber) {
        self.left.set(self.left.get().saturating_sub(self.haste.get()));
        // SAFETY: it runs, so it is in no list, and it suspends now.
        unsafe { self.ready.push(fiber) };
    }

    /// From here on so many may go on, or begin, before the worker looks at what else there is, and each that gives way
    /// counts for so many more.
    pub(crate) fn begin_round(&self, count: u32, haste: u32) {
        self.left.set(count);
        self.haste.set(haste);
    }

    /// Whether another may go on in this round, which then counts.
    #[inline]
    pub(crate) fn count_one(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// The fiber that goes on next.
    #[inline]
    pub(crate) fn take_ready(&self) -> Option<*const Fiber> {
        if !self.next.get().is_null() && (self.chain.get() < MAX_CHAIN || self.ready.is_empty()) {
            self.chain.set(self.chain.get() + 1);
            return Some(self.next.replace(ptr::null()));
        }
        self.chain.set(0);
        self.ready.pop()
    }

    /// Takes one fiber out of what can go on. Whether it was there.
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

    /// The list behind the next one, for what comes from the inbox.
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

    /// When the first timer is due.
    pub(crate) fn next_deadline(&self) -> u64 {
        self.timers.borrow().next_deadline().unwrap_or(NEVER)
    }

    /// When the last timer is due of those that are within so many nanoseconds of the first.
    pub(crate) fn last_deadline_within(&self, slack: u64) -> u64 {
        self.timers.borrow().last_deadline_within(slack).unwrap_or(NEVER)
    }

    pub(crate) fn pop_timer(&self, now: u64) -> Option<*const Fiber> {
        self.timers.borrow_mut().pop_due(now)
    }

    // ---- memory for what is spawned ----

    /// The store of this worker, or null.
    #[inline]
    pub(crate) fn store(&self) -> *const Store {
        self.store.get()
    }

    /// The store of this worker.
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

    /// A block with a stack and nothing to do.
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
                // Where the system refuses it, an overflow ends the process all the same, without a word.
                let _ = overflow::ensure_alternate_stack();
                pool
            }
        };
        let stack = stacks.take()?;
        let fiber = self.bare.borrow_mut().pop().unwrap_or_else(|| blocks.add(home));
        // SAFETY: without a stack, and in a box.
        unsafe { (*fiber).equip(stack) };
        Ok(fiber)
    }

    /// Keeps a block that has nothing to do; above a limit its stack is given back.
    pub(crate) fn keep_idle(&self, fiber: *const Fiber) {
        let mut idle = self.idle.borrow_mut();
        idle.push(fiber);
        if idle.len() > MAX_IDLE {
            self.strip(fiber);
            idle.pop();
        }
    }

    fn strip(&self, fiber: *const Fiber) {
        // SAFETY: blocks live as long as the worker.
        if let Some(stack) = unsafe { (*fiber).strip() }
            && let Some(stacks) = &mut *self.stacks.borrow_mut()
        {
            stacks.give_back(stack);
        }
        self.bare.borrow_mut().push(fiber);
    }

    /// Gives back all stacks. No fiber is live.
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
            // SAFETY: nobody holds the seat any more, and it is never held again.
            unsafe { Store::leave(store) };
        }
    }
}
