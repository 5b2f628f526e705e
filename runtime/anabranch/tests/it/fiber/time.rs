//! Time in fibers: order, nested deadlines and intervals, with a manual clock and with the system's.

use crate::common::{
    self, LONG,
    fibers::{Event, FOREVER, on_fiber, sleep_for_ever, until, until_waiting, with_every_cx},
    watchdog,
};
use anabranch::{Cancelled, Cx, Operation, Pool, TimedOut, WaitError, time::ManualClock};
use std::{
    hint, io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const SECOND: Duration = Duration::from_secs(1);

/// The check on pools of 1, 2 and 8 threads with a clock that is moved by hand.
fn by_hand(check: impl Fn(&Pool, &ManualClock)) {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let manual = ManualClock::new();
            check(&Pool::builder().threads(threads).clock(manual.clock()).build().unwrap(), &manual);
        }
    });
}

#[test]
fn sleepers_wake_in_order_of_deadlines() {
    by_hand(|pool, manual| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let start = manual.clock().now();
        for i in 0..100u64 {
            // All different, and not in order.
            let due = i * 37 % 101;
            let order = Arc::clone(&order);
            pool.spawn(move |cx| {
                cx.sleep_until(start + due as u32 * SECOND + SECOND).unwrap();
                order.lock().unwrap().push((due, cx.now() - start));
            });
        }
        until_waiting(pool, 100);
        for second in 1..=101 {
            manual.advance(SECOND);
            let due = (0..100).filter(|i| i * 37 % 101 < second).count();
            until(|| order.lock().unwrap().len() == due);
        }
        let order = order.lock().unwrap();
        assert!(order.is_sorted(), "{order:?}");
        assert!(order.iter().all(|&(due, at)| at == due as u32 * SECOND + SECOND));
    });
}

#[test]
fn sleepers_due_together_wake_in_order_on_one_worker() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool = common::one_thread().clock(manual.clock()).build().unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        // No more than are resumed between two looks at what else there is.
        for i in 0..12u32 {
            let order = Arc::clone(&order);
            pool.spawn(move |cx| {
                cx.sleep((i * 5 % 12 + 1) * SECOND).unwrap();
                order.lock().unwrap().push(i * 5 % 12);
            });
        }
        until_waiting(&pool, 12);
        manual.advance(60 * SECOND);
        until(|| order.lock().unwrap().len() == 12);
        // The first that was woken may go before the others: it is handed the thread.
        let order = order.lock().unwrap();
        assert!(order.is_sorted(), "{order:?}");
    });
}

