//! A poller for loom, which has no sources: only a notification ends a wait. As with epoll, the notification goes to
//! one of the threads that wait or poll.

use crate::sys::sync::{Condvar, Mutex, lock};

#[derive(Debug)]
pub(crate) struct Poller {
    is_notified: Mutex<bool>,
    wake: Condvar,
}

impl Poller {
    pub(crate) fn new() -> Self {
        Self { is_notified: Mutex::new(false), wake: Condvar::new() }
    }

    pub(crate) fn notify(&self) {
        *lock(&self.is_notified) = true;
        self.wake.notify_one();
    }

    /// Waits for a notification, and consumes it.
    pub(crate) fn wait(&self) {
        let mut is_notified = lock(&self.is_notified);
        while !*is_notified {
            is_notified = match self.wake.wait(is_notified) {
                Ok(guard) => guard,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
        *is_notified = false;
    }

    /// Consumes a notification without waiting. Returns whether there was one.
    pub(crate) fn poll(&self) -> bool {
        std::mem::take(&mut *lock(&self.is_notified))
    }
}
