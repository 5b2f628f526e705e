//! The lock in a [`Mutex`](super::Mutex), without the value: a [semaphore](super::raw_semaphore) with a single permit.
//! An uncontended lock is one CAS. A fiber or thread that finds it locked retries for a moment before it waits.

use super::{acquire_wait::AcquireWait, raw_semaphore::RawSemaphore};
use crate::{
    cx::attempt::Attempt,
    sys::sync::{const_unless_loom, hint},
    wait::{
        waitable::{Armed, Ended, Waitable},
        waiter::Waiter,
    },
};

/// How many times a fiber or thread retries before it waits, if it finds the lock taken. The pauses double.
const SPIN_ROUNDS: u32 = if cfg!(loom) { 0 } else { 4 };

/// See the [module](self).
pub(crate) struct RawMutex(RawSemaphore);

impl RawMutex {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(RawSemaphore::new(1))
        }
    }

    /// Locks if the lock is free and has no waiters.
    #[inline]
    pub(crate) fn try_lock_fast(&self) -> bool {
        self.0.try_acquire_single()
    }

    /// Locks if the lock is free.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.try_lock_fast() || self.0.try_acquire(1)
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.0.free() == 0
    }

    /// Records the waiter of the fiber or thread that has just locked, or null if it is not known.
    #[inline(always)]
    pub(crate) fn set_holder(&self, waiter: *const Waiter) {
        self.0.set_holder(waiter);
    }

    /// # Safety
    /// The caller holds the lock.
    #[inline]
    pub(crate) unsafe fn unlock(&self) {
        self.0.release_single();
    }
}

/// The wait of one fiber or thread for the lock.
pub(crate) struct LockWait<'a> {
    mutex: &'a RawMutex,
    wait: AcquireWait<'a>,
}

impl<'a> LockWait<'a> {
    pub(crate) fn new(mutex: &'a RawMutex) -> Self {
        Self { mutex, wait: AcquireWait::new(&mutex.0, 1) }
    }

    /// Spins for a moment in case the lock becomes free. Returns at once if others already wait.
    fn spin(&self) {
        for round in 0..SPIN_ROUNDS {
            if !self.mutex.is_locked() || self.mutex.0.has_waiters() && !self.wait.was_woken() {
                return;
            }
            for _ in 0..1 << round {
                hint::spin_loop();
            }
        }
    }
}

impl Attempt for LockWait<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        if !self.wait.has_permits() {
            self.spin();
        }
        self.wait.attempt()
    }

    fn pass_on(&self) {
        self.wait.pass_on();
    }
}

// SAFETY: `wait` upholds the contract of `Waitable`, and every call is forwarded to it.
unsafe impl Waitable for LockWait<'_> {
    fn is_lock(&self) -> bool {
        true
    }

    fn register(&self, armed: Armed) -> bool {
        self.wait.register(armed)
    }

    fn unregister(&self, ended: Ended) {
        self.wait.unregister(ended);
    }
}
