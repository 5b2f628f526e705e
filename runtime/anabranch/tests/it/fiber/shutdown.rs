//! Dropping a pool whose fibers are suspended, unstarted, blocked, or spawn more. All end, and their handles return.

use crate::common::{
    self, LONG, Tally,
    fibers::{Event, FOREVER, until, until_waiting},
    pool, watchdog,
};
use anabranch::{Cancelled, Pool, sync::Trigger, time::ManualClock};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// So many that wait, in turn for a time, an event, a child and a half; then the pool is dropped.
fn drop_with_suspended(pool: Pool, count: usize) {
    let (waiting, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for i in 0..count {
        let (waiting, ended) = (Arc::clone(&waiting), Arc::clone(&ended));
        pool.spawn(move |cx| {
            waiting.fetch_add(1, Ordering::Relaxed);
            let cancelled = match i % 16 {
                0 => cx.scope(|s| s.spawn(|cx| cx.sleep(FOREVER)).join(s)).unwrap_or(Err(Cancelled)),
                1 => cx.join(|cx| cx.sleep(FOREVER), |cx| cx.sleep(FOREVER)).1,
                _ if i % 2 == 0 => Trigger::new().wait(cx),
                _ => cx.sleep(FOREVER),
            };
            assert_eq!((cancelled, cx.check()), (Err(Cancelled), Err(Cancelled)));
            ended.fetch_add(1, Ordering::Relaxed);
        });
    }
    until(|| waiting.load(Ordering::Relaxed) == count);
    drop(pool);
    assert_eq!(ended.load(Ordering::Relaxed), count);
}

#[test]
fn drop_cancels_many_suspended_fibers() {
    watchdog(LONG, || {
        drop_with_suspended(pool(2), 100_000);
        for threads in [1, 8] {
            drop_with_suspended(pool(threads), 5000);
            let clock = ManualClock::new().clock();
            let builder = Pool::builder().threads(threads).clock(clock).without_membarrier();
            drop_with_suspended(builder.build().unwrap(), 5000);
        }
    });
}

/// A million; set `ANABRANCH_SOAK` to run it. Prints how long it takes, and the most memory.
#[test]
fn drop_cancels_a_million_suspended_fibers() {
    if std::env::var_os("ANABRANCH_SOAK").is_none() {
        return;
    }
    watchdog(10 * LONG, || {
        let start = Instant::now();
        drop_with_suspended(pool(2), 1_000_000);
        let took = start.elapsed();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
        println!("a million fibers, made, suspended and cancelled: {took:?}; {peak}");
    });
}

#[test]
fn drop_cancels_unstarted_fibers() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = pool(threads);
            let tally = Tally::default();
            let (begun, was_cancelled) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let go = Arc::new(AtomicBool::new(false));
            // Every worker is busy, so the others have not begun when the pool closes.
            for _ in 0..threads {
                let go = Arc::clone(&go);
                let begun = Arc::clone(&begun);
                pool.spawn(move |_| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    until(|| go.load(Ordering::Relaxed));
                });
            }
            until(|| begun.load(Ordering::Relaxed) == threads);
            for _ in 0..1000 {
                let (value, was_cancelled) = (tally.make(), Arc::clone(&was_cancelled));
                pool.spawn(move |cx| {
                    let _value = value;
                    if cx.sleep(FOREVER) == Err(Cancelled) {
                        was_cancelled.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            thread::scope(|s| {
                s.spawn(|| drop(pool));
                thread::sleep(Duration::from_millis(5));
                go.store(true, Ordering::Relaxed);
            });
            assert_eq!(was_cancelled.load(Ordering::Relaxed), 1000);
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn drop_waits_for_fibers_that_spawn_more() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            for _ in 0..5 {
                let pool = pool(threads);
                let tally = Tally::default();
                fn grow(tally: &Tally, left: u32) {
                    let (own, value) = (tally.clone(), tally.make());
                    anabranch::spawn(move |cx| {
                        let _value = value;
                        let _ = cx.sleep(Duration::from_micros(300));
                        // Also when it was cancelled: the last words of a program.
                        for _ in 0..2 * u32::from(left > 0) {
                            grow(&own, left - 1);
                        }
                    });
                }
                pool.install(|| grow(&tally, 8));
                until(|| tally.made() > 10);
                drop(pool);
                assert_eq!(tally.made(), 511);
                tally.assert_all_dropped();
            }
        }
    });
}

