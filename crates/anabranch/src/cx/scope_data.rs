//! What a scope and its fibers share. See `scope`.

use crate::{
    cx::cx::Deadline,
    fork::scope::{Panic, report},
    pool::registry::Registry,
    sys::sync::{AtomicU64, Mutex, Ordering, lock},
    wait::{cancel::CancelScope, latch::Latch},
};

/// The parent's share of [`ScopeData::pending`].
pub(crate) const PARENT: u64 = 1 << 62;

/// What a parent and its children share.
pub(crate) struct ScopeData {
    pub(crate) cancel: CancelScope,
    pub(crate) deadline: Deadline,
    pub(crate) registry: *const Registry,
    pub(crate) pending: AtomicU64,
    pub(crate) done: Latch,
    pub(crate) panic: Mutex<Option<Panic>>,
}

// SAFETY: the registry and the scope of the deadline are made for sharing, and outlive this one.
unsafe impl Sync for ScopeData {}

impl ScopeData {
    /// A child ends.
    ///
    /// # Safety
    /// It has entered. The data may be gone afterwards.
    pub(crate) unsafe fn leave(this: *const Self, panic: Option<Panic>) {
        // SAFETY: the child is pending until it has been counted down, and the parent waits for the notification.
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
