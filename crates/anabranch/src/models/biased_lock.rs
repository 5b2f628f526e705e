//! The biased lock: one at a time, and each sees what the one before did, whoever the owner is and while it changes.

use super::explore;
use crate::{
    bias::lock::BiasedLock,
    sys::sync::{Arc, Cell},
};
use loom::thread;

type Counter = BiasedLock<Cell<u32>>;

fn count(lock: &Counter, times: usize) {
    for _ in 0..times {
        let guard = lock.lock();
        guard.set(guard.get() + 1);
    }
}

fn counted(times: usize, lock: &Arc<Counter>) -> thread::JoinHandle<()> {
    let lock = Arc::clone(lock);
    thread::spawn(move || count(&lock, times))
}

/// The owner goes on while another takes the bias away.
#[test]
fn models_biased_lock_loses_its_owner() {
    explore("biased lock, an owner and another", None, || {
        let lock = Arc::new(BiasedLock::new(Cell::new(0)));
        count(&lock, 2);
        assert!(lock.is_mine());
        let other = counted(1, &lock);
        count(&lock, 2);
        other.join().unwrap();
        assert_eq!(lock.lock().get(), 5);
        assert!(!lock.is_mine());
    });
}

/// The owner comes by a read-modify-write, and to the end of its time.
#[test]
fn models_biased_lock_loses_its_owner_by_update() {
    explore("biased lock, an owner by update and another", None, || {
        let lock = Arc::new(BiasedLock::new(Cell::new(0)));
        count(&lock, 2);
        let other = counted(2, &lock);
        {
            let guard = lock.lock_by_update();
            guard.set(guard.get() + 1);
        }
        other.join().unwrap();
        assert_eq!(lock.lock().get(), 5);
    });
}

/// A thread becomes the owner while others are there.
#[test]
fn models_biased_lock_finds_an_owner() {
    explore("biased lock, one becomes the owner", Some(3), || {
        let lock = Arc::new(BiasedLock::new(Cell::new(0)));
        let other = counted(1, &lock);
        count(&lock, 3);
        other.join().unwrap();
        assert_eq!(lock.lock().get(), 4);
    });
}
