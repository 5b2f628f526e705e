//! Permits that keep their semaphore alive, and can be sent to another fiber.

use super::{
    semaphore::{Permit, Semaphore},
    semaphore_error::{AcquireError, SemaphoreClosed, TryAcquireError},
};
use crate::cx::Cx;
use std::{fmt, sync::Arc};

/// Permits that keep their [`Semaphore`] alive. Created by [`Semaphore::acquire_owned`]. Dropping them gives them back.
#[must_use = "permits that nobody holds are given back at once"]
pub struct OwnedPermit {
    semaphore: Arc<Semaphore>,
    count: usize,
}

impl Semaphore {
    /// Like [`acquire`](Self::acquire), for a permit that keeps the semaphore alive, and can be sent to another fiber.
    ///
    /// # Errors
    /// Returns `Closed` if the semaphore is closed, `Cancelled` if the scope is cancelled.
    ///
    /// ```
    /// use anabranch::sync::Semaphore;
    /// use std::sync::Arc;
    ///
    /// let slots = Arc::new(Semaphore::new(1));
    /// anabranch::run(|cx| {
    ///     let permit = Arc::clone(&slots).acquire_owned(cx).unwrap();
    ///     assert_eq!(slots.available(), 0);
    ///     anabranch::spawn(move |_| drop(permit)).join(cx).unwrap();
    ///     assert_eq!(slots.available(), 1);
    /// });
    /// ```
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>, cx: &Cx<'_>) -> Result<OwnedPermit, AcquireError> {
        self.acquire_many_owned(cx, 1)
    }

    /// Like [`acquire_many`](Self::acquire_many), for permits that keep the semaphore alive.
    ///
    /// # Errors
    /// Returns `Closed` if the semaphore is closed, `Cancelled` if the scope is cancelled.
    #[track_caller]
    pub fn acquire_many_owned(self: Arc<Self>, cx: &Cx<'_>, count: usize) -> Result<OwnedPermit, AcquireError> {
        self.acquire_many(cx, count)?.forget();
        Ok(OwnedPermit { semaphore: self, count })
    }

    /// Like [`acquire_owned`](Self::acquire_owned), for async code.
    ///
    /// # Errors
    /// Returns an error if the semaphore is closed.
    pub async fn acquire_owned_async(self: Arc<Self>) -> Result<OwnedPermit, SemaphoreClosed> {
        self.acquire_many_owned_async(1).await
    }

    /// Like [`acquire_many_owned`](Self::acquire_many_owned), for async code.
    ///
    /// # Errors
    /// Returns an error if the semaphore is closed.
    pub async fn acquire_many_owned_async(self: Arc<Self>, count: usize) -> Result<OwnedPermit, SemaphoreClosed> {
        self.acquiring(count).await?.forget();
        Ok(OwnedPermit { semaphore: self, count })
    }

    /// Like [`try_acquire`](Self::try_acquire), for a permit that keeps the semaphore alive.
    ///
    /// # Errors
    /// Returns `NoPermits` if none is free, `Closed` if the semaphore is closed.
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedPermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Like [`try_acquire_many`](Self::try_acquire_many), for permits that keep the semaphore alive.
    ///
    /// # Errors
    /// Returns `NoPermits` if fewer are free, `Closed` if the semaphore is closed.
    pub fn try_acquire_many_owned(self: Arc<Self>, count: usize) -> Result<OwnedPermit, TryAcquireError> {
        self.try_acquire_many(count)?.forget();
        Ok(OwnedPermit { semaphore: self, count })
    }
}

impl OwnedPermit {
    /// Returns the number of permits.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the semaphore.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }

    /// Drops the permits without giving them back. The semaphore has that many permits fewer from now on.
    ///
    /// ```
    /// use anabranch::sync::Semaphore;
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(Semaphore::new(2));
    /// Arc::clone(&semaphore).try_acquire_owned().unwrap().forget();
    /// assert_eq!((semaphore.available(), Arc::strong_count(&semaphore)), (1, 1));
    /// ```
    pub fn forget(mut self) {
        self.count = 0;
    }

    /// Splits off `count` permits. Returns `None` if there are fewer.
    pub fn split(&mut self, count: usize) -> Option<Self> {
        self.count = self.count.checked_sub(count)?;
        Some(Self { semaphore: Arc::clone(&self.semaphore), count })
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        drop(Permit::new(&self.semaphore, self.count));
    }
}

impl fmt::Debug for OwnedPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").field("count", &self.count).finish()
    }
}
