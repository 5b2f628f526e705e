//! Panics in the halves of `Cx::join`: one panic propagates after both halves have ended, and their values are dropped
//! once.

use crate::common::{
    self, LONG, Tally,
    fibers::{Event, in_all_pools, with_every_cx},
    panic_text, watchdog,
};
use anabranch::{Cancelled, Cx, Pool};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

/// Where the second half is when the first panics.
#[derive(Clone, Copy, Debug)]
enum Second {
    Unstarted,
    Waiting,
    Ended,
}

fn run_both(cx: &Cx<'_>, second: Second, panics: (bool, bool)) {
    let tally = Tally::default();
    let (has_begun, was_cancelled) = (AtomicBool::new(false), AtomicBool::new(false));
    let body = || {
        let (of_a, of_b, of_b_too) = (tally.make(), tally.make(), tally.make());
        let begun = Event::default();
        cx.join(
            |cx| {
                let _of_a = of_a;
                if !matches!(second, Second::Unstarted) {
                    // The second half has begun either way: nothing but its panic cancels this one.
                    let _ = begun.wait(cx);
                }
                if panics.0 {
                    panic!("a");
                }
            },
            |cx| {
                let _of_b = of_b;
                has_begun.store(true, Ordering::Relaxed);
                begun.set();
                if matches!(second, Second::Waiting) && panics.0 {
                    // Ends by the cancellation alone.
                    let cancelled = cx.sleep(common::fibers::FOREVER);
                    was_cancelled.store(cancelled == Err(Cancelled) && cx.is_cancelled(), Ordering::Relaxed);
                }
                if panics.1 {
                    panic!("b");
                }
                of_b_too
            },
        );
    };
    match panics {
        (false, false) => body(),
        (true, _) => assert_eq!(panic_text(body), "a", "{second:?}"),
        (false, true) => assert_eq!(panic_text(body), "b", "{second:?}"),
    }
    if matches!(second, Second::Waiting) && panics.0 {
        assert!(was_cancelled.into_inner(), "the second half is cancelled when the first panics");
    }
    assert!(has_begun.into_inner() || matches!(second, Second::Unstarted));
    tally.assert_all_dropped();
    assert!(!cx.is_cancelled(), "only the scope of the join is cancelled");
}

#[test]
fn every_combination_of_panics_arrives_once() {
    with_every_cx(|cx| {
        for second in [Second::Unstarted, Second::Waiting, Second::Ended] {
            for panics in [(false, false), (false, true), (true, false), (true, true)] {
                run_both(cx, second, panics);
            }
        }
    });
}

#[test]
fn join_waits_for_half_on_another_worker() {
    watchdog(LONG, || {
        for threads in [2, 8] {
            let pool = Pool::builder().threads(threads).build().unwrap();
            for _ in 0..20 {
                let tally = Tally::default();
                let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
                let of_b = tally.make();
                let text = panic_text(|| {
                    pool.run(|cx| {
                        cx.join(
                            |cx| {
                                while !begun.load(Ordering::Acquire) {
                                    cx.yield_now();
                                }
                                panic!("a");
                            },
                            |cx| {
                                begun.store(true, Ordering::Release);
                                let _of_b = of_b;
                                while !cx.is_cancelled() {
                                    std::thread::yield_now();
                                }
                                ended.store(true, Ordering::Relaxed);
                                panic!("b");
                            },
                        );
                    });
                });
                assert_eq!(text, "a");
                assert!(ended.into_inner());
                tally.assert_all_dropped();
            }
        }
    });
}

#[test]
fn panic_of_second_half_cancels_first() {
    with_every_cx(|cx| {
        let first = AtomicU32::new(0);
        let text = panic_text(|| {
            cx.join(
                |cx| {
                    assert_eq!(cx.sleep(common::fibers::FOREVER), Err(Cancelled));
                    first.store(1, Ordering::Relaxed);
                },
                |_| panic!("b"),
            );
        });
        assert_eq!((text.as_str(), first.into_inner()), ("b", 1));
    });
}

#[test]
fn surplus_panic_reaches_panic_handler_once() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let surplus = Arc::new(AtomicU32::new(0));
            let pool = Pool::builder()
                .threads(threads)
                .on_panic({
                    let surplus = Arc::clone(&surplus);
                    move |panic| {
                        assert_eq!(panic.downcast_ref::<&str>(), Some(&"b"));
                        surplus.fetch_add(1, Ordering::Relaxed);
                    }
                })
                .build()
                .unwrap();
            let text = panic_text(|| {
                pool.run(|cx| {
                    let begun = Event::default();
                    cx.join(
                        |cx| {
                            begun.wait(cx).unwrap();
                            panic!("a")
                        },
                        |cx| {
                            begun.set();
                            let _ = cx.sleep(common::fibers::FOREVER);
                            panic!("b")
                        },
                    );
                });
            });
            assert_eq!((text.as_str(), surplus.load(Ordering::Relaxed)), ("a", 1));
        }
    });
}

#[test]
fn values_and_payloads_of_deep_joins_are_dropped_once() {
    fn tree(cx: &Cx<'_>, tally: &Tally, depth: u32, path: u32) -> common::Counted {
        let here = tally.make();
        if depth == 0 {
            if path % 7 == 3 {
                std::panic::panic_any(tally.make());
            }
            if path.is_multiple_of(3) {
                cx.yield_now();
            } else if path % 3 == 1 {
                let _ = cx.sleep(Duration::from_micros(u64::from(path)));
            }
            return here;
        }
        let (a, _b) = cx.join(|cx| tree(cx, tally, depth - 1, path * 2), |cx| tree(cx, tally, depth - 1, path * 2 + 1));
        a
    }
    with_every_cx(|cx| {
        for depth in [1, 2, 3, 5, 7] {
            let tally = Tally::default();
            let outcome = catch_unwind(AssertUnwindSafe(|| drop(tree(cx, &tally, depth, 0))));
            assert_eq!(outcome.is_err(), depth > 1);
            drop(outcome);
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn pool_is_usable_after_panics() {
    in_all_pools(|pool| {
        for _ in 0..50 {
            let text = panic_text(|| {
                pool.run(|cx| {
                    cx.join(
                        |cx| cx.yield_now(),
                        |cx| {
                            cx.yield_now();
                            panic!("b")
                        },
                    );
                });
            });
            assert_eq!(text, "b");
        }
        assert_eq!(pool.install(|| common::sum_to(200)), 20_100);
    });
}
