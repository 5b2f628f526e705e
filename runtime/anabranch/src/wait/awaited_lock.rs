//! Which lock a fiber or thread waits for, and which one holds that lock: for reports of hangs.
//!
//! A lock keeps the address of the waiter by which it was locked last. That is a store into the cache line that the
//! lock has just changed. The address identifies a fiber or thread, and is never dereferenced. It is wrong if the guard
//! was sent to another fiber since.
//!
//! The status of a fiber that waits for a lock points to the lock. The fiber sets the pointer before its wait and
//! clears it afterwards, while the lock is alive. A report follows the pointer under the same spin lock, so the fiber
//! does not leave the wait meanwhile. So a contended lock costs two more read-modify-writes for each wait that leaves
//! the stack or parks.

use crate::sys::spin::SpinLock;

/// A lock that knows its holder.
pub(crate) trait HeldLock: Sync {
    /// Returns the address of the waiter of the fiber or thread that holds the lock, or null if it is not known.
    fn holder(&self) -> *const ();
}

/// See the [module](self).
pub(crate) struct AwaitedLock(SpinLock<Option<*const dyn HeldLock>>);

// SAFETY: `set` and `clear` store the pointer, and `holder` follows it, under the spin lock. Between `set` and `clear`
// the lock is alive, and locks are `Sync`.
unsafe impl Send for AwaitedLock {}
// SAFETY: as for `Send`.
unsafe impl Sync for AwaitedLock {}

impl AwaitedLock {
    pub(crate) const fn new() -> Self {
        Self(SpinLock::new(None))
    }

    /// Records the lock.
    ///
    /// # Safety
    /// The lock is shared among threads, and stays alive and in place until [`clear`](Self::clear).
    pub(crate) unsafe fn set(&self, lock: *const dyn HeldLock) {
        *self.0.lock() = Some(lock);
    }

    /// Removes the lock. No thread accesses it by this any more.
    pub(crate) fn clear(&self) {
        *self.0.lock() = None;
    }

    /// Returns the address of the holder's waiter. Returns null if there is no wait for a lock, or no known holder.
    pub(crate) fn holder(&self) -> *const () {
        let lock = self.0.lock();
        // SAFETY: the pointer is in place, so `clear` was not called since `set`, and cannot be while this has the spin
        // lock. The caller of `set` keeps the lock alive until then.
        lock.map_or(std::ptr::null(), |lock| unsafe { (*lock).holder() })
    }
}
