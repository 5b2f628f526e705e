//! The indices of the threads that work in a pool: at most one thread has an index at a time.
//!
//! A pool of T threads has T indices, but more threads than that may work in it: guests, and spare threads while other
//! threads are blocked. So a thread takes an index when it first asks for one, and gives it back when its work has
//! ended. A thread that finds no free index, or not the index that it must have, queues a *ticket* and waits. The
//! thread that gives an index back serves the queue, in order. So a thread that gives its index back and wants it again
//! at once comes last.
//!
//! | an index is | left by                                                                 |
//! |-------------|-------------------------------------------------------------------------|
//! | free        | a thread takes it with a swap, for itself or for a ticket -> taken         |
//! | taken       | its holder gives it back with a swap -> free, and then serves the queue    |
//!
//! | a ticket is | left by                                                                 |
//! |-------------|-------------------------------------------------------------------------|
//! | queued      | a thread that serves the queue has taken an index for it -> granted      |
//! | granted     | its owner sees that, and returns; the ticket is gone                     |
//!
//! Tickets are queued and granted under the lock of the queue.
//!
//! No wait is lost. The holder makes its index free, *then* checks whether a ticket is queued. The waiting thread
//! queues its ticket, *then* looks for a free index. Both have a full fence in between. So either the holder sees the
//! ticket and serves the queue, or the waiting thread finds the index free.
//!
//! Orderings: what a holder did before it gave an index back (release) is visible to the next holder (acquire). If a
//! third thread has taken the index for a ticket, `granted` carries that on. A thread that grants a ticket copies the
//! parker before: the ticket may be gone afterwards. The parker belongs to a worker, which outlives the ticket.

use crate::sys::{
    parker::Parker,
    sync::{AtomicBool, AtomicUsize, Mutex, Ordering, fence_after_update, full_fence, lock},
};
use crossbeam_utils::CachePadded;
use std::collections::VecDeque;

/// No index.
const NONE: usize = usize::MAX;

/// The index that a thread wants.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    /// Any index, preferably this one.
    Any(usize),
    /// This one.
    Exactly(usize),
}

/// See the [module](self).
pub(crate) struct Indices {
    /// On a cache line each, since mostly a worker takes its own.
    taken: Box<[CachePadded<AtomicBool>]>,
    /// A copy of the length of `queue`.
    queued: AtomicUsize,
    queue: Mutex<VecDeque<*const Ticket>>,
}

// SAFETY: a ticket is accessed under the lock of the queue, from which it is removed before it ends. Its parker may be
// used by any thread.
unsafe impl Send for Indices {}
// SAFETY: a ticket is accessed under the lock of the queue, from which it is removed before it ends. Its parker may be
// used by any thread.
unsafe impl Sync for Indices {}

/// A thread that waits for an index. It is on the stack of that thread.
struct Ticket {
    wanted: Wanted,
    granted: AtomicUsize,
    parker: *const Parker,
}

impl Indices {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            taken: (0..count).map(|_| CachePadded::new(AtomicBool::new(false))).collect(),
            queued: AtomicUsize::new(0),
            queue: Mutex::new(VecDeque::new()),
        }
    }

    /// Withdraws the indices from `count` on, before any thread can have taken one of them.
    pub(crate) fn limit(&self, count: usize) {
        self.taken[count..].iter().for_each(|taken| taken.store(true, Ordering::Relaxed));
    }

    /// Takes an index. Waits for it if need be, by `park`, which returns when `parker` was unparked, or earlier. The
    /// parker must outlive `self`'s other users, as the one of a worker does.
    #[inline]
    pub(crate) fn take(&self, wanted: Wanted, parker: &Parker, park: impl FnMut()) -> usize {
        // Threads that wait come first.
        if self.queued.load(Ordering::Relaxed) == 0
            && let Some(index) = self.try_take(wanted)
        {
            return index;
        }
        self.wait(wanted, parker, park)
    }

    /// Gives an index back, which the caller has taken.
    #[inline]
    pub(crate) fn give_back(&self, index: usize) {
        self.taken[index].swap(false, Ordering::Release);
        fence_after_update();
        if self.queued.load(Ordering::Relaxed) > 0 {
            self.serve(&mut lock(&self.queue));
        }
    }

    fn try_take(&self, wanted: Wanted) -> Option<usize> {
        let is_free = |index: &usize| {
            let taken = &self.taken[*index];
            !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire)
        };
        match wanted {
            Wanted::Exactly(index) => Some(index).filter(is_free),
            Wanted::Any(first) => {
                let count = self.taken.len();
                (0..count).map(|offset| (first + offset) % count).find(is_free)
            }
        }
    }

    #[cold]
    fn wait(&self, wanted: Wanted, parker: &Parker, mut park: impl FnMut()) -> usize {
        let ticket = Ticket { wanted, granted: AtomicUsize::new(NONE), parker };
        {
            let mut queue = lock(&self.queue);
            queue.push_back(&raw const ticket);
            self.queued.store(queue.len(), Ordering::Relaxed);
            full_fence();
            self.serve(&mut queue);
        }
        loop {
            let index = ticket.granted.load(Ordering::Acquire);
            if index != NONE {
                return index;
            }
            park();
        }
    }

    /// Grants the queued tickets for which there is an index, the oldest first.
    fn serve(&self, queue: &mut VecDeque<*const Ticket>) {
        queue.retain(|&ticket| {
            // SAFETY: the ticket is queued, and its owner waits until it is granted, which happens under the lock,
            // once.
            let ticket = unsafe { &*ticket };
            let Some(index) = self.try_take(ticket.wanted) else { return true };
            let parker = ticket.parker;
            ticket.granted.store(index, Ordering::Release);
            // SAFETY: the parker belongs to a worker, which outlives the ticket.
            unsafe { (*parker).unpark() };
            false
        });
        self.queued.store(queue.len(), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn preferred_index_is_taken_if_it_is_free() {
        let (indices, parker) = (Indices::new(3), Parker::new());
        let take = |wanted| indices.take(wanted, &parker, || panic!("one is free"));
        assert_eq!(take(Wanted::Any(1)), 1);
        assert_eq!(take(Wanted::Any(1)), 2);
        assert_eq!(take(Wanted::Any(1)), 0);
        indices.give_back(1);
        assert_eq!(take(Wanted::Exactly(1)), 1);
        (0..3).for_each(|index| indices.give_back(index));
        assert_eq!(take(Wanted::Any(2)), 2);
    }

    #[test]
    fn thread_that_waits_comes_before_holder_that_wants_its_index_again() {
        let (indices, parkers) = (Indices::new(1), [Parker::new(), Parker::new()]);
        let order = std::sync::Mutex::new(Vec::new());
        let held = indices.take(Wanted::Any(0), &parkers[0], || ());
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let index = indices.take(Wanted::Any(0), &parkers[1], || parkers[1].park());
                order.lock().unwrap().push("waiter");
                indices.give_back(index);
            });
            while indices.queued.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            indices.give_back(held);
            indices.take(Wanted::Exactly(held), &parkers[0], || parkers[0].park());
            order.lock().unwrap().push("holder");
        });
        assert_eq!(*order.lock().unwrap(), ["waiter", "holder"]);
    }
}
