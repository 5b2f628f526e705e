//! Guards and permits that keep their lock alive.

use crate::common::{
    LONG, pool,
    waits::{Polled, until_waiting},
    watchdog,
};
use anabranch::{
    Cancelled,
    sync::{AcquireError, OwnedRwLockWriteGuard, RwLock, Semaphore, TryAcquireError},
};
use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

#[test]
fn owned_guards_of_rwlock_exclude_like_borrowed_ones() {
    let lock = Arc::new(RwLock::new(1));
    let first = Arc::clone(&lock).try_read_owned().unwrap();
    let second = lock.try_read().unwrap();
    assert_eq!(*first + *second, 2);
    assert!(Arc::clone(&lock).try_write_owned().is_none());
    drop(second);
    let mut writing = Polled::waiting(Arc::clone(&lock).write_owned_async());
    assert!(Arc::clone(&lock).try_read_owned().is_none(), "a writer waits");
    drop(first);
    let mut guard = writing.poll().unwrap();
    *guard += 1;
    assert_eq!(format!("{guard:?} {guard}"), "2 2");
    let mut reading = Polled::waiting(Arc::clone(&lock).read_owned_async());
    drop(guard);
    assert_eq!(*reading.poll().unwrap(), 2);
    assert!(lock.try_write().is_some());
}

#[test]
fn owned_guard_moves_to_another_fiber() {
    watchdog(LONG, || {
        let pool = pool(2);
        let lock = Arc::new(RwLock::new(1));
        pool.run(|cx| {
            let mut guard = Arc::clone(&lock).write_owned(cx).unwrap();
            let reader = pool.spawn({
                let lock = Arc::clone(&lock);
                move |cx| lock.read_owned(cx).map(|guard| *guard)
            });
            until_waiting(&pool, 1, "RwLock::read");
            let other = pool.spawn(move |_| *guard += 1);
            other.join(cx).unwrap();
            assert_eq!(reader.join(cx).unwrap(), Ok(2));
        });
    });
}

#[test]
fn cancelled_wait_keeps_no_part_of_the_lock() {
    watchdog(LONG, || {
        let pool = pool(2);
        let (lock, semaphore) = (Arc::new(RwLock::new(())), Arc::new(Semaphore::new(1)));
        let (reads, permit) = (lock.try_read().unwrap(), semaphore.try_acquire().unwrap());
        let (their_lock, theirs) = (Arc::clone(&lock), Arc::clone(&semaphore));
        let writer = pool.spawn(move |cx| their_lock.write_owned(cx).map(drop));
        let acquirer = pool.spawn(move |cx| theirs.acquire_many_owned(cx, 1).map(drop));
        until_waiting(&pool, 1, "RwLock::write");
        until_waiting(&pool, 1, "Semaphore::acquire");
        writer.cancel();
        acquirer.cancel();
        assert_eq!(pool.run(|cx| writer.join(cx)).unwrap(), Err(Cancelled));
        assert_eq!(pool.run(|cx| acquirer.join(cx)).unwrap(), Err(AcquireError::Cancelled));
        drop((reads, permit));
        assert!(lock.try_write().is_some() && semaphore.try_acquire().is_ok());
        assert_eq!((Arc::strong_count(&lock), Arc::strong_count(&semaphore)), (1, 1));
    });
}

#[test]
fn last_guard_drops_the_value() {
    /// Set when it is dropped.
    struct Dropped(Arc<AtomicBool>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_dropped = Arc::new(AtomicBool::new(false));
    let value = Dropped(Arc::clone(&is_dropped));
    let guard = Arc::new(RwLock::new(value)).try_write_owned().unwrap();
    let guard = OwnedRwLockWriteGuard::downgrade(guard);
    assert!(!guard.0.load(Ordering::Relaxed));
    drop(guard);
    assert!(is_dropped.load(Ordering::Relaxed));
}

#[test]
fn downgraded_guard_admits_readers_and_keeps_one_reference() {
    let lock = Arc::new(RwLock::new(1));
    let writing = Arc::clone(&lock).try_write_owned().unwrap();
    let reading = OwnedRwLockWriteGuard::downgrade(writing);
    assert_eq!(*reading + *lock.try_read().unwrap(), 2);
    assert!(lock.try_write().is_none());
    assert_eq!(Arc::strong_count(&lock), 2);
    drop(reading);
    assert!(lock.try_write().is_some());
}

#[test]
fn owned_permits_keep_the_semaphore_alive_and_return() {
    let semaphore = Arc::new(Semaphore::new(5));
    let weak: Weak<Semaphore> = Arc::downgrade(&semaphore);
    let mut permit = semaphore.try_acquire_many_owned(4).unwrap();
    assert_eq!((permit.count(), permit.semaphore().available()), (4, 1));
    assert_eq!(format!("{permit:?}"), "OwnedPermit { count: 4 }");
    assert!(permit.split(5).is_none());
    let part = permit.split(1).unwrap();
    assert_eq!((permit.count(), part.count()), (3, 1));
    drop(permit);
    assert_eq!(weak.upgrade().unwrap().available(), 4);
    part.forget();
    assert!(weak.upgrade().is_none(), "no permit is left");
}

#[test]
fn owned_permits_are_acquired_in_all_shapes() {
    let semaphore = Arc::new(Semaphore::new(2));
    let one = Arc::clone(&semaphore).try_acquire_owned().unwrap();
    let none = Arc::clone(&semaphore).try_acquire_many_owned(2);
    assert_eq!(none.err(), Some(TryAcquireError::NoPermits));
    let mut both = Polled::waiting(Arc::clone(&semaphore).acquire_many_owned_async(2));
    let mut next = Polled::waiting(Arc::clone(&semaphore).acquire_owned_async());
    drop(one);
    let both = both.poll().unwrap().unwrap();
    assert!(next.poll().is_none());
    drop(both);
    drop(next.poll().unwrap().unwrap());
    anabranch::run(|cx| {
        let one = Arc::clone(&semaphore).acquire_owned(cx).unwrap();
        assert_eq!((one.count(), semaphore.available()), (1, 1));
        let other = anabranch::spawn(move |_| one.count());
        assert_eq!(other.join(cx).unwrap(), 1);
    });
    assert_eq!(semaphore.available(), 2);
}
