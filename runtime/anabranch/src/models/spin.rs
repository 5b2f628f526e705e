//! The spin lock: one holder at a time, and each sees the writes of the previous one.

use super::explore;
use crate::sys::{
    spin::SpinLock,
    sync::{Arc, Cell},
};
use loom::thread;

#[test]
fn models_spin_lock_excludes() {
    explore("spin lock, two threads", None, || {
        let lock = Arc::new(SpinLock::new(Cell::new(0)));
        let count = |lock: &SpinLock<Cell<u32>>| {
            let guard = lock.lock();
            guard.set(guard.get() + 1);
        };
        let other = thread::spawn({
            let lock = Arc::clone(&lock);
            move || count(&lock)
        });
        count(&lock);
        other.join().unwrap();
        assert_eq!(lock.lock().get(), 2);
    });
}
