//! The queue of a worker's ready fibers, in the order in which they run. Only the worker's thread accesses it.
//!
//! A fiber whose timer is due precedes the fibers that were woken before, so that its lateness does not depend on their
//! number. Fibers with due timers take turns with the others, so fibers that sleep for short times again and again do
//! not keep the others waiting.

use crate::{
    fiber::ready::{Linked, List},
    sys::moment::Moment,
};
use std::{cell::Cell, ptr};

/// The number of times in a row that a fiber that was just woken precedes those that have waited longer.
const MAX_CHAIN: u32 = 3;

/// The most fibers that resume in a round, before a new one begins. The fibers that resume may wait for the new one by
/// yielding. Under shuttle such numbers are small, so that rare events happen there too.
pub(super) const ROUND: u32 = if cfg!(shuttle) { 4 } else { 16 };

/// See the [module](self).
pub(crate) struct ReadyQueue<F> {
    /// The fiber that a fiber of this worker has woken last. It runs as soon as its waker waits, while the data from
    /// the waker are still in the caches.
    next: Cell<*const F>,
    chain: Cell<u32>,
    rest: List<F>,
    /// The fibers whose timers are due.
    due: List<F>,
    /// Whether the last fiber was one of those, so that it is the turn of the others.
    was_due: Cell<bool>,
    /// The number of fibers that may still run in this round without a look at the time. Zero while there are timers,
    /// or fibers whose timers are due.
    left: Cell<u32>,
    /// The number of fibers that may still run in this round while there are timers.
    left_timed: Cell<u32>,
    /// When the worker last looked at the clock. `None` while it has no timers.
    looked_at: Cell<Option<Moment>>,
}

impl<F: Linked> ReadyQueue<F> {
    pub(crate) const fn new() -> Self {
        Self {
            next: Cell::new(ptr::null()),
            chain: Cell::new(0),
            rest: List::new(),
            due: List::new(),
            was_due: Cell::new(false),
            left: Cell::new(0),
            left_timed: Cell::new(0),
            looked_at: Cell::new(None),
        }
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

    /// Calls `wake` to wake fibers of this worker, and keeps them as those whose timers are due.
    pub(crate) fn push_due(&self, wake: impl FnOnce()) {
        if self.due.is_empty() {
            self.was_due.set(false);
        }
        let (next, rest) = (self.next.replace(ptr::null()), self.rest.take());
        wake();
        let first = self.next.replace(next);
        if !first.is_null() {
            // SAFETY: `wake` has added the fiber, so it is suspended and in no list from here on.
            unsafe { self.due.push(first) };
        }
        self.due.append(&self.rest);
        self.rest.append(&rest);
    }

    /// Takes a fiber whose timer is due, unless it is the turn of the others.
    #[cold]
    pub(crate) fn pop_due(&self) -> Option<*const F> {
        let has_others = !self.next.get().is_null() || !self.rest.is_empty();
        self.was_due.set(!(self.was_due.get() && has_others));
        if self.was_due.get() { self.due.pop() } else { None }
    }

    /// Records that the worker looks at the clock now, or has no timers.
    pub(crate) fn note_look(&self, has_timers: bool) {
        let is_timed = has_timers || !self.due.is_empty();
        self.looked_at.set(is_timed.then(Moment::now));
        self.replace_left(self.left.get() + self.left_timed.get());
    }

    /// Records that the worker has a timer.
    pub(crate) fn note_timer(&self) {
        if self.looked_at.get().is_none() {
            self.note_look(true);
        }
    }

    /// Returns whether the worker has timers.
    #[inline]
    pub(crate) fn has_timers(&self) -> bool {
        self.looked_at.get().is_some()
    }

    /// Returns whether the worker has timers and should look at the clock before it resumes another fiber.
    #[inline]
    pub(crate) fn needs_look(&self) -> bool {
        self.looked_at.get().is_some_and(Moment::is_long_ago)
    }

    /// Begins a round, after which the worker looks for other work, and at the clock.
    pub(crate) fn begin_round(&self) {
        self.replace_left(ROUND);
    }

    /// Changes how many fibers may still run in this round. Returns how many might have run.
    pub(crate) fn replace_left(&self, count: u32) -> u32 {
        let before = self.left.get() + self.left_timed.get();
        let (left, left_timed) = if self.has_timers() { (0, count) } else { (count, 0) };
        self.left.set(left);
        self.left_timed.set(left_timed);
        before
    }

    /// Counts a fiber of this round. Returns whether the fiber may run in it. A round also ends if it takes long while
    /// there are timers.
    #[inline]
    pub(crate) fn count_one(&self) -> bool {
        let left = self.left.get();
        if left == 0 {
            return self.left_timed.get() > 0 && self.count_one_timed();
        }
        self.left.set(left - 1);
        true
    }

    #[cold]
    #[inline(never)]
    fn count_one_timed(&self) -> bool {
        self.left_timed.set(self.left_timed.get() - 1);
        !self.needs_look()
    }

    /// Counts a fiber of this round, and takes it. Returns `None` if there is none, or if the round is over.
    #[inline]
    pub(crate) fn take_next(&self) -> Option<*const F> {
        let left = self.left.get();
        if left == 0 {
            return if self.left_timed.get() > 0 { self.take_next_timed() } else { None };
        }
        self.left.set(left - 1);
        debug_assert!(self.due.is_empty(), "fibers are due only while `left` is zero");
        self.pop_other()
    }

    #[cold]
    #[inline(never)]
    fn take_next_timed(&self) -> Option<*const F> {
        if self.count_one_timed() { self.pop() } else { None }
    }

    /// Takes the next ready fiber.
    pub(crate) fn pop(&self) -> Option<*const F> {
        if !self.due.is_empty()
            && let Some(fiber) = self.pop_due()
        {
            return Some(fiber);
        }
        self.pop_other()
    }

    /// Takes the next ready fiber, apart from those whose timers are due.
    #[inline]
    fn pop_other(&self) -> Option<*const F> {
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
        self.rest.remove(fiber) || self.due.remove(fiber)
    }

    /// Returns whether no fiber is ready.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.next.get().is_null() && self.rest.is_empty() && self.due.is_empty()
    }

