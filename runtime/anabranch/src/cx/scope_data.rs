//! The data that a scope and its fibers share. See `scope`.

use crate::{
    cx::cx::{Cx, Deadline},
    fork::scope::{Panic, report},
    pool::{registry::Registry, worker::Worker},
    sys::sync::{AtomicU64, Mutex, Ordering, lock},
    wait::{cancel::CancelScope, latch::Latch},
};

/// The parent's share of [`ScopeData::pending`].
pub(crate) const PARENT: u64 = 1 << 62;

/// The data that a parent and its children share.
pub(crate) struct ScopeData {
    pub(crate) cancel: CancelScope,
    pub(crate) deadline: Deadline,
    pub(crate) registry: *const Registry,
    pub(crate) pending: AtomicU64,
    pub(crate) done: Latch,
    pub(crate) panic: Mutex<Option<Panic>>,
}

// SAFETY: the registry and the scope of the deadline may be shared, and outlive the data.
unsafe impl Sync for ScopeData {}

impl ScopeData {
    /// Creates the data of a scope below that of the `Cx`.
    ///
    /// # Safety
    /// The `Cx` outlives the data, which does not move once it is used, and which the parent keeps until the children
    /// have left.
    ///
    /// # Panics
    /// Panics on a stack that is not that of the `Cx`.
    #[track_caller]
    pub(crate) unsafe fn open(cx: &Cx<'_>) -> Self {
        cx.check_stack();
        let registry = Worker::current().registry().expect("a thread with a `Cx` is in a pool");
        Self {
            // SAFETY: the scope and the waiter of the `Cx` outlive it, and the data does not move.
            cancel: unsafe { CancelScope::below(cx.scope, cx.waiter_address(), false) },
            deadline: cx.deadline,
            registry,
            pending: AtomicU64::new(PARENT),
            done: Latch::new(),
            panic: Mutex::new(None),
        }
    }

    /// Counts a child down that ends.
    ///
    /// # Safety
    /// The child has entered the data, and does not access it afterwards.
    pub(crate) unsafe fn leave(this: *const Self, panic: Option<Panic>) {
        // SAFETY: the child has entered, so `pending` stays above zero until its decrement. The parent keeps the data
        // alive until the notification, which is the last access.
        unsafe {
            if let Some(panic) = panic {
                (*this).note(panic);
            }
            if (*this).pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                (*this).done.notify();
            }
        }
    }

    /// Keeps the first panic and cancels the scope.
    pub(crate) fn note(&self, panic: Panic) {
        let surplus = {
            let mut first = lock(&self.panic);
            if first.is_none() { first.replace(panic) } else { Some(panic) }
        };
        self.cancel.cancel();
        if let Some(surplus) = surplus {
            report(surplus);
        }
    }
}
