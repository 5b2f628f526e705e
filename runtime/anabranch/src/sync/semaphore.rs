//! A counting semaphore.

use super::{
    raw_semaphore::RawSemaphore,
    semaphore_error::{AcquireError, TryAcquireError},
    semaphore_queue::MAX_PERMITS,
};
use crate::{
    cx::{Cx, attempt::wait_without_deadline},
    sys::sync::const_unless_loom,
    wait::suspend::WaitReason,
};
use std::{fmt, mem};

/// A number of permits, which limits how many fibers and threads run a section at a time.
///
/// A fiber or thread that requests more permits than are free waits. Waiters are woken in the order of arrival,
/// whatever number of permits they request. While the first of them requests more than are free, new callers wait
/// behind it. Until a woken waiter runs, others may take free permits. A waiter that has been overtaken for a
/// millisecond is handed its permits as soon as there are enough. A [`Permit`] gives its permits back when it is
/// dropped.
///
/// ```
/// use anabranch::sync::{AcquireError, Semaphore};
/// use std::time::Duration;
///
/// let connections = Semaphore::new(3);
/// anabranch::run(|cx| {
///     cx.scope(|s| {
///         for _ in 0..10 {
///             s.spawn(|cx| {
///                 let _permit = connections.acquire(cx)?;
///                 // At most three are here at a time.
///                 cx.sleep(Duration::from_micros(100))?;
///                 Ok::<_, AcquireError>(())
///             });
///         }
///     });
/// });
/// assert_eq!(connections.available(), 3);
/// ```
pub struct Semaphore {
    raw: RawSemaphore,
}

/// Permits of a [`Semaphore`]. Dropping them gives them back.
#[must_use = "permits that nobody holds are given back at once"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    count: usize,
}

impl Semaphore {
    /// The largest possible number of free permits.
    pub const MAX_PERMITS: usize = if MAX_PERMITS > usize::MAX as u64 { usize::MAX } else { MAX_PERMITS as usize };

    const_unless_loom! {
        /// Creates a semaphore with `permits` free permits.
        ///
        /// # Panics
        /// Panics if `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
        ///
        /// ```
        /// static DOWNLOADS: anabranch::sync::Semaphore = anabranch::sync::Semaphore::new(4);
        /// ```
        pub fn new(permits: usize) -> Self {
            assert!(permits <= Self::MAX_PERMITS, "more permits than a semaphore can count");
            Self { raw: RawSemaphore::new(permits as u64) }
        }
    }

    /// Returns the number of free permits. The answer may be outdated by the time the caller sees it.
    pub fn available(&self) -> usize {
        self.raw.free() as usize
    }

