//! The queue of a worker's ready fibers, in the order in which they run. Only the worker's thread accesses it.
//!
//! A fiber whose timer is due precedes those that were woken before, so that its lateness does not depend on their
//! number. It joins them at the beginning of a round. In each round as many other fibers run, so fibers that sleep for
//! short times again and again do not keep the others waiting.

use crate::fiber::ready::{Linked, List};
use std::{cell::Cell, ptr};

/// The number of times in a row that a fiber that was just woken precedes those that have waited longer.
const MAX_CHAIN: u32 = 3;

/// The most fibers that resume in a round, before a new one begins. The fibers that resume may wait for the new one by
/// yielding. Under shuttle such numbers are small, so that rare events happen there too.
pub(super) const ROUND: u32 = if cfg!(shuttle) { 4 } else { 16 };

/// The length that a round should not exceed while timers run, in nanoseconds. The worker looks at the clock once in a
/// round.
const LENGTH: u64 = 250_000;

/// See the [module](self).
pub(crate) struct ReadyQueue<F> {
    /// The fiber that a fiber of this worker has woken last. It runs as soon as its waker waits, while the data from
    /// the waker are still in the caches.
    next: Cell<*const F>,
    chain: Cell<u32>,
    rest: List<F>,
    /// The fibers whose timers are due, until a round begins.
    due: List<F>,
    /// The number of fibers that may still run in this round.
    left: Cell<u32>,
    /// The number of fibers in a round while timers run.
    round: Cell<u32>,
    /// When the worker last looked at the clock in this turn; 0 before it has.
    looked_at: Cell<u64>,
}

