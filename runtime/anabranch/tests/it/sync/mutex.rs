//! `sync::Mutex`: one holder at a time among fibers, threads and tasks. No waiter starves, and no lock is lost,
//! however a wait ends.

use crate::common::{
    LONG, Tally, in_pools, pool,
    waits::{Polled, on_a_fiber, on_the_only_thread, until_waiting, until_waiting_beside},
    watchdog,
};
use anabranch::{
    Cancelled, Operation, Pool, TimedOut, WaitError,
    sync::{Mutex, MutexGuard},
    time::ManualClock,
};
use std::{
    cell::Cell,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, RawWaker, RawWakerVTable, Waker},
    thread,
    time::{Duration, Instant},
};

static STATIC: Mutex<u32> = Mutex::new(5);

#[test]
fn mutex_has_container_api() {
    assert_eq!(*STATIC.try_lock().unwrap(), 5);
    let mut mutex = Mutex::from(vec![1]);
    mutex.get_mut().push(2);
    assert_eq!(format!("{mutex:?}"), "Mutex { value: [1, 2] }");
    let guard = mutex.try_lock().unwrap();
    assert_eq!(format!("{mutex:?} {guard:?}"), "Mutex { value: <locked> } [1, 2]");
    drop(guard);
    assert_eq!(mutex.into_inner(), [1, 2]);
    assert_eq!(*Mutex::<String>::default().try_lock().unwrap(), "");
    let unsized_one: &Mutex<[u8]> = &Mutex::new([1, 2, 3]);
    assert_eq!(unsized_one.try_lock().unwrap().len(), 3);
}

#[test]
fn mutex_drops_value_once() {
    let tally = Tally::default();
    drop(Mutex::new(tally.make()));
    drop(Mutex::new(tally.make()).into_inner());
    *Mutex::new(tally.make()).try_lock().unwrap() = tally.make();
    tally.assert_all_dropped();
}

#[test]
fn guards_and_futures_are_send() {
    fn check<T: Send>(_: T) {}
    let mutex = Mutex::new(Cell::new(1));
    check(mutex.try_lock().unwrap());
    check(mutex.locking().into_future());
    fn is_sync<T: Sync>() {}
    is_sync::<MutexGuard<'_, u32>>();
}

#[test]
fn mutex_excludes_fibers_threads_and_tasks() {
    const ROUNDS: usize = 300;
    in_pools(|pool| {
        let mutex = Mutex::new(0);
        let inside = AtomicBool::new(false);
        let enter = |mut guard: MutexGuard<'_, usize>| {
            assert!(!inside.swap(true, Ordering::Relaxed), "two have the lock");
            *guard += 1;
            inside.store(false, Ordering::Relaxed);
        };
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    pool.run(|cx| (0..ROUNDS).for_each(|_| enter(mutex.lock(cx).unwrap())));
                });
            }
            pool.run(|cx| {
                cx.scope(|s| {
                    for _ in 0..4 {
                        s.spawn(|cx| {
                            for round in 0..ROUNDS {
                                let guard = mutex.lock(cx).unwrap();
                                if round % 3 == 0 {
                                    // Held across a wait.
                                    inside.store(true, Ordering::Relaxed);
                                    cx.yield_now();
                                    inside.store(false, Ordering::Relaxed);
                                }
                                enter(guard);
                            }
                        });
                        s.spawn(|cx| {
                            let locks = async {
                                for _ in 0..ROUNDS {
                                    enter(mutex.locking().await);
                                }
                            };
                            cx.block_on(locks).unwrap();
                        });
                    }
                });
            });
        });
        assert_eq!(mutex.into_inner(), 10 * ROUNDS);
    });
}

#[test]
fn waiting_fiber_lets_others_run_on_its_worker() {
    watchdog(LONG, || {
        let pool = pool(1);
        let mutex = Mutex::new(Vec::new());
        on_a_fiber(&pool, |cx| {
            let mut guard = mutex.lock(cx).unwrap();
            cx.scope(|s| {
                let waiter = s.spawn(|cx| mutex.lock(cx).unwrap().push("waiter"));
                let other = s.spawn(|_| "ran meanwhile");
                assert_eq!(other.join(cx), Ok("ran meanwhile"));
                assert!(!waiter.is_finished());
                guard.push("holder");
                drop(guard);
            });
        });
        assert_eq!(mutex.into_inner(), ["holder", "waiter"]);
    });
}

