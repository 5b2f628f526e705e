//! Biases: what the owner does by a load and a store, and others by an update, is never in the way of each other.

use super::{explore, parcel::Parcel};
use crate::{
    bias::pair::{BiasedPair, Side},
    sys::sync::{Arc, AtomicUsize, Ordering},
};
use loom::thread;

/// A number that is counted up by both sides.
struct Counted {
    sides: BiasedPair,
    number: AtomicUsize,
}

impl Counted {
    fn new() -> Arc<Self> {
        Arc::new(Self { sides: BiasedPair::new(), number: AtomicUsize::new(0) })
    }

    /// Whether it was done as the owner.
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

/// Both sides are used here, and then one of them elsewhere.
#[test]
fn models_bias_a_side_goes_to_another_thread() {
    explore("bias, a side goes", None, || {
        let counted = Counted::new();
        let [first, second] = Side::both();
        assert!(!counted.count(&first) && !counted.count(&second), "nobody knows yet that both are here");
        assert!(counted.count(&first), "now both are");
        let other = thread::spawn({
            let counted = Arc::clone(&counted);
            move || assert!(!counted.count(&second), "the owner is another")
        });
        counted.count(&first);
        other.join().unwrap();
        assert_eq!(counted.number(), 5);
        assert!(!counted.count(&first), "for good");
    });
}

/// One becomes the owner just when the other side goes.
#[test]
fn models_bias_a_side_goes_before_there_is_an_owner() {
    explore("bias, a side goes early", Some(3), || {
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

/// Both sides go, to two threads.
#[test]
fn models_bias_both_sides_go() {
    explore("bias, both sides go", Some(2), || {
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

/// A side that has come to another thread ends the bias, just when the other becomes the owner.
#[test]
fn models_bias_a_side_ends_it_when_they_are_apart() {
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

/// What the owner has done is visible to threads that come after it.
#[test]
fn models_bias_what_the_owner_did_is_seen() {
    explore("bias, publication", None, || {
        struct Place {
            sides: BiasedPair,
            parcel: std::cell::UnsafeCell<Option<Parcel>>,
        }
        // SAFETY: loom reports unordered accesses to the parcel.
        unsafe impl Sync for Place {}
        // SAFETY: as above.
        unsafe impl Send for Place {}
        let place = Arc::new(Place { sides: BiasedPair::new(), parcel: None.into() });
        let [first, second] = Side::both();
        place.sides.share(&first);
        place.sides.share(&second);
        let other = thread::spawn({
            let place = Arc::clone(&place);
            move || {
                place.sides.end(&second);
                // SAFETY: the owner is outside, for good.
                unsafe { (*place.parcel.get()).as_ref() }.map(Parcel::look)
            }
        });
        if let Some(_inside) = place.sides.enter() {
            // SAFETY: the owner is inside.
            unsafe { *place.parcel.get() = Some(Parcel::new(7)) };
        }
        let seen = other.join().unwrap();
        // SAFETY: the other thread has been joined, so no other access is left.
        let is_there = unsafe { (*place.parcel.get()).is_some() };
        assert_eq!(seen, is_there.then_some(7));
    });
}
