//! Guards that keep their lock alive, and can be sent to another fiber.

use super::{
    mutex::Mutex,
    rwlock::{ALL, ONE, RwLock},
};
use crate::{cx::Cx, wait::Cancelled};
use std::{
    fmt,
    marker::PhantomData,
    mem::{self, ManuallyDrop},
    ops::{Deref, DerefMut},
    ptr,
    sync::Arc,
};

/// A guard that gives access to the value of a [`Mutex`], and keeps the mutex alive. Created by [`Mutex::lock_owned`].
/// Dropping it unlocks.
#[must_use = "without the guard the mutex is unlocked at once"]
pub struct OwnedMutexGuard<T: ?Sized> {
    mutex: Arc<Mutex<T>>,
    /// Shared and sent under the same conditions as the value itself.
    _value: PhantomData<*mut T>,
}

// The guards of an `RwLock` are shared and sent like the `Arc`: whichever guard is the last drops the value.

/// A guard that gives shared access to the value of an [`RwLock`], and keeps the lock alive. Created by
/// [`RwLock::read_owned`]. Dropping it unlocks.
#[must_use = "without the guard the lock is given back at once"]
pub struct OwnedRwLockReadGuard<T: ?Sized> {
    lock: Arc<RwLock<T>>,
}

/// A guard that gives exclusive access to the value of an [`RwLock`], and keeps the lock alive. Created by
/// [`RwLock::write_owned`]. Dropping it unlocks.
#[must_use = "without the guard the lock is given back at once"]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    lock: Arc<RwLock<T>>,
}

// SAFETY: the guard is an exclusive borrow of the value, which it may drop with the mutex, and any thread may unlock.
unsafe impl<T: ?Sized + Send> Send for OwnedMutexGuard<T> {}
// SAFETY: a shared guard lends the value, which is `Sync`. The last guard may drop the value, which is `Send`.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedMutexGuard<T> {}

