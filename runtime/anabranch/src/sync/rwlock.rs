//! A lock for many readers or one writer.
//!
//! The idea. It is a [semaphore](super::raw_semaphore) with as many permits as there can be readers: a reader takes
//! one, a writer takes all. It has the properties of that semaphore. Readers that come after a waiting writer wait
//! behind it, so a stream of readers cannot starve a writer, nor can writers starve a reader. Consecutive waiting
//! readers are woken together.

use super::{acquire_wait::AcquireWait, raw_semaphore::RawSemaphore};
use crate::{
    cx::{Cx, attempt::wait_without_deadline},
    sys::sync::const_unless_loom,
    wait::{Cancelled, suspend::WaitReason},
};
use std::{
    cell::UnsafeCell,
    fmt,
    marker::PhantomData,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    ptr,
};

/// The permits that a reader takes.
pub(super) const ONE: u64 = 1;

/// The permits that a writer takes.
pub(super) const ALL: u64 = u32::MAX as u64;

/// A value that many fibers and threads can read at the same time, or one can change.
///
/// Waiters are woken in the order of arrival, so neither readers nor writers starve: a reader that comes after a
/// waiting writer waits behind it. Until a woken waiter runs, others may take the lock. A waiter that has been
/// overtaken for a millisecond is handed the lock by the next release. Do not lock twice: a reader that reads again may
/// wait behind a writer, which waits for that reader.
///
/// There is no poisoning: see the [module](super). At most 4,294,967,295 readers hold the lock at a time; a further
/// reader waits.
///
/// ```
/// use anabranch::sync::RwLock;
/// use std::collections::HashMap;
///
/// let routes = RwLock::new(HashMap::from([("/", "home")]));
/// anabranch::run(|cx| {
///     cx.join(
///         |cx| assert_eq!(routes.read(cx).unwrap().get("/"), Some(&"home")),
///         |cx| routes.write(cx).unwrap().insert("/about", "about"),
///     );
///     assert_eq!(routes.read(cx).unwrap().len(), 2);
/// });
/// ```
pub struct RwLock<T: ?Sized> {
    raw: RawSemaphore,
    value: UnsafeCell<T>,
}

// SAFETY: sending the lock sends the value, which is `Send`.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: one writer at a time sends the value from one thread to another, and readers share it, which is `Sync`.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

/// A guard that gives shared access to the value of an [`RwLock`]. Dropping it unlocks.
#[must_use = "without the guard the lock is given back at once"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// Shared and sent under the same conditions as a reference to the value.
    _value: PhantomData<&'a T>,
}

/// A guard that gives exclusive access to the value of an [`RwLock`]. Dropping it unlocks.
#[must_use = "without the guard the lock is given back at once"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// Shared and sent under the same conditions as the value itself.
    _value: PhantomData<&'a mut T>,
}

impl<T> RwLock<T> {
    const_unless_loom! {
        /// Creates an unlocked lock.
        ///
        /// ```
        /// static LIMITS: anabranch::sync::RwLock<[u32; 2]> = anabranch::sync::RwLock::new([1, 2]);
        /// ```
        pub fn new(value: T) -> Self {
            Self { raw: RawSemaphore::new(ALL), value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value. The lock is owned here, so no other thread can access it.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading. Waits while there is a writer, or while a writer has been waiting for longer.
    /// [`reading`](Self::reading) has all other forms of this wait.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled.
    #[inline]
    #[track_caller]
    pub fn read(&self, cx: &Cx<'_>) -> Result<RwLockReadGuard<'_, T>, Cancelled> {
        cx.checkpoint()?;
        if !self.raw.try_acquire(ONE) {
            self.acquire_slow(cx, ONE, WaitReason::new(&"RwLock::read"))?;
        }
        Ok(RwLockReadGuard::new(self))
    }

    /// Locks for writing. Waits while there is a reader or a writer, or while another waiter has been waiting for
    /// longer. [`writing`](Self::writing) has all other forms of this wait.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled.
    #[inline]
    #[track_caller]
    pub fn write(&self, cx: &Cx<'_>) -> Result<RwLockWriteGuard<'_, T>, Cancelled> {
        cx.checkpoint()?;
        if !self.raw.try_acquire(ALL) {
            self.acquire_slow(cx, ALL, WaitReason::new(&"RwLock::write"))?;
        }
        self.raw.set_holder(cx.waiter_address());
        Ok(RwLockWriteGuard::new(self))
    }

    #[cold]
    fn acquire_slow(&self, cx: &Cx<'_>, permits: u64, reason: WaitReason) -> Result<(), Cancelled> {
        wait_without_deadline(cx, &AcquireWait::new(&self.raw, permits), reason)
    }

    /// Locks for reading if there is no writer and no waiting writer. Does not wait.
    ///
    /// ```
    /// let lock = anabranch::sync::RwLock::new(1);
    /// let (one, other) = (lock.try_read().unwrap(), lock.try_read().unwrap());
    /// assert_eq!(*one + *other, 2);
    /// assert!(lock.try_write().is_none());
    /// ```
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.raw.try_acquire(ONE).then(|| RwLockReadGuard::new(self))
    }

    /// Locks for writing if there is no reader and no writer. Does not wait.
    #[inline]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        self.raw.try_acquire(ALL).then(|| {
            self.raw.set_holder(ptr::null());
            RwLockWriteGuard::new(self)
        })
    }

    /// Returns the value without locking: the exclusive borrow rules out other users.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    pub(super) fn value_ptr(&self) -> *mut T {
        self.value.get()
    }

    pub(super) fn raw(&self) -> &RawSemaphore {
        &self.raw
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Shows the value if it can be read at once.
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Some(guard) => shown.field("value", &&*guard).finish(),
            None => shown.field("value", &format_args!("<locked>")).finish(),
        }
    }
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// Creates a guard. The caller has taken one permit.
    #[inline]
    pub(super) fn new(lock: &'a RwLock<T>) -> Self {
        Self { lock, _value: PhantomData }
    }

    /// Returns the lock of this guard.
    pub(super) fn lock(&self) -> &'a RwLock<T> {
        self.lock
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Creates a guard. The caller has taken all permits.
    #[inline]
    pub(super) fn new(lock: &'a RwLock<T>) -> Self {
        Self { lock, _value: PhantomData }
    }

    /// Returns the lock of this guard.
    pub(super) fn lock(&self) -> &'a RwLock<T> {
        self.lock
    }

    /// Turns the guard into one for reading, and admits other readers. No writer changes the value in between.
    ///
    /// ```
    /// use anabranch::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let mut writes = lock.try_write().unwrap();
    /// *writes += 1;
    /// let reads = RwLockWriteGuard::downgrade(writes);
    /// assert_eq!(*reads + *lock.try_read().unwrap(), 4);
    /// ```
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let lock = ManuallyDrop::new(guard).lock;
        // The guard for reading keeps one of the permits.
        let guard = RwLockReadGuard::new(lock);
        lock.raw.release(ALL - ONE);
        guard
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds a permit, so no writer holds all of them.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds all permits, so no other reference to the value exists.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds all permits, so no other reference to the value exists.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.raw.release(ONE);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.raw.release(ALL);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
