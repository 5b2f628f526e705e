//! std or loom: every lock-free room takes its atomics and locks from here, so that the lines that ship are the lines
//! that are modelled.

#[cfg(not(loom))]
pub(crate) use std::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering, fence},
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

/// Locks, also when another thread panicked while it held the lock: no critical section of the runtime runs user code,
/// so what the lock guards is whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}
