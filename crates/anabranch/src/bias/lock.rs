//! A lock that is held for a few instructions, as [`SpinLock`](crate::sys::spin::SpinLock), and that costs no
//! read-modify-write while one thread alone takes it: all fibers that use a channel are often on one worker.
//!
//! The idea, from biased locking: a thread that has taken the lock many times in a row becomes its *owner*. It takes
//! the lock by a store and a load from then on, a quarter of what an exchange costs. The first other thread revokes the
//! bias, for good, and waits until the owner has left; that costs a barrier in all threads, a few microseconds, as much
//! as the owner can have lost by then. After that this is a spin lock with one more load.
//!
//! | owner      | how the lock is taken                              | left by                                                  |
//! |------------|----------------------------------------------------|----------------------------------------------------------|
//! | none       | all by `is_taken`, and count                       | the one inside, after [`STREAK`] times in a row -> it    |
//! | a thread   | it by `enter`; all others by `is_taken`, and then revoke the bias | another, with `is_taken` -> ended     |
//! | ended      | all by `is_taken`                                  |                                                          |
//!
//! Orderings. The owner and the revoking thread: see [`bias`](crate::bias::bias). To unlock releases, by either mark.
//! To lock acquires, and so does a thread that waits for the owner. A thread claims or revokes the bias only while it
//! holds `is_taken`, which also guards `candidate` and `streak`.
//!
//! Source: that of [`bias`](crate::bias::bias).

use crate::{
    bias::{
        bias::{Bias, Inside, Owner},
        policy::should_bias,
    },
    sys::{
        prefetch::prefetch,
        spin::patiently,
        sync::{AtomicBool, Cell, Ordering},
        thread::identity,
    },
};
use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
};

/// How many times in a row a thread takes the lock before it becomes the owner, at most: see
/// [`record`](crate::bias::policy). The first other thread then waits for about as long as so many exchanges take.
const STREAK: u16 = if cfg!(any(loom, shuttle, miri)) { 2 } else { 1000 };

/// See the [module](self).
pub(crate) struct BiasedLock<T> {
    bias: Bias,
    /// The mark of all threads but the owner.
    is_taken: AtomicBool,
    /// How often the candidate has taken the lock in a row.
    streak: Cell<u16>,
    /// Some bits of the identity of the last thread. Two threads may share them, which only costs time.
    candidate: Cell<u16>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a guard only, of which one exists at a time.
unsafe impl<T: Send> Send for BiasedLock<T> {}
// SAFETY: the value is reached through a guard only, of which one exists at a time.
unsafe impl<T: Send> Sync for BiasedLock<T> {}

/// A guard: access to the value, until it is dropped.
pub(crate) struct BiasedGuard<'a, T> {
    lock: &'a BiasedLock<T>,
    /// The mark by which the lock was taken.
    mark: &'a AtomicBool,
}

impl<T> BiasedLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            bias: Bias::new(),
            is_taken: AtomicBool::new(false),
            streak: Cell::new(0),
            candidate: Cell::new(0),
            value: UnsafeCell::new(value),
        }
    }

    #[inline(always)]
    pub(crate) fn lock(&self) -> BiasedGuard<'_, T> {
        self.guard(self.bias.enter())
    }

    /// Locks by a read-modify-write in any case.
    #[inline]
    pub(crate) fn lock_by_update(&self) -> BiasedGuard<'_, T> {
        self.guard(self.bias.enter_by_update())
    }

    #[inline(always)]
    fn guard<'a>(&'a self, inside: Option<Inside<'a>>) -> BiasedGuard<'a, T> {
        BiasedGuard { lock: self, mark: inside.map_or_else(|| self.take(), Inside::into_mark) }
    }

    #[inline]
    fn take(&self) -> &AtomicBool {
        // Reads after the exchange wait for its end. Where the lock is not in the caches, what it guards is not either.
        if size_of::<T>() > 64 {
            prefetch(self.value.get().cast::<u8>().wrapping_byte_add(64));
        }
        while self.is_taken.swap(true, Ordering::Acquire) {
            patiently(&self.is_taken);
        }
        if !self.bias.has_ended() {
            self.settle();
        }
        &self.is_taken
    }

    /// Returns whether the calling thread is the owner.
    #[cfg(all(test, loom))]
    pub(crate) fn is_mine(&self) -> bool {
        self.bias.is_mine()
    }

    /// With the lock taken: counts, or revokes the bias.
    #[inline(never)]
    fn settle(&self) {
        if self.bias.owner() != Owner::None {
            return self.bias.revoke();
        }
        let me = (identity().addr() >> 6) as u16;
        if self.candidate.replace(me) != me {
            self.streak.set(0);
        }
        self.streak.set(self.streak.get() + 1);
        if should_bias(self.streak.get().into(), STREAK.into()) {
            self.bias.claim();
        }
    }
}

impl<T> Deref for BiasedGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock, so no other thread accesses the value.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for BiasedGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the lock, so no other thread accesses the value, and `&mut self` excludes other
        // borrows.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for BiasedGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        const LET_GO: Ordering = Ordering::Release;
        // A swap under loom, as in `SpinLock`.
        if cfg!(loom) {
            self.mark.swap(false, LET_GO);
        } else {
            self.mark.store(false, LET_GO);
        }
    }
}

/// A lock for a few instructions that often only one thread takes.
#[cfg(not(loom))]
pub(crate) type BriefBiased<T> = BiasedLock<T>;

#[cfg(not(loom))]
pub(crate) type BriefGuard<'a, T> = BiasedGuard<'a, T>;

#[cfg(loom)]
pub(crate) type BriefGuard<'a, T> = crate::sys::sync::MutexGuard<'a, T>;

#[cfg(loom)]
pub(crate) struct BriefBiased<T>(crate::sys::sync::Mutex<T>);

#[cfg(loom)]
impl<T> BriefBiased<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(crate::sys::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> crate::sys::sync::MutexGuard<'_, T> {
        crate::sys::sync::lock(&self.0)
    }

    pub(crate) fn lock_by_update(&self) -> crate::sys::sync::MutexGuard<'_, T> {
        self.lock()
    }
}