#[test]
fn handles_outlive_pool() {
    watchdog(LONG, || {
        let other = pool(1);
        for threads in [1, 2, 8] {
            let pool = pool(threads);
            let tally = Tally::default();
            let mut handles = Vec::new();
            let mut triggers = Vec::new();
            for i in 0..50 {
                let value = tally.make();
                let mut trigger = Trigger::new();
                triggers.push(trigger.signal());
                handles.push(pool.spawn(move |cx| {
                    assert_eq!(trigger.wait(cx), Err(Cancelled));
                    assert_ne!(i % 10, 3, "panic");
                    value
                }));
            }
            let cancellers: Vec<_> = handles.iter().map(anabranch::JoinHandle::cancel_handle).collect();
            // One waits for them in another pool meanwhile.
            let first = handles.remove(0);
            let waits = other.spawn(move |cx| first.join(cx).map(drop));
            until_waiting(&pool, 50);
            drop(pool);
            other.run(|cx| waits.join(cx)).unwrap().unwrap();
            for (i, handle) in handles.into_iter().enumerate() {
                assert!(handle.is_finished());
                handle.cancel();
                if i % 3 != 0 {
                    assert_eq!(other.run(|cx| handle.join(cx)).is_ok(), (i + 1) % 10 != 3);
                }
            }
            cancellers.iter().for_each(anabranch::fiber::CancelHandle::cancel);
            triggers.iter().for_each(anabranch::sync::Signal::send);
            drop(cancellers);
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn drop_waits_for_slow_fibers() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = pool(threads);
            let (begun, count) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
            for i in 0..20u64 {
                let (begun, count) = (Arc::clone(&begun), Arc::clone(&count));
                pool.spawn(move |cx| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    let _ = cx.sleep(FOREVER);
                    cx.shield(|cx| {
                        cx.sleep(Duration::from_micros(i * 100)).unwrap();
                        cx.scope(|s| {
                            s.spawn(|cx| cx.sleep(Duration::from_micros(100)).unwrap());
                        });
                        let inner = anabranch::spawn(|cx| cx.is_cancelled());
                        assert!(inner.join(cx).unwrap(), "spawned while the pool closes");
                    });
                    assert_eq!(common::sum_to(100), 5050);
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
            until(|| begun.load(Ordering::Relaxed) == 20);
            drop(pool);
            assert_eq!(count.load(Ordering::Relaxed), 20);
        }
    });
}

#[test]
fn drop_waits_for_fiber_blocked_on_its_fork() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            for without_membarrier in [false, true] {
                let mut builder = Pool::builder().threads(threads);
                if without_membarrier {
                    builder = builder.without_membarrier();
                }
                let pool = builder.build().unwrap();
                let begun = Event::default();
                let ended = Arc::new(AtomicBool::new(false));
                pool.spawn({
                    let (begun, ended) = (begun.clone(), Arc::clone(&ended));
                    move |cx| {
                        begun.set();
                        while !cx.is_cancelled() {
                            thread::yield_now();
                        }
                        let (send, receive) = mpsc::channel();
                        anabranch::join(move || receive.recv().unwrap(), move || send.send(()).unwrap());
                        let handle = anabranch::spawn(|_| 1);
                        assert_eq!(anabranch::run(|cx| handle.join(cx)).unwrap(), 1);
                        ended.store(true, Ordering::Relaxed);
                    }
                });
                until(|| begun.is_set());
                drop(pool);
                assert!(ended.load(Ordering::Relaxed));
            }
        }
    });
}

#[test]
fn pool_may_be_dropped_by_its_own_fiber() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = Arc::new(pool(threads));
            let (send, receive) = mpsc::channel::<()>();
            let handle = pool.spawn({
                let pool = Arc::clone(&pool);
                move |cx| {
                    until(|| Arc::strong_count(&pool) == 1);
                    cx.scope(|s| {
                        for _ in 0..20 {
                            s.spawn(|cx| cx.sleep(FOREVER));
                        }
                        s.sleep(Duration::from_millis(1)).unwrap();
                        drop(pool);
                    });
                    drop(send);
                    cx.is_cancelled()
                }
            });
            drop(pool);
            assert!(receive.recv().is_err());
            until(|| handle.is_finished());
            assert!(anabranch::run(|cx| handle.join(cx)).unwrap());
        }
    });
}

#[test]
fn pool_may_be_dropped_by_fiber_of_another_pool() {
    watchdog(LONG, || {
        let outer = pool(1);
        let inner = pool(2);
        let handle = outer.spawn(move |cx| {
            inner.spawn(|cx| cx.sleep(FOREVER));
            cx.yield_now();
            drop(inner);
            7
        });
        assert_eq!(outer.run(|cx| handle.join(cx)).unwrap(), 7);
    });
}

#[test]
fn pools_with_fibers_are_dropped_repeatedly() {
    watchdog(LONG, || {
        for round in 0..200u64 {
            let pool = pool(1 + round as usize % 4);
            let count = Arc::new(AtomicU32::new(0));
            for i in 0..10 {
                let count = Arc::clone(&count);
                pool.spawn(move |cx| {
                    let _ = cx.sleep(Duration::from_micros(i * 20));
                    cx.join(|cx| cx.yield_now(), |cx| cx.yield_now());
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
            if round % 3 == 0 {
                thread::sleep(Duration::from_micros(round));
            }
            drop(pool);
            assert_eq!(count.load(Ordering::Relaxed), 10);
        }
    });
}
