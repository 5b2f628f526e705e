//! Something that many look at, each at their own pace: what is behind watch and broadcast channels.
//!
//! Under one lock are the content, its version, and a queue of those who have seen that version and wait for the next. Whoever
//! joins the queue has seen the present version, so those who have seen an older one are before those who have seen a newer one:
//! who publishes wakes from the front until it meets one that has seen what it published.
//!
//! What is dropped is dropped after the lock was let go.

use crate::{
    sys::{
        spin::Brief,
        sync::{AtomicUsize, Ordering},
    },
    wait::{
        place::Place,
        queue::{Entry, Queue},
        waiter::{Waiter, Wake},
    },
};

/// See the [module](self).
pub(super) struct Board<S> {
    state: Brief<State<S>>,
    pub(super) senders: AtomicUsize,
    pub(super) receivers: AtomicUsize,
}

pub(super) struct State<S> {
    pub(super) content: S,
    /// How often something was published.
    pub(super) version: u64,
    pub(super) is_closed: bool,
    /// With the version that each has seen.
    waiting: Queue<u64>,
}

impl<S> Board<S> {
    /// With one sender and one receiver.
    pub(super) fn new(content: S) -> Self {
        let state = State { content, version: 0, is_closed: false, waiting: Queue::new() };
        Self { state: Brief::new(state), senders: AtomicUsize::new(1), receivers: AtomicUsize::new(1) }
    }

    /// `look` runs under the lock: it is short, and drops nothing.
    pub(super) fn look<R>(&self, look: impl FnOnce(&mut State<S>) -> R) -> R {
        look(&mut self.state.lock())
    }

    /// Changes the content; as for [`look`](Self::look). `Err`: the board is closed.
    pub(super) fn publish<V, R>(&self, value: V, change: impl FnOnce(&mut S, V) -> R) -> Result<R, V> {
        let (result, version) = {
            let mut state = self.state.lock();
            if state.is_closed {
                return Err(value);
            }
            state.version += 1;
            (change(&mut state.content, value), state.version)
        };
        while let Some(wake) = self.next_behind(version) {
            wake.wake();
        }
        Ok(result)
    }

    /// Ends the wait of one who has not seen `version`.
    fn next_behind(&self, version: u64) -> Option<Wake> {
        let mut state = self.state.lock();
        while state.waiting.first().is_some_and(|seen| *seen < version) {
            let wake = state.waiting.decide_first(|_| ());
            if wake.is_some() {
                return wake;
            }
        }
        None
    }

    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        while let Some(wake) = self.next_behind(u64::MAX) {
            wake.wake();
        }
    }

    pub(super) fn add_sender(&self) {
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// The last one closes.
    pub(super) fn remove_sender(&self) {
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close();
        }
    }

    pub(super) fn add_receiver(&self) {
        self.receivers.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_receiver(&self) {
        self.receivers.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn has_receivers(&self) -> bool {
        self.receivers.load(Ordering::Acquire) > 0
    }

    /// # Safety
    /// As for [`Place::register`], with an entry of the place.
    unsafe fn register(&self, entry: &Entry<u64>, seen: u64, waiter: *const Waiter, ticket: u32) -> bool {
        let mut state = self.state.lock();
        if state.is_closed || state.version != seen {
            return false;
        }
        // SAFETY: not in the queue; the rest is the caller's word.
        unsafe {
            entry.with(|value| *value = seen);
            state.waiting.push_back(entry, waiter, ticket);
        }
        true
    }
}

/// Waiting for a version that has not been seen.
pub(super) struct News<'a, S> {
    board: &'a Board<S>,
    entry: Entry<u64>,
    seen: u64,
}

impl<'a, S> News<'a, S> {
    pub(super) fn after(seen: u64, board: &'a Board<S>) -> Self {
        Self { board, entry: Entry::new(0), seen }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or decided, under the lock of the board.
unsafe impl<S> Place for News<'_, S> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.board.register(&self.entry, self.seen, waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if !has_decided {
            // SAFETY: pushed to this queue by `register`.
            unsafe { self.board.state.lock().waiting.remove(&self.entry) };
        }
    }
}
