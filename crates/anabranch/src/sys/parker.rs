//! A parker: one thread waits, any thread may wake it.
//!
//! A token of its own rather than `std::thread::park`, whose token is shared with user code: a user's `unpark` must not
//! be mistaken for ours, nor ours be eaten by a user's `park`.
//!
//! | state    | meaning                         | left by                                       |
//! |----------|---------------------------------|-----------------------------------------------|
//! | EMPTY    | no waiter, no token             | `unpark` -> NOTIFIED, the owner -> PARKED     |
//! | PARKED   | the owner waits on the condvar  | `unpark` -> NOTIFIED                          |
//! | NOTIFIED | one token, not yet taken        | the owner -> EMPTY                            |
//!
//! Ordering: what happens before `unpark` happens before the return of the `park` that takes its token. `unpark` writes
//! NOTIFIED with release in every state, also over an older token, and the owner takes it with acquire. The token is
//! kept until taken, so a wake-up that comes before the wait is not lost. Tokens do not add up: a waiter looks again at
//! what it waits for each time it returns.

use crate::sys::sync::{AtomicU8, Condvar, Mutex, Ordering, lock, wait_timeout};
use std::time::Duration;

/// Whether the system has a single thread: then no other thread leaves a token during a wait, so a wait without an end
/// is an error of the program, and a timed one is over at once.
const IS_ALONE: bool = cfg!(all(target_family = "wasm", not(target_feature = "atomics")));

const EMPTY: u8 = 0;
const PARKED: u8 = 1;
const NOTIFIED: u8 = 2;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Parker {
    state: AtomicU8,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Parker {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), lock: Mutex::new(()), wake: Condvar::new() }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), lock: Mutex::new(()), wake: Condvar::new() }
    }

    /// Takes the token; waits for it if there is none. Only the owner calls this.
    pub(crate) fn park(&self) {
        if IS_ALONE {
            if !self.take() {
                nobody_comes();
            }
            return;
        }
        self.park_until(|guard| match self.wake.wait(guard) {
            Ok(guard) => (guard, true),
            Err(poisoned) => (poisoned.into_inner(), true),
        });
    }

    /// Parks as [`park`](Self::park) does, but gives up after `timeout`. Returns whether a token was taken.
    pub(crate) fn park_timeout(&self, timeout: Duration) -> bool {
        // The model has no clock: there a timed wait may end at any moment, which is what matters.
        if cfg!(loom) {
            crate::sys::sync::hint::spin_loop();
            return self.take();
        }
        if IS_ALONE {
            let is_notified = self.take();
            if !is_notified {
                pass(timeout);
            }
            return is_notified;
        }
        self.park_until(|guard| wait_timeout(&self.wake, &self.lock, guard, timeout))
    }

    /// Takes the token if there is one.
    fn take(&self) -> bool {
        self.state.compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// `wait` waits on the condvar and says whether to go on waiting if there is no token yet.
    fn park_until<'a>(
        &'a self,
        mut wait: impl FnMut(crate::sys::sync::MutexGuard<'a, ()>) -> (crate::sys::sync::MutexGuard<'a, ()>, bool),
    ) -> bool {
        if self.take() {
            return true;
        }
        let mut guard = lock(&self.lock);
        if self.state.compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            // Only a token can have come between: a swap, so that it is read with acquire.
            self.state.swap(EMPTY, Ordering::Acquire);
            return true;
        }
        loop {
            let (next, go_on) = wait(guard);
            guard = next;
            if self.state.compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return true;
            }
            if !go_on {
                // Either there is no token, or it has arrived since: the swap takes it in that case.
                return self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED;
            }
        }
    }

    /// Leaves a token and wakes the owner if it waits. A system call only if it does.
    pub(crate) fn unpark(&self) {
        if self.state.swap(NOTIFIED, Ordering::Release) == PARKED {
            // The owner set PARKED under the lock and lets go of it only inside the wait: with the lock taken once, the
            // notification cannot fall between the two.
            drop(lock(&self.lock));
            self.wake.notify_one();
        }
    }
}

/// Lets the time of a wait pass that no other thread can end.
fn pass(time: Duration) {
    #[cfg(all(target_family = "wasm", target_os = "unknown", not(shuttle)))]
    crate::sys::clock::pass(time);
    // Elsewhere there is a clock, which the waiting thread reads again.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown", not(shuttle))))]
    let _ = time;
}

/// Ends the program. Not by a panic that unwinds, since this is in the middle of a wait.
#[cold]
extern "C" fn nobody_comes() -> ! {
    panic!("this wait never ends: the system has a single thread, which waits here")
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::{sync::Arc, thread, time::Instant};

    #[test]
    fn a_token_left_before_the_wait_is_not_lost() {
        let parker = Parker::new();
        parker.unpark();
        parker.unpark();
        parker.park();
        assert!(!parker.park_timeout(Duration::from_millis(1)), "tokens must not add up");
    }

    #[test]
    fn a_waiting_thread_is_woken() {
        let parker = Arc::new(Parker::new());
        let waiter = thread::spawn({
            let parker = Arc::clone(&parker);
            move || parker.park()
        });
        thread::sleep(Duration::from_millis(20));
        parker.unpark();
        waiter.join().unwrap();
    }

    #[test]
    fn a_timed_wait_gives_up() {
        let parker = Parker::new();
        let start = Instant::now();
        assert!(!parker.park_timeout(Duration::from_millis(15)));
        assert!(start.elapsed() >= Duration::from_millis(15));
    }
}
