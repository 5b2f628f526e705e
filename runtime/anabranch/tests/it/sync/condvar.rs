//! `sync::Condvar`: no notification is lost, and a returned guard holds the lock.

use crate::common::{
    LONG, in_pools, pool,
    waits::{Polled, on_a_fiber, on_the_only_thread, until_waiting, until_waiting_beside},
    watchdog,
};
use anabranch::{
    Cancelled, Cx, Pool, WaitError,
    sync::{Condvar, Mutex},
    time::ManualClock,
};
use std::{
    collections::VecDeque,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, RawWaker, RawWakerVTable, Waker},
    thread,
    time::Duration,
};

/// State that the tests share with the fibers that they spawn.
#[derive(Default)]
struct Shared {
    value: Mutex<u32>,
    changed: Condvar,
}

#[test]
fn bounded_queue_loses_no_wakeup() {
    const ITEMS: usize = 500;
    const BOUND: usize = 2;
    in_pools(|pool| {
        let queue = Mutex::new(VecDeque::new());
        let (filled, emptied) = (Condvar::new(), Condvar::new());
        let sum = AtomicUsize::new(0);
        let push = |cx: &Cx<'_>, item: usize| {
            let mut queue = queue.lock(cx).unwrap();
            emptied.wait_while(cx, &mut queue, |queue| queue.len() == BOUND).unwrap();
            queue.push_back(item);
            filled.notify_one();
        };
        let pop = |cx: &Cx<'_>| {
            let mut queue = queue.lock(cx).unwrap();
            while queue.is_empty() {
                filled.wait(cx, &mut queue).unwrap();
            }
            sum.fetch_add(queue.pop_front().unwrap(), Ordering::Relaxed);
            drop(queue);
            emptied.notify_one();
        };
        let pop_async = async || {
            let mut queue = filled.wait_while_async(queue.locking().await, |queue| queue.is_empty()).await;
            sum.fetch_add(queue.pop_front().unwrap(), Ordering::Relaxed);
            drop(queue);
            emptied.notify_one();
        };
        thread::scope(|threads| {
            threads.spawn(|| pool.run(|cx| (0..ITEMS).for_each(|item| push(cx, item))));
            pool.run(|cx| {
                cx.scope(|s| {
                    for _ in 0..2 {
                        s.spawn(|cx| (0..ITEMS).for_each(|item| push(cx, item)));
                        s.spawn(|cx| (0..ITEMS).for_each(|_| pop(cx)));
                    }
                    s.spawn(|cx| (0..ITEMS).for_each(|_| cx.block_on(pop_async()).unwrap()));
                });
            });
        });
        assert_eq!(sum.into_inner(), 3 * (0..ITEMS).sum::<usize>());
        assert!(queue.into_inner().is_empty());
    });
}

#[test]
fn notify_one_wakes_longest_waiter() {
    let shared = Shared::default();
    let mut waiting: Vec<_> =
        (0..3).map(|_| Polled::waiting(shared.changed.wait_async(shared.value.try_lock().unwrap()))).collect();
    assert!(!shared.value.is_locked(), "who waits does not hold the lock");
    shared.changed.notify_one();
    assert_eq!(waiting.iter().map(Polled::wakes).collect::<Vec<_>>(), [1, 0, 0]);
    let guard = waiting[0].poll().unwrap();
    assert!(shared.value.is_locked());
    shared.changed.notify_one();
    assert!(waiting[1].poll().is_none(), "notified, and waits for the lock");
    drop(guard);
    assert!(waiting[1].poll().is_some());
    shared.changed.notify_one();
    shared.changed.notify_one();
    assert!(waiting[2].poll().is_some());
    let mut late = Polled::waiting(shared.changed.wait_async(shared.value.try_lock().unwrap()));
    assert!(late.poll().is_none(), "notifications are not kept");
}

