//! The latch: an event is noticed once it has happened, whichever side leaves meanwhile. The notifier no longer uses
//! the waiter's address when the waiter writes another.

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
    slot: Latch,
    value: Cell<u32>,
    /// Belongs to the waiter, and to the notifier once the waiter has given up.
    mine: Cell<u32>,
    marks: [AtomicBool; 2],
}

// SAFETY: loom reports unordered accesses to the value.
unsafe impl Sync for Event {}
// SAFETY: as above.
unsafe impl Send for Event {}

impl Event {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            root: CancelScope::root(std::ptr::null()),
            slot: Latch::new(),
            value: Cell::new(0),
            mine: Cell::new(0),
            marks: [AtomicBool::new(false), AtomicBool::new(false)],
        })
    }

    fn happen(&self) {
        self.value.set(7);
        self.slot.notify();
    }

    fn mark(&self, which: usize) {
        self.marks[which].store(true, Ordering::Relaxed);
        self.slot.notify();
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
fn models_slot_a_value_is_handed_over() {
    explore("slot, notify against a wait", None, || {
        let event = Event::new();
        let other = spawn(&event, Event::happen);
        Thread::new().shielded(|cx| {
            // As in a join: what has happened is known from the latch alone.
            while !event.slot.is_notified() {
                cx.wait_shielded(&LatchWait::new(&event.slot), reason());
            }
        });
        assert_eq!(event.value.get(), 7);
        other.join().unwrap();
    });
}

/// A wait that need not be begun has seen what it would have waited for.
#[test]
fn models_slot_a_refusal_says_that_it_has_happened() {
    explore("slot, refusal", None, || {
        let event = Event::new();
        let other = spawn(&event, Event::happen);
        let outcome = Thread::new().shielded(|cx| cx.wait(&LatchWait::new(&event.slot), NEVER, reason()));
        assert_eq!((outcome, event.value.get()), (Selected::Ready(0), 7));
        other.join().unwrap();
    });
}

/// A wait is cancelled while the slot is notified. The next one is at the same latch, with the same entry.
#[test]
fn models_slot_a_wait_ends_otherwise() {
    explore("slot, a cancelled wait and the next", Some(3), || {
        let event = Event::new();
        let others = [spawn(&event, |event| event.root.cancel()), spawn(&event, Event::happen)];
        let owner = Thread::new();
        // SAFETY: the root and the owner live longer.
        let scope = unsafe { CancelScope::below(&event.root, owner.waiter(), false) };
        let cx = owner.cx(&scope);
        let waitable = LatchWait::new(&event.slot);
        if cx.wait(&waitable, NEVER, reason()) == Selected::Ready(0) {
            assert!(event.slot.is_notified(), "ready, and nothing has happened");
        }
        while !event.slot.is_notified() {
            cx.wait_shielded(&waitable, reason());
        }
        assert_eq!(event.value.get(), 7);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// A deadline passes while the slot is notified.
#[test]
fn models_slot_a_deadline_passes() {
    explore("slot, a deadline", None, || {
        let event = Event::new();
        let other = spawn(&event, Event::happen);
        Thread::new().shielded(|cx| {
            let waitable = LatchWait::new(&event.slot);
            while !event.slot.is_notified() {
                if cx.wait(&waitable, 1, reason()) == Selected::TimedOut {
                    cx.wait_shielded(&waitable, reason());
                }
            }
        });
        assert_eq!(event.value.get(), 7);
        other.join().unwrap();
    });
}

/// As a future that is polled in a fiber: it wants two things, each of which wakes it.
#[test]
fn models_slot_two_notifiers_and_a_reset() {
    explore("slot, two notifiers and a reset", Some(2), || {
        let event = Event::new();
        let others = [0, 1].map(|which| spawn(&event, move |event| event.mark(which)));
        Thread::new().shielded(|cx| {
            loop {
                event.slot.reset();
                if event.is_marked() {
                    break;
                }
                cx.wait(&LatchWait::new(&event.slot), NEVER, reason());
            }
        });
        for other in others {
            other.join().unwrap();
        }
    });
}

/// Two threads share the memory of the latch. One sets it, the other gives up or takes what came. The second of them
/// then owns all of the memory.
#[test]
fn models_slot_told_or_given_up() {
    explore("slot, told or given up", None, || {
        let event = Event::new();
        // In place of freeing it: loom sees if anything of the other's comes after.
        let other = spawn(&event, |event| {
            event.value.set(event.value.get() + 1);
            if !event.slot.set() {
                event.mine.set(event.mine.get() + 1);
            }
        });
        event.mine.set(1);
        if !event.slot.give_up() {
            assert_eq!(event.value.get(), 1);
            event.mine.set(event.mine.get() + 1);
        }
        other.join().unwrap();
        assert_eq!(event.mine.get(), 2, "one of the two was the second");
    });
}
