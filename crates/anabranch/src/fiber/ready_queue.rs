//! The queue of a worker's ready fibers, in the order in which they run. Only the worker's thread accesses it.

use crate::fiber::ready::{Linked, List};
use std::{cell::Cell, ptr};

/// The number of times in a row that a fiber that was just woken precedes those that have waited longer.
const MAX_CHAIN: u32 = 3;

/// See the [module](self).
pub(crate) struct ReadyQueue<F> {
    /// The fiber that a fiber of this worker has woken last. It runs as soon as its waker waits, while the data from
    /// the waker are still in the caches.
    next: Cell<*const F>,
    chain: Cell<u32>,
    rest: List<F>,
    /// The number of fibers that may still run in this round.
    left: Cell<u32>,
}

impl<F: Linked> ReadyQueue<F> {
    pub(crate) const fn new() -> Self {
        Self { next: Cell::new(ptr::null()), chain: Cell::new(0), rest: List::new(), left: Cell::new(0) }
    }

    /// Adds a fiber that was woken on its own worker.
    ///
    /// # Safety
    /// The fiber is suspended, or about to be, and in no list.
    #[inline]
    pub(crate) unsafe fn push(&self, fiber: *const F) {
        // SAFETY: the caller guarantees that the fiber is suspended, or about to be, and in no list. It continues only
        // after it is taken from here, so it is alive until then.
        unsafe {
            if self.next.get().is_null() {
                (*fiber).fetch();
                self.next.set(fiber);
            } else {
                // Behind several others, the fiber is prefetched when it has become the first.
                if !self.rest.has_two() {
                    (*fiber).fetch();
                }
                self.rest.push(fiber);
            }
        }
    }

    /// Puts a fiber behind all ready fibers.
    #[inline]
    pub(crate) fn push_last(&self, fiber: &F) {
        // SAFETY: the fiber runs, so it is alive and in no list, and it suspends now.
        unsafe { self.rest.push(fiber) };
    }

    /// Begins a round: `count` fibers may run before the worker looks for other work. Returns how many more might have
    /// run in the round before.
    pub(crate) fn begin_round(&self, count: u32) -> u32 {
        self.left.replace(count)
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
    pub(crate) fn pop(&self) -> Option<*const F> {
        if !self.next.get().is_null() && (self.chain.get() < MAX_CHAIN || self.rest.is_empty()) {
            self.chain.set(self.chain.get() + 1);
            return Some(self.next.replace(ptr::null()));
        }
        self.chain.set(0);
        self.rest.pop()
    }

    /// Removes a fiber from the ready ones. Returns whether it was there.
    pub(crate) fn remove(&self, fiber: &F) -> bool {
        if ptr::eq(self.next.get(), fiber) {
            self.next.set(ptr::null());
            return true;
        }
        self.rest.remove(fiber)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.next.get().is_null() && self.rest.is_empty()
    }

    /// Returns the list behind the next fiber, for the fibers from the inbox.
    pub(crate) fn rest(&self) -> &List<F> {
        &self.rest
    }
}
