//! A lock that spins: for the few instructions of a send or a receive.
//!
//! To unlock is a plain store, which makes a message one read-modify-write cheaper than a lock that can be slept on. Who finds it
//! locked spins for a moment and then lets other threads run (see `spin_while`), so a holder that has lost its processor gets
//! it back. Nothing is done under it that takes long or runs foreign code: values are moved, waiters decided. No value is
//! dropped, nobody is woken.
//!
//! Orderings: unlocking releases, locking acquires.

use crate::sys::sync::{AtomicBool, Ordering, spin_while};
use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
};

pub(crate) struct Spin<T> {
    is_locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value goes from one thread to the next, as the lock does.
unsafe impl<T: Send> Send for Spin<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Spin<T> {}

pub(crate) struct SpinGuard<'a, T>(&'a Spin<T>);

impl<T> Spin<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { is_locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub(crate) fn lock(&self) -> SpinGuard<'_, T> {
        if self.is_locked.swap(true, Ordering::Acquire) {
            self.lock_slowly();
        }
        SpinGuard(self)
    }

    #[cold]
    fn lock_slowly(&self) {
        loop {
            spin_while(|| self.is_locked.load(Ordering::Relaxed));
            if !self.is_locked.swap(true, Ordering::Acquire) {
                return;
            }
        }
    }
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.is_locked.store(false, Ordering::Release);
    }
}
