//! `sync::RwLock`: many readers or one writer, woken in order of arrival.

use crate::common::{
    LONG, in_pools, pool,
    waits::{Polled, on_a_fiber, until_waiting},
    watchdog,
};
use anabranch::{
    Cancelled, Operation, Pool, WaitError,
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::ManualClock,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicIsize, Ordering},
    },
    thread,
    time::Duration,
};

static STATIC: RwLock<u32> = RwLock::new(5);

#[test]
fn rwlock_has_container_api() {
    assert_eq!(*STATIC.try_read().unwrap(), 5);
    let mut lock = RwLock::from(vec![1]);
    lock.get_mut().push(2);
    let reads = lock.try_read().unwrap();
    assert_eq!(format!("{lock:?} {reads:?}"), "RwLock { value: [1, 2] } [1, 2]");
    drop(reads);
    let writes = lock.try_write().unwrap();
    assert_eq!(format!("{lock:?} {writes:?}"), "RwLock { value: <locked> } [1, 2]");
    drop(writes);
    assert_eq!(lock.into_inner(), [1, 2]);
    assert_eq!(*RwLock::<u8>::default().try_read().unwrap(), 0);
    fn is_send<T: Send>() {}
    is_send::<RwLockReadGuard<'_, u32>>();
    is_send::<RwLockWriteGuard<'_, u32>>();
}

#[test]
fn rwlock_admits_many_readers_or_one_writer() {
    in_pools(|pool| {
        let lock = RwLock::new(0);
        // Readers count up, a writer is minus one.
        let inside = AtomicIsize::new(0);
        let read = |guard: RwLockReadGuard<'_, u32>, wait: &dyn Fn()| {
            let before = inside.fetch_add(1, Ordering::SeqCst);
            assert!(before >= 0, "reads beside a writer");
            let value = *guard;
            wait();
            assert_eq!(*guard, value);
            inside.fetch_sub(1, Ordering::SeqCst);
        };
        let write = |mut guard: RwLockWriteGuard<'_, u32>, wait: &dyn Fn()| {
            assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 0, "writes beside others");
            wait();
            *guard += 1;
            inside.fetch_add(1, Ordering::SeqCst);
        };
        let work = |cx: &anabranch::Cx<'_>, number: usize| {
            let wait = || cx.yield_now();
            for round in 0..80 {
                match (number + round) % 8 {
                    0 => write(lock.write(cx).unwrap(), &wait),
                    1 => write(cx.block_on(lock.writing()).unwrap(), &wait),
                    n if n % 2 == 0 => read(lock.read(cx).unwrap(), &wait),
                    _ => read(cx.block_on(lock.reading()).unwrap(), &wait),
                }
            }
        };
        thread::scope(|threads| {
            threads.spawn(|| pool.run(|cx| work(cx, 8)));
            pool.run(|cx| {
                cx.scope(|s| {
                    for number in 0..8 {
                        let work = &work;
                        s.spawn(move |cx| work(cx, number));
                    }
                });
            });
        });
        assert_eq!(lock.into_inner(), 9 * 20);
    });
}

#[test]
fn waiters_are_woken_in_order_of_arrival() {
    let lock = RwLock::new(());
    let reads = lock.try_read().unwrap();
    let mut writer = Polled::waiting(lock.writing());
    // A writer waits: readers that come now wait behind it, so that it is not starved.
    assert!(lock.try_read().is_none());
    let mut readers: Vec<_> = (0..20).map(|_| Polled::waiting(lock.reading())).collect();
    let mut last = Polled::waiting(lock.writing());
    drop(reads);
    let writes = writer.poll().unwrap();
    assert!(readers.iter().all(|reader| !reader.is_woken()));
    drop(writes);
    // Those that wait behind one another read together, and a later writer waits for all of them.
    let mut reads: Vec<_> = readers.iter_mut().map(|reader| reader.poll().unwrap()).collect();
    while let Some(one) = reads.pop() {
        assert!(!last.is_woken());
        drop(one);
    }
    assert!(last.poll().is_some());
}

