//! The stacks of a worker's fibers: the idle blocks that have a stack, and the blocks that have none.

use crate::{
    fiber::{
        fiber::Fiber,
        fibers::{Blocks, IdleStacks, Scheduler},
        stack::{
            overflow,
            pool::{StackConfig, StackError, StackPool},
        },
    },
    sys::{clock::Instant, slice},
};
use std::time::Duration;

/// The number of idle stacks that a worker keeps ready, with the memory that they have touched.
const MAX_IDLE: usize = if cfg!(shuttle) { 1 } else { 256 };

/// The number of idle stacks, and of blocks without a stack, that a worker keeps when it gives memory back.
const MIN_KEPT: usize = if cfg!(shuttle) { 1 } else { 32 };

/// How long after a burst of fibers a worker that rests gives back the memory that the burst took.
const TRIM_AFTER: Duration = Duration::from_millis(500);

impl Scheduler<'_> {
    /// Returns a block with a stack and no function to run.
    pub(super) fn take_idle(self, config: impl FnOnce() -> StackConfig) -> Result<*const Fiber, StackError> {
        let (fibers, idle) = (&self.worker.fibers, &self.worker.fibers.local.idle);
        if let Some(fiber) = idle.idle.borrow_mut().pop() {
            return Ok(fiber);
        }
        let mut stacks = idle.stacks.borrow_mut();
        let stacks = match &mut *stacks {
            Some(stacks) => stacks,
            none => {
                let pool = none.insert(StackPool::new(config())?);
                // If the system refuses it, an overflow still ends the process, without a message.
                let _ = overflow::ensure_alternate_stack();
                if self.worker.is_own {
                    slice::shorten();
                }
                pool
            }
        };
        // Another burst may need the memory of the last one.
        idle.trim_at.set(None);
        let stack = stacks.take()?;
        let fiber = idle.stackless.borrow_mut().pop().unwrap_or_else(|| fibers.blocks.add(self.worker));
        // SAFETY: the block is new or from `stackless`, so it has no stack. It is in a box, so it does not move. The
        // worker strips its blocks before it frees them, and before its thread ends: this ends the context.
        unsafe {
            let serve = move |exit: &_| (*fiber).home().scheduler().serve_fibers(&*fiber, exit);
            (*fiber).equip(stack, serve);
        }
        Ok(fiber)
    }
}

/// Only the worker's thread calls these functions.
impl IdleStacks {
    /// Keeps a block that has no function to run. If too many are kept, returns its stack to the pool.
    pub(super) fn keep(&self, fiber: *const Fiber) {
        let mut idle = self.idle.borrow_mut();
        idle.push(fiber);
        if idle.len() > MAX_IDLE {
            self.strip(fiber);
            idle.pop();
            self.has_surplus.set(true);
        }
    }

    /// Gives back the memory that a burst of fibers took, if that was some time ago: stacks, their page tables, and
    /// blocks, which are in the list `blocks`.
    pub(super) fn trim(&self, blocks: &Blocks) {
        if !self.has_surplus.get() {
            return;
        }
        let now = Instant::now();
        let Some(at) = self.trim_at.get() else { return self.trim_at.set(Some(now + TRIM_AFTER)) };
        if now < at {
            return;
        }
        self.trim_at.set(None);
        self.has_surplus.set(false);
        let surplus = self.idle.borrow().len().saturating_sub(MIN_KEPT);
        // The oldest: the newest are in the caches.
        let stripped: Vec<_> = self.idle.borrow_mut().drain(..surplus).collect();
        stripped.into_iter().for_each(|fiber| self.strip(fiber));
        self.idle.borrow_mut().shrink_to_fit();
        if let Some(stacks) = &mut *self.stacks.borrow_mut() {
            stacks.trim();
        }
        let mut stackless = self.stackless.borrow_mut();
        let surplus = stackless.len().saturating_sub(MIN_KEPT);
        // SAFETY: blocks in `stackless` are in the list of the worker, so they are alive.
        let (mut unused, busy): (Vec<_>, Vec<_>) =
            stackless.drain(..surplus).partition(|fiber| unsafe { (**fiber).is_unused() });
        stackless.extend(busy);
        stackless.shrink_to_fit();
        unused.sort_unstable();
        // SAFETY: the blocks were in `stackless`, so no fiber has them, and no other list of this worker. No thread
        // accesses a fiber that has ended, except by a kick that is marked, which these are not.
        unsafe { blocks.free(&unused) };
    }

    /// Returns how long the thread may rest before it [gives memory back](Self::trim).
    pub(super) fn time_to_trim(&self) -> Option<Duration> {
        let (at, now) = (self.trim_at.get()?, Instant::now());
        Some(if now < at { at - now } else { Duration::ZERO })
    }

    fn strip(&self, fiber: *const Fiber) {
        // SAFETY: the block is one of this worker, which frees only blocks in `stackless`.
        if let Some(stack) = unsafe { (*fiber).strip() }
            && let Some(stacks) = &mut *self.stacks.borrow_mut()
        {
            stacks.give_back(stack);
        }
        self.stackless.borrow_mut().push(fiber);
    }

    /// Returns all stacks to the pool. Called when no fiber is live.
    pub(super) fn strip_all(&self) {
        loop {
            let Some(fiber) = self.idle.borrow_mut().pop() else { break };
            self.strip(fiber);
        }
        self.stacks.borrow_mut().take();
    }
}
