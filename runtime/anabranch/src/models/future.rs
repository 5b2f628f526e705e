//! Waits of async code: the end of a wait calls the waker of the last poll, unless that poll has seen the end.

use super::explore;
use crate::{
    sys::{
        parker::Parker,
        sync::{AtomicBool, Cell, Ordering},
    },
    wait::{
        future::AsyncWait,
        latch::{Latch, LatchWait},
    },
};
use loom::{sync::Arc, thread};
use std::{
    pin::pin,
    task::{Context, Wake, Waker},
};

struct Event {
    slot: Latch,
    value: Cell<u32>,
    marks: [AtomicBool; 2],
}

// SAFETY: loom reports unordered accesses to the value.
unsafe impl Sync for Event {}
// SAFETY: loom reports unordered accesses to the value.
unsafe impl Send for Event {}

impl Event {
    fn new() -> Arc<Self> {
        let marks = [AtomicBool::new(false), AtomicBool::new(false)];
        Arc::new(Self { slot: Latch::new(), value: Cell::new(0), marks })
    }
}

fn spawn(event: &Arc<Event>, act: impl Fn(&Event) + 'static) -> thread::JoinHandle<()> {
    let event = Arc::clone(event);
    thread::spawn(move || act(&event))
}

/// Wakes a sleeping task.
struct Bell(Parker);

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

fn bell() -> (std::sync::Arc<Bell>, Waker) {
    let bell = std::sync::Arc::new(Bell(Parker::new()));
    (std::sync::Arc::clone(&bell), Waker::from(bell))
}

/// One task polls a future, and then another task polls it and sleeps until it is woken. The task drops the future as
/// soon as it is ready.
#[test]
fn models_future_wakes_last_waker() {
    explore("future, two wakers", None, || {
        let event = Event::new();
        let other = spawn(&event, |event| {
            event.value.set(7);
            event.slot.notify();
        });
        let (bell, waker) = bell();
        {
            let mut wait = pin!(AsyncWait::new(LatchWait::new(&event.slot)));
            if wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                while wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                    bell.0.park();
                }
            }
        }
        assert_eq!(event.value.get(), 7);
        other.join().unwrap();
    });
}

/// Two waits, one after the other. The wake-up of the first may arrive during the second.
#[test]
fn models_future_second_wait_survives_late_wakeup() {
    explore("future, two waits", Some(2), || {
        let event = Event::new();
        let others = [0, 1].map(|which| {
            spawn(&event, move |event| {
                event.marks[which].store(true, Ordering::Relaxed);
                event.slot.notify();
            })
        });
        let (bell, waker) = bell();
        let mut wait = pin!(AsyncWait::new(LatchWait::new(&event.slot)));
        loop {
            event.slot.reset();
            if event.marks.iter().all(|mark| mark.load(Ordering::Relaxed)) {
                break;
            }
            while wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                bell.0.park();
            }
        }
        for other in others {
            other.join().unwrap();
        }
    });
}
