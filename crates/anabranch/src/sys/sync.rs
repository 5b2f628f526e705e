//! std, loom or shuttle: every room takes its atomics and locks from here, so that the lines that ship are the lines that
//! are modelled, and the lines that are run under random schedules.

#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence},
        mpsc,
    },
};

#[cfg(loom)]
pub(crate) use loom::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering, fence},
    },
};

#[cfg(shuttle)]
pub(crate) use shuttle::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence},
        mpsc,
    },
};

/// Locks, also when another thread panicked while it held the lock: no critical section of the runtime runs user code,
/// so what the lock guards is whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// What is behind a lock that nobody else has any more, likewise.
#[cfg(not(loom))]
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