#[test]
fn waiter_is_served_despite_repeated_relocking() {
    in_pools(|pool| {
        let mutex = Mutex::new(());
        let is_over = AtomicBool::new(false);
        pool.run(|cx| {
            cx.scope(|s| {
                for _ in 0..2 {
                    s.spawn(|cx| {
                        // Holds the lock nearly always, and lets the others run only while it does.
                        while !is_over.load(Ordering::Relaxed) {
                            let guard = mutex.lock(cx).unwrap();
                            cx.sleep(Duration::from_micros(50)).unwrap();
                            drop(guard);
                        }
                    });
                }
                s.spawn(|cx| {
                    for _ in 0..5 {
                        drop(mutex.lock(cx).unwrap());
                    }
                    is_over.store(true, Ordering::Relaxed);
                });
            });
        });
    });
}

#[test]
fn overtaken_waiter_is_handed_the_lock() {
    let mutex = Mutex::new(());
    let guard = mutex.try_lock().unwrap();
    let mut first = Polled::waiting(mutex.locking());
    let mut second = Polled::waiting(mutex.locking());
    drop(guard);
    assert!(first.is_woken() && !second.is_woken());
    // Overtaken: for a while that is allowed.
    let guard = mutex.try_lock().unwrap();
    assert!(first.poll().is_none());
    drop(guard);
    assert_eq!((first.wakes(), second.wakes()), (2, 0), "who lost goes first");
    thread::sleep(Duration::from_millis(3));
    let guard = mutex.try_lock().unwrap();
    assert!(first.poll().is_none());
    drop(guard);
    assert!(mutex.try_lock().is_none(), "who has been overtaken for long is handed the lock");
    let guard = first.poll().unwrap();
    assert!(!second.is_woken());
    drop(guard);
    assert!(second.poll().is_some());
}

#[test]
fn only_one_waiter_is_woken_at_a_time() {
    let mutex = Mutex::new(());
    let guard = mutex.try_lock().unwrap();
    let mut first = Polled::waiting(mutex.locking());
    let mut second = Polled::waiting(mutex.locking());
    drop(guard);
    for _ in 0..3 {
        drop(mutex.try_lock().unwrap());
    }
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    drop(first.poll().unwrap());
    assert_eq!(second.wakes(), 1);
    assert!(second.poll().is_some());
}

#[test]
fn future_may_be_dropped_in_every_state() {
    let mutex = Mutex::new(());
    // Before it was polled, and while it waits: the next one is served.
    drop(mutex.locking().into_future());
    let guard = mutex.try_lock().unwrap();
    let waiting = Polled::waiting(mutex.locking());
    let mut next = Polled::waiting(mutex.locking());
    drop(waiting);
    drop(guard);
    let guard = next.poll().unwrap();
    // Woken: the next one is woken in its place.
    let woken = Polled::waiting(mutex.locking());
    let mut next = Polled::waiting(mutex.locking());
    drop(guard);
    assert!(woken.is_woken() && !next.is_woken());
    drop(woken);
    assert!(next.is_woken());
    let guard = next.poll().unwrap();
    // Woken, with no waiter behind it.
    let woken = Polled::waiting(mutex.locking());
    drop(guard);
    drop(woken);
    let guard = mutex.try_lock().unwrap();
    // Woken, too late, and waiting again.
    let mut late = Polled::waiting(mutex.locking());
    drop(guard);
    let guard = mutex.try_lock().unwrap();
    assert!(late.poll().is_none());
    let mut next = Polled::waiting(mutex.locking());
    drop(late);
    drop(guard);
    drop(next.poll().unwrap());
    assert!(!mutex.is_locked());
}

#[test]
fn dropped_future_passes_handed_over_lock_on() {
    let mutex = Mutex::new(());
    let guard = mutex.try_lock().unwrap();
    let mut handed = Polled::waiting(mutex.locking());
    let mut next = Polled::waiting(mutex.locking());
    drop(guard);
    for _ in 0..2 {
        let guard = mutex.try_lock().unwrap();
        assert!(handed.poll().is_none());
        thread::sleep(Duration::from_millis(2));
        drop(guard);
    }
    // By now it may no longer be overtaken.
    assert!(mutex.is_locked());
    drop(handed);
    drop(next.poll().expect("the lock was handed on"));
    assert!(mutex.try_lock().is_some());
}

