//! A parker: one thread waits, and any thread may wake it.
//!
//! It has its own token instead of that of `std::thread::park`, which user code shares. A user's `unpark` must not
//! count as one of the runtime's, nor may a user's `park` consume the runtime's token.
//!
//! | state    | meaning                         | left by                                       |
//! |----------|---------------------------------|-----------------------------------------------|
//! | EMPTY    | no waiter, no token             | `unpark` -> NOTIFIED, the owner -> PARKED     |
//! | PARKED   | the owner waits on the condvar  | `unpark` -> NOTIFIED, and signals the condvar |
//! | POLLING  | the owner waits in a poller     | `unpark` -> NOTIFIED, and notifies the poller |
//! | NOTIFIED | one token, not yet taken        | the owner -> EMPTY                            |
//!
//! Ordering: what happens before `unpark` happens before the return of the `park` that takes its token. `unpark` writes
//! NOTIFIED with release in every state, also over an older token, and the owner takes it with acquire. A token stays
//! until it is taken, so a wake-up before the wait is not lost. Tokens do not add up: a waiter checks its condition
//! again each time `park` returns.
//!
//! In POLLING the owner waits for the events of sockets too. It stores the poller before it sets the state, under the
//! lock under which the waker reads it. A notification ends the wait in progress, or the next one of that poller. So it
//! may come after the owner has left POLLING for another reason, and then one wait ends in vain.

use crate::sys::{
    poller::Poller,
    sync::{Arc, AtomicU8, Condvar, Mutex, Ordering, lock, wait_timeout},
};
use std::time::Duration;

/// Whether the system has a single thread. Then no other thread can leave a token during a wait. So a wait without a
/// timeout is an error of the program, and a timed wait ends at once.
const IS_ALONE: bool = cfg!(all(target_family = "wasm", not(target_feature = "atomics")));

const EMPTY: u8 = 0;
const PARKED: u8 = 1;
const NOTIFIED: u8 = 2;
const POLLING: u8 = 3;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Parker {
    state: AtomicU8,
    lock: Mutex<()>,
    wake: Condvar,
    /// The poller in which the owner waited last.
    poller: Mutex<Option<Arc<Poller>>>,
}

impl Parker {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), lock: Mutex::new(()), wake: Condvar::new(), poller: Mutex::new(None) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), lock: Mutex::new(()), wake: Condvar::new(), poller: Mutex::new(None) }
    }

    /// Takes the token, and waits for it if there is none. Only the owner calls this.
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

    /// Takes the token like [`park`](Self::park), but gives up after `timeout`. Returns whether it took a token.
    pub(crate) fn park_timeout(&self, timeout: Duration) -> bool {
        // The model has no clock. A timed wait may end at any moment there, which covers the cases that matter.
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

    /// Parks by `wait`, which waits on the condvar and returns whether to continue if there is no token yet.
    fn park_until<'a>(
        &'a self,
        mut wait: impl FnMut(crate::sys::sync::MutexGuard<'a, ()>) -> (crate::sys::sync::MutexGuard<'a, ()>, bool),
    ) -> bool {
        if self.take() {
            return true;
        }
        let mut guard = lock(&self.lock);
        if self.state.compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            // Only a token can have arrived meanwhile. A swap, so that it is read with acquire.
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
                // Either there is no token, or one has arrived since: the swap takes it then.
                return self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED;
            }
        }
    }

    /// Takes the token, or else calls `wait`, which waits in `poller` until that is notified. `wait` may return early,
    /// for an event or after a timeout. Returns whether it took a token. Only the owner calls this.
    #[allow(dead_code, reason = "only sockets need a poller")]
    pub(crate) fn park_in(&self, poller: &Arc<Poller>, wait: impl FnOnce()) -> bool {
        if self.take() {
            return true;
        }
        {
            let mut last = lock(&self.poller);
            if !last.as_ref().is_some_and(|last| Arc::ptr_eq(last, poller)) {
                *last = Some(Arc::clone(poller));
            }
        }
        if self.state.compare_exchange(EMPTY, POLLING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            wait();
        }
        self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED
    }

    /// Leaves a token, and wakes the owner if it waits. Makes a system call only in that case.
    pub(crate) fn unpark(&self) {
        match self.state.swap(NOTIFIED, Ordering::Release) {
            PARKED => {
                // The owner sets PARKED under the lock, and releases the lock only inside the wait. After the lock was
                // taken once, the notification cannot come between the two.
                drop(lock(&self.lock));
                self.wake.notify_one();
            }
            POLLING => {
                if let Some(poller) = &*lock(&self.poller) {
                    poller.notify();
                }
            }
            _ => {}
        }
    }
}

/// Advances the time over a wait that no other thread can end.
fn pass(time: Duration) {
    #[cfg(all(target_family = "wasm", target_os = "unknown", not(shuttle)))]
    crate::sys::clock::pass(time);
    // Other systems have a clock, which the waiting thread reads again.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown", not(shuttle))))]
    let _ = time;
}

/// Ends the program. This is in the middle of a wait, so it does not unwind.
#[cold]
extern "C" fn nobody_comes() -> ! {
    panic!("this wait never ends: the system has a single thread, which waits here")
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::{sync::Arc, thread, time::Instant};

    #[test]
    fn unpark_before_park_is_kept() {
        let parker = Parker::new();
        parker.unpark();
        parker.unpark();
        parker.park();
        assert!(!parker.park_timeout(Duration::from_millis(1)), "tokens must not add up");
    }

    #[test]
    fn unpark_wakes_parked_thread() {
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
    fn timed_park_returns_after_timeout() {
        let parker = Parker::new();
        let start = Instant::now();
        assert!(!parker.park_timeout(Duration::from_millis(15)));
        assert!(start.elapsed() >= Duration::from_millis(15));
    }
}
