//! Biases: the owner updates by a load and a store, other threads by a read-modify-write, and no update is lost.

use super::{explore, parcel::Parcel};
use crate::{
    bias::pair::{BiasedPair, Side},
    sys::sync::{Arc, AtomicUsize, Ordering},
};
use loom::thread;

/// A counter that both sides increment.
struct Counted {
    sides: BiasedPair,
    number: AtomicUsize,
}

impl Counted {
    fn new() -> Arc<Self> {
        Arc::new(Self { sides: BiasedPair::new(), number: AtomicUsize::new(0) })
    }

    /// Increments the counter. Returns whether this thread did so as the owner of the bias.
    fn count(&self, side: &Side) -> bool {
        if let Some(_inside) = self.sides.enter() {
            self.number.store(self.number.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            return true;
        }
        self.sides.share(side);
        self.number.fetch_add(1, Ordering::Relaxed);
        false
    }

    fn number(&self) -> usize {
        self.number.load(Ordering::Relaxed)
    }
}

/// One thread uses both sides, and then another thread uses one of them.
#[test]
fn models_bias_side_moves_to_another_thread() {
    explore("bias, a side moves", None, || {
        let counted = Counted::new();
        let [first, second] = Side::both();
        assert!(!counted.count(&first) && !counted.count(&second), "no side has found both on this thread yet");
        assert!(counted.count(&first), "both sides have counted here");
        let other = thread::spawn({
            let counted = Arc::clone(&counted);
            move || assert!(!counted.count(&second), "another thread is the owner")
        });
        counted.count(&first);
        other.join().unwrap();
        assert_eq!(counted.number(), 5);
        assert!(!counted.count(&first), "the bias has ended for good");
    });
}

/// A thread becomes the owner while the other side moves to another thread.
#[test]
fn models_bias_side_moves_while_bias_is_claimed() {
    explore("bias, a side moves early", Some(3), || {
        let counted = Counted::new();
        let [first, second] = Side::both();
        counted.count(&second);
        let other = thread::spawn({
            let counted = Arc::clone(&counted);
            move || {
                counted.count(&second);
                counted.count(&second);
            }
        });
        counted.count(&first);
        counted.count(&first);
        other.join().unwrap();
        assert_eq!(counted.number(), 5);
    });
}

/// Both sides move, each to a thread of its own.
#[test]
fn models_bias_both_sides_move() {
    explore("bias, both sides move", Some(2), || {
        let counted = Counted::new();
        let sides = Side::both();
        sides.iter().for_each(|side| _ = counted.count(side));
        assert!(counted.count(&sides[0]));
        let others = sides.map(|side| {
            let counted = Arc::clone(&counted);
            thread::spawn(move || counted.count(&side))
        });
        others.into_iter().for_each(|other| _ = other.join().unwrap());
        assert_eq!(counted.number(), 5);
    });
}

/// A side that has moved to another thread ends the bias, while the first thread becomes the owner.
#[test]
fn models_bias_end_if_apart_meets_claim() {
    explore("bias, apart", Some(3), || {
        let counted = Counted::new();
        let [first, second] = Side::both();
        counted.count(&first);
        let other = thread::spawn({
            let counted = Arc::clone(&counted);
            move || {
                counted.sides.end_if_apart(&first);
                counted.count(&first);
            }
        });
        counted.count(&second);
        counted.count(&second);
        other.join().unwrap();
        assert_eq!(counted.number(), 4);
    });
}

/// The owner's writes are visible to a thread that has ended the bias.
#[test]
fn models_bias_writes_of_owner_are_visible_after_end() {
    explore("bias, publication", None, || {
        struct Guarded {
            sides: BiasedPair,
            parcel: std::cell::UnsafeCell<Option<Parcel>>,
        }
        // SAFETY: only the owner inside of the bias writes the parcel, and other threads read it after the bias has
        // ended. loom reports an unordered access.
        unsafe impl Sync for Guarded {}
        // SAFETY: a parcel may be read and dropped on any thread.
        unsafe impl Send for Guarded {}
        let guarded = Arc::new(Guarded { sides: BiasedPair::new(), parcel: None.into() });
        let [first, second] = Side::both();
        guarded.sides.share(&first);
        guarded.sides.share(&second);
        let other = thread::spawn({
            let guarded = Arc::clone(&guarded);
            move || {
                guarded.sides.end(&second);
                // SAFETY: the bias has ended for good, so no owner is inside and none will enter.
                unsafe { (*guarded.parcel.get()).as_ref() }.map(Parcel::look)
            }
        });
        if let Some(_inside) = guarded.sides.enter() {
            // SAFETY: this thread is inside as the owner, so no other thread accesses the parcel.
            unsafe { *guarded.parcel.get() = Some(Parcel::new(7)) };
        }
        let seen = other.join().unwrap();
        // SAFETY: the other thread has been joined, so no other access is left.
        let is_stored = unsafe { (*guarded.parcel.get()).is_some() };
        assert_eq!(seen, is_stored.then_some(7));
    });
}
