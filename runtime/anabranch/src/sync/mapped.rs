//! Guards of a part of a locked value.

use super::{
    mutex::MutexGuard,
    raw_mutex::RawMutex,
    raw_semaphore::RawSemaphore,
    rwlock::{ALL, ONE, RwLockReadGuard, RwLockWriteGuard},
};
use std::{
    fmt,
    marker::PhantomData,
    mem::{self, ManuallyDrop},
    ops::{Deref, DerefMut},
    ptr::NonNull,
};

/// A guard that gives access to a part of the value of a [`Mutex`](super::Mutex). Created by [`MutexGuard::map`].
/// Dropping it unlocks.
#[must_use = "without the guard the mutex is unlocked at once"]
pub struct MappedMutexGuard<'a, U: ?Sized> {
    part: NonNull<U>,
    raw: &'a RawMutex,
    _part: PhantomData<&'a mut U>,
}

/// A guard that gives shared access to a part of the value of an [`RwLock`](super::RwLock). Created by
/// [`RwLockReadGuard::map`].
#[must_use = "without the guard the lock is unlocked at once"]
pub struct MappedRwLockReadGuard<'a, U: ?Sized> {
    part: NonNull<U>,
    raw: &'a RawSemaphore,
    _part: PhantomData<&'a U>,
}

/// A guard that gives exclusive access to a part of the value of an [`RwLock`](super::RwLock). Created by
/// [`RwLockWriteGuard::map`].
#[must_use = "without the guard the lock is unlocked at once"]
pub struct MappedRwLockWriteGuard<'a, U: ?Sized> {
    part: NonNull<U>,
    raw: &'a RawSemaphore,
    _part: PhantomData<&'a mut U>,
}

// SAFETY: the guard is an exclusive borrow of the part, and any thread may unlock.
unsafe impl<U: ?Sized + Send> Send for MappedMutexGuard<'_, U> {}
// SAFETY: a shared guard lends the part, which is `Sync`.
unsafe impl<U: ?Sized + Sync> Sync for MappedMutexGuard<'_, U> {}
// SAFETY: the guard is a shared borrow of the part, and any thread may unlock.
unsafe impl<U: ?Sized + Sync> Send for MappedRwLockReadGuard<'_, U> {}
// SAFETY: a shared guard lends the part, which is `Sync`.
unsafe impl<U: ?Sized + Sync> Sync for MappedRwLockReadGuard<'_, U> {}
// SAFETY: the guard is an exclusive borrow of the part, and any thread may unlock.
unsafe impl<U: ?Sized + Send> Send for MappedRwLockWriteGuard<'_, U> {}
// SAFETY: a shared guard lends the part, which is `Sync`.
unsafe impl<U: ?Sized + Sync> Sync for MappedRwLockWriteGuard<'_, U> {}
impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Narrows the guard to a part of the value. The mutex stays locked, even if `part` panics and the guard is
    /// dropped.
    ///
    /// ```
    /// use anabranch::sync::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new((1, "one"));
    /// let mut number = MutexGuard::map(mutex.try_lock().unwrap(), |pair| &mut pair.0);
    /// *number += 1;
    /// assert!(mutex.is_locked());
    /// drop(number);
    /// assert_eq!(mutex.into_inner(), (2, "one"));
    /// ```
    pub fn map<U: ?Sized>(mut guard: Self, part: impl FnOnce(&mut T) -> &mut U) -> MappedMutexGuard<'a, U> {
        let part = NonNull::from(part(&mut guard));
        let mutex = Self::mutex(&guard);
        mem::forget(guard);
        MappedMutexGuard { part, raw: mutex.raw(), _part: PhantomData }
    }
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// Narrows the guard to a part of the value.
    ///
    /// ```
    /// use anabranch::sync::{RwLock, RwLockReadGuard};
    ///
    /// let lock = RwLock::new((1, "one"));
    /// let text = RwLockReadGuard::map(lock.try_read().unwrap(), |pair| pair.1);
    /// assert!(&*text == "one" && lock.try_write().is_none());
    /// ```
    pub fn map<U: ?Sized>(guard: Self, part: impl FnOnce(&T) -> &U) -> MappedRwLockReadGuard<'a, U> {
        let part = NonNull::from(part(&guard));
        let lock = ManuallyDrop::new(guard).lock();
        MappedRwLockReadGuard { part, raw: lock.raw(), _part: PhantomData }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Narrows the guard to a part of the value.
    ///
    /// ```
    /// use anabranch::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new(vec![1, 2]);
    /// *RwLockWriteGuard::map(lock.try_write().unwrap(), |list| &mut list[1]) = 3;
    /// assert_eq!(*lock.try_read().unwrap(), [1, 3]);
    /// ```
    pub fn map<U: ?Sized>(mut guard: Self, part: impl FnOnce(&mut T) -> &mut U) -> MappedRwLockWriteGuard<'a, U> {
        let part = NonNull::from(part(&mut guard));
        let lock = ManuallyDrop::new(guard).lock();
        MappedRwLockWriteGuard { part, raw: lock.raw(), _part: PhantomData }
    }
}

impl<U: ?Sized> Drop for MappedMutexGuard<'_, U> {
    fn drop(&mut self) {
        // SAFETY: this guard holds the lock, which `map` took over.
        unsafe { self.raw.unlock() }
    }
}

impl<U: ?Sized> Drop for MappedRwLockReadGuard<'_, U> {
    fn drop(&mut self) {
        self.raw.release(ONE);
    }
}

impl<U: ?Sized> Drop for MappedRwLockWriteGuard<'_, U> {
    fn drop(&mut self) {
        self.raw.release(ALL);
    }
}

/// Implements the access to a part.
macro_rules! access {
    ($($name:ident),*) => {$(
        impl<U: ?Sized> Deref for $name<'_, U> {
            type Target = U;

            fn deref(&self) -> &U {
                // SAFETY: the part belongs to a value that this guard keeps locked.
                unsafe { self.part.as_ref() }
            }
        }

        impl<U: ?Sized + fmt::Debug> fmt::Debug for $name<'_, U> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

access!(MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard);

impl<U: ?Sized> DerefMut for MappedMutexGuard<'_, U> {
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: the part belongs to a value that this guard keeps locked exclusively.
        unsafe { self.part.as_mut() }
    }
}

impl<U: ?Sized> DerefMut for MappedRwLockWriteGuard<'_, U> {
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: the part belongs to a value that this guard keeps locked exclusively.
        unsafe { self.part.as_mut() }
    }
}
