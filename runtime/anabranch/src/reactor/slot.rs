//! The place for a worker's reactor, which most workers do not have.

use crate::{reactor::reactor::Reactor, sys::parker::Parker};
use std::{
    io,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// See the [module](self).
pub(crate) struct Slot(OnceLock<Arc<Reactor>>);

impl Slot {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the reactor. If there is none, makes it, and calls `wake_owner`: the worker may wait at its parker.
    pub(crate) fn get_or_create(&self, wake_owner: impl FnOnce()) -> io::Result<&Arc<Reactor>> {
        if self.0.get().is_none() {
            // If another thread was faster, this one is dropped.
            if self.0.set(Arc::new(Reactor::new()?)).is_ok() {
                wake_owner();
            }
        }
        Ok(self.0.get().expect("just set"))
    }

    /// Parks at `parker`, in the reactor if there is one. Returns `false` if the time was up, or a socket is ready.
    pub(crate) fn park(&self, parker: &Parker, most: Option<Duration>) -> bool {
        match (self.0.get(), most) {
            (Some(reactor), most) => reactor.park(parker, most),
            (None, Some(most)) => parker.park_timeout(most),
            (None, None) => {
                parker.park();
                true
            }
        }
    }

    /// Wakes the waiters of sockets that are ready.
    #[inline]
    pub(crate) fn poll(&self) {
        if let Some(reactor) = self.0.get() {
            reactor.poll();
        }
    }

    /// Does the same for a worker that has run many fibers, unless it has polled a moment ago.
    #[inline]
    pub(crate) fn poll_if_busy(&self) {
        if let Some(reactor) = self.0.get() {
            reactor.poll_if_busy();
        }
    }

    /// Does the same on another thread, for a worker that has not polled since the last call. Returns whether it had
    /// not.
    pub(crate) fn poll_for_owner(&self) -> bool {
        self.0.get().is_some_and(|reactor| reactor.poll_for_owner())
    }

    /// Returns whether a socket is registered.
    pub(crate) fn has_sources(&self) -> bool {
        self.0.get().is_some_and(|reactor| reactor.has_sources())
    }

    /// Ends the reactor: its thread ends. The waiters wake, and register elsewhere.
    pub(crate) fn close(&self) {
        if let Some(reactor) = self.0.get() {
            reactor.close();
        }
    }
}
