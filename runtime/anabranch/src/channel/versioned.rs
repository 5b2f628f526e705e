//! Versioned content that many threads look at, each at its own pace: the basis of watch and broadcast channels.
//!
//! One lock guards the content, its version, and a queue of waiters that have seen that version and wait for the next.
//! A waiter that joins the queue has seen the present version. So waiters that have seen an older version are in front
//! of waiters that have seen a newer version. A publisher wakes from the front until it meets a waiter that has seen
//! its content.
//!
//! Content is dropped after the lock is released.

use crate::{
    channel::{closing::CloseQueue, end_count::EndCount},
    cx::attempt::Attempt,
    sys::{spin::Brief, sync::Arc},
    wait::{
        queue::{Entry, Queue},
        waitable::{Armed, Ended, Waitable},
        waiter::Wake,
    },
};

/// See the [module](self).
pub(crate) struct Versioned<S> {
    state: Brief<State<S>>,
    /// Whether publishing fails while there is no receiver.
    needs_receivers: bool,
    senders: EndCount,
    receivers: EndCount,
}

pub(crate) struct State<S> {
    pub(crate) content: S,
    /// How often content was published.
    pub(crate) version: u64,
    pub(crate) is_closed: bool,
    /// The waiters, each with the version that it has seen.
    waiting: Queue<u64>,
    /// The waiters for the closing, or for the end of the last receiver.
    closing: CloseQueue,
}

impl<S> Versioned<S> {
    /// Creates one with one sender and one receiver.
    pub(crate) fn new(content: S, needs_receivers: bool) -> Self {
        let state = State { content, version: 0, is_closed: false, waiting: Queue::new(), closing: CloseQueue::NEW };
        Self { state: Brief::new(state), needs_receivers, senders: EndCount::new(), receivers: EndCount::new() }
    }

    /// Runs `look` under the lock. It must be short and drop nothing.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&mut State<S>) -> R) -> R {
        look(&mut self.state.lock())
    }

    /// Changes the content. `change` runs under the lock, as in [`look`](Self::look). Returns the value if there is
    /// nothing to publish to.
    pub(crate) fn publish<V, R>(&self, value: V, change: impl FnOnce(&mut S, V) -> R) -> Result<R, V> {
        let published = self.publish_if(|_| true, value, change)?;
        Ok(published.expect("there is no condition"))
    }

    /// Like [`publish`](Self::publish), but does nothing and returns `None` if the content does not satisfy the
    /// condition, which runs under the lock, too.
    pub(crate) fn publish_if<V, R>(
        &self,
        condition: impl FnOnce(&S) -> bool,
        value: V,
        change: impl FnOnce(&mut S, V) -> R,
    ) -> Result<Option<R>, V> {
        let (result, version) = {
            let mut state = self.state.lock();
            if self.is_in_vain(&state) {
                return Err(value);
            }
            if !condition(&state.content) {
                drop(state);
                return Ok(None);
            }
            state.version += 1;
            (change(&mut state.content, value), state.version)
        };
        while let Some(wake) = self.next_behind(version) {
            wake.wake();
        }
        Ok(Some(result))
    }

    fn is_in_vain(&self, state: &State<S>) -> bool {
        state.is_closed || self.needs_receivers && !self.has_receivers()
    }

    /// Returns whether nothing can be published, now or ever.
    pub(crate) fn is_refusing(&self) -> bool {
        self.is_in_vain(&self.state.lock())
    }

    /// Ends the wait of a waiter that has not seen `version`.
    fn next_behind(&self, version: u64) -> Option<Wake> {
        let mut state = self.state.lock();
        while state.waiting.first().is_some_and(|seen| *seen < version) {
            let wake = state.waiting.select_head(|_| ());
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
        self.wake_closing();
    }

    /// Ends the waits for the closing.
    fn wake_closing(&self) {
        loop {
            let wake = self.state.lock().closing.select_first();
            let Some(wake) = wake else { return };
            wake.wake();
        }
    }

    pub(crate) fn add_sender(&self) {
        self.senders.add();
    }

    /// Removes a sender. The last one closes.
    pub(crate) fn remove_sender(&self) {
        if self.senders.remove() {
            self.close();
        }
    }

    /// Adds a sender, unless there is none.
    pub(crate) fn try_add_sender(&self) -> bool {
        self.senders.try_add()
    }

    /// Adds a receiver, before that looks at the content.
    pub(crate) fn add_receiver(&self) {
        self.receivers.add();
    }

    /// Removes a receiver. Returns `true` if it was the last one, so that the content has no receiver.
    pub(crate) fn remove_receiver(&self) -> bool {
        let is_last = self.receivers.remove();
        if is_last {
            self.wake_closing();
        }
        is_last
    }

    /// Like [`look`](Self::look), if there is no receiver. A receiver that is added meanwhile has not looked yet.
    pub(crate) fn look_alone<R>(&self, look: impl FnOnce(&mut State<S>) -> R) -> Option<R> {
        let mut state = self.state.lock();
        (!self.has_receivers()).then(|| look(&mut state))
    }

    pub(crate) fn sender_count(&self) -> usize {
        self.senders.get()
    }

    pub(crate) fn receiver_count(&self) -> usize {
        self.receivers.get()
    }

    pub(crate) fn has_receivers(&self) -> bool {
        !self.receivers.is_zero()
    }

    pub(crate) fn register(&self, entry: &Entry<u64>, seen: u64, mut armed: Armed) -> bool {
        let mut state = self.state.lock();
        if state.is_closed || state.version != seen {
            return false;
        }
        entry.with_armed(&mut armed, |value| *value = seen);
        state.waiting.push_back(entry, armed);
        true
    }

    /// Removes an entry. Returns `false` if it is not in the queue, or no longer.
    pub(crate) fn unregister(&self, entry: &Entry<u64>, ended: Ended) -> bool {
        self.state.lock().waiting.remove(entry, ended)
    }
}

