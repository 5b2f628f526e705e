//! A lock that is held for a few instructions, as [`SpinLock`](super::spin::SpinLock), and that costs no read-modify-write
//! while one thread alone takes it: all fibers that use a channel are often on one worker.
//!
//! The idea, from biased locking: a thread that has taken the lock many times in a row becomes its *owner*. It takes the lock by
//! a store and a load from then on, a quarter of what an exchange costs. The first other thread takes the bias away, for good,
//! and waits for the owner to come out; that costs a barrier in all threads, a few microseconds, as much as the owner can have
//! lost by then. After that the lock is one that spins, and a load more.
//!
//! | owner       | who takes the lock                                 | left by                                                  |
//! |-------------|----------------------------------------------------|----------------------------------------------------------|
//! | a candidate | all by `is_taken`, and count                       | the one inside -> another candidate, or, after `STREAK` times in a row, itself, or ALL |
//! | a thread    | it by `is_inside`; all others by `is_taken`, and then take the bias away | another, with `is_taken` -> ALL    |
//! | ALL         | all by `is_taken`                                  |                                                          |
//!
//! For good, because a bias that comes and goes costs each time what it may never save. Where there is no such barrier the
//! lock is everybody's at once.
//!
//! Orderings. The owner and the one who takes the bias away meet in Dekker's pattern: the one sets `is_inside` and reads `owner`,
//! the other writes `owner` and reads `is_inside`. The owner comes often and its fence is free, the other pays for both (see
//! [`barrier`]). So either the owner finds that it is none any more, steps back and takes the lock as all do, or
//! the other sees it inside and waits. Letting go releases, by whichever mark; taking acquires, and so does the one who waits
//! for the owner. `owner` is written with `is_taken` alone, `streak` is guarded by it, and others than the owner read neither
//! without it.
//!
//! A thread is known by the address of something that is local to it. The next thread at that address has no less: the one before
//! has come out, and the system orders the two.
//!
//! Source: Kawachiya, Koseki, Onodera: Lock Reservation (2002); Dice, Huang, Yang: Asymmetric Dekker Synchronization (2001).

use crate::sys::{
    barrier,
    spin::patiently,
    sync::{AtomicBool, AtomicPtr, Cell, Ordering, spin_while},
    thread::identity,
};
use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
    ptr,
};

/// By what a thread is known.
type Owner = *mut ();

const ALL: Owner = ptr::without_provenance_mut(1);

/// Added to a candidate.
const CANDIDATE: usize = 2;

/// How many times in a row a thread takes the lock before it becomes the owner. Others are then kept waiting for the time that so
/// many exchanges take, about.
const STREAK: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 1000 };

/// See the [module](self).
pub(crate) struct BiasedLock<T> {
    owner: AtomicPtr<()>,
    /// The owner's mark.
    is_inside: AtomicBool,
    /// Everybody's mark.
    is_taken: AtomicBool,
    /// How often the candidate has come in a row.
    streak: Cell<u32>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through the lock alone, by one thread at a time.
unsafe impl<T: Send> Send for BiasedLock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for BiasedLock<T> {}

/// The right to the value, until it is dropped.
pub(crate) struct BiasedGuard<'a, T> {
    lock: &'a BiasedLock<T>,
    /// The mark by which the lock was taken.
    mark: &'a AtomicBool,
}

impl<T> BiasedLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            owner: AtomicPtr::new(ptr::without_provenance_mut(CANDIDATE)),
            is_inside: AtomicBool::new(false),
            is_taken: AtomicBool::new(false),
            streak: Cell::new(0),
            value: UnsafeCell::new(value),
        }
    }

    #[inline(always)]
    pub(crate) fn lock(&self) -> BiasedGuard<'_, T> {
        self.lock_as_owner(|| self.is_inside.store(true, Ordering::Relaxed)).unwrap_or_else(|| self.lock_as_all_do())
    }

    /// As [`lock`](Self::lock), by a read-modify-write in any case.
    #[inline]
    pub(crate) fn lock_by_update(&self) -> BiasedGuard<'_, T> {
        let mark = || _ = self.is_inside.swap(true, Ordering::Relaxed);
        self.lock_as_owner(mark).unwrap_or_else(|| self.lock_as_all_do())
    }

    #[inline(always)]
    fn lock_as_owner(&self, mark: impl FnOnce()) -> Option<BiasedGuard<'_, T>> {
        let me = identity();
        if self.owner.load(Ordering::Relaxed) != me {
            return None;
        }
        mark();
        let guard = BiasedGuard { lock: self, mark: &self.is_inside };
        barrier::light();
        // If another has taken the bias away meanwhile the mark goes with the guard.
        (self.owner.load(Ordering::Relaxed) == me).then_some(guard)
    }

    #[inline]
    fn lock_as_all_do(&self) -> BiasedGuard<'_, T> {
        while self.is_taken.swap(true, Ordering::Acquire) {
            patiently(&self.is_taken);
        }
        if self.owner.load(Ordering::Relaxed) != ALL {
            self.settle();
        }
        BiasedGuard { lock: self, mark: &self.is_taken }
    }

    /// Whether the calling thread is the owner.
    #[cfg(all(test, loom))]
    pub(crate) fn is_mine(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == identity()
    }

    /// With the lock taken as all do: counts, or takes the bias away.
    #[inline(never)]
    fn settle(&self) {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner.addr() & CANDIDATE == 0 {
            self.owner.store(ALL, Ordering::Relaxed);
            barrier::heavy();
            return spin_while(|| self.is_inside.load(Ordering::Acquire));
        }
        let me = identity();
        let candidate = me.wrapping_byte_add(CANDIDATE);
        let streak = if owner == candidate { self.streak.get() + 1 } else { 1 };
        self.streak.set(streak);
        let next = match streak {
            ..STREAK => candidate,
            _ if barrier::is_available() => me,
            _ => ALL,
        };
        self.owner.store(next, Ordering::Relaxed);
    }
}

impl<T> Deref for BiasedGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for BiasedGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and the guard borrowed.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for BiasedGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        const LET_GO: Ordering = Ordering::Release;
        // As in `SpinLock`.
        if cfg!(loom) {
            self.mark.swap(false, LET_GO);
        } else {
            self.mark.store(false, LET_GO);
        }
    }
}

/// What rooms lock with for a few instructions, if it is often one thread that does.
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