/// Returns how many times `others` run between the end of a sleep and the fiber that slept. They call the function that
/// they get, which ends the sleep when it has been called 5,000 times.
fn runs_before_sleeper(others: impl FnOnce(&Cx<'_>, &(dyn Fn() -> bool + Sync)) + Send) -> usize {
    let manual = ManualClock::new();
    let pool = common::one_thread().clock(manual.clock()).build().unwrap();
    let (runs, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let note_run = || {
        if runs.fetch_add(1, Ordering::Relaxed) == 5000 {
            manual.advance(SECOND);
        }
        seen.load(Ordering::Relaxed) == 0
    };
    pool.run(|cx| {
        cx.scope(|s| {
            s.spawn(|cx| {
                cx.sleep(SECOND).unwrap();
                seen.store(runs.load(Ordering::Relaxed), Ordering::Relaxed);
            });
            s.spawn(|cx| others(cx, &note_run));
        });
    });
    seen.load(Ordering::Relaxed) - 5000
}

#[test]
fn timer_does_not_wait_for_all_ready_fibers() {
    watchdog(LONG, || {
        let runs = runs_before_sleeper(|cx, note_run| {
            cx.scope(|s| {
                for _ in 0..1000 {
                    s.spawn(move |cx| {
                        while note_run() {
                            cx.yield_now();
                        }
                    });
                }
            });
        });
        assert!(runs < 100, "{runs}");
    });
}

#[test]
fn timer_does_not_wait_for_all_new_fibers() {
    watchdog(LONG, || {
        let runs = runs_before_sleeper(|cx, note_run| {
            cx.scope(|s| (0..10_000).for_each(|_| _ = s.spawn(move |_| note_run())));
        });
        assert!(runs < 50, "{runs}");
    });
}

/// Returns how many runs of 1 ms begin between the end of a sleep and the fiber that slept, at most. `others` get the
/// run, and whether it is time for runs. Otherwise they run for short times, until they are told that it is over.
fn long_runs_before_sleeper(others: impl FnOnce(&Cx<'_>, &(dyn Fn() + Sync), &Stage) + Send) -> usize {
    let pool = common::one_thread().build().unwrap();
    let (start, stage) = (Instant::now(), Stage::default());
    let (due, late) = (AtomicU64::new(u64::MAX), AtomicUsize::new(0));
    let run_for_long = || {
        let began = Instant::now();
        if (began - start).as_nanos() as u64 >= due.load(Ordering::Relaxed) {
            late.fetch_add(1, Ordering::Relaxed);
        }
        while began.elapsed() < Duration::from_millis(1) {
            hint::spin_loop();
        }
    };
    pool.run(|cx| {
        cx.scope(|s| {
            let sleeper = s.spawn(|cx| {
                let mut most = 0;
                for _ in 0..20 {
                    let deadline = Instant::now() + Duration::from_millis(2);
                    due.store((deadline - start).as_nanos() as u64, Ordering::Relaxed);
                    stage.is_long.store(true, Ordering::Relaxed);
                    cx.sleep_until(deadline).unwrap();
                    due.store(u64::MAX, Ordering::Relaxed);
                    stage.is_long.store(false, Ordering::Relaxed);
                    most = late.swap(0, Ordering::Relaxed).max(most);
                    cx.yield_now();
                }
                stage.is_over.store(true, Ordering::Relaxed);
                most
            });
            s.spawn(|cx| others(cx, &run_for_long, &stage));
            sleeper.join(s).unwrap()
        })
    })
}

#[derive(Default)]
struct Stage {
    is_long: AtomicBool,
    is_over: AtomicBool,
}

#[test]
fn timer_waits_for_one_run_of_new_fibers() {
    watchdog(LONG, || {
        let runs = long_runs_before_sleeper(|cx, run_for_long, stage| {
            while !stage.is_over.load(Ordering::Relaxed) {
                cx.scope(|s| (0..128).for_each(|_| _ = s.spawn(move |_| run_for_long())));
            }
        });
        assert!(runs <= 1, "{runs}");
    });
}

#[test]
fn timer_waits_for_one_run_of_fibers_that_become_long() {
    watchdog(LONG, || {
        let runs = long_runs_before_sleeper(|cx, run_for_long, stage| {
            cx.scope(|s| {
                for _ in 0..10_000 {
                    s.spawn(move |cx| {
                        while !stage.is_over.load(Ordering::Relaxed) {
                            if stage.is_long.load(Ordering::Relaxed) {
                                run_for_long();
                            }
                            cx.yield_now();
                        }
                    });
                }
            });
        });
        assert!(runs <= 1, "{runs}");
    });
}

#[test]
fn fibers_that_sleep_again_and_again_leave_half_of_the_thread_to_others() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool = common::one_thread().clock(manual.clock()).build().unwrap();
        let [begun, yields, sleeps] = [const { AtomicUsize::new(0) }; 3];
        // The thread that spawns may be away for long, so nothing counts before all have begun.
        let have_begun = || begun.load(Ordering::Relaxed) == 100;
        let is_over = || yields.load(Ordering::Relaxed) >= 10_000;
        pool.run(|cx| {
            cx.scope(|s| {
                for _ in 0..100 {
                    s.spawn(|cx| {
                        while !is_over() {
                            cx.yield_now();
                            yields.fetch_add(usize::from(have_begun()), Ordering::Relaxed);
                        }
                    });
                    s.spawn(|cx| {
                        begun.fetch_add(1, Ordering::Relaxed);
                        while !is_over() {
                            manual.advance(Duration::from_nanos(1));
                            cx.sleep(Duration::from_nanos(1)).unwrap();
                            sleeps.fetch_add(usize::from(have_begun()), Ordering::Relaxed);
                        }
                        manual.advance(SECOND);
                    });
                }
            });
        });
        let sleeps = sleeps.into_inner();
        assert!((1000..20_000).contains(&sleeps), "{sleeps}");
    });
}

