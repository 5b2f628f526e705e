//! A mutex and a condition variable like those of std on Linux: words with futexes, after Drepper, Futexes Are Tricky
//! (2011). So they cost as much as std's.
//!
//! | word of a mutex | meaning                       |
//! |-----------------|-------------------------------|
//! | 0               | free                          |
//! | 1               | locked                        |
//! | 2               | locked, and threads may wait  |

use crate::{
    atomic::{AtomicU32, Ordering},
    engine,
    hint::spin_loop,
};
use std::{
    cell::UnsafeCell,
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::{LockResult, TryLockError, TryLockResult},
    time::Duration,
};

/// The looks of a thread at a locked mutex before it waits, as many as std's.
const SPINS: u32 = 100;

/// Waits at a word while it has this value. Returns `false` if the time was up.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, time: Option<Duration>) -> bool {
    let time = time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1_000));
    // SAFETY: the word is borrowed, and no thread of the simulation writes it meanwhile.
    let is_due = || unsafe { word.as_ptr().read() } == value;
    engine::with(|engine| engine.wait(word.as_ptr().addr(), time, is_due)).expect("a wait outside of a simulation")
}

/// Wakes threads that wait at a word.
pub(crate) fn futex_wake(word: &AtomicU32, most: usize) {
    engine::with(|engine| engine.wake(word.as_ptr().addr(), most));
}

/// A mutex like `std::sync::Mutex`. It is never poisoned.
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    word: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: threads reach the value only through a guard, of which one exists at a time.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: threads reach the value only through a guard, of which one exists at a time.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// Access to the value of a mutex, until the guard is dropped.
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    _stays_on_its_thread: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// Creates a mutex.
    pub const fn new(value: T) -> Self {
        Self { word: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// Never fails.
    pub fn into_inner(self) -> LockResult<T> {
        Ok(self.value.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks the mutex, and waits for that if it is locked.
    ///
    /// # Errors
    /// Never fails.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.lock_contended();
        }
        Ok(self.guard())
    }

    /// Locks the mutex if it is free.
    ///
    /// # Errors
    /// Fails if it is locked.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(self.guard()),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

    /// Returns the value, of which this is the only reference.
    ///
    /// # Errors
    /// Never fails.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.value.get_mut())
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, _stays_on_its_thread: PhantomData }
    }

    #[cold]
    fn lock_contended(&self) {
        let spin = || {
            let mut spins = SPINS;
            loop {
                let word = self.word.load(Ordering::Relaxed);
                if word != 1 || spins == 0 {
                    return word;
                }
                spin_loop();
                spins -= 1;
            }
        };
        let mut word = spin();
        if word == 0 && self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return;
        }
        loop {
            if word != 2 && self.word.swap(2, Ordering::Acquire) == 0 {
                return;
            }
            futex_wait(&self.word, 2, None);
            word = spin();
        }
    }

    fn unlock(&self) {
        if self.word.swap(0, Ordering::Release) == 2 {
            futex_wake(&self.word, 1);
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock, so no other thread accesses the value.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard holds the lock, so no other thread accesses the value, and `&mut self` excludes other
        // borrows.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.unlock();
    }
}

/// A condition variable like `std::sync::Condvar`.
#[derive(Debug, Default)]
pub struct Condvar(AtomicU32);

/// Whether a wait has timed out, like `std::sync::WaitTimeoutResult`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the wait has timed out.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Unlocks the mutex, waits for a notification, and locks it again.
    ///
    /// # Errors
    /// Never fails.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        Ok(self.wait_for(guard, None).0)
    }

    /// Like [`wait`](Self::wait), but waits at most for `time`.
    ///
    /// # Errors
    /// Never fails.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, is_notified) = self.wait_for(guard, Some(time));
        Ok((guard, WaitTimeoutResult(!is_notified)))
    }

    /// Wakes a thread that waits.
    pub fn notify_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        futex_wake(&self.0, 1);
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        futex_wake(&self.0, usize::MAX);
    }

    fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, time: Option<Duration>) -> (MutexGuard<'a, T>, bool) {
        let (mutex, count) = (guard.mutex, self.0.load(Ordering::Relaxed));
        drop(guard);
        let is_notified = futex_wait(&self.0, count, time);
        let Ok(guard) = mutex.lock() else { unreachable!("a mutex is never poisoned") };
        (guard, is_notified)
    }
}
