//! std, loom or shuttle: every room takes its atomics and locks from here, so that the lines that ship are the lines that
//! are modelled, and the lines that are run under random schedules.
//!
//! [`Cell`] and [`Arc`] are for what one thread hands to another: loom reports it if two touch the one at a time, or one the
//! other when it is gone.

#[cfg(not(loom))]
pub(crate) use std::{cell::Cell, sync::Arc};

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
    cell::Cell,
    hint,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
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

/// Waits for another thread to take the few steps that it is in the middle of.
pub(crate) fn spin_while(mut is_pending: impl FnMut() -> bool) {
    #[cfg(not(loom))]
    let backoff = crossbeam_utils::Backoff::new();
    while is_pending() {
        #[cfg(not(loom))]
        backoff.snooze();
        #[cfg(loom)]
        loom::thread::yield_now();
    }
}