#[test]
fn thread_sleeps_by_clock_of_its_pool() {
    by_hand(|pool, manual| {
        let start = Instant::now();
        thread::scope(|s| {
            let slept = s.spawn(|| {
                pool.run(|cx| {
                    let before = cx.now();
                    cx.sleep(3600 * SECOND).unwrap();
                    cx.now() - before
                })
            });
            while !slept.is_finished() {
                manual.advance(600 * SECOND);
                thread::sleep(Duration::from_micros(300));
            }
            assert!(slept.join().unwrap() >= 3600 * SECOND);
        });
        assert!(start.elapsed() < 3600 * SECOND);
    });
}

#[test]
fn earlier_of_nested_timeouts_expires_first() {
    by_hand(|pool, manual| {
        // The inner one is earlier: only it is up.
        let handle = pool.spawn(|cx| {
            cx.timeout(10 * SECOND, |cx| {
                let inner = cx.timeout(5 * SECOND, sleep_for_ever);
                let left = cx.time_left();
                Ok::<_, TimedOut>((inner, left, cx.check()))
            })
        });
        until_waiting(pool, 1);
        manual.advance(5 * SECOND);
        let result = pool.run(|cx| handle.join(cx)).unwrap();
        assert_eq!(result, Ok((Err(WaitError::TimedOut), Some(5 * SECOND), Ok(()))));

        // The outer one is earlier: it cancels what is inside, and returns the error.
        let handle = pool.spawn(|cx| {
            let mut inner = None;
            let outer = cx.timeout(5 * SECOND, |cx| {
                inner = Some(cx.timeout(10 * SECOND, |cx| {
                    assert_eq!(cx.time_left(), Some(5 * SECOND));
                    let slept = (cx.sleep(FOREVER), cx.sleep(Duration::ZERO), cx.time_left());
                    assert_eq!(slept, (Err(Cancelled), Err(Cancelled), Some(Duration::ZERO)));
                    Ok::<_, WaitError>(cx.check()?)
                }));
                Ok(cx.check()?)
            });
            (inner, outer, cx.check())
        });
        until_waiting(pool, 1);
        manual.advance(5 * SECOND);
        let inner = Some(Err(WaitError::Cancelled));
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), (inner, Err(WaitError::TimedOut), Ok(())));
    });
}

#[test]
fn deadline_reaches_children_and_halves() {
    by_hand(|pool, manual| {
        let handle = pool.spawn(|cx| {
            cx.timeout(5 * SECOND, |cx| {
                let from_scope = cx.scope(|s| {
                    let child = s.spawn(|cx| {
                        assert_eq!(cx.time_left(), Some(5 * SECOND));
                        cx.scope(|s| s.spawn(|cx| (cx.sleep(FOREVER), cx.is_cancelled())).join(cx))
                    });
                    s.sleep(FOREVER).unwrap_err();
                    child.join(cx)
                });
                // Fibers that have ended by then can still be joined.
                assert!(matches!(from_scope, Err(Cancelled) | Ok(Err(Cancelled) | Ok((Err(Cancelled), true)))));
                let from_join = cx.join(|cx| cx.sleep(FOREVER), |cx| cx.check());
                assert_eq!(from_join, (Err(Cancelled), Err(Cancelled)));
                Ok::<_, WaitError>(cx.check()?)
            })
        });
        until_waiting(pool, 3);
        manual.advance(5 * SECOND);
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(WaitError::TimedOut));

        // Only the second half waits: the first returns, and the join waits for the second.
        let handle = pool.spawn(|cx| cx.timeout(SECOND, |cx| cx.join(|cx| cx.yield_now(), sleep_for_ever).1));
        until(|| pool.fibers().iter().any(|fiber| fiber.waits_for() == Some("sleep")));
        manual.advance(SECOND);
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(WaitError::TimedOut));
    });
}

