//! The stacks of a worker's fibers: the idle blocks that have a stack, and the blocks that have none.

use crate::{
    fiber::{
        fiber::Fiber,
        stack::{
            overflow,
            pool::{StackConfig, StackError, StackPool},
        },
    },
    pool::worker::Worker,
    sys::{clock::Instant, slice},
};
use std::time::Duration;

/// The number of idle stacks that a worker keeps ready, with the memory that they have touched.
const MAX_IDLE: usize = if cfg!(shuttle) { 1 } else { 256 };

/// The number of idle stacks, and of blocks without a stack, that a worker keeps when it gives memory back.
const FLOOR: usize = if cfg!(shuttle) { 1 } else { 32 };

/// How long after a burst of fibers a worker that rests gives back the memory that the burst took.
const TRIM_AFTER: Duration = Duration::from_millis(500);

/// Only the thread that holds the worker entry calls these functions, on its own stack.
impl Worker {
    /// Returns a block with a stack and no function to run.
    pub(super) fn take_idle_fiber(&self, config: impl FnOnce() -> StackConfig) -> Result<*const Fiber, StackError> {
        let local = &self.fibers.local;
        if let Some(fiber) = local.idle.borrow_mut().pop() {
            return Ok(fiber);
        }
        let mut stacks = local.stacks.borrow_mut();
        let stacks = match &mut *stacks {
            Some(stacks) => stacks,
            none => {
                let pool = none.insert(StackPool::new(config())?);
                // If the system refuses it, an overflow still ends the process, without a message.
                let _ = overflow::ensure_alternate_stack();
                if self.is_own {
                    slice::shorten();
                }
                pool
            }
        };
        // Another burst may need the memory of the last one.
        local.trim_at.set(None);
        let stack = stacks.take()?;
        let fiber = local.bare.borrow_mut().pop().unwrap_or_else(|| self.fibers.blocks.add(self));
        // SAFETY: the block is new or from `bare`, so it has no stack. It is in a box, so it does not move. The worker
        // strips its blocks before it frees them, and before its thread ends: this ends the context.
        unsafe {
            let serve = move |exit: &_| (*fiber).home().serve_fibers(&*fiber, exit);
            (*fiber).equip(stack, serve);
        }
        Ok(fiber)
    }

    /// Keeps a block that has no function to run. If too many are kept, returns its stack to the pool.
    pub(super) fn keep_idle_fiber(&self, fiber: *const Fiber) {
        let mut idle = self.fibers.local.idle.borrow_mut();
        idle.push(fiber);
        if idle.len() > MAX_IDLE {
            self.strip_fiber(fiber);
            idle.pop();
            self.fibers.local.has_surplus.set(true);
        }
    }

    /// Gives back the memory that a burst of fibers took, if that was some time ago: stacks, their page tables, and
    /// blocks.
    pub(crate) fn trim_fibers(&self) {
        let local = &self.fibers.local;
        if !local.has_surplus.get() {
            return;
        }
        let now = Instant::now();
        let Some(at) = local.trim_at.get() else { return local.trim_at.set(Some(now + TRIM_AFTER)) };
        if now < at {
            return;
        }
        local.trim_at.set(None);
        local.has_surplus.set(false);
        let surplus = local.idle.borrow().len().saturating_sub(FLOOR);
        // The oldest: the newest are in the caches.
        let stripped: Vec<_> = local.idle.borrow_mut().drain(..surplus).collect();
        stripped.into_iter().for_each(|fiber| self.strip_fiber(fiber));
        local.idle.borrow_mut().shrink_to_fit();
        if let Some(stacks) = &mut *local.stacks.borrow_mut() {
            stacks.trim();
        }
        let mut bare = local.bare.borrow_mut();
        let kept = bare.len().saturating_sub(FLOOR);
        // SAFETY: blocks in `bare` are in the list of the worker, so they are alive.
        let (mut unused, busy): (Vec<_>, Vec<_>) =
            bare.drain(..kept).partition(|fiber| unsafe { (**fiber).is_unused() });
        bare.extend(busy);
        bare.shrink_to_fit();
        unused.sort_unstable();
        // SAFETY: the blocks were in `bare`, so no fiber has them, and no other list of this worker. No thread accesses
        // a fiber that has ended, except by a kick that is marked, which these are not.
        unsafe { self.fibers.blocks.free(&unused) };
    }

    /// Returns how long the thread may rest before it [gives memory back](Self::trim_fibers).
    pub(crate) fn time_to_trim(&self) -> Option<Duration> {
        let (at, now) = (self.fibers.local.trim_at.get()?, Instant::now());
        Some(if now < at { at - now } else { Duration::ZERO })
    }

    fn strip_fiber(&self, fiber: *const Fiber) {
        let local = &self.fibers.local;
        // SAFETY: the block is one of this worker, which frees only blocks in `bare`.
        if let Some(stack) = unsafe { (*fiber).strip() }
            && let Some(stacks) = &mut *local.stacks.borrow_mut()
        {
            stacks.give_back(stack);
        }
        local.bare.borrow_mut().push(fiber);
    }

    /// Returns all stacks to the pool. Called when no fiber is live.
    pub(super) fn strip_all_fibers(&self) {
        let local = &self.fibers.local;
        loop {
            let Some(fiber) = local.idle.borrow_mut().pop() else { break };
            self.strip_fiber(fiber);
        }
        local.stacks.borrow_mut().take();
    }
}
