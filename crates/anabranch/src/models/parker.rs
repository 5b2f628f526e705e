//! The parker: no wake-up is lost, and writes before an unpark are visible after the park.

use super::explore;
use crate::sys::parker::Parker;
use loom::{cell::UnsafeCell, sync::Arc, thread};
use std::time::Duration;

struct Shared {
    parker: Parker,
    value: UnsafeCell<u32>,
}

// SAFETY: loom reports unordered accesses to `value`.
unsafe impl Sync for Shared {}

/// One thread writes and wakes, the other waits and reads.
fn a_value_is_handed_over(wait: impl Fn(&Parker)) {
    let shared = Arc::new(Shared { parker: Parker::new(), value: UnsafeCell::new(0) });
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            // SAFETY: before `unpark` no other thread accesses the value.
            shared.value.with_mut(|value| unsafe { *value = 7 });
            shared.parker.unpark();
        }
    });
    wait(&shared.parker);
    // SAFETY: after the token the other thread does not touch it.
    shared.value.with(|value| assert_eq!(unsafe { *value }, 7));
    other.join().unwrap();
}

#[test]
fn models_parker_wakes_and_publishes() {
    explore("parker, park", None, || {
        a_value_is_handed_over(Parker::park);
    });
}

#[test]
fn models_parker_two_wakers_leave_at_least_one_token() {
    explore("parker, two wakers", None, || {
        let parker = Arc::new(Parker::new());
        let others: Vec<_> = (0..2)
            .map(|_| {
                let parker = Arc::clone(&parker);
                thread::spawn(move || parker.unpark())
            })
            .collect();
        parker.park();
        for other in others {
            other.join().unwrap();
        }
        parker.park_timeout(Duration::ZERO);
    });
}

#[test]
fn models_parker_timed_wait_keeps_token_for_next_wait() {
    explore("parker, timed", None, || {
        a_value_is_handed_over(|parker| {
            if !parker.park_timeout(Duration::ZERO) {
                parker.park();
            }
        });
    });
}