impl<T: ?Sized> Mutex<T> {
    /// Like [`lock`](Self::lock), for a guard that keeps the mutex alive, and can be sent to another fiber.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled.
    ///
    /// ```
    /// use anabranch::sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// let total = Arc::new(Mutex::new(1));
    /// anabranch::run(|cx| {
    ///     let mut guard = Arc::clone(&total).lock_owned(cx).unwrap();
    ///     anabranch::spawn(move |_| *guard += 1).join(cx).unwrap();
    ///     assert_eq!(*total.lock(cx).unwrap(), 2);
    /// });
    /// ```
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>, cx: &Cx<'_>) -> Result<OwnedMutexGuard<T>, Cancelled> {
        mem::forget(self.lock(cx)?);
        Ok(OwnedMutexGuard { mutex: self, _value: PhantomData })
    }

    /// Like [`lock_owned`](Self::lock_owned), for async code.
    pub async fn lock_owned_async(self: Arc<Self>) -> OwnedMutexGuard<T> {
        mem::forget(self.locking().await);
        OwnedMutexGuard { mutex: self, _value: PhantomData }
    }

    /// Takes the lock if it is free.
    pub fn try_lock_owned(self: Arc<Self>) -> Option<OwnedMutexGuard<T>> {
        mem::forget(self.try_lock()?);
        Some(OwnedMutexGuard { mutex: self, _value: PhantomData })
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Like [`read`](Self::read), for a guard that keeps the lock alive, and can be sent to another fiber.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled.
    ///
    /// ```
    /// use anabranch::sync::RwLock;
    /// use std::sync::Arc;
    ///
    /// let names = Arc::new(RwLock::new(vec!["ana"]));
    /// anabranch::run(|cx| {
    ///     let guard = Arc::clone(&names).read_owned(cx).unwrap();
    ///     assert_eq!(anabranch::spawn(move |_| guard.len()).join(cx).unwrap(), 1);
    /// });
    /// ```
    #[track_caller]
    pub fn read_owned(self: Arc<Self>, cx: &Cx<'_>) -> Result<OwnedRwLockReadGuard<T>, Cancelled> {
        mem::forget(self.read(cx)?);
        Ok(OwnedRwLockReadGuard { lock: self })
    }

    /// Like [`read_owned`](Self::read_owned), for async code.
    pub async fn read_owned_async(self: Arc<Self>) -> OwnedRwLockReadGuard<T> {
        mem::forget(self.reading().await);
        OwnedRwLockReadGuard { lock: self }
    }

    /// Locks for reading if there is no writer and no waiting writer.
    pub fn try_read_owned(self: Arc<Self>) -> Option<OwnedRwLockReadGuard<T>> {
        mem::forget(self.try_read()?);
        Some(OwnedRwLockReadGuard { lock: self })
    }

    /// Like [`write`](Self::write), for a guard that keeps the lock alive, and can be sent to another fiber.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled.
    ///
    /// ```
    /// use anabranch::sync::RwLock;
    /// use std::sync::Arc;
    ///
    /// let names = Arc::new(RwLock::new(vec!["ana"]));
    /// anabranch::run(|cx| {
    ///     let mut guard = Arc::clone(&names).write_owned(cx).unwrap();
    ///     anabranch::spawn(move |_| guard.push("bea")).join(cx).unwrap();
    ///     assert_eq!(*names.read(cx).unwrap(), ["ana", "bea"]);
    /// });
    /// ```
    #[track_caller]
    pub fn write_owned(self: Arc<Self>, cx: &Cx<'_>) -> Result<OwnedRwLockWriteGuard<T>, Cancelled> {
        mem::forget(self.write(cx)?);
        Ok(OwnedRwLockWriteGuard { lock: self })
    }

    /// Like [`write_owned`](Self::write_owned), for async code.
    pub async fn write_owned_async(self: Arc<Self>) -> OwnedRwLockWriteGuard<T> {
        mem::forget(self.writing().await);
        OwnedRwLockWriteGuard { lock: self }
    }

    /// Locks for writing if there is no reader and no writer.
    pub fn try_write_owned(self: Arc<Self>) -> Option<OwnedRwLockWriteGuard<T>> {
        mem::forget(self.try_write()?);
        Some(OwnedRwLockWriteGuard { lock: self })
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// Turns the guard into one for reading, and admits other readers. No writer changes the value in between.
    ///
    /// ```
    /// use anabranch::sync::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let lock = Arc::new(RwLock::new(1));
    /// let mut writes = Arc::clone(&lock).try_write_owned().unwrap();
    /// *writes += 1;
    /// let reads = OwnedRwLockWriteGuard::downgrade(writes);
    /// assert_eq!(*reads + *lock.try_read().unwrap(), 4);
    /// ```
    pub fn downgrade(guard: Self) -> OwnedRwLockReadGuard<T> {
        let guard = ManuallyDrop::new(guard);
        // SAFETY: the guard is neither used nor dropped afterwards, so this moves the `Arc` out of it.
        let lock = unsafe { ptr::read(&raw const guard.lock) };
        // The guard for reading keeps one of the permits.
        lock.raw().release(ALL - ONE);
        OwnedRwLockReadGuard { lock }
    }
}

impl<T: ?Sized> Deref for OwnedMutexGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock, so no other reference to the value exists.
        unsafe { &*self.mutex.value_ptr() }
    }
}

impl<T: ?Sized> DerefMut for OwnedMutexGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the lock, so no other reference to the value exists.
        unsafe { &mut *self.mutex.value_ptr() }
    }
}

impl<T: ?Sized> Deref for OwnedRwLockReadGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard holds a permit, so no writer holds all of them.
        unsafe { &*self.lock.value_ptr() }
    }
}

impl<T: ?Sized> Deref for OwnedRwLockWriteGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard holds all permits, so no other reference to the value exists.
        unsafe { &*self.lock.value_ptr() }
    }
}

impl<T: ?Sized> DerefMut for OwnedRwLockWriteGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds all permits, so no other reference to the value exists.
        unsafe { &mut *self.lock.value_ptr() }
    }
}

impl<T: ?Sized> Drop for OwnedMutexGuard<T> {
    fn drop(&mut self) {
        // SAFETY: this guard holds the lock.
        unsafe { self.mutex.raw().unlock() }
    }
}

impl<T: ?Sized> Drop for OwnedRwLockReadGuard<T> {
    fn drop(&mut self) {
        self.lock.raw().release(ONE);
    }
}

impl<T: ?Sized> Drop for OwnedRwLockWriteGuard<T> {
    fn drop(&mut self) {
        self.lock.raw().release(ALL);
    }
}

/// Implements `Debug` and `Display` via the value.
macro_rules! shown {
    ($($name:ident),*) => {$(
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

shown!(OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard);