#[test]
fn notify_all_wakes_current_waiters_only() {
    let shared = Shared::default();
    let wait = || Polled::waiting(shared.changed.wait_async(shared.value.try_lock().unwrap()));
    // More than are woken at a time.
    let mut early: Vec<_> = (0..40).map(|_| wait()).collect();
    shared.changed.notify_all();
    let late = wait();
    assert!(early.iter_mut().all(|waiter| waiter.wakes() == 1 && waiter.poll().is_some()));
    assert!(!late.is_woken());
}

#[test]
fn dropped_future_passes_notification_on() {
    let shared = Shared::default();
    let wait = || Polled::waiting(shared.changed.wait_async(shared.value.try_lock().unwrap()));
    drop(shared.changed.wait_async(shared.value.try_lock().unwrap()));
    assert!(!shared.value.is_locked(), "dropped before it began");
    let (waiting, notified, next) = (wait(), wait(), wait());
    drop(waiting);
    shared.changed.notify_one();
    assert!(notified.is_woken() && !next.is_woken());
    drop(notified);
    assert!(next.is_woken());
    drop(next);
    // Notified, and waiting for the lock.
    let (mut notified, next) = (wait(), wait());
    let guard = shared.value.try_lock().unwrap();
    shared.changed.notify_one();
    assert!(notified.poll().is_none());
    drop(notified);
    assert!(next.is_woken());
    drop(guard);
    assert!(!shared.value.is_locked());
}

#[test]
fn cancelled_waiter_holds_lock_and_takes_no_notification() {
    watchdog(LONG, || {
        let pool = pool(1);
        let shared = Arc::new(Shared::default());
        on_a_fiber(&pool, |cx| {
            let [first, second] = [1, 2].map(|count| {
                let shared = Arc::clone(&shared);
                let handle = anabranch::spawn(move |cx| {
                    let mut guard = shared.value.lock(cx).unwrap();
                    let outcome = shared.changed.wait(cx, &mut guard);
                    *guard += 1;
                    outcome
                });
                until_waiting_beside(cx, count, "Condvar::wait");
                handle
            });
            let guard = shared.value.lock(cx).unwrap();
            first.cancel();
            // It cannot go on before it has the lock, though it is cancelled.
            until_waiting_beside(cx, 1, "Condvar::wait");
            cx.sleep(Duration::from_millis(1)).unwrap();
            assert!(!first.is_finished());
            shared.changed.notify_one();
            drop(guard);
            assert_eq!(first.join(cx).unwrap(), Err(Cancelled));
            assert_eq!(second.join(cx).unwrap(), Ok(()));
        });
        assert_eq!(*shared.value.try_lock().unwrap(), 2);
    });
}

#[test]
fn notification_precedes_later_cancellation() {
    watchdog(LONG, || {
        let shared = Arc::new(Shared::default());
        let outcome = on_the_only_thread(|cx| {
            let waiter = anabranch::spawn({
                let shared = Arc::clone(&shared);
                move |cx| shared.changed.wait(cx, &mut shared.value.lock(cx).unwrap())
            });
            until_waiting_beside(cx, 1, "Condvar::wait");
            // The other cannot go on before this one waits.
            shared.changed.notify_one();
            waiter.cancel();
            waiter.join(cx).unwrap()
        });
        assert_eq!(outcome, Ok(()));
        assert!(!shared.value.is_locked());
    });
}

#[test]
fn wait_in_cancelled_scope_keeps_lock() {
    watchdog(LONG, || {
        let shared = Shared::default();
        anabranch::run(|cx| {
            cx.cancellable(|cx, canceller| {
                let mut guard = shared.value.lock(cx).unwrap();
                canceller.cancel();
                assert_eq!(shared.changed.wait(cx, &mut guard), Err(Cancelled));
                assert!(shared.value.is_locked());
            });
        });
        assert!(!shared.value.is_locked());
    });
}