#[test]
fn plain_threads_lock_and_give_up() {
    let mutex = Mutex::new(0);
    let guard = mutex.locking().blocking();
    let mut locking = mutex.locking();
    assert_eq!(locking.blocking_timeout(Duration::from_millis(1)).unwrap_err(), TimedOut);
    assert_eq!(locking.blocking_deadline(Instant::now()).unwrap_err(), TimedOut);
    drop(guard);
    // The operation is as before, and may be waited for again, also in another way.
    drop(locking.blocking_timeout(LONG).unwrap());
    anabranch::run(|cx| *locking.wait(cx).unwrap() += 1);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..1_000).for_each(|_| *mutex.locking().blocking() += 1));
        }
    });
    drop(locking);
    assert_eq!(mutex.into_inner(), 4_001);
}

#[test]
fn forgotten_future_and_guard_are_safe() {
    let mut mutex = Box::new(Mutex::new(1));
    let guard = mutex.try_lock().unwrap();
    let mut future = Box::pin(mutex.locking().into_future());
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    std::mem::forget(future);
    std::mem::forget(guard);
    assert_eq!(*mutex.get_mut(), 1);
    assert_eq!((*mutex).into_inner(), 1);
}

#[test]
fn panicking_waker_loses_no_lock() {
    static TABLE: RawWakerVTable =
        RawWakerVTable::new(|_| RAW, |_| panic!("the waker"), |_| panic!("the waker"), |_| ());
    const RAW: RawWaker = RawWaker::new(std::ptr::null(), &TABLE);
    let mutex = Mutex::new(());
    let guard = mutex.try_lock().unwrap();
    let mut waiting = Box::pin(mutex.locking().into_future());
    // SAFETY: the functions of the table use no data.
    let waker = unsafe { Waker::from_raw(RAW) };
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let mut next = Polled::waiting(mutex.locking());
    // A foreign waker must not unwind the unlocking thread.
    drop(guard);
    assert!(!mutex.is_locked());
    drop(waiting);
    assert!(next.poll().is_some());
}

#[test]
fn panic_while_held_unlocks() {
    in_pools(|pool| {
        let mutex = Mutex::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.run(|cx| {
                cx.scope(|s| {
                    s.spawn(|cx| {
                        let mut guard = mutex.lock(cx).unwrap();
                        *guard += 1;
                        cx.yield_now();
                        panic!("with the lock");
                    });
                });
            });
        }));
        assert!(outcome.is_err());
        assert_eq!(*mutex.try_lock().expect("unlocked by the unwinding"), 1);
    });
}

#[test]
fn lock_in_cancelled_scope_fails() {
    watchdog(LONG, || {
        let mutex = Mutex::new(());
        anabranch::run(|cx| {
            cx.cancellable(|cx, canceller| {
                canceller.cancel();
                assert_eq!(mutex.lock(cx).unwrap_err(), Cancelled);
                assert_eq!(mutex.locking().timeout(cx, LONG).unwrap_err(), WaitError::Cancelled);
                assert!(cx.shield(|cx| mutex.lock(cx).is_ok()));
            });
        });
        assert!(!mutex.is_locked());
    });
}

#[test]
fn cancelled_waiter_leaves_queue() {
    watchdog(LONG, || {
        let pool = pool(2);
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.try_lock().unwrap();
        let waiters: Vec<_> = (0..3)
            .map(|n| {
                until_waiting(&pool, n, "Mutex::lock");
                let mutex = Arc::clone(&mutex);
                pool.spawn(move |cx| mutex.lock(cx).map(drop))
            })
            .collect();
        until_waiting(&pool, 3, "Mutex::lock");
        waiters[1].cancel();
        until_waiting(&pool, 2, "Mutex::lock");
        drop(guard);
        let outcomes: Vec<_> = waiters.into_iter().map(|waiter| pool.run(|cx| waiter.join(cx).unwrap())).collect();
        assert_eq!(outcomes, [Ok(()), Err(Cancelled), Ok(())]);
    });
}