#[test]
fn readers_and_writers_do_not_starve_each_other() {
    in_pools(|pool| {
        let lock = RwLock::new(());
        let (is_written, is_read) = (AtomicBool::new(false), AtomicBool::new(false));
        pool.run(|cx| {
            cx.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|cx| {
                        while !is_written.load(Ordering::Relaxed) {
                            let guard = lock.read(cx).unwrap();
                            cx.sleep(Duration::from_micros(20)).unwrap();
                            drop(guard);
                        }
                    });
                    s.spawn(|cx| {
                        while !is_read.load(Ordering::Relaxed) {
                            let guard = lock.write(cx).unwrap();
                            cx.sleep(Duration::from_micros(20)).unwrap();
                            drop(guard);
                        }
                    });
                }
                s.spawn(|cx| {
                    drop(lock.write(cx).unwrap());
                    is_written.store(true, Ordering::Relaxed);
                });
                s.spawn(|cx| {
                    drop(lock.read(cx).unwrap());
                    is_read.store(true, Ordering::Relaxed);
                });
            });
        });
    });
}

#[test]
fn downgraded_writer_admits_readers_only() {
    let lock = RwLock::new(1);
    let mut writes = lock.try_write().unwrap();
    let mut reader = Polled::waiting(lock.reading());
    let mut writer = Polled::waiting(lock.writing());
    *writes += 1;
    let reads = RwLockWriteGuard::downgrade(writes);
    assert_eq!(*reader.poll().unwrap() + *reads, 4);
    assert!(!writer.is_woken());
    drop(reads);
    assert!(writer.poll().is_some());
}

#[test]
fn futures_may_be_dropped_in_every_state() {
    let lock = RwLock::new(());
    let reads = lock.try_read().unwrap();
    let writer = Polled::waiting(lock.writing());
    let mut reader = Polled::waiting(lock.reading());
    // The writer was all that the reader waited for.
    drop(writer);
    drop(reader.poll().unwrap());
    let woken = Polled::waiting(lock.writing());
    let mut reader = Polled::waiting(lock.reading());
    drop(reads);
    assert!(woken.is_woken() && !reader.is_woken());
    // Woken, and dropped without having been polled: the next one is woken in its place.
    drop(woken);
    assert!(reader.poll().is_some());
    assert!(lock.try_write().is_some());
}

#[test]
fn cancelled_and_timed_out_waiters_leave() {
    watchdog(LONG, || {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(clock.clock()).build().unwrap();
        let lock = Arc::new(RwLock::new(()));
        let guard = lock.try_write().unwrap();
        let wait = |wait: fn(&RwLock<()>, &anabranch::Cx<'_>) -> Result<(), WaitError>| {
            let lock = Arc::clone(&lock);
            pool.spawn(move |cx| wait(&lock, cx))
        };
        let late = [
            wait(|lock, cx| lock.reading().timeout(cx, Duration::from_secs(60)).map(drop)),
            wait(|lock, cx| lock.writing().timeout(cx, Duration::from_secs(60)).map(drop)),
            wait(|lock, cx| lock.reading().deadline(cx, cx.now() + Duration::from_secs(60)).map(drop)),
            wait(|lock, cx| lock.writing().deadline(cx, cx.now() + Duration::from_secs(60)).map(drop)),
        ];
        until_waiting(&pool, 2, "RwLock::read");
        until_waiting(&pool, 2, "RwLock::write");
        clock.advance(Duration::from_secs(61));
        for late in late {
            assert_eq!(pool.run(|cx| late.join(cx)).unwrap(), Err(WaitError::TimedOut));
        }
        let cancelled = wait(|lock, cx| Ok(lock.write(cx).map(drop)?));
        let served = wait(|lock, cx| Ok(lock.read(cx).map(drop)?));
        until_waiting(&pool, 1, "RwLock::write");
        cancelled.cancel();
        assert_eq!(pool.run(|cx| cancelled.join(cx)).unwrap(), Err(WaitError::Cancelled));
        drop(guard);
        assert_eq!(pool.run(|cx| served.join(cx)).unwrap(), Ok(()));
        assert!(lock.try_write().is_some());
    });
}

#[test]
fn panic_unlocks_and_cancelled_scope_takes_nothing() {
    watchdog(LONG, || {
        let pool = pool(2);
        let lock = RwLock::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            on_a_fiber(&pool, |cx| {
                let _reads = lock.read(cx).unwrap();
                panic!("while it reads");
            })
        }));
        assert!(outcome.is_err());
        assert!(lock.try_write().is_some());
        pool.run(|cx| {
            cx.cancellable(|cx, canceller| {
                canceller.cancel();
                assert_eq!(lock.read(cx).unwrap_err(), Cancelled);
                assert_eq!(lock.write(cx).unwrap_err(), Cancelled);
            });
        });
        assert!(lock.try_write().is_some());
    });
}