#[test]
fn timed_out_wait_holds_lock() {
    watchdog(LONG, || {
        type Wait = fn(&Shared, &Cx<'_>) -> Result<(), WaitError>;
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(clock.clock()).build().unwrap();
        let shared = Arc::new(Shared::default());
        let minute = Duration::from_secs(60);
        let waits: [Wait; 2] = [
            |s, cx| {
                let mut value = s.value.lock(cx)?;
                cx.timeout(Duration::from_secs(60), |cx| Ok(s.changed.wait(cx, &mut value)?))
            },
            |s, cx| {
                let mut value = s.value.lock(cx)?;
                cx.timeout(Duration::from_secs(60), |cx| Ok(s.changed.wait_while(cx, &mut value, |_| true)?))
            },
        ];
        let handles = waits.map(|wait| {
            let shared = Arc::clone(&shared);
            pool.spawn(move |cx| wait(&shared, cx))
        });
        until_waiting(&pool, 2, "Condvar::wait");
        // The first one is content with a notification, the other looks and waits on.
        shared.changed.notify_all();
        until_waiting(&pool, 1, "Condvar::wait");
        clock.advance(minute);
        let outcomes = handles.map(|handle| pool.run(|cx| handle.join(cx)).unwrap());
        use WaitError::TimedOut;
        assert_eq!(outcomes, [Ok(()), Err(TimedOut)]);
        assert!(!shared.value.is_locked());
    });
}

#[test]
fn concurrent_notifications_and_cancellations_are_safe() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..300 {
            let shared = Arc::new(Shared::default());
            let handles: Vec<_> = (0..6)
                .map(|_| {
                    let shared = Arc::clone(&shared);
                    pool.spawn(move |cx| {
                        let mut guard = shared.value.lock(cx)?;
                        shared.changed.wait_while(cx, &mut guard, |value| *value == 0)?;
                        // Each takes one away.
                        *guard -= 1;
                        Ok::<_, Cancelled>(())
                    })
                })
                .collect();
            for (n, handle) in handles.iter().enumerate() {
                if n % 3 == 0 {
                    handle.cancel();
                }
                pool.run(|cx| *shared.value.lock(cx).unwrap() += 1);
                shared.changed.notify_one();
            }
            let taken = handles.into_iter().map(|handle| pool.run(|cx| handle.join(cx)).unwrap());
            let taken = taken.filter(Result::is_ok).count() as u32;
            assert!(taken >= 4, "all that were not cancelled");
            assert_eq!(*shared.value.try_lock().unwrap(), 6 - taken);
        }
    });
}

#[test]
fn panic_after_wait_unlocks_once() {
    watchdog(LONG, || {
        let pool = pool(2);
        let shared = Shared::default();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.run(|cx| {
                cx.join(
                    |cx| {
                        let mut guard = shared.value.lock(cx).unwrap();
                        shared.changed.wait_while(cx, &mut guard, |value| match *value {
                            0 => true,
                            _ => panic!("in the condition"),
                        })
                    },
                    |cx| {
                        *shared.value.lock(cx).unwrap() = 1;
                        shared.changed.notify_all();
                    },
                )
            })
        }));
        assert!(outcome.is_err());
        assert!(!shared.value.is_locked());
    });
}

#[test]
fn panicking_waker_during_unlock_breaks_nothing() {
    static TABLE: RawWakerVTable =
        RawWakerVTable::new(|_| RAW, |_| panic!("the waker"), |_| panic!("the waker"), |_| ());
    const RAW: RawWaker = RawWaker::new(std::ptr::null(), &TABLE);
    watchdog(LONG, || {
        let shared = Shared::default();
        let guard = shared.value.try_lock().unwrap();
        let mut locking = Box::pin(shared.value.locking().into_future());
        // SAFETY: the functions of the table use no data.
        let waker = unsafe { Waker::from_raw(RAW) };
        assert!(locking.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        // The wait unlocks, which wakes the one above, which panics.
        let mut waiting = Polled::waiting(shared.changed.wait_async(guard));
        shared.changed.notify_one();
        drop(waiting.poll());
        drop(waiting);
        drop(locking);
        assert!(!shared.value.is_locked());
    });
}
