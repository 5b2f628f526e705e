//! Supervised fibers: restarts, their limit in a window, delays, reports, and cancellation. By a clock that the test
//! moves.

use crate::common::{
    LONG,
    fibers::{FOREVER, until, until_waiting, with_every_cx},
    panic_text, silence_panics_with, watchdog,
};
use anabranch::{
    Cx, Pool, channel,
    fiber::{FiberLocal, Supervision},
    time::ManualClock,
};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// What a fiber panics with on purpose.
struct Crash;

fn crash() {
    panic_any(Crash);
}

const SECOND: Duration = Duration::from_secs(1);

/// Restarts without a delay.
fn at_once(restarts: usize) -> Supervision {
    silence_panics_with::<Crash>();
    Supervision::new().max_restarts(restarts, FOREVER).backoff(Duration::ZERO, Duration::ZERO)
}

#[test]
fn panicked_fiber_starts_again_until_it_returns() {
    with_every_cx(|cx| {
        let (starts, others) = (AtomicU32::new(0), AtomicU32::new(0));
        let result = cx.supervise(&at_once(10), |s| {
            s.keep("other", |cx| {
                cx.yield_now();
                others.fetch_add(1, Ordering::Relaxed);
            });
            s.keep("flaky", |cx| {
                cx.yield_now();
                if starts.fetch_add(1, Ordering::Relaxed) < 10 {
                    crash();
                }
            });
            // It borrows, and the body has a result.
            starts.load(Ordering::Relaxed) <= 11
        });
        assert!(result);
        assert_eq!((starts.into_inner(), others.into_inner()), (11, 1));
        assert!(!cx.is_cancelled());
    });
}

#[test]
fn one_restart_too_many_cancels_the_scope_and_panics() {
    with_every_cx(|cx| {
        let (starts, ended) = (AtomicU32::new(0), AtomicU32::new(0));
        let policy = at_once(3);
        let body = AssertUnwindSafe(|| {
            cx.supervise(&policy, |s| {
                s.keep("waits", |cx| {
                    assert!(cx.sleep(FOREVER).is_err());
                    ended.fetch_add(1, Ordering::Relaxed);
                });
                // The restarts of both count.
                for _ in 0..2 {
                    s.keep("flaky", |_| {
                        starts.fetch_add(1, Ordering::Relaxed);
                        crash();
                    });
                }
            });
        });
        assert!(catch_unwind(body).is_err_and(|panic| panic.is::<Crash>()));
        // Two first starts, and three more.
        assert_eq!((starts.into_inner(), ended.into_inner()), (5, 1));
    });
}

#[test]
fn permanent_fiber_starts_again_after_it_returns() {
    with_every_cx(|cx| {
        let starts = AtomicU32::new(0);
        let policy = at_once(10);
        let text = panic_text(|| {
            cx.supervise(&policy, |s| s.keep_always("restless", |_| _ = starts.fetch_add(1, Ordering::Relaxed)))
        });
        assert_eq!(
            (text.as_str(), starts.into_inner()),
            ("the supervised fiber `restless` has returned too often", 11)
        );
        let starts = AtomicU32::new(0);
        cx.supervise(&policy, |s| {
            s.keep_always("cancelled", |cx| {
                starts.fetch_add(1, Ordering::Relaxed);
                _ = cx.sleep(FOREVER);
            });
            while starts.load(Ordering::Relaxed) == 0 {
                s.yield_now();
            }
            s.cancel();
        });
        assert_eq!(starts.into_inner(), 1);
    });
}

#[test]
fn nested_supervisor_escalates_to_outer_one() {
    with_every_cx(|cx| {
        let (inner, outer) = (AtomicU32::new(0), AtomicU32::new(0));
        let (two, one) = (at_once(2), at_once(1));
        cx.supervise(&one, |s| {
            s.keep("group", |cx| {
                outer.fetch_add(1, Ordering::Relaxed);
                cx.supervise(&two, |s| {
                    s.keep("member", |_| {
                        if inner.fetch_add(1, Ordering::Relaxed) < 4 {
                            crash();
                        }
                    });
                });
            });
        });
        // Three starts in the first group, then two in the second.
        assert_eq!((inner.into_inner(), outer.into_inner()), (5, 2));
    });
}

#[test]
fn each_start_has_its_own_locals() {
    static STARTS: FiberLocal<Cell<u32>> = FiberLocal::new(|| Cell::new(0));
    with_every_cx(|cx| {
        let starts = AtomicU32::new(0);
        cx.supervise(&at_once(5), |s| {
            s.keep("local", |cx| {
                assert_eq!(STARTS.get(cx).replace(1), 0);
                if starts.fetch_add(1, Ordering::Relaxed) < 5 {
                    crash();
                }
            });
        });
        assert_eq!(starts.into_inner(), 6);
    });
}