#[test]
fn shield_hides_deadline() {
    by_hand(|pool, manual| {
        let handle = pool.spawn(|cx| {
            cx.timeout(SECOND, |cx| {
                let shielded = cx.shield(|cx| (cx.time_left(), cx.sleep(10 * SECOND), cx.check()));
                assert_eq!(shielded, (None, Ok(()), Ok(())));
                Ok::<_, WaitError>(cx.check()?)
            })
        });
        until_waiting(pool, 1);
        manual.advance(10 * SECOND);
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(WaitError::TimedOut));

        let shielded = Arc::new(Mutex::new(None));
        let handle = pool.spawn({
            let shielded = Arc::clone(&shielded);
            move |cx| {
                cx.timeout(SECOND, |cx| {
                    let result = cx.shield(|cx| {
                        // A deadline of its own holds inside.
                        let late = cx.timeout(5 * SECOND, sleep_for_ever);
                        (late, cx.check())
                    });
                    *shielded.lock().unwrap() = Some(result);
                    Ok::<_, WaitError>(cx.check()?)
                })
            }
        });
        until_waiting(pool, 1);
        manual.advance(5 * SECOND);
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(WaitError::TimedOut));
        assert_eq!(*shielded.lock().unwrap(), Some((Err(WaitError::TimedOut), Ok(()))));
    });
}

#[derive(Debug, PartialEq)]
enum Whatever {
    Else,
    TimedOut,
}

