//! The stacks of a worker's fibers on Windows, from corosensei.
//!
//! Windows grows stacks itself. When a guard page is touched, it moves the guard down, and it stores the end of the
//! stack in each thread's environment block. So a switch must exchange these fields, which corosensei does, and the
//! memory of a stack comes from that crate. Guards work for frames of any size, because all code for Windows, C code
//! included, touches each page of its frame in order (`__chkstk`). The standard library reports an overflow, as an
//! overflow of the thread that runs the fiber.
//!
//! The pool keeps a limited number of free stacks, and returns the rest to the system. If a pool is dropped while one
//! of its stacks is in use, the process ends, as on other systems.

pub use crate::fiber::stack::error::StackError;

pub(crate) use crate::fiber::stack::config::StackConfig;

use crate::{fiber::stack::overflow::Guarded, sys::diagnostics};
use corosensei::stack::{DefaultStack, Stack, StackPointer, StackTebFields};
use std::sync::atomic::{AtomicU64, Ordering};

/// A stack of a [`StackPool`]. The holder must give it back: a stack that is dropped still counts as out.
#[must_use = "a stack that is not given back ends the process when its pool is dropped"]
pub(crate) struct FiberStack {
    stack: DefaultStack,
    /// The number of the pool that owns the stack.
    pool: u64,
}

impl FiberStack {
    /// Returns the overflow handler's record, which is empty on Windows.
    pub(crate) fn guarded(&self, _: Option<&str>) -> Guarded {
        Guarded
    }
}

// SAFETY: every method returns the value of corosensei's own stack, which upholds the requirements.
unsafe impl Stack for FiberStack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.stack.base()
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }

    #[inline]
    fn teb_fields(&self) -> StackTebFields {
        self.stack.teb_fields()
    }

    #[inline]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

/// The stacks of one worker. See the [module](self).
pub(crate) struct StackPool {
    config: StackConfig,
    number: u64,
    /// The newest is the last.
    free: Vec<FiberStack>,
    out: usize,
}

impl StackPool {
    /// Creates a pool that has no stack yet.
    ///
    /// # Errors
    /// Fails when a stack of this size does not fit into the address space.
    pub(crate) fn new(config: StackConfig) -> Result<Self, StackError> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        // This leaves room for the pages that corosensei adds.
        if config.stack_size > isize::MAX as usize / 2 {
            return Err(StackError::TooLarge(config.stack_size));
        }
        Ok(Self { config, number: NUMBERS.fetch_add(1, Ordering::Relaxed), free: Vec::new(), out: 0 })
    }

    /// Returns the stack that was given back last, or else a new one.
    ///
    /// # Errors
    /// Fails when no stack is free and the system has no memory for another.
    pub(crate) fn take(&mut self) -> Result<FiberStack, StackError> {
        let bytes = self.config.stack_size;
        let stack = match self.free.pop() {
            Some(stack) => stack,
            None => {
                let stack = DefaultStack::new(bytes).map_err(|source| StackError::Map { bytes, source })?;
                FiberStack { stack, pool: self.number }
            }
        };
        self.out += 1;
        Ok(stack)
    }

    /// Does nothing: few free stacks are kept.
    pub(crate) fn trim(&mut self) {}

    /// Takes a stack back.
    ///
    /// # Panics
    /// Panics when the stack belongs to another pool.
    pub(crate) fn give_back(&mut self, stack: FiberStack) {
        assert_eq!(stack.pool, self.number, "a stack goes back to the pool that it is of");
        self.out -= 1;
        if self.free.len() < self.config.warm + self.config.cool {
            self.free.push(stack);
        }
    }
}

impl Drop for StackPool {
    fn drop(&mut self) {
        if self.out > 0 {
            // A fiber may run on these stacks, or another thread may have pointers into them.
            diagnostics::abort(format_args!("a worker ends while {} of its fibers have not; aborting", self.out));
        }
    }
}
