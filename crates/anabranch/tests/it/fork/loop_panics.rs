//! Panics in the parallel loops: they propagate, and all results and accumulators are dropped once.

use crate::common::{Tally, everywhere, panic_text, wait_until, where_work_is_stolen};
use anabranch::{par_for_each, par_map, par_reduce};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

#[test]
fn panic_in_loop_propagates() {
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
fn panicking_map_drops_results_once() {
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
fn map_panicking_in_stolen_half_drops_results_once() {
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
fn panicking_reduction_drops_accumulators() {
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
