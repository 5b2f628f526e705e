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
    sys::slice,
};

/// The number of idle stacks that a worker keeps ready, with the memory that they have touched.
const MAX_IDLE: usize = if cfg!(shuttle) { 1 } else { 256 };

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
        let stack = stacks.take()?;
        let fiber = local.bare.borrow_mut().pop().unwrap_or_else(|| self.fibers.blocks.add(self));
        // SAFETY: the block is new or from `bare`, so it has no stack. It is in a box, so it does not move. Blocks live
        // as long as their worker, which strips them before its thread ends: this ends the context.
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
        }
    }

    fn strip_fiber(&self, fiber: *const Fiber) {
        let local = &self.fibers.local;
        // SAFETY: the block is one of this worker, and blocks live as long as their worker.
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
