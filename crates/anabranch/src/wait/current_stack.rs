//! Whose stack the calling thread is on, and whether that stack may be left.
//!
//! A [`Cx`](crate::cx::Cx) is not `Send`, which ties it to a thread. A thread runs many fibers, and safe code can carry
//! a `Cx` from one to another: in a wrapper that checks the thread at run time (`send_wrapper`), or in a scoped
//! thread-local. A wait by such a `Cx` would save the stack pointer of one fiber as that of the other. So each thread
//! keeps one word that says on whose stack it is, and whoever waits compares it with its own before anything refers to
//! the wait.
//!
//! | word                | the thread is                                       | who may wait                                   |
//! |---------------------|-----------------------------------------------------|------------------------------------------------|
//! | null                | on its own stack                                    | a `run` that began there                       |
//! | address of a fiber  | on that fiber's stack                               | the fiber, which leaves the stack; a `run` that began there |
//! | either, with PINNED | the same, and the stack must not be left            | the same; the fiber blocks the thread          |
//! | address of a mark   | in code that is called in the middle of a wait      | a `run` that began there                       |
//!
//! A stack is pinned while a thread runs work on top of a compute wait, and while it is inside another pool. A mark
//! lies on the stack itself, so each has an address of its own: a strand that waits already is not used by what runs on
//! top of its wait, a broadcast or the waker of a future.
//!
//! A function does not change its stack while it runs. So one look holds until the function that looked returns.
//!
//! A yield takes 99 instructions; before this check and the one for compute work it took 89 (`count_fibers`).

use crate::sys::thread::thread_local;
use std::{cell::Cell, ptr};

/// The lowest bit of an address: the stack must not be left.
const PINNED: usize = 1;
/// The second: it is that of a mark.
const MARK: usize = 2;

thread_local! {
    static CURRENT: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// A value of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stack(*const ());

impl Stack {
    /// The thread's own.
    pub(crate) const THREAD: Self = Self(ptr::null());

    /// That of the fiber at this address.
    #[inline]
    pub(crate) fn of(fiber: *const ()) -> Self {
        debug_assert!(fiber.addr() & PINNED == 0);
        Self(fiber)
    }

    #[inline(always)]
    pub(crate) fn current() -> Self {
        Self(CURRENT.get())
    }

    /// The thread is about to change to this stack.
    #[inline]
    pub(crate) fn make_current(self) {
        CURRENT.set(self.0);
    }

    /// As it was made: the address of the fiber, if it is a fiber's and not pinned.
    #[inline]
    pub(crate) fn address(self) -> *const () {
        self.0
    }

    /// The address of the fiber whose stack it is, pinned or not.
    pub(crate) fn fiber(self) -> Option<*const ()> {
        let address = self.0.map_addr(|address| address & !PINNED);
        (!address.is_null() && address.addr() & MARK == 0).then_some(address)
    }

    /// Whether they are one stack, pinned or not.
    pub(crate) fn is_same_as(self, other: Self) -> bool {
        self.0.addr() & !PINNED == other.0.addr() & !PINNED
    }
}

/// Puts back the word that was there before.
struct Restore(Stack);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        self.0.make_current();
    }
}

/// The current stack must not be left before this ends.
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

/// Runs code in the middle of a wait, or of another step that must not be interrupted by one: no strand below may wait
/// meanwhile.
#[inline]
pub(crate) fn apart<R>(code: impl FnOnce() -> R) -> R {
    // Loom's threads share the thread-locals of one thread, and its strands have no stacks of their own.
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
    fn a_pinned_stack_is_the_same_stack() {
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
    fn each_wait_that_is_interrupted_is_apart_from_all_others() {
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
