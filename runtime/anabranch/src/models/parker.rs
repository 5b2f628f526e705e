//! The parker: no wake-up is lost, and writes before an unpark are visible after the park.

use super::explore;
use crate::sys::{parker::Parker, poller::Poller};
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

/// The owner waits in a poller. Another thread polls on its behalf, and notifies again if it consumed a notification.
#[test]
fn models_parker_in_poller_wakes_though_other_thread_polls() {
    explore("parker, in a poller", None, || {
        let poller = Arc::new(Poller::new());
        let proxy = thread::spawn({
            let poller = Arc::clone(&poller);
            move || {
                if poller.poll() {
                    poller.notify();
                }
            }
        });
        a_value_is_handed_over(|parker| while !parker.park_in(&poller, || poller.wait()) {});
        proxy.join().unwrap();
    });
}

/// A notification that comes late ends a later wait in vain, and the token of that wait is not lost.
#[test]
fn models_parker_in_poller_survives_late_notification() {
    explore("parker, two waits in a poller", None, || {
        let poller = Arc::new(Poller::new());
        let parker = Arc::new(Parker::new());
        let other = thread::spawn({
            let parker = Arc::clone(&parker);
            move || parker.unpark()
        });
        // An event ends the first wait at once.
        let is_woken = parker.park_in(&poller, || {});
        a_value_is_handed_over(|parker| while !parker.park_in(&poller, || poller.wait()) {});
        if !is_woken {
            parker.park();
        }
        other.join().unwrap();
    });
}