    /// Waits for a permit and takes it. [`acquiring`](Self::acquiring) has all other forms of this wait.
    ///
    /// # Errors
    /// Returns `Closed` if the semaphore is [closed](Self::close), `Cancelled` if the scope is cancelled, both even if
    /// a permit is free.
    ///
    /// ```
    /// let semaphore = anabranch::sync::Semaphore::new(1);
    /// anabranch::run(|cx| {
    ///     let permit = semaphore.acquire(cx).unwrap();
    ///     assert_eq!(semaphore.available(), 0);
    ///     drop(permit);
    ///     assert_eq!(semaphore.available(), 1);
    /// });
    /// ```
    #[inline]
    #[track_caller]
    pub fn acquire(&self, cx: &Cx<'_>) -> Result<Permit<'_>, AcquireError> {
        self.acquire_many(cx, 1)
    }

    /// Waits until `count` permits are free and takes them at once. A caller that requests more permits than there will
    /// ever be waits forever, and so do all later callers.
    ///
    /// # Errors
    /// Returns `Closed` if the semaphore is closed, `Cancelled` if the scope is cancelled.
    ///
    /// ```
    /// let megabytes = anabranch::sync::Semaphore::new(512);
    /// anabranch::run(|cx| {
    ///     let _big = megabytes.acquire_many(cx, 500).unwrap();
    ///     assert!(megabytes.try_acquire_many(100).is_err());
    /// });
    /// ```
    #[inline]
    #[track_caller]
    pub fn acquire_many(&self, cx: &Cx<'_>, count: usize) -> Result<Permit<'_>, AcquireError> {
        cx.checkpoint()?;
        if self.raw.try_acquire(count as u64) {
            return Ok(Permit { semaphore: self, count });
        }
        self.acquire_slow(cx, count, WaitReason::new(&"Semaphore::acquire"))
    }

    #[cold]
    fn acquire_slow(&self, cx: &Cx<'_>, count: usize, reason: WaitReason) -> Result<Permit<'_>, AcquireError> {
        Ok(wait_without_deadline(cx, &self.acquiring(count), reason)??)
    }

    /// Takes a permit if one is free.
    ///
    /// # Errors
    /// Returns `NoPermits` if none is free, or if the first waiter wants more permits than are free. Returns `Closed`
    /// if the semaphore is closed.
    ///
    /// ```
    /// use anabranch::sync::{Semaphore, TryAcquireError};
    ///
    /// let semaphore = Semaphore::new(1);
    /// let permit = semaphore.try_acquire().unwrap();
    /// assert_eq!(semaphore.try_acquire().err(), Some(TryAcquireError::NoPermits));
    /// # drop(permit);
    /// ```
    #[inline]
    pub fn try_acquire(&self) -> Result<Permit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes `count` permits if they are free.
    ///
    /// # Errors
    /// Returns `NoPermits` if fewer are free, or if the first waiter wants more permits than are free. Returns `Closed`
    /// if the semaphore is closed.
    #[inline]
    pub fn try_acquire_many(&self, count: usize) -> Result<Permit<'_>, TryAcquireError> {
        if self.raw.try_acquire(count as u64) {
            return Ok(Permit { semaphore: self, count });
        }
        Err(if self.is_closed() { TryAcquireError::Closed } else { TryAcquireError::NoPermits })
    }

    /// Closes the semaphore for good: nothing can be acquired any more, and all waits end with an error. Permits that
    /// were acquired before stay valid.
    ///
    /// ```
    /// use anabranch::sync::{AcquireError, Semaphore, TryAcquireError};
    ///
    /// let jobs = Semaphore::new(0);
    /// anabranch::run(|cx| {
    ///     let (waited, ()) = cx.join(|cx| jobs.acquire(cx).map(drop), |_| jobs.close());
    ///     assert_eq!(waited, Err(AcquireError::Closed));
    /// });
    /// jobs.add_permits(1);
    /// assert_eq!(jobs.try_acquire().err(), Some(TryAcquireError::Closed));
    /// ```
    pub fn close(&self) {
        self.raw.close();
    }

    /// Returns whether the semaphore is closed.
    pub fn is_closed(&self) -> bool {
        self.raw.is_closed()
    }

    /// Adds permits. They need not have existed before.
    ///
    /// # Panics
    /// Panics if more than [`MAX_PERMITS`](Self::MAX_PERMITS) would be free.
    ///
    /// ```
    /// use anabranch::sync::Semaphore;
    ///
    /// /// Signals that are counted: each is received once.
    /// let signals = Semaphore::new(0);
    /// anabranch::run(|cx| {
    ///     cx.join(|cx| signals.acquire_many(cx, 2).unwrap().forget(), |_| signals.add_permits(3));
    ///     assert_eq!(signals.available(), 1);
    /// });
    /// ```
    pub fn add_permits(&self, count: usize) {
        self.raw.release(count as u64);
    }

    /// Removes up to `count` free permits for good, and returns how many it removed.
    ///
    /// ```
    /// let semaphore = anabranch::sync::Semaphore::new(5);
    /// assert_eq!(semaphore.forget(3), 3);
    /// assert_eq!(semaphore.forget(3), 2);
    /// assert_eq!(semaphore.available(), 0);
    /// ```
    pub fn forget(&self, count: usize) -> usize {
        self.raw.forget(count as u64) as usize
    }

    pub(super) fn raw(&self) -> &RawSemaphore {
        &self.raw
    }
}

/// Creates a semaphore without permits.
impl Default for Semaphore {
    fn default() -> Self {
        Self::new(0)
    }
}

/// Creates a semaphore with `permits` free permits.
impl From<usize> for Semaphore {
    fn from(permits: usize) -> Self {
        Self::new(permits)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Semaphore");
        shown.field("available", &self.available()).field("is_closed", &self.is_closed()).finish()
    }
}

impl<'a> Permit<'a> {
    /// Creates a permit. The caller has acquired `count` permits.
    pub(super) fn new(semaphore: &'a Semaphore, count: usize) -> Self {
        Self { semaphore, count }
    }
}

impl Permit<'_> {
    /// Returns the number of permits.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Drops the permits without giving them back. The semaphore has that many permits fewer from now on.
    ///
    /// ```
    /// let semaphore = anabranch::sync::Semaphore::new(2);
    /// semaphore.try_acquire().unwrap().forget();
    /// assert_eq!(semaphore.available(), 1);
    /// ```
    pub fn forget(self) {
        mem::forget(self);
    }

    /// Splits off `count` permits. Returns `None` if there are fewer.
    ///
    /// ```
    /// let semaphore = anabranch::sync::Semaphore::new(5);
    /// let mut five = semaphore.try_acquire_many(5).unwrap();
    /// let two = five.split(2).unwrap();
    /// drop(five);
    /// assert_eq!((semaphore.available(), two.count()), (3, 2));
    /// ```
    pub fn split(&mut self, count: usize) -> Option<Self> {
        self.count = self.count.checked_sub(count)?;
        Some(Self { semaphore: self.semaphore, count })
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.raw.release(self.count as u64);
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("count", &self.count).finish()
    }
}