#[test]
fn panics_reach_the_handlers() {
    watchdog(LONG, || {
        let reported = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&reported);
        let on_panic = move |panic: Box<dyn std::any::Any + Send>| {
            assert!(panic.is::<Crash>());
            count.fetch_add(1, Ordering::Relaxed);
        };
        let pool = Pool::builder().threads(2).on_panic(on_panic).build().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&seen);
        let policy = at_once(4).on_restart(move |restart| {
            assert!(restart.panic().is_some_and(|panic| panic.is::<Crash>()));
            list.lock().unwrap().push((
                restart.name().to_owned(),
                restart.recent(),
                restart.delay(),
                restart.to_string(),
            ));
        });
        let starts = AtomicU32::new(0);
        pool.run(|cx| {
            cx.supervise(&policy, |s| {
                s.keep("flaky", |cx| match starts.fetch_add(1, Ordering::Relaxed) {
                    0 | 1 => crash(),
                    // In a cancelled scope: it is reported, and not started again.
                    _ => {
                        _ = cx.sleep(FOREVER);
                        crash();
                    }
                });
                while starts.load(Ordering::Relaxed) < 3 {
                    s.yield_now();
                }
                s.cancel();
            });
        });
        assert_eq!((starts.into_inner(), reported.load(Ordering::Relaxed)), (3, 3));
        let text = |n| {
            format!(
                "fiber `flaky` panicked: with a payload that is not a string; starts again in 0ns (restart {n} within the window)"
            )
        };
        let expected = [1, 2].map(|n| ("flaky".to_owned(), n, Duration::ZERO, text(n)));
        assert_eq!(*seen.lock().unwrap(), expected);
    });
}

/// A pool with a clock, and a fiber that crashes at each message.
fn with_crashes(policy: Supervision, check: impl FnOnce(&Pool, &ManualClock, &channel::Sender<()>, &AtomicU32)) {
    silence_panics_with::<Crash>();
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let pool = Pool::builder().threads(2).clock(manual.clock()).build().unwrap();
        let (sender, receiver) = channel::unbounded();
        let starts = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&starts);
        let supervisor = pool.spawn(move |cx| {
            cx.supervise(&policy, |s| {
                s.keep("flaky", |cx: &Cx<'_>| {
                    count.fetch_add(1, Ordering::Relaxed);
                    if receiver.recv(cx).is_ok() {
                        crash();
                    }
                });
            });
        });
        // The supervisor and its fiber.
        until_waiting(&pool, 2);
        check(&pool, &manual, &sender, &starts);
        drop(sender);
        // It ends by a return, or by a panic.
        _ = pool.run(|cx| supervisor.join(cx));
    });
}

#[test]
fn delay_grows_up_to_the_longest_and_begins_anew() {
    let delays = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&delays);
    let policy = Supervision::new()
        .max_restarts(100, 100 * SECOND)
        .backoff(SECOND, 5 * SECOND)
        .on_restart(move |restart| list.lock().unwrap().push(restart.delay().as_secs()));
    with_crashes(policy, |pool, manual, sender, starts| {
        for (round, delay) in [1, 2, 4, 5, 5].into_iter().enumerate() {
            let before = starts.load(Ordering::Relaxed);
            sender.try_send(()).unwrap();
            until(|| delays.lock().unwrap().len() == round + 1);
            // The supervisor, and the successor, which sleeps.
            until_waiting(pool, 2);
            manual.advance(SECOND * delay - Duration::from_nanos(1));
            until_waiting(pool, 2);
            assert_eq!(starts.load(Ordering::Relaxed), before, "it is early");
            manual.advance(Duration::from_nanos(1));
            until(|| starts.load(Ordering::Relaxed) == before + 1);
            until_waiting(pool, 2);
        }
        // It runs for the whole window.
        manual.advance(100 * SECOND);
        sender.try_send(()).unwrap();
        until(|| delays.lock().unwrap().len() == 6);
        until_waiting(pool, 2);
        manual.advance(SECOND);
        until(|| starts.load(Ordering::Relaxed) == 7);
        until_waiting(pool, 2);
    });
    assert_eq!(*delays.lock().unwrap(), [1, 2, 4, 5, 5, 1]);
}

#[test]
fn restarts_that_are_older_than_the_window_do_not_count() {
    let recent = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&recent);
    let policy = Supervision::new()
        .max_restarts(2, 10 * SECOND)
        .backoff(Duration::ZERO, Duration::ZERO)
        .on_restart(move |restart| list.lock().unwrap().push(restart.recent()));
    with_crashes(policy, |pool, manual, sender, starts| {
        for round in 1..=6 {
            sender.try_send(()).unwrap();
            until(|| starts.load(Ordering::Relaxed) == round + 1);
            until_waiting(pool, 2);
            manual.advance(5 * SECOND);
        }
        // The third within ten seconds.
        sender.try_send(()).unwrap();
        until(|| starts.load(Ordering::Relaxed) == 8);
        sender.try_send(()).unwrap();
        until(|| pool.fibers().is_empty());
    });
    assert_eq!(*recent.lock().unwrap(), [1, 2, 2, 2, 2, 2, 2]);
}

#[test]
fn cancelled_delay_ends_without_a_start() {
    with_every_cx(|cx| {
        let starts = AtomicU32::new(0);
        let policy = at_once(3).backoff(FOREVER, FOREVER);
        cx.supervise(&policy, |s| {
            s.keep("flaky", |_| {
                starts.fetch_add(1, Ordering::Relaxed);
                crash();
            });
            while starts.load(Ordering::Relaxed) == 0 {
                s.yield_now();
            }
            s.cancel();
        });
        assert_eq!(starts.into_inner(), 1);
    });
}

#[test]
fn panic_of_unsupervised_fiber_or_handler_cancels() {
    with_every_cx(|cx| {
        let policy = at_once(3);
        let text = panic_text(|| {
            cx.supervise(&policy, |s| {
                s.keep_always("waits", |cx| _ = cx.sleep(FOREVER));
                s.spawn(|_| panic!("plain"));
            });
        });
        assert_eq!(text, "plain");
        let policy = at_once(3).on_restart(|_| panic!("handler"));
        let text = panic_text(|| cx.supervise(&policy, |s| s.keep("flaky", |_| crash())));
        assert_eq!(text, "handler");
    });
}
