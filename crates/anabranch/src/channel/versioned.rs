//! Something that many look at, each at their own pace: what is behind watch and broadcast channels.
//!
//! Under one lock are the content, its version, and a queue of those who have seen that version and wait for the next.
//! Whoever joins the queue has seen the present version, so those who have seen an older one are before those who have
//! seen a newer one: who publishes wakes from the front until it meets one that has seen what it published.
//!
//! What is dropped is dropped after the lock was let go.

use crate::{
    sys::{
        spin::Brief,
        sync::{Arc, AtomicUsize, Ordering},
    },
    wait::{
        queue::{Entry, Queue},
        waiter::{Waiter, Wake},
    },
};

/// See the [module](self).
pub(crate) struct Versioned<S> {
    state: Brief<State<S>>,
    /// Whether it is in vain to publish something when there is no receiver.
    needs_receivers: bool,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

pub(crate) struct State<S> {
    pub(crate) content: S,
    /// How often something was published.
    pub(crate) version: u64,
    pub(crate) is_closed: bool,
    /// With the version that each has seen.
    waiting: Queue<u64>,
}

impl<S> Versioned<S> {
    /// With one sender and one receiver.
    pub(crate) fn new(content: S, needs_receivers: bool) -> Self {
        let state = State { content, version: 0, is_closed: false, waiting: Queue::new() };
        let (senders, receivers) = (AtomicUsize::new(1), AtomicUsize::new(1));
        Self { state: Brief::new(state), needs_receivers, senders, receivers }
    }

    /// `look` runs under the lock: it is short, and drops nothing.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&mut State<S>) -> R) -> R {
        look(&mut self.state.lock())
    }

    /// Changes the content; as for [`look`](Self::look). `Err`: it is in vain.
    pub(crate) fn publish<V, R>(&self, value: V, change: impl FnOnce(&mut S, V) -> R) -> Result<R, V> {
        let (result, version) = {
            let mut state = self.state.lock();
            if self.is_in_vain(&state) {
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

    fn is_in_vain(&self, state: &State<S>) -> bool {
        state.is_closed || self.needs_receivers && !self.has_receivers()
    }

    /// Whether nothing can be published, now or ever.
    pub(crate) fn is_refusing(&self) -> bool {
        self.is_in_vain(&self.state.lock())
    }

    /// Ends the wait of one who has not seen `version`.
    fn next_behind(&self, version: u64) -> Option<Wake> {
        let mut state = self.state.lock();
        while state.waiting.first().is_some_and(|seen| *seen < version) {
            let wake = state.waiting.decide_head(|_| ());
            if wake.is_some() {
                return wake;
            }
        }
        None
    }

    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        while let Some(wake) = self.next_behind(u64::MAX) {
            wake.wake();
        }
    }

    pub(crate) fn add_sender(&self) {
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// The last one closes.
    pub(crate) fn remove_sender(&self) {
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close();
        }
    }

    /// Adds a sender, unless there is none.
    pub(crate) fn try_add_sender(&self) -> bool {
        self.senders
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count > 0).then_some(count + 1))
            .is_ok()
    }

    /// Adds a receiver, before it looks what there is for it.
    pub(crate) fn add_receiver(&self) {
        self.receivers.fetch_add(1, Ordering::Relaxed);
    }

    /// `true`: it was the last one, and what is there for receivers is for nobody.
    pub(crate) fn remove_receiver(&self) -> bool {
        self.receivers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// As [`look`](Self::look), if there is no receiver: none that is added meanwhile has looked yet.
    pub(crate) fn look_alone<R>(&self, look: impl FnOnce(&mut State<S>) -> R) -> Option<R> {
        let mut state = self.state.lock();
        (!self.has_receivers()).then(|| look(&mut state))
    }

    pub(crate) fn has_receivers(&self) -> bool {
        self.receivers.load(Ordering::Acquire) > 0
    }

    /// # Safety
    /// As for [`Place::register`](crate::wait::waitable::Place::register), with an entry of the place.
    pub(crate) unsafe fn register(&self, entry: &Entry<u64>, seen: u64, waiter: *const Waiter, ticket: u32) -> bool {
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

    /// Takes an entry out. `false`: it is not in the queue, or no longer.
    ///
    /// # Safety
    /// If it was registered, then here.
    pub(crate) unsafe fn unregister(&self, entry: &Entry<u64>) -> bool {
        // SAFETY: pushed to this queue by `register`, or not at all.
        unsafe { self.state.lock().waiting.remove(entry) }
    }
}

/// Waiting for a version that has not been seen. An address leaves the queue by `unregister`, or decided, under the
/// lock of the board.
pub(crate) struct News<'a, S> {
    board: &'a Versioned<S>,
    entry: Entry<u64>,
}

impl<'a, S> News<'a, S> {
    pub(crate) fn of(board: &'a Versioned<S>) -> Self {
        Self { board, entry: Entry::new(0) }
    }

    /// Waits for what comes after `seen`, which changes from one wait to the next.
    ///
    /// # Safety
    /// As for [`Place::register`](crate::wait::waitable::Place::register).
    pub(crate) unsafe fn register(&self, seen: u64, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
        unsafe { self.board.register(&self.entry, seen, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::waitable::Place::unregister).
    pub(crate) unsafe fn unregister(&self, has_decided: bool) {
        if !has_decided {
            // SAFETY: the caller has registered here, and its wait has ended.
            unsafe { self.board.unregister(&self.entry) };
        }
    }
}

/// What could not be published.
pub(crate) fn alone<T>(refused: Arc<T>) -> T {
    Arc::try_unwrap(refused).unwrap_or_else(|_| unreachable!("nobody has seen it"))
}