impl From<TimedOut> for Whatever {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

#[test]
fn timeout_without_waits_succeeds() {
    with_every_cx(|cx| {
        // An unrelated error, with and without a look at the deadline.
        assert_eq!(cx.timeout(Duration::ZERO, |_| Err::<(), _>(Whatever::Else)), Err(Whatever::Else));
        let asked =
            cx.timeout(Duration::ZERO, |cx| Err::<(), _>(cx.check().map_or(Whatever::Else, |()| unreachable!())));
        assert_eq!(asked, Err(Whatever::TimedOut));
        let deadline = |instant| cx.with_deadline(instant, |cx| cx.check().map_err(WaitError::from));
        assert_eq!(deadline(cx.now()), Err(WaitError::TimedOut));
        let timeout = |duration| cx.timeout(duration, |cx| cx.sleep(Duration::ZERO).map_err(WaitError::from));
        assert_eq!(timeout(Duration::ZERO), Err(WaitError::TimedOut));
        assert_eq!(timeout(FOREVER), Ok(()));
        let longest = cx.timeout(Duration::MAX, |cx| Ok::<_, TimedOut>((cx.time_left(), cx.check())));
        assert_eq!(longest, Ok((None, Ok(()))));
        assert_eq!((cx.check(), cx.time_left()), (Ok(()), None));
    });
}

#[test]
fn late_success_is_returned() {
    with_every_cx(|cx| {
        assert_eq!(cx.timeout(Duration::ZERO, |_| Ok::<_, WaitError>(1)), Ok(1));
        let late = cx.timeout(Duration::from_micros(10), |cx| {
            assert_eq!((cx.sleep(FOREVER), cx.check()), (Err(Cancelled), Err(Cancelled)));
            Ok::<_, WaitError>("late")
        });
        assert_eq!((late, cx.check()), (Ok("late"), Ok(())));
    });
}

#[test]
fn timeouts_and_cancellations_convert_to_io_errors() {
    fn read(cx: &Cx<'_>) -> io::Result<u8> {
        cx.sleep(FOREVER)?;
        Ok(1)
    }
    with_every_cx(|cx| {
        let late = cx.timeout(Duration::from_micros(10), read).unwrap_err();
        assert_eq!((late.kind(), late.to_string()), (io::ErrorKind::TimedOut, TimedOut.to_string()));
        let cancelled = cx.cancellable(|cx, canceller| {
            canceller.cancel();
            cx.timeout(Duration::ZERO, read).unwrap_err()
        });
        assert_eq!(cancelled.kind(), io::ErrorKind::Other);
        assert!(cancelled.get_ref().unwrap().is::<Cancelled>());
        let other = cx.timeout(FOREVER, |_| Err::<(), _>(io::Error::from(io::ErrorKind::BrokenPipe)));
        assert_eq!(other.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(io::Error::from(WaitError::TimedOut).kind(), io::ErrorKind::TimedOut);
        assert_eq!(io::Error::from(WaitError::Cancelled).kind(), io::ErrorKind::Other);
    });
}

#[test]
fn outer_cancellation_is_not_a_timeout() {
    by_hand(|pool, manual| {
        let handle = pool.spawn(|cx| {
            let outer = cx.timeout(10 * SECOND, |cx| {
                let inner = cx.timeout(5 * SECOND, sleep_for_ever);
                assert_eq!((inner, cx.check()), (Err(WaitError::Cancelled), Err(Cancelled)));
                inner
            });
            (outer, cx.check())
        });
        until_waiting(pool, 1);
        handle.cancel();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), (Err(WaitError::Cancelled), Err(Cancelled)));

        // Both: the time was up first, and then the scope around it was cancelled. It has to end in any case.
        let has_noticed = Event::default();
        let notices = has_noticed.clone();
        let handle = pool.spawn(move |cx| {
            cx.timeout(5 * SECOND, |cx| {
                assert_eq!(cx.sleep(FOREVER), Err(Cancelled));
                notices.set();
                cx.shield(|cx| cx.sleep(5 * SECOND))?;
                Ok::<_, WaitError>(cx.check()?)
            })
        });
        until_waiting(pool, 1);
        manual.advance(5 * SECOND);
        until(|| has_noticed.is_set());
        until_waiting(pool, 1);
        handle.cancel();
        manual.advance(5 * SECOND);
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(WaitError::Cancelled));
    });
}

#[test]
fn panic_propagates_through_timeout() {
    with_every_cx(|cx| {
        let text = common::panic_text(|| {
            let _: Result<(), TimedOut> = cx.timeout(Duration::from_micros(10), |cx| {
                let _ = cx.sleep(FOREVER);
                panic!("late")
            });
        });
        assert_eq!((text.as_str(), cx.check()), ("late", Ok(())));
    });
}

#[test]
fn intervals_do_not_drift_and_skip_missed_ticks() {
    by_hand(|pool, manual| {
        let ticks = Arc::new(Mutex::new(Vec::new()));
        let go = Event::default();
        let start = manual.clock().now();
        let handle = pool.spawn({
            let (ticks, go) = (Arc::clone(&ticks), go.clone());
            move |cx| {
                let mut interval = cx.interval(10 * SECOND);
                for i in 0..5 {
                    if i == 2 {
                        go.wait(cx).unwrap();
                    }
                    let tick = interval.tick(cx).unwrap() - start;
                    ticks.lock().unwrap().push(tick.as_secs());
                }
            }
        });
        let until_ticks = |count| until(|| ticks.lock().unwrap().len() == count);
        until_waiting(pool, 1);
        manual.advance(14 * SECOND);
        until_ticks(1);
        until_waiting(pool, 1);
        manual.advance(6 * SECOND);
        until_ticks(2);
        // At 20. The points at 30 to 60 are missed, but for one.
        manual.advance(45 * SECOND);
        go.set();
        until_ticks(3);
        until_waiting(pool, 1);
        manual.advance(5 * SECOND);
        until_ticks(4);
        until_waiting(pool, 1);
        manual.advance(10 * SECOND);
        until_ticks(5);
        assert_eq!(*ticks.lock().unwrap(), [10, 20, 30, 70, 80]);
        pool.run(|cx| handle.join(cx)).unwrap();
    });
}