#[test]
fn waiter_cancelled_after_wakeup_passes_lock_on() {
    watchdog(LONG, || {
        let mutex = Arc::new(Mutex::new(()));
        let outcomes = on_the_only_thread(|cx| {
            let guard = mutex.lock(cx).unwrap();
            let [first, second] = [1, 2].map(|count| {
                let mutex = Arc::clone(&mutex);
                let handle = anabranch::spawn(move |cx| mutex.lock(cx).map(drop));
                until_waiting_beside(cx, count, "Mutex::lock");
                handle
            });
            // The first is chosen, and cannot run before this one waits.
            drop(guard);
            let guard = mutex.try_lock().unwrap();
            first.cancel();
            let first = first.join(cx).unwrap();
            drop(guard);
            [first, second.join(cx).unwrap()]
        });
        assert_eq!(outcomes, [Err(Cancelled), Ok(())]);
    });
}

#[test]
fn concurrent_cancellations_and_unlocks_lose_no_lock() {
    watchdog(LONG, || {
        let pool = pool(2);
        let mutex = Arc::new(Mutex::new(0_u64));
        let (locked, cancelled) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for round in 0..400 {
            let handles: Vec<_> = (0..6)
                .map(|_| {
                    let (mutex, locked, cancelled) = (Arc::clone(&mutex), Arc::clone(&locked), Arc::clone(&cancelled));
                    pool.spawn(move |cx| match mutex.lock(cx) {
                        Ok(mut guard) => {
                            *guard += 1;
                            cx.yield_now();
                            locked.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(Cancelled) => {
                            cancelled.fetch_add(1, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            if round % 2 == 0 {
                thread::yield_now();
            }
            handles.iter().step_by(2).for_each(|handle| handle.cancel());
            for handle in handles {
                pool.run(|cx| handle.join(cx)).unwrap();
            }
            assert!(!mutex.is_locked());
        }
        assert_eq!(*mutex.try_lock().unwrap(), locked.load(Ordering::Relaxed) as u64);
        assert_eq!(locked.load(Ordering::Relaxed) + cancelled.load(Ordering::Relaxed), 2400);
    });
}

#[test]
fn wait_ends_at_deadline() {
    watchdog(LONG, || {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(clock.clock()).build().unwrap();
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.try_lock().unwrap();
        let by_duration = pool.spawn({
            let mutex = Arc::clone(&mutex);
            move |cx| mutex.locking().timeout(cx, Duration::from_secs(60)).map(drop)
        });
        let by_instant = pool.spawn({
            let mutex = Arc::clone(&mutex);
            move |cx| mutex.locking().deadline(cx, cx.now() + Duration::from_secs(120)).map(drop)
        });
        let by_scope = pool.spawn({
            let mutex = Arc::clone(&mutex);
            move |cx| {
                let locked =
                    cx.timeout(Duration::from_secs(60), |cx| mutex.lock(cx).map_err(WaitError::from).map(drop));
                locked == Err(WaitError::TimedOut)
            }
        });
        until_waiting(&pool, 3, "Mutex::lock");
        clock.advance(Duration::from_secs(61));
        until_waiting(&pool, 1, "Mutex::lock");
        drop(guard);
        assert_eq!(pool.run(|cx| by_duration.join(cx)).unwrap(), Err(WaitError::TimedOut));
        assert_eq!(pool.run(|cx| by_instant.join(cx)).unwrap(), Ok(()));
        assert!(pool.run(|cx| by_scope.join(cx)).unwrap());
        // A free lock is had even when it is late.
        assert!(pool.run(|cx| mutex.locking().timeout(cx, Duration::ZERO).is_ok()));
    });
}

#[test]
fn unwinding_fiber_may_lock() {
    struct LocksInDrop<'a, 'b>(&'a anabranch::Cx<'b>, &'a Mutex<u32>, &'a Mutex<u32>);
    impl Drop for LocksInDrop<'_, '_> {
        fn drop(&mut self) {
            *self.1.lock(self.0).unwrap() += 1;
            *self.2.lock(self.0).unwrap() += 1;
        }
    }
    watchdog(LONG, || {
        let pool = pool(1);
        let (free, taken) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|threads| {
            let guard = taken.try_lock().unwrap();
            let unwinding = threads.spawn(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    on_a_fiber(&pool, |cx| {
                        let _locks = LocksInDrop(cx, &free, &taken);
                        panic!("unwinds");
                    })
                }))
            });
            until_waiting(&pool, 1, "Mutex::lock");
            drop(guard);
            assert!(unwinding.join().unwrap().is_err());
        });
        assert_eq!((free.into_inner(), taken.into_inner()), (1, 1));
    });
}
