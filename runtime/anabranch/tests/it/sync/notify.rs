//! Wake-ups for one waiter and for all, and guards of parts of a locked value.

use crate::common::{fibers::with_every_cx, waits::Polled};
use anabranch::{
    Operation, WaitError,
    channel::Select,
    select,
    sync::{Mutex, MutexGuard, Notify, RwLock, RwLockReadGuard, RwLockWriteGuard},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn one_wakeup_is_kept_and_taken_once() {
    with_every_cx(|cx| {
        let notify = Notify::new();
        notify.notify_one();
        notify.notify_one();
        assert_eq!(notify.notified(cx), Ok(()));
        assert_eq!(notify.notifying().timeout(cx, SHORT), Err(WaitError::TimedOut));
        notify.notify_waiters();
        assert!(!notify.try_notified(), "a wake-up for all is not kept");
        thread::scope(|s| {
            s.spawn(|| {
                thread::sleep(SHORT);
                notify.notify_one();
            });
            assert_eq!(select!(cx, { () = notify.notifying() => 1 }), Ok(1));
        });
    });
}

#[test]
fn waiters_are_woken_in_order_and_all_at_once() {
    let notify = Notify::new();
    let mut waiting: Vec<_> = (0..40).map(|_| Polled::waiting(notify.notifying())).collect();
    notify.notify_one();
    assert!(waiting[0].is_woken() && !waiting[1].is_woken());
    notify.notify_waiters();
    assert!(waiting.iter_mut().all(|waiting| waiting.poll().is_some()));
    assert!(!notify.try_notified());
}

/// A wait counts from its creation on, whether it was polled or not: a waiter checks its condition in between.
#[test]
fn wait_that_was_not_polled_is_woken_with_all() {
    with_every_cx(|cx| {
        let notify = Notify::new();
        let (created, operation) = (notify.notifying(), notify.notifying());
        notify.notify_waiters();
        assert_eq!(Polled::new(created.into_future()).poll(), Some(()));
        assert_eq!(select!(cx, { () = operation => 1, default => 2 }), Ok(1));
        drop(Polled::waiting(notify.notifying()));
        assert_eq!(notify.notifying().timeout(cx, SHORT), Err(WaitError::TimedOut), "it was created later");

        // In a selection it counts again from the time when it was completed.
        let mut select = Select::from_iter([notify.notifying()]);
        assert_eq!(select.try_now(), None);
        notify.notify_waiters();
        notify.notify_waiters();
        assert_eq!((select.try_now(), select.try_now()), (Some((0, ())), None));
        let mut waiting = Polled::waiting(select.wait_async());
        notify.notify_waiters();
        assert!(waiting.is_woken() && waiting.poll().is_some());
        drop(waiting);
        assert_eq!(select.try_now(), None);

        // A wake-up for one goes to a waiter in the queue, or is kept.
        let mut created = Polled::new(notify.notifying().into_future());
        let mut waiting = Polled::waiting(notify.notifying());
        notify.notify_one();
        assert!(created.poll().is_none() && waiting.poll().is_some());
    });
}

#[test]
fn dropped_waiter_passes_its_own_wakeup_on() {
    let notify = Notify::new();
    let [first, mut second] = [(); 2].map(|()| Polled::waiting(notify.notifying()));
    notify.notify_one();
    drop(first);
    assert!(second.is_woken() && second.poll().is_some());
    let third = Polled::waiting(notify.notifying());
    notify.notify_one();
    drop(third);
    assert!(notify.try_notified(), "without a waiter it is kept");
    // One for all is not: the others got it.
    let [first, second] = [(); 2].map(|()| Polled::waiting(notify.notifying()));
    notify.notify_waiters();
    drop((first, second));
    assert!(!notify.try_notified());
    drop(Polled::waiting(notify.notifying()));
    notify.notify_one();
    assert!(notify.try_notified());
}

#[test]
fn mapped_guard_keeps_value_locked() {
    let mutex = Mutex::new((1, vec![2, 3]));
    let mut part = MutexGuard::map(mutex.try_lock().unwrap(), |pair| &mut pair.1[..]);
    part[0] = 5;
    assert!(mutex.try_lock().is_none() && format!("{part:?}") == "[5, 3]");
    thread::scope(|s| s.spawn(move || drop(part)).join().unwrap());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        drop(MutexGuard::map(mutex.try_lock().unwrap(), |pair| {
            assert!(pair.0 > 9, "no part");
            &mut pair.0
        }));
    }));
    assert!(panicked.is_err() && mutex.try_lock().is_some(), "a panic unlocks");

    let lock = RwLock::new((1, 2));
    let one = RwLockReadGuard::map(lock.try_read().unwrap(), |pair| &pair.0);
    let two = RwLockReadGuard::map(lock.try_read().unwrap(), |pair| &pair.1);
    assert!((*one, *two) == (1, 2) && lock.try_write().is_none());
    drop(one);
    assert!(lock.try_write().is_none());
    drop(two);
    let mut write = RwLockWriteGuard::map(lock.try_write().unwrap(), |pair| &mut pair.0);
    *write = 7;
    assert!(lock.try_read().is_none());
    drop(write);
    assert_eq!(*lock.try_read().unwrap(), (7, 2));
}

#[test]
fn owned_guard_keeps_mutex_alive() {
    let mutex = Arc::new(Mutex::new(String::from("a")));
    let mut guard = Arc::clone(&mutex).try_lock_owned().unwrap();
    assert!(Arc::clone(&mutex).try_lock_owned().is_none());
    let mut waiting = Polled::waiting(Arc::clone(&mutex).lock_owned_async());
    guard.push('b');
    drop(guard);
    let mut guard = waiting.poll().unwrap();
    drop(waiting);
    drop(mutex);
    let guard = thread::spawn(move || {
        guard.push('c');
        guard
    });
    let guard = guard.join().unwrap();
    assert_eq!(*guard, "abc");
}
