//! Fairness of locks: a woken waiter competes with newcomers, is overtaken for a bounded time only, and blocks no
//! others while it cannot run.

use crate::common::{
    LONG, pool,
    waits::{Polled, on_the_only_thread, until_waiting_beside},
    watchdog,
};
use anabranch::{
    Cancelled, Cx,
    sync::{Mutex, OnceCell, RwLock, Semaphore},
};
use std::{
    hint, iter,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// A fiber gives something back for which another fiber of its worker waits, and then computes for as long as it takes
/// a thread to have the same thing. So the fiber that waits is woken, and cannot run before the thread was served.
fn a_busy_worker_holds_nobody_up<G>(
    hold: impl FnOnce() -> G + Send,
    what: &str,
    wait: impl Fn(&Cx<'_>) -> Result<(), Cancelled> + Sync,
    take: impl FnOnce(&Cx<'_>) -> Result<(), Cancelled> + Send,
) {
    let (is_given_back, is_served) = (AtomicBool::new(false), AtomicBool::new(false));
    watchdog(LONG, || {
        thread::scope(|threads| {
            threads.spawn(|| {
                wait_for(&is_given_back);
                assert_eq!(pool(1).run(take), Ok(()));
                is_served.store(true, Ordering::SeqCst);
            });
            on_the_only_thread(|cx| {
                cx.scope(|s| {
                    let held = hold();
                    s.spawn(|cx| wait(cx).unwrap());
                    until_waiting_beside(cx, 1, what);
                    drop(held);
                    is_given_back.store(true, Ordering::SeqCst);
                    wait_for(&is_served);
                });
            });
        });
    });
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        hint::spin_loop();
        thread::yield_now();
    }
}

#[test]
fn mutex_is_not_reserved_for_fiber_that_cannot_run() {
    let mutex = Mutex::new(());
    a_busy_worker_holds_nobody_up(
        || mutex.try_lock().unwrap(),
        "Mutex::lock",
        |cx| mutex.lock(cx).map(drop),
        |cx| mutex.lock(cx).map(drop),
    );
}

#[test]
fn rwlock_is_not_reserved_for_writer_that_cannot_run() {
    let lock = RwLock::new(());
    let write = |cx: &Cx<'_>| lock.write(cx).map(drop);
    a_busy_worker_holds_nobody_up(|| lock.try_write().unwrap(), "RwLock::write", write, write);
    a_busy_worker_holds_nobody_up(|| lock.try_read().unwrap(), "RwLock::write", write, |cx| lock.read(cx).map(drop));
}

#[test]
fn rwlock_is_not_reserved_for_reader_that_cannot_run() {
    let lock = RwLock::new(());
    let read = |cx: &Cx<'_>| lock.read(cx).map(drop);
    a_busy_worker_holds_nobody_up(|| lock.try_write().unwrap(), "RwLock::read", read, |cx| lock.write(cx).map(drop));
}

#[test]
fn permits_are_not_reserved_for_fiber_that_cannot_run() {
    let permits = Semaphore::new(3);
    a_busy_worker_holds_nobody_up(
        || permits.try_acquire_many(2).unwrap(),
        "Semaphore::acquire",
        |cx| permits.acquire_many(cx, 3).map(drop).map_err(|_| Cancelled),
        |cx| permits.acquire_many(cx, 2).map(drop).map_err(|_| Cancelled),
    );
}

#[test]
fn once_cell_is_not_reserved_for_fiber_that_cannot_run() {
    let cell = OnceCell::new();
    // The initialiser of a future that is dropped has failed.
    a_busy_worker_holds_nobody_up(
        || Polled::waiting(cell.get_or_init_async(std::future::pending)),
        "OnceCell",
        |cx| cell.get_or_init(cx, |_| 1).map(drop),
        |cx| cell.get_or_init(cx, |_| 2).map(drop),
    );
    assert_eq!(cell.get(), Some(&2));
}

/// Longer than the time for which a waiter may be overtaken.
const TOO_LONG: Duration = Duration::from_millis(3);

/// More than the number of times that a woken waiter may be overtaken.
const TOO_OFTEN: usize = 100;

#[test]
fn overtaken_writer_is_handed_the_lock() {
    let lock = RwLock::new(());
    let read = lock.try_read().unwrap();
    let mut writer = Polled::waiting(lock.writing());
    assert!(lock.try_read().is_none(), "readers that keep coming do not keep a writer waiting");
    let mut reader = Polled::waiting(lock.reading());
    drop(read);
    assert!(writer.is_woken() && !reader.is_woken());
    // It is on its way, and may be overtaken for a while.
    let read = lock.try_read().unwrap();
    assert!(writer.poll().is_none());
    assert!(lock.try_read().is_none(), "the writer is the first again");
    drop(read);
    assert_eq!((writer.wakes(), reader.wakes()), (2, 0));
    thread::sleep(TOO_LONG);
    let read = lock.try_read().unwrap();
    assert!(writer.poll().is_none());
    drop(read);
    assert!(lock.try_read().is_none(), "who has been overtaken for long is handed the lock");
    drop(writer.poll().unwrap());
    assert!(reader.is_woken());
    drop(reader.poll().unwrap());
    assert!(lock.try_write().is_some());
}

#[test]
fn overtaken_readers_are_handed_the_lock() {
    let lock = RwLock::new(());
    let write = lock.try_write().unwrap();
    let mut readers: Vec<_> = (0..3).map(|_| Polled::waiting(lock.reading())).collect();
    let mut writer = Polled::waiting(lock.writing());
    drop(write);
    for _ in 0..2 {
        let write = lock.try_write().unwrap();
        assert!(readers.iter_mut().all(|reader| reader.poll().is_none()));
        thread::sleep(TOO_LONG);
        drop(write);
    }
    assert!(lock.try_write().is_none() && !writer.is_woken());
    let reads: Vec<_> = readers.iter_mut().map(|reader| reader.poll().unwrap()).collect();
    drop(reads);
    assert!(writer.poll().is_some());
}

#[test]
fn request_for_many_permits_does_not_starve() {
    let semaphore = Semaphore::new(2);
    let one = semaphore.try_acquire().unwrap();
    let mut wants_two = Polled::waiting(semaphore.acquiring(2));
    drop(one);
    for _ in 0..2 {
        let one = semaphore.try_acquire().unwrap();
        assert!(wants_two.poll().is_none());
        assert!(semaphore.try_acquire().is_err(), "one is free, but somebody waits for two");
        thread::sleep(TOO_LONG);
        drop(one);
    }
    assert!(semaphore.try_acquire().is_err(), "both were handed over");
    assert_eq!(wants_two.poll().unwrap().unwrap().count(), 2);
    assert_eq!(semaphore.available(), 2);
}

#[test]
fn dropped_future_returns_handed_over_lock() {
    let semaphore = Semaphore::new(2);
    let two = semaphore.try_acquire_many(2).unwrap();
    let mut handed = Polled::waiting(semaphore.acquiring(2));
    let mut behind = Polled::waiting(semaphore.acquiring(1));
    drop(two);
    for _ in 0..2 {
        let two = semaphore.try_acquire_many(2).unwrap();
        assert!(handed.poll().is_none());
        thread::sleep(TOO_LONG);
        drop(two);
    }
    assert_eq!((semaphore.available(), behind.wakes()), (0, 0));
    drop(handed);
    assert!(behind.poll().is_some());
    assert_eq!(semaphore.available(), 2);
}

/// While a woken waiter is pending, others arrive and leave; the waiters behind it are not forgotten.
fn one_that_does_not_come_holds_nobody_up<G, F: IntoFuture<Output = G>, H>(
    hold: impl Fn() -> Option<H>,
    wait: impl Fn() -> F,
) {
    let held = hold().unwrap();
    let never_comes = Polled::waiting(wait());
    let mut behind: Vec<_> = iter::repeat_with(|| Polled::waiting(wait())).take(2).collect();
    drop(held);
    assert!(never_comes.is_woken());
    for waiting in &mut behind {
        thread::sleep(TOO_LONG);
        assert!(!waiting.is_woken());
        (0..TOO_OFTEN).for_each(|_| drop(hold().unwrap()));
        assert!(waiting.is_woken());
    }
    behind.iter_mut().for_each(|waiting| drop(waiting.poll().unwrap()));
    drop(never_comes);
    assert!(hold().is_some());
}

#[test]
fn unpolled_woken_future_does_not_block_mutex() {
    let mutex = Mutex::new(());
    one_that_does_not_come_holds_nobody_up(|| mutex.try_lock(), || mutex.locking());
}

#[test]
fn unpolled_woken_future_does_not_block_writers() {
    let lock = RwLock::new(());
    one_that_does_not_come_holds_nobody_up(|| lock.try_write(), || lock.writing());
    one_that_does_not_come_holds_nobody_up(|| lock.try_read(), || lock.writing());
}

#[test]
fn unpolled_woken_future_does_not_block_semaphore() {
    let semaphore = Semaphore::new(2);
    one_that_does_not_come_holds_nobody_up(|| semaphore.try_acquire_many(1).ok(), || semaphore.acquiring(2));
}