impl<F: Linked> ReadyQueue<F> {
    pub(crate) const fn new() -> Self {
        Self {
            next: Cell::new(ptr::null()),
            chain: Cell::new(0),
            rest: List::new(),
            due: List::new(),
            left: Cell::new(0),
            round: Cell::new(1),
            looked_at: Cell::new(0),
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

    /// Lets fibers whose timers are due precede the others: as many as a round has, or all of them if there are no
    /// others. Returns how many precede others.
    pub(crate) fn admit_due(&self) -> u32 {
        if self.due.is_empty() {
            return 0;
        }
        if self.is_empty() {
            self.rest.append(&self.due);
            return 0;
        }
        let (rest, mut admitted) = (self.rest.take(), 0);
        while admitted < self.round.get()
            && let Some(fiber) = self.due.pop()
        {
            // SAFETY: the fiber was just taken from a list, so it is suspended and in no list.
            unsafe { self.rest.push(fiber) };
            admitted += 1;
        }
        self.rest.append(&rest);
        admitted
    }

    /// Begins a turn of this worker's fibers, which consists of rounds.
    pub(crate) fn begin_turn(&self) {
        self.looked_at.set(0);
    }

    /// Adapts the number of fibers in a round to the time that they take: at once if they take long, and by one if they
    /// are short, so that a few short rounds do not delay the next look for long. The worker has looked at the clock at
    /// the time `now`, between two rounds.
    pub(crate) fn adapt_round(&self, now: u64) {
        let before = self.looked_at.replace(now);
        if before != 0 {
            let count = self.round.get();
            let fitting = u64::from(count) * LENGTH / (now - before).max(1);
            self.round.set(fitting.clamp(1, u64::from(ROUND.min(count + 1))) as u32);
        }
    }

    /// Begins a round, after which the worker looks for other work, and at the clock if it `has_timers`.
    pub(crate) fn begin_round(&self, has_timers: bool) {
        let count = if has_timers { self.round.get() } else { ROUND };
        self.left.set(count + self.admit_due());
    }

    /// Changes how many fibers may still run in this round. Returns how many might have run.
    pub(crate) fn replace_left(&self, count: u32) -> u32 {
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
        self.rest.remove(fiber) || self.due.remove(fiber)
    }

    /// Returns whether no fiber is ready, apart from those whose timers are due.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.next.get().is_null() && self.rest.is_empty()
    }

    /// Returns whether there are fibers whose timers are due and that have not joined the others.
    pub(crate) fn has_due(&self) -> bool {
        !self.due.is_empty()
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

    struct Item(u32, Link<*const Item>);

    impl Linked for Item {
        fn next(&self) -> &Link<*const Self> {
            &self.1
        }
    }

    fn items() -> Vec<Item> {
        (0..100).map(|number| Item(number, Link::new(ptr::null()))).collect()
    }

    /// Runs a round, and returns the numbers of the items that it has run.
    fn round(queue: &ReadyQueue<Item>) -> Vec<u32> {
        queue.begin_round(true);
        // SAFETY: the tests keep the items alive.
        std::iter::from_fn(|| queue.count_one().then(|| queue.pop().map(|item| unsafe { (*item).0 })).flatten())
            .collect()
    }

    /// Wakes these items, `due` or not.
    fn wake(queue: &ReadyQueue<Item>, items: &[Item], due: bool) {
        // SAFETY: the items are in no list, and outlive the queue.
        let push = || items.iter().for_each(|item| unsafe { queue.push(item) });
        if due { queue.push_due(push) } else { push() }
    }

    #[test]
    fn due_fibers_precede_others_and_take_at_most_half_of_a_round() {
        let items = items();
        let queue = ReadyQueue::new();
        queue.adapt_round(1);
        (0..3).for_each(|look| queue.adapt_round(2 + look));
        wake(&queue, &items[..20], false);
        // The first of these has just been woken, so it precedes.
        wake(&queue, &items[50..60], true);
        assert_eq!(round(&queue), [0, 50, 51, 52, 53, 1, 2, 3]);
        assert!(queue.has_due());
        wake(&queue, &items[60..61], true);
        assert_eq!(round(&queue), [54, 55, 56, 57, 4, 5, 6, 7]);
        assert_eq!(round(&queue), [58, 59, 60, 8, 9, 10, 11]);
        assert!(!queue.has_due());
        assert_eq!(round(&queue), [12, 13, 14, 15]);
    }

    #[test]
    fn due_fibers_without_others_are_all_ready() {
        let items = items();
        let queue = ReadyQueue::new();
        wake(&queue, &items[..3], true);
        assert!(queue.is_empty() && queue.has_due());
        assert_eq!(round(&queue), [0]);
        assert!(!queue.has_due());
        assert_eq!((round(&queue), round(&queue), round(&queue)), (vec![1], vec![2], vec![]));
    }

    #[test]
    fn due_fiber_can_be_removed() {
        let items = items();
        let queue = ReadyQueue::new();
        wake(&queue, &items[..1], false);
        wake(&queue, &items[1..3], true);
        assert!(queue.remove(&items[1]) && !queue.remove(&items[1]));
        assert_eq!((round(&queue), round(&queue)), (vec![0, 2], vec![]));
    }

    #[test]
    fn long_fibers_shorten_rounds_at_once_and_short_ones_lengthen_them_by_one() {
        let queue = ReadyQueue::<Item>::new();
        queue.begin_turn();
        let mut now = 1;
        queue.adapt_round(now);
        for count in 2..=ROUND {
            now += 1000;
            queue.adapt_round(now);
            assert_eq!(queue.round.get(), count);
        }
        now += 1000;
        queue.adapt_round(now);
        assert_eq!(queue.round.get(), ROUND);
        now += 2 * LENGTH;
        queue.adapt_round(now);
        assert_eq!(queue.round.get(), ROUND / 2);
        now += 100 * LENGTH;
        queue.adapt_round(now);
        assert_eq!(queue.round.get(), 1);
        // The time between two turns does not count.
        queue.begin_turn();
        now += 100 * LENGTH;
        queue.adapt_round(now);
        queue.adapt_round(now + 1);
        assert_eq!(queue.round.get(), 2);
    }
}
