//! The latch: a waiter sees an event that has happened, whichever side leaves meanwhile. When the waiter writes its
//! address again, the notifier no longer uses the old one.

use super::{
    explore,
    thread::{Thread, reason},
};
use crate::{
    sys::sync::{Arc, AtomicBool, Cell, Ordering},
    time::NEVER,
    wait::{
        cancel::CancelScope,
        latch::{Latch, LatchWait},
        suspend::Suspend,
        waiter::Selected,
    },
};
use loom::thread;

struct Event {
    root: CancelScope,
    latch: Latch,
    value: Cell<u32>,
    /// The waiter accesses this. Once the waiter has given up, the notifier does.
    memory: Cell<u32>,
    marks: [AtomicBool; 2],
}

// SAFETY: loom reports unordered accesses to the value.
unsafe impl Sync for Event {}
// SAFETY: loom reports unordered accesses to the value.
unsafe impl Send for Event {}

impl Event {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            root: CancelScope::root(std::ptr::null()),
            latch: Latch::new(),
            value: Cell::new(0),
            memory: Cell::new(0),
            marks: [AtomicBool::new(false), AtomicBool::new(false)],
        })
    }

    fn notify(&self) {
        self.value.set(7);
        self.latch.notify();
    }

    fn mark(&self, which: usize) {
        self.marks[which].store(true, Ordering::Relaxed);
        self.latch.notify();
    }

    fn is_marked(&self) -> bool {
        self.marks.iter().all(|mark| mark.load(Ordering::Relaxed))
    }
}

fn spawn(event: &Arc<Event>, act: impl Fn(&Event) + Send + 'static) -> thread::JoinHandle<()> {
    let event = Arc::clone(event);
    thread::spawn(move || act(&event))
}

#[test]
fn models_latch_hands_value_over() {
    explore("latch, notify against a wait", None, || {
        let event = Event::new();
        let other = spawn(&event, Event::notify);
        Thread::new().shielded(|cx| {
            // As in a join: what has happened is known from the latch alone.
            while !event.latch.is_notified() {
                cx.wait_shielded(&LatchWait::new(&event.latch), reason());
            }
        });
        assert_eq!(event.value.get(), 7);
        other.join().unwrap();
    });
}

/// A wait that the latch refuses has seen the event.
#[test]
fn models_latch_refuses_wait_for_past_event() {
    explore("latch, refusal", None, || {
        let event = Event::new();
        let other = spawn(&event, Event::notify);
        let outcome = Thread::new().shielded(|cx| cx.wait(&LatchWait::new(&event.latch), NEVER, reason()));
        assert_eq!((outcome, event.value.get()), (Selected::Ready(0), 7));
        other.join().unwrap();
    });
}

/// A wait is cancelled while the latch is set. The next wait uses the same latch, with the same entry.
#[test]
fn models_latch_wait_is_cancelled_during_set() {
    explore("latch, a cancelled wait and the next", Some(3), || {
        let event = Event::new();
        let others = [spawn(&event, |event| event.root.cancel()), spawn(&event, Event::notify)];
        let owner = Thread::new();
        // SAFETY: the root and the owner live longer.
        let scope = unsafe { CancelScope::below(&event.root, owner.waiter(), false) };
        let cx = owner.cx(&scope);
        let waitable = LatchWait::new(&event.latch);
        if cx.wait(&waitable, NEVER, reason()) == Selected::Ready(0) {
            assert!(event.latch.is_notified(), "ready, and nothing has happened");
        }
        while !event.latch.is_notified() {
            cx.wait_shielded(&waitable, reason());
        }
        assert_eq!(event.value.get(), 7);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// A deadline passes while the latch is set.
#[test]
fn models_latch_deadline_passes_during_set() {
    explore("latch, a deadline", None, || {
        let event = Event::new();
        let other = spawn(&event, Event::notify);
        Thread::new().shielded(|cx| {
            let waitable = LatchWait::new(&event.latch);
            while !event.latch.is_notified() {
                if cx.wait(&waitable, 1, reason()) == Selected::TimedOut {
                    cx.wait_shielded(&waitable, reason());
                }
            }
        });
        assert_eq!(event.value.get(), 7);
        other.join().unwrap();
    });
}

/// Like a future that a fiber polls: it waits for two events, each of which sets the latch.
#[test]
fn models_latch_two_notifiers_and_reset() {
    explore("latch, two notifiers and a reset", Some(2), || {
        let event = Event::new();
        let others = [0, 1].map(|which| spawn(&event, move |event| event.mark(which)));
        Thread::new().shielded(|cx| {
            loop {
                event.latch.reset();
                if event.is_marked() {
                    break;
                }
                cx.wait(&LatchWait::new(&event.latch), NEVER, reason());
            }
        });
        for other in others {
            other.join().unwrap();
        }
    });
}

/// Two threads share the memory of the latch. One sets it. The other gives up, or takes what was handed over. The later
/// of the two then owns the memory.
#[test]
fn models_latch_is_set_or_abandoned() {
    explore("latch, set or given up", None, || {
        let event = Event::new();
        // Stands for freeing the memory: loom reports an access of the other thread that comes later.
        let other = spawn(&event, |event| {
            event.value.set(event.value.get() + 1);
            if !event.latch.set() {
                event.memory.set(event.memory.get() + 1);
            }
        });
        event.memory.set(1);
        if !event.latch.give_up() {
            assert_eq!(event.value.get(), 1);
            event.memory.set(event.memory.get() + 1);
        }
        other.join().unwrap();
        assert_eq!(event.memory.get(), 2, "one of the two was the second");
    });
}
