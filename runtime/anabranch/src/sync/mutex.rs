//! A lock around a value.

use super::raw_mutex::{LockWait, RawMutex};
use crate::{
    cx::{
        Cx,
        attempt::{wait_shielded_for, wait_without_deadline},
    },
    sys::sync::const_unless_loom,
    wait::{Cancelled, suspend::WaitReason},
};
use std::{
    cell::UnsafeCell,
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    ptr,
};

/// A value that one fiber or thread at a time can access.
///
/// A fiber that waits for the lock is suspended, and its thread runs other fibers. The guard may be held across waits.
/// An uncontended lock and an uncontended unlock are one atomic operation each.
///
/// No waiter starves. A running fiber or thread may overtake waiters, except a waiter that has been overtaken for a
/// millisecond. Locking the mutex again while holding its guard is a deadlock.
///
/// There is no poisoning: see the [module](super).
///
/// ```
/// use anabranch::sync::Mutex;
///
/// static TOTAL: Mutex<u32> = Mutex::new(0);
///
/// anabranch::run(|cx| {
///     cx.scope(|s| {
///         for _ in 0..10 {
///             s.spawn(|cx| *TOTAL.lock(cx).unwrap() += 1);
///         }
///     });
///     assert_eq!(*TOTAL.lock(cx).unwrap(), 10);
/// });
/// ```
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    value: UnsafeCell<T>,
}

// SAFETY: sending the mutex sends the value, which is `Send`.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: the lock gives one fiber or thread at a time access to the value, so the value is only sent between them.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// A guard that gives access to the value of a [`Mutex`]. Dropping it unlocks.
#[must_use = "without the guard the mutex is unlocked at once"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// Shared and sent under the same conditions as the value itself.
    _value: PhantomData<&'a mut T>,
}

impl<T> Mutex<T> {
    const_unless_loom! {
        /// Creates an unlocked mutex.
        ///
        /// ```
        /// static NAMES: anabranch::sync::Mutex<Vec<String>> = anabranch::sync::Mutex::new(Vec::new());
        /// ```
        pub fn new(value: T) -> Self {
            Self { raw: RawMutex::new(), value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value. The mutex is owned here, so no other thread can access it.
    ///
    /// ```
    /// assert_eq!(anabranch::sync::Mutex::new(3).into_inner(), 3);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock and takes it. [`locking`](Self::locking) has all other forms of this wait.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled, even if the lock is free.
    ///
    /// ```
    /// use anabranch::{Cancelled, sync::Mutex};
    ///
    /// let mutex = Mutex::new(vec![1]);
    /// anabranch::run(|cx| {
    ///     mutex.lock(cx)?.push(2);
    ///     assert_eq!(*mutex.lock(cx)?, [1, 2]);
    ///     Ok::<_, Cancelled>(())
    /// })
    /// .unwrap();
    /// ```
    #[inline]
    #[track_caller]
    pub fn lock(&self, cx: &Cx<'_>) -> Result<MutexGuard<'_, T>, Cancelled> {
        cx.checkpoint()?;
        if !self.raw.try_lock_fast() {
            self.lock_slow(cx, WaitReason::new(&"Mutex::lock"))?;
        }
        self.raw.set_holder(cx.waiter_address());
        Ok(MutexGuard::new(self))
    }

    #[cold]
    fn lock_slow(&self, cx: &Cx<'_>, reason: WaitReason) -> Result<(), Cancelled> {
        wait_without_deadline(cx, &LockWait::new(&self.raw), reason)
    }

    /// Takes the lock if it is free. Does not wait.
    ///
    /// ```
    /// let mutex = anabranch::sync::Mutex::new(0);
    /// let guard = mutex.try_lock().unwrap();
    /// assert!(mutex.try_lock().is_none());
    /// drop(guard);
    /// assert!(mutex.try_lock().is_some());
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.raw.try_lock().then(|| {
            self.raw.set_holder(ptr::null());
            MutexGuard::new(self)
        })
    }

    /// Returns whether the mutex is locked. The answer may be outdated by the time the caller sees it.
    ///
    /// ```
    /// let mutex = anabranch::sync::Mutex::new(0);
    /// let _guard = mutex.try_lock();
    /// assert!(mutex.is_locked());
    /// ```
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }

    /// Returns the value without locking: the exclusive borrow rules out other users.
    ///
    /// ```
    /// let mut mutex = anabranch::sync::Mutex::new(1);
    /// *mutex.get_mut() += 1;
    /// assert_eq!(mutex.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Takes the lock even if the scope is cancelled, for a caller that held it before.
    pub(super) fn lock_again(&self, cx: &Cx<'_>, reason: WaitReason) {
        wait_shielded_for(cx, &LockWait::new(&self.raw), reason);
        self.raw.set_holder(cx.waiter_address());
    }

    pub(super) fn value_ptr(&self) -> *mut T {
        self.value.get()
    }

    pub(super) fn raw(&self) -> &RawMutex {
        &self.raw
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Shows the value if the lock is free.
impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Some(guard) => shown.field("value", &&*guard).finish(),
            None => shown.field("value", &format_args!("<locked>")).finish(),
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Creates a guard. The caller holds the lock.
    #[inline]
    pub(super) fn new(mutex: &'a Mutex<T>) -> Self {
        Self { mutex, _value: PhantomData }
    }

    /// Returns the mutex of a guard.
    ///
    /// ```
    /// use anabranch::sync::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.try_lock().unwrap();
    /// assert!(std::ptr::eq(MutexGuard::mutex(&guard), &mutex));
    /// ```
    pub fn mutex(guard: &Self) -> &'a Mutex<T> {
        guard.mutex
    }

    /// Creates a second guard of the same lock.
    ///
    /// # Safety
    /// One of the two is forgotten; or one is dropped, and the other neither used nor dropped before it has the lock
    /// again.
    pub(super) unsafe fn twin(guard: &Self) -> Self {
        Self::new(guard.mutex)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock, so no other reference to the value exists.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the lock, so no other reference to the value exists.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this guard holds the lock.
        unsafe { self.mutex.raw.unlock() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