#[test]
fn interval_can_be_cancelled() {
    with_every_cx(|cx| {
        let late = cx.timeout(Duration::from_millis(1), |cx| {
            let mut interval = cx.interval(Duration::from_micros(100));
            let mut count = 0;
            while interval.tick(cx).is_ok() {
                count += 1;
            }
            assert_eq!(interval.tick(cx), Err(Cancelled));
            Ok::<_, TimedOut>(count)
        });
        assert!(late.is_ok());
        assert!(common::panic_text(|| _ = cx.interval(Duration::ZERO)).contains("interval"));
    });
}

#[test]
fn wait_may_have_earlier_deadline_than_scope() {
    by_hand(|pool, manual| {
        let is_late = Event::default();
        let notices = is_late.clone();
        let handle = pool.spawn(move |cx| {
            cx.timeout(10 * SECOND, |cx| {
                let mut trigger = anabranch::sync::Trigger::new();
                let first = trigger.waiting().timeout(cx, 4 * SECOND);
                notices.set();
                let second = trigger.waiting().timeout(cx, 60 * SECOND);
                assert_eq!((first, second), (Err(WaitError::TimedOut), Err(WaitError::Cancelled)));
                second
            })
        });
        until_waiting(pool, 1);
        manual.advance(4 * SECOND);
        until(|| is_late.is_set());
        until_waiting(pool, 1);
        manual.advance(6 * SECOND);
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(WaitError::TimedOut));
    });
}

/// What the clocks of two pools have in common, and what of it a deadline may rely on.
#[test]
fn deadline_holds_inside_another_pool() {
    watchdog(LONG, || {
        let old = common::pool(1);
        thread::sleep(Duration::from_millis(30));
        let young = common::pool(1);
        for (outer, inner) in [(&old, &young), (&young, &old)] {
            let start = Instant::now();
            let late = outer.run(|cx| {
                cx.timeout(Duration::from_millis(5), |cx| {
                    let left = inner.install(|| cx.time_left().unwrap());
                    assert!(left <= Duration::from_millis(5), "{left:?}");
                    inner.install(|| cx.scope(|s| s.spawn(sleep_for_ever).join(cx)))?
                })
            });
            assert_eq!(late, Err(WaitError::TimedOut));
            assert!(start.elapsed() >= Duration::from_millis(5), "not before the time was up");
        }
        // By clocks that differ.
        let manual = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(manual.clock()).build().unwrap();
        let now = pool.run(|cx| old.install(|| cx.now()));
        assert_eq!(now, manual.clock().now(), "a thread goes by the clock of the pool that it was called in");
    });
}

#[test]
fn sleep_lasts_in_real_time() {
    with_every_cx(|cx| {
        let start = Instant::now();
        cx.sleep(Duration::from_millis(2)).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(2));
        let start = Instant::now();
        assert_eq!(cx.timeout(Duration::from_millis(2), sleep_for_ever), Err(WaitError::TimedOut));
        assert!(start.elapsed() >= Duration::from_millis(2));
        cx.sleep_until(cx.now()).unwrap();
        cx.sleep(Duration::ZERO).unwrap();
    });
}

#[test]
fn ten_thousand_timers_fire() {
    watchdog(LONG, || {
        let pool = common::pool(2);
        let sum = on_fiber(&pool, |cx: &Cx<'_>| {
            cx.map_concurrent(10_000, 0..10_000u64, |cx, i| {
                cx.sleep(Duration::from_micros(i * 7919 % 20_000))?;
                Ok::<_, Cancelled>(i)
            })
            .map(|all| all.into_iter().sum::<u64>())
        });
        assert_eq!(sum, Ok(49_995_000));
    });
}
