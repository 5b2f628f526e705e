//! A lock around a value.

use super::{
    limit::Limit,
    raw_mutex::{LockWait, RawMutex},
};
use crate::{
    cx::{
        Cx,
        attempt::{wait_async_for, wait_for, wait_long_for, wait_shielded_for},
    },
    sys::sync::const_unless_loom,
    wait::{Cancelled, WaitError, suspend::WaitReason},
};
use std::{
    cell::UnsafeCell,
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    time::{Duration, Instant},
};

/// A value that one strand at a time can get at.
///
/// While it waits for the lock a fiber is suspended and its thread does something else. The guard may be held across
/// waits. A lock and an unlock that meet nobody are one atomic operation each.
///
/// It is fair enough that nobody starves: whoever runs may overtake those who wait, but not one that has been woken in
/// vain for a millisecond. Locking it again while one has the guard is a deadlock.
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

// SAFETY: the value goes from one to the next, as the lock does.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The right to a [`Mutex`]'s value. Dropping it unlocks.
#[must_use = "without the guard the mutex is unlocked at once"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// Shared and sent under the same conditions as the value itself.
    _value: PhantomData<&'a mut T>,
}

impl<T> Mutex<T> {
    const_unless_loom! {
        /// An unlocked one.
        ///
        /// ```
        /// static NAMES: anabranch::sync::Mutex<Vec<String>> = anabranch::sync::Mutex::new(Vec::new());
        /// ```
        pub fn new(value: T) -> Self {
            Self { raw: RawMutex::new(), value: UnsafeCell::new(value) }
        }
    }

    /// The value, of which nobody else knows any more.
    ///
    /// ```
    /// assert_eq!(anabranch::sync::Mutex::new(3).into_inner(), 3);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock and takes it.
    ///
    /// # Errors
    /// When the scope was cancelled, also when the lock is free.
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
        Ok(MutexGuard::new(self))
    }

    #[cold]
    fn lock_slow(&self, cx: &Cx<'_>, reason: WaitReason) -> Result<(), Cancelled> {
        wait_long_for(cx, &LockWait::new(&self.raw), reason)
    }

    /// As [`lock`](Self::lock), but waits no longer than until then.
    ///
    /// # Errors
    /// When the scope was cancelled, or the time was up.
    #[track_caller]
    pub fn lock_deadline(&self, cx: &Cx<'_>, instant: Instant) -> Result<MutexGuard<'_, T>, WaitError> {
        self.lock_to(cx, Limit::Until(instant).tick(cx), WaitReason::new(&"Mutex::lock"))
    }

    /// As [`lock`](Self::lock), but waits no longer than this.
    ///
    /// # Errors
    /// When the scope was cancelled, or the time was up.
    ///
    /// ```
    /// use anabranch::{WaitError, sync::Mutex};
    /// use std::time::Duration;
    ///
    /// let mutex = Mutex::new(());
    /// anabranch::run(|cx| {
    ///     let _guard = mutex.lock(cx).unwrap();
    ///     let second = mutex.lock_timeout(cx, Duration::from_millis(1));
    ///     assert_eq!(second.unwrap_err(), WaitError::TimedOut);
    /// });
    /// ```
    #[track_caller]
    pub fn lock_timeout(&self, cx: &Cx<'_>, timeout: Duration) -> Result<MutexGuard<'_, T>, WaitError> {
        self.lock_to(cx, Limit::For(timeout).tick(cx), WaitReason::new(&"Mutex::lock"))
    }

    pub(super) fn lock_to(
        &self,
        cx: &Cx<'_>,
        deadline: u64,
        reason: WaitReason,
    ) -> Result<MutexGuard<'_, T>, WaitError> {
        cx.checkpoint()?;
        if !self.raw.try_lock_fast() {
            wait_for(cx, &LockWait::new(&self.raw), deadline, reason)?;
        }
        Ok(MutexGuard::new(self))
    }

    /// As [`lock`](Self::lock), for async code. A future that is dropped leaves the queue, and hands on the lock if it
    /// has just been given it.
    ///
    /// ```
    /// use anabranch::sync::Mutex;
    ///
    /// async fn count(hits: &Mutex<u32>) {
    ///     *hits.lock_async().await += 1;
    /// }
    /// # let hits = Mutex::new(0);
    /// # anabranch::run(|cx| cx.block_on(count(&hits))).unwrap();
    /// # assert_eq!(hits.into_inner(), 1);
    /// ```
    pub async fn lock_async(&self) -> MutexGuard<'_, T> {
        if !self.raw.try_lock_fast() {
            wait_async_for(LockWait::new(&self.raw)).await;
        }
        MutexGuard::new(self)
    }

    /// Takes the lock if it is free.
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
        self.raw.try_lock().then(|| MutexGuard::new(self))
    }

    /// Whether somebody has the lock. By the time one knows, it may be otherwise.
    ///
    /// ```
    /// let mutex = anabranch::sync::Mutex::new(0);
    /// let _guard = mutex.try_lock();
    /// assert!(mutex.is_locked());
    /// ```
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }

    /// The value, without locking: nobody else can have it.
    ///
    /// ```
    /// let mut mutex = anabranch::sync::Mutex::new(1);
    /// *mutex.get_mut() += 1;
    /// assert_eq!(mutex.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Takes the lock, whatever is cancelled: for who had it before.
    pub(super) fn lock_again(&self, cx: &Cx<'_>, reason: WaitReason) {
        wait_shielded_for(cx, &LockWait::new(&self.raw), reason);
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
    /// The caller has the lock.
    #[inline]
    pub(super) fn new(mutex: &'a Mutex<T>) -> Self {
        Self { mutex, _value: PhantomData }
    }

    /// The mutex that this is a guard of.
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

    /// A second guard of the same lock.
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
        // SAFETY: the guard has the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard has the lock.
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