    /// Returns the list behind the next fiber, for the fibers from the inbox.
    pub(crate) fn rest(&self) -> &List<F> {
        &self.rest
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::sys::sync::Cell as Link;
    use std::{thread, time::Duration};

    struct Item(u32, Link<*const Item>);

    impl Linked for Item {
        fn next(&self) -> &Link<*const Self> {
            &self.1
        }
    }

    fn items() -> Vec<Item> {
        (0..100).map(|number| Item(number, Link::new(ptr::null()))).collect()
    }

    /// Takes so many items, and returns their numbers.
    fn take(queue: &ReadyQueue<Item>, count: usize) -> Vec<u32> {
        // SAFETY: the tests keep the items alive.
        std::iter::from_fn(|| queue.pop().map(|item| unsafe { (*item).0 })).take(count).collect()
    }

    /// Wakes these items, `due` or not.
    fn wake(queue: &ReadyQueue<Item>, items: &[Item], due: bool) {
        // SAFETY: the items are in no list, and outlive the queue.
        let push = || items.iter().for_each(|item| unsafe { queue.push(item) });
        if due { queue.push_due(push) } else { push() }
    }

    #[test]
    fn due_fibers_take_turns_with_others() {
        let items = items();
        let queue = ReadyQueue::new();
        wake(&queue, &items[..20], false);
        wake(&queue, &items[50..53], true);
        assert_eq!(take(&queue, 3), [50, 0, 51]);
        wake(&queue, &items[60..61], true);
        assert_eq!(take(&queue, 6), [1, 52, 2, 60, 3, 4]);
        // The others have had their turn.
        wake(&queue, &items[70..71], true);
        assert_eq!(take(&queue, 2), [70, 5]);
    }

    #[test]
    fn due_fibers_without_others_are_all_ready() {
        let items = items();
        let queue = ReadyQueue::new();
        wake(&queue, &items[..3], true);
        assert!(!queue.is_empty());
        assert_eq!(take(&queue, 9), [0, 1, 2]);
        assert!(queue.is_empty());
    }

    #[test]
    fn due_fiber_can_be_removed() {
        let items = items();
        let queue = ReadyQueue::new();
        wake(&queue, &items[..1], false);
        wake(&queue, &items[1..3], true);
        assert!(queue.remove(&items[1]) && !queue.remove(&items[1]));
        assert_eq!(take(&queue, 9), [2, 0]);
    }

    #[test]
    fn long_fiber_ends_its_round_while_there_are_timers() {
        let queue = ReadyQueue::<Item>::new();
        let long_run = || {
            queue.begin_round();
            assert!(queue.count_one());
            thread::sleep(Duration::from_millis(2));
            queue.count_one()
        };
        assert!(long_run());
        queue.note_timer();
        assert!(!long_run());
        queue.note_look(true);
        assert!(queue.count_one());
        queue.note_look(false);
        assert!(long_run());
    }
}
