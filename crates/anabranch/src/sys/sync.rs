//! std, loom or shuttle: every module takes its atomics and locks from here, so that the lines that ship are the lines
//! that are modelled, and the lines that are run under random schedules.
//!
//! [`Cell`] and [`Arc`] are for what one thread hands to another: loom reports it if two touch the one at a time, or
//! one the other when it is gone.

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
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence},
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

/// A full fence. As `fence`, but the models try both orders of any two of these: loom does not know that the order of
/// fences matters, and that of read-modify-writes it knows.
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

/// A full fence, for where the thread has made a read-modify-write since the stores that are to come before: on x86
/// that is one already, of the processor, and the compiler moves nothing across it.
#[inline(always)]
pub(crate) fn fence_after_update() {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(any(not(target_arch = "x86_64"), loom, shuttle, miri))]
    full_fence();
}

/// Waits for another thread to take the few steps that it is in the middle of. All that waits for a short critical
/// section of another thread waits here.
///
/// It spins for about a microsecond, then yields [`YIELDS`] times, and then sleeps, for twice as long each time, up to
/// [`LONGEST_SLEEP`]. The other thread may have been preempted by this one: if this one has a higher priority
/// (`SCHED_FIFO`) the other runs only while this one sleeps. To park instead would take the other thread a wake-up, so
/// it would have to check for a parked thread, by an exchange where a plain store ends its critical section. That would
/// be paid for each message; a sleep is paid for by those alone that have preempted another in the midst of some
/// instructions, and costs them at most as much time again as they have waited, or a millisecond.
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

/// How often a thread yields before it sleeps: where no other thread can run that takes some ten microseconds.
#[cfg(not(any(loom, shuttle)))]
const YIELDS: u32 = 64;

#[cfg(not(any(loom, shuttle)))]
const SHORTEST_SLEEP: std::time::Duration = std::time::Duration::from_micros(20);

#[cfg(not(any(loom, shuttle)))]
const LONGEST_SLEEP: std::time::Duration = std::time::Duration::from_millis(1);

/// What a thread does between two checks: see [`spin_while`].
#[cfg(not(any(loom, shuttle)))]
struct Backoff {
    backoff: crossbeam_utils::Backoff,
    yields: u32,
    sleep: std::time::Duration,
}

#[cfg(not(any(loom, shuttle)))]
impl Backoff {
    fn new() -> Self {
        Self { backoff: crossbeam_utils::Backoff::new(), yields: 0, sleep: SHORTEST_SLEEP }
    }

    fn pause(&mut self) {
        if self.yields < YIELDS {
            self.backoff.snooze();
            self.yields += 1;
        } else {
            std::thread::sleep(self.sleep);
            self.sleep = LONGEST_SLEEP.min(self.sleep * 2);
        }
    }
}

/// Waits to be notified, but no longer than `timeout`. Whether that is not over yet; may be too early, as any wait.
#[cfg(not(shuttle))]
pub(crate) fn wait_timeout<'a>(
    condvar: &Condvar,
    _: &'a Mutex<()>,
    guard: MutexGuard<'a, ()>,
    timeout: std::time::Duration,
) -> (MutexGuard<'a, ()>, bool) {
    match condvar.wait_timeout(guard, timeout) {
        Ok((guard, result)) => (guard, !result.timed_out()),
        Err(poisoned) => (poisoned.into_inner().0, true),
    }
}

/// shuttle's own timed wait has no end. This one has: others have a turn, and then chance says what it was.
#[cfg(shuttle)]
pub(crate) fn wait_timeout<'a>(
    condvar: &Condvar,
    mutex: &'a Mutex<()>,
    guard: MutexGuard<'a, ()>,
    timeout: std::time::Duration,
) -> (MutexGuard<'a, ()>, bool) {
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

/// A constructor that is `const`, but for loom, whose atomics and locks cannot be made so.
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
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is valid to be written, and the call writes the time there.
        assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    #[test]
    fn to_wait_for_a_thread_that_stands_still_takes_little_of_the_core() {
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