/// The wait for a version that has not been seen. An address leaves the queue by `unregister`, or by a selection, both
/// under the lock of the versioned value.
pub(crate) struct News<'a, S> {
    versioned: &'a Versioned<S>,
    entry: Entry<u64>,
}

impl<'a, S> News<'a, S> {
    pub(crate) fn of(versioned: &'a Versioned<S>) -> Self {
        Self { versioned, entry: Entry::new(0) }
    }

    /// Waits for a version after `seen`, which differs from one wait to the next.
    pub(crate) fn register(&self, seen: u64, armed: Armed) -> bool {
        self.versioned.register(&self.entry, seen, armed)
    }

    pub(crate) fn unregister(&self, ended: Ended) {
        if !ended.is_selected() {
            self.versioned.unregister(&self.entry, ended);
        }
    }
}

/// The wait until a versioned value is closed or has no receiver. A receiver is counted out before the lock is taken to
/// wake these waiters, and they look at the count under the lock. So none of them misses the last receiver.
pub(crate) struct CloseWait<'a, S> {
    versioned: &'a Versioned<S>,
    entry: Entry<()>,
}

impl<'a, S> CloseWait<'a, S> {
    pub(crate) fn of(versioned: &'a Versioned<S>) -> Self {
        Self { versioned, entry: Entry::new(()) }
    }
}

impl<S> Attempt for CloseWait<'_, S> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        let is_over = self.versioned.look(|state| state.is_closed) || !self.versioned.has_receivers();
        is_over.then_some(())
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by a selection, both under the lock of the versioned value.
unsafe impl<S> Waitable for CloseWait<'_, S> {
    fn register(&self, armed: Armed) -> bool {
        let Versioned { state, receivers, .. } = self.versioned;
        let is_over = |state: &State<S>| state.is_closed || receivers.is_zero();
        CloseQueue::register(state, |state| &mut state.closing, is_over, &self.entry, armed)
    }

    fn unregister(&self, ended: Ended) {
        if !ended.is_selected() {
            self.versioned.state.lock().closing.remove(&self.entry, ended);
        }
    }
}

/// Returns the value that could not be published.
pub(crate) fn alone<T>(refused: Arc<T>) -> T {
    Arc::try_unwrap(refused).unwrap_or_else(|_| unreachable!("nobody has seen it"))
}
