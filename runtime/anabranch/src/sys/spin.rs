//! A lock for critical sections of a few instructions, whose holder never runs foreign code. It takes one
//! read-modify-write to lock and a store to unlock. A thread that finds it taken pauses for about a microsecond, and
//! then yields, because the holder may have been preempted. Finally it sleeps, so that it does not keep a holder of
//! lower priority from its core: see [`spin_while`].
//!
//! Why such a long pause? Two threads that lock again and again, a sender and a receiver, would pass the lock to and
//! fro. Its cache line, and that of the protected data, would move each time: 66 ns a message. If the second thread
//! backs off for a while, the first does its next dozens of rounds in its own cache: 33 ns. Why no longer? A channel
//! with a capacity of 128 is full or empty after as many rounds, and then the first thread waits for the second: 51 ns
//! a message with 32 pauses, and 79 with 64.
//!
//! Orderings: unlocking releases, locking acquires.
//!
//! In the models other modules use a [`Brief`] lock, which blocks there. Of two threads that spin for a lock of a
//! third, loom would schedule one after the other for ever. The spinning lock has its own model.

use crate::sys::{
    prefetch::prefetch,
    sync::{AtomicBool, Ordering, spin_while},
};
use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
};

/// The number of pauses of a thread that finds the lock taken; each takes 10 to 50 ns.
#[cfg(not(any(loom, shuttle)))]
const SPINS: u32 = 32;

/// See the [module](self).
pub(crate) struct SpinLock<T> {
    is_taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: threads reach the value only through a guard, of which one exists at a time.
unsafe impl<T: Send> Send for SpinLock<T> {}
// SAFETY: threads reach the value only through a guard, of which one exists at a time.
unsafe impl<T: Send> Sync for SpinLock<T> {}

/// Access to the value of a lock, until the guard is dropped.
pub(crate) struct SpinGuard<'a, T>(&'a SpinLock<T>);

impl<T> SpinLock<T> {
    #[cfg(not(loom))]
    pub(crate) const fn new(value: T) -> Self {
        Self { is_taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    #[cfg(loom)]
    pub(crate) fn new(value: T) -> Self {
        Self { is_taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Locks by an atomic read-modify-write.
    #[inline]
    pub(crate) fn lock(&self) -> SpinGuard<'_, T> {
        // Reads after the exchange wait for its end. Where the lock is not in the caches, what it guards is not either.
        if size_of::<T>() > 64 {
            prefetch(self.value.get().cast::<u8>().wrapping_byte_add(64));
        }
        while self.is_taken.swap(true, Ordering::Acquire) {
            patiently(&self.is_taken);
        }
        SpinGuard(self)
    }
}

/// Waits while the lock is taken by this mark.
#[cold]
fn patiently(is_taken: &AtomicBool) {
    #[cfg(not(any(loom, shuttle)))]
    (0..SPINS).for_each(|_| crate::sys::sync::hint::spin_loop());
    // In the models other threads run, and the next swap checks the lock.
    let mut is_new = cfg!(loom);
    spin_while(|| std::mem::take(&mut is_new) || !cfg!(loom) && is_taken.load(Ordering::Relaxed));
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock, so no other thread accesses the value.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the lock, so no other thread accesses the value, and `&mut self` excludes other
        // borrows.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        const LET_GO: Ordering = Ordering::Release;
        // loom does not know that a plain store cannot come between the load and the store of a swap.
        if cfg!(loom) {
            self.0.is_taken.swap(false, LET_GO);
        } else {
            self.0.is_taken.store(false, LET_GO);
        }
    }
}

/// The lock for critical sections of a few instructions.
#[cfg(not(loom))]
pub(crate) type Brief<T> = SpinLock<T>;

#[cfg(not(loom))]
pub(crate) type BriefGuard<'a, T> = SpinGuard<'a, T>;

#[cfg(loom)]
pub(crate) type BriefGuard<'a, T> = crate::sys::sync::MutexGuard<'a, T>;

#[cfg(loom)]
pub(crate) struct Brief<T>(crate::sys::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Brief<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(crate::sys::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> crate::sys::sync::MutexGuard<'_, T> {
        crate::sys::sync::lock(&self.0)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn lock_excludes_other_threads() {
        let lock = SpinLock::new(0u64);
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..10_000 {
                        let mut value = lock.lock();
                        let old = *value;
                        *value = old + 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), 40_000);
    }
}
