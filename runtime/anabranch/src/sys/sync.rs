//! std, loom, shuttle or virtual cores (`tools/anabranch-sim`). Every module takes its atomics and locks from here. So
//! loom and shuttle check the code that ships, and virtual cores run it.
//!
//! [`Cell`] and [`Arc`] are for data that one thread hands to another: loom reports two concurrent accesses, and an
//! access after the drop.

#[cfg(not(loom))]
pub(crate) use std::{cell::Cell, sync::Arc};

#[cfg(not(any(loom, shuttle, sim)))]
pub(crate) use std::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
};

#[cfg(loom)]
pub(crate) use loom::{
    cell::Cell,
    hint,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
};

#[cfg(shuttle)]
pub(crate) use shuttle::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
};

#[cfg(sim)]
pub(crate) use anabranch_sim::{
    atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    hint,
    lock::{Condvar, Mutex, MutexGuard},
};

#[cfg(sim)]
use anabranch_sim::{hint::Backoff as StepBackoff, thread::sleep};
#[cfg(not(any(loom, shuttle, sim)))]
use {crossbeam_utils::Backoff as StepBackoff, std::thread::sleep};

/// Locks a mutex, even if another thread panicked while it held the lock. No critical section of the runtime runs user
/// code, so the data is consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// A full fence, like `fence`. The models try both orders of any two of these. loom does not model the order of two
/// fences, but it does that of read-modify-writes.
#[inline(always)]
pub(crate) fn full_fence() {
    #[cfg(not(loom))]
    fence(Ordering::SeqCst);
    #[cfg(loom)]
    FENCES.fetch_add(1, Ordering::AcqRel);
}

#[cfg(loom)]
loom::lazy_static! {
    static ref FENCES: AtomicU64 = AtomicU64::new(0);
}

/// A full fence for a thread that has made a read-modify-write since the stores that must come before. On x86 that
/// read-modify-write is already a full fence of the processor, and the compiler moves nothing across it.
#[inline(always)]
pub(crate) fn fence_after_update() {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(any(not(target_arch = "x86_64"), loom, shuttle, miri))]
    full_fence();
}

/// Waits while another thread completes a few steps. All waits for a short critical section of another thread use this.
///
/// It spins for about a microsecond, then yields [`YIELDS`] times, and then sleeps, twice as long each time, up to
/// [`LONGEST_SLEEP`]. This thread may have preempted the other one. If it has a higher priority (`SCHED_FIFO`), the
/// other runs only while this one sleeps.
///
/// Parking was rejected. The other thread would have to check for a parked thread, by an exchange instead of the plain
/// store that ends its critical section. Every message would pay for that. Only a thread that has preempted another
/// within a few instructions pays for a sleep: at most as much time as it has waited, or a millisecond.
pub(crate) fn spin_while(mut is_pending: impl FnMut() -> bool) {
    #[cfg(not(any(loom, shuttle)))]
    let mut backoff = Backoff::new();
    while is_pending() {
        #[cfg(not(any(loom, shuttle)))]
        backoff.pause();
        #[cfg(loom)]
        loom::thread::yield_now();
        #[cfg(shuttle)]
        hint::spin_loop();
    }
}

/// The number of yields before a thread sleeps. If no other thread can run, they take some ten microseconds.
#[cfg(not(any(loom, shuttle)))]
const YIELDS: u32 = 64;

#[cfg(not(any(loom, shuttle)))]
const SHORTEST_SLEEP: std::time::Duration = std::time::Duration::from_micros(20);

#[cfg(not(any(loom, shuttle)))]
const LONGEST_SLEEP: std::time::Duration = std::time::Duration::from_millis(1);

/// The pause of a thread between two checks: see [`spin_while`].
#[cfg(not(any(loom, shuttle)))]
struct Backoff {
    backoff: StepBackoff,
    yields: u32,
    sleep: std::time::Duration,
}

#[cfg(not(any(loom, shuttle)))]
impl Backoff {
    fn new() -> Self {
        Self { backoff: StepBackoff::new(), yields: 0, sleep: SHORTEST_SLEEP }
    }

    fn pause(&mut self) {
        if self.yields < YIELDS {
            self.backoff.snooze();
            self.yields += 1;
        } else {
            sleep(self.sleep);
            self.sleep = LONGEST_SLEEP.min(self.sleep * 2);
        }
    }
}

/// Waits for a notification, at most for `timeout`. Returns whether time is left. May return too early, like any wait.
#[cfg(not(shuttle))]
pub(crate) fn wait_timeout<'a, T>(
    condvar: &Condvar,
    _: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    timeout: std::time::Duration,
) -> (MutexGuard<'a, T>, bool) {
    match condvar.wait_timeout(guard, timeout) {
        Ok((guard, result)) => (guard, !result.timed_out()),
        Err(poisoned) => (poisoned.into_inner().0, true),
    }
}

/// shuttle's own timed wait never times out. This one yields to other threads, and then decides at random.
#[cfg(shuttle)]
pub(crate) fn wait_timeout<'a, T>(
    condvar: &Condvar,
    mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    timeout: std::time::Duration,
) -> (MutexGuard<'a, T>, bool) {
    if crate::sys::chance::is_endless(timeout) {
        return (condvar.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner), true);
    }
    drop(guard);
    hint::spin_loop();
    (lock(mutex), crate::sys::chance::one_in(2))
}

/// Returns the value of a lock that is owned, even if another thread panicked while it held the lock.
#[cfg(not(loom))]
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Defines a constructor that is `const` except under loom, whose atomics and locks have no `const` constructors.
macro_rules! const_unless_loom {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) -> Self $body:block) => {
        $(#[$attribute])*
        #[cfg(not(loom))]
        $visibility const fn $name($($argument: $type),*) -> Self $body

        $(#[$attribute])*
        #[cfg(loom)]
        $visibility fn $name($($argument: $type),*) -> Self $body
    };
}

pub(crate) use const_unless_loom;

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle, miri))))]
mod tests {
    use super::spin_while;
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
        time::Duration,
    };

    fn cpu_time() -> Duration {
        Duration::from_nanos(crate::sys::thread::cpu_time().unwrap())
    }

    #[test]
    fn spin_on_stopped_thread_uses_little_cpu() {
        let is_pending = AtomicBool::new(true);
        let waited = thread::scope(|s| {
            let waits = s.spawn(|| {
                let before = cpu_time();
                spin_while(|| is_pending.load(Ordering::Acquire));
                cpu_time() - before
            });
            thread::sleep(Duration::from_millis(400));
            is_pending.store(false, Ordering::Release);
            waits.join().unwrap()
        });
        assert!(waited < Duration::from_millis(60), "waiting took {waited:?} of the core");
    }
}
