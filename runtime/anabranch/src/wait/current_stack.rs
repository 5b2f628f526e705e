//! The stack that the calling thread is on, and whether it may leave that stack.
//!
//! A [`Cx`](crate::cx::Cx) is not `Send`, which ties it to a thread. A thread runs many fibers, and safe code can carry
//! a `Cx` from one to another: in a wrapper that checks the thread at run time (`send_wrapper`), or in a scoped
//! thread-local. A wait by such a `Cx` would save the stack pointer of one fiber as that of the other. So each thread
//! keeps one word that identifies its current stack. Each wait compares it with the stack of its `Cx` before anything
//! refers to the wait.
//!
//! | word                | the thread is                                       | what may wait                                  |
//! |---------------------|-----------------------------------------------------|------------------------------------------------|
//! | null                | on its own stack                                    | a `run` that began there                       |
//! | address of a fiber  | on that fiber's stack                               | the fiber, which leaves the stack; a `run` that began there |
//! | either, with PINNED | the same, and the stack must not be left            | the same; the fiber blocks the thread          |
//! | address of a mark   | in code that is called in the middle of a wait      | a `run` that began there                       |
//!
//! A stack is pinned while a thread runs work on top of a compute wait, and while it is inside another pool. A mark is
//! a variable on the stack itself, so each has an address of its own. So what runs on top of a wait, such as a
//! broadcast or the waker of a future, cannot wait by a `Cx` that waits already.
//!
//! A function does not change its stack while it runs. So one check holds until the function that made it returns.
//!
//! A yield takes 99 instructions; before this check and the one for compute work it took 89 (`count_fibers`).

use crate::sys::thread::thread_local;
use std::{cell::Cell, ptr};

/// The lowest bit of an address: the stack must not be left.
const PINNED: usize = 1;
/// The second bit of an address: it is that of a mark.
const MARK: usize = 2;

thread_local! {
    static CURRENT: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// A value of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stack(*const ());

impl Stack {
    /// The thread's own stack.
    pub(crate) const THREAD: Self = Self(ptr::null());

    /// Returns the stack of the fiber at this address.
    #[inline]
    pub(crate) fn of(fiber: *const ()) -> Self {
        debug_assert!(fiber.addr() & PINNED == 0);
        Self(fiber)
    }

    #[inline(always)]
    pub(crate) fn current() -> Self {
        Self(CURRENT.get())
    }

    /// Sets the word: the thread is about to change to this stack.
    #[inline]
    pub(crate) fn make_current(self) {
        CURRENT.set(self.0);
    }

    /// Returns the raw word: the address of the fiber, if this is a fiber's stack and not pinned.
    #[inline]
    pub(crate) fn address(self) -> *const () {
        self.0
    }

    /// Returns the address of the fiber whose stack this is, pinned or not.
    pub(crate) fn fiber(self) -> Option<*const ()> {
        let address = self.0.map_addr(|address| address & !PINNED);
        (!address.is_null() && address.addr() & MARK == 0).then_some(address)
    }

    /// Returns whether both are one stack, pinned or not.
    pub(crate) fn is_same_as(self, other: Self) -> bool {
        self.0.addr() & !PINNED == other.0.addr() & !PINNED
    }
}

/// Restores the previous word when dropped.
struct Restore(Stack);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        self.0.make_current();
    }
}

/// Pins the current stack until this is dropped.
pub(crate) struct Pinned {
    _before: Restore,
}

impl Pinned {
    #[inline]
    pub(crate) fn new() -> Self {
        let before = Stack::current();
        CURRENT.set(before.0.map_addr(|address| address | PINNED));
        Self { _before: Restore(before) }
    }
}

/// Runs code in the middle of a wait, or of another step that must not be interrupted by one. No fiber or thread below
/// on the stack may wait meanwhile.
#[inline]
pub(crate) fn apart<R>(code: impl FnOnce() -> R) -> R {
    // Loom's threads share the thread-locals of one thread, and have no stacks of their own.
    if cfg!(loom) {
        return code();
    }
    let mark = 0usize;
    let _before = Restore(Stack::current());
    CURRENT.set((&raw const mark).cast::<()>().map_addr(|address| address | MARK));
    code()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn pinned_stack_stays_same_stack() {
        let fiber = 0usize;
        let stack = Stack::of((&raw const fiber).cast());
        stack.make_current();
        {
            let _outer = Pinned::new();
            let _inner = Pinned::new();
            assert!(Stack::current() != stack && Stack::current().is_same_as(stack));
            assert_eq!(Stack::current().fiber(), Some(stack.address()));
        }
        assert_eq!(Stack::current(), stack);
        Stack::THREAD.make_current();
    }

    #[test]
    fn callback_of_interrupted_wait_counts_as_own_stack() {
        apart(|| {
            let first = Stack::current();
            assert!(!first.is_same_as(Stack::THREAD) && first.fiber().is_none());
            let _pinned = Pinned::new();
            apart(|| assert!(!Stack::current().is_same_as(first) && !Stack::current().is_same_as(Stack::THREAD)));
            assert!(Stack::current().is_same_as(first));
        });
        assert_eq!(Stack::current(), Stack::THREAD);
        let unwound = std::panic::catch_unwind(|| apart(|| std::panic::resume_unwind(Box::new(()))));
        assert!(unwound.is_err() && Stack::current() == Stack::THREAD);
    }
}
