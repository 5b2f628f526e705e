//! Panics in the parallel loops, in broadcasts, in handlers and across pools.

use crate::common::{
    LONG, Tally, everywhere, in_pools, join_stolen, panic_text, pool, sum_to, wait_until, watchdog,
    where_work_is_stolen,
};
use anabranch::{BuildError, Pool, par_for_each, par_map, par_reduce};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

#[test]
fn a_panic_in_a_broadcast_arrives_after_all_have_answered() {
    in_pools(|pool| {
        let (calls, tally) = (AtomicUsize::new(0), Tally::default());
        let payload = catch_unwind(AssertUnwindSafe(|| {
            pool.broadcast(|index| {
                let answer = tally.make();
                calls.fetch_add(1, Ordering::Relaxed);
                assert_ne!(index, 0, "zero");
                answer
            })
        }));
        assert!(payload.is_err());
        assert_eq!(calls.into_inner(), pool.num_threads());
        tally.assert_all_dropped();
        assert_eq!(pool.broadcast(|index| index), (0..pool.num_threads()).collect::<Vec<_>>());
    });
}

#[test]
fn a_panic_in_a_loop_is_passed_on() {
    everywhere(|| {
        for bad in [0, 777, 1999] {
            let check = |i: i32| assert_ne!(i, bad, "item {i}");
            assert!(panic_text(|| par_for_each(0..2000, check)).contains("item"));
            let fold = |sum: i64, i: i32| {
                check(i);
                sum + i64::from(i)
            };
            assert!(panic_text(|| _ = par_reduce(0..2000, || 0, fold, |a, b| a + b)).contains("item"));
        }
        assert_eq!(par_map(0..2000, |i| i).len(), 2000);
    });
}

#[test]
fn results_of_a_map_that_panics_are_dropped_once() {
    everywhere(|| {
        for bad in [0, 1, 3, 500, 999] {
            let tally = Tally::default();
            let items: Vec<_> = (0..1000).map(|i| (i, tally.make())).collect();
            let text = panic_text(|| {
                par_map(&items[..], |(i, _)| {
                    let result = (*i, tally.make());
                    thread::yield_now();
                    assert_ne!(result.0, bad, "bad");
                    result
                });
            });
            assert!(text.contains("bad"));
            drop(items);
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn results_of_a_map_that_panics_in_a_stolen_half_are_dropped_once() {
    where_work_is_stolen(|| {
        let tally = Tally::default();
        let owner = thread::current().id();
        let stolen = AtomicBool::new(false);
        let text = panic_text(|| {
            par_map(0..100_000u32, |_| {
                let result = tally.make();
                if thread::current().id() != owner {
                    stolen.store(true, Ordering::Release);
                    panic!("elsewhere");
                }
                wait_until(|| stolen.load(Ordering::Acquire));
                result
            });
        });
        assert_eq!(text, "elsewhere");
        tally.assert_all_dropped();
    });
}

#[test]
fn accumulators_of_a_reduction_that_panics_are_dropped() {
    everywhere(|| {
        let tally = Tally::default();
        let text = panic_text(|| {
            par_reduce(
                0..5000u32,
                || vec![tally.make()],
                |mut all, i| {
                    assert_ne!(i, 4321, "bad");
                    all.push(tally.make());
                    all
                },
                |mut a, b| {
                    a.extend(b);
                    a
                },
            );
        });
        assert!(text.contains("bad"));
        tally.assert_all_dropped();
    });
}

#[test]
fn a_panic_out_of_install_leaves_the_thread_outside_again() {
    in_pools(|pool| {
        let outside = anabranch::current_num_threads();
        assert_eq!(panic_text(|| pool.install(|| panic!("root"))), "root");
        assert_eq!(anabranch::current_num_threads(), outside);
        assert_eq!(pool.install(anabranch::current_num_threads), pool.num_threads());
    });
}

#[test]
fn a_panic_crosses_from_pool_to_pool() {
    let (one, two) = (pool(2), pool(2));
    watchdog(LONG, || {
        let text = panic_text(|| {
            one.install(|| join_stolen(|| (), || two.install(|| join_stolen(|| (), || panic!("far away")))));
        });
        assert_eq!(text, "far away");
        assert_eq!(one.install(|| sum_to(100)) + two.install(|| sum_to(100)), 10_100);
    });
}

#[test]
fn a_start_handler_that_panics_fails_the_build_and_ends_the_threads() {
    watchdog(LONG, || {
        for bad in 0..4 {
            static EXITS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
            let error = Pool::builder()
                .threads(4)
                .on_start(move |index| assert_ne!(index, bad, "no start"))
                .on_exit(|index| EXITS.lock().unwrap().push(index))
                .build()
                .unwrap_err();
            assert!(matches!(error, BuildError::StartHandlerPanicked));
            let mut exits = std::mem::take(&mut *EXITS.lock().unwrap());
            exits.sort_unstable();
            assert_eq!(exits, (0..4).filter(|&index| index != bad).collect::<Vec<_>>(), "those that had started end");
        }
    });
}

#[test]
fn an_exit_handler_that_panics_does_not_keep_the_pool_from_ending() {
    watchdog(LONG, || {
        static EXITS: AtomicUsize = AtomicUsize::new(0);
        let pool = Pool::builder()
            .threads(3)
            .on_exit(|_| {
                EXITS.fetch_add(1, Ordering::Relaxed);
                panic!("no exit");
            })
            .build()
            .unwrap();
        assert_eq!(pool.install(|| sum_to(100)), 5050);
        drop(pool);
        assert_eq!(EXITS.load(Ordering::Relaxed), 3);
    });
}
