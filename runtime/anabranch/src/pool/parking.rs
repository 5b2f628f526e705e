//! Where the thread of a worker parks, and how other threads wake it.

use crate::{
    pool::sleep::{Call, Called},
    reactor::slot::Slot,
    sys::{
        parker::Parker,
        sync::{Mutex, lock},
    },
};
use std::{ptr::NonNull, time::Duration};

/// See the [module](self).
pub(crate) struct Parking {
    pub(crate) parker: Parker,
    /// The reactor of the thread, in which it waits for sockets while it parks. Only the pool's own threads have one.
    pub(crate) reactor: Slot,
    /// The parker at which the thread has parked, if that is another one. A broadcast and a request for stacks unpark
    /// it there too.
    other_parker: Mutex<Option<NonNull<Parker>>>,
    /// The call that has woken the worker while it slept.
    pub(super) called: Called,
}

impl Parking {
    pub(crate) const fn new() -> Self {
        Self { parker: Parker::new(), reactor: Slot::new(), other_parker: Mutex::new(None), called: Called::new() }
    }

    /// Parks the worker's thread, for at most `timeout`. Returns whether it was woken.
    pub(super) fn park(&self, timeout: Option<Duration>) -> bool {
        self.reactor.park(&self.parker, timeout)
    }

    pub(crate) fn unpark(&self) {
        self.parker.unpark();
    }

    /// Wakes this sleeper, which was taken off the list of sleepers.
    pub(super) fn call(&self, call: Call) {
        self.called.set(call);
        self.parker.unpark();
    }

    /// Wakes the thread, wherever it has parked, after something was put into its list of broadcasts.
    pub(super) fn unpark_anywhere(&self) {
        self.parker.unpark();
        self.unpark_elsewhere();
    }

    /// Wakes the thread if it has parked at another parker than the worker's.
    pub(super) fn unpark_elsewhere(&self) {
        if let Some(parker) = *lock(&self.other_parker) {
            // SAFETY: the thread at the parker takes the pointer back under the lock, which this holds, before the
            // parker ends.
            unsafe { parker.as_ref() }.unpark();
        }
    }

    /// While `wait` runs, broadcasts and requests for stacks unpark the thread at `parker`, too: one that comes after
    /// `wait` has looked for them leaves a token there.
    pub(super) fn while_parked_at<R>(&self, parker: &Parker, wait: impl FnOnce() -> R) -> R {
        // A broadcast that is answered in the middle of a wait may wait in turn, at a parker of its own.
        let outer = lock(&self.other_parker).replace(NonNull::from(parker));
        let result = wait();
        *lock(&self.other_parker) = outer;
        result
    }
}
