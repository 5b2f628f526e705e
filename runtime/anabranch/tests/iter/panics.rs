//! Panics in the parallel loops: they propagate, and all results and accumulators are dropped once.

use crate::common::{Tally, everywhere, panic_text, wait_until, where_work_is_stolen};
use anabranch::prelude::*;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

#[test]
fn a_panic_in_a_loop_is_passed_on() {
    everywhere(|| {
        for bad in [0, 777, 1999] {
            let check = |i: i32| assert_ne!(i, bad, "item {i}");
            assert!(panic_text(|| (0..2000).into_par_iter().for_each(check)).contains("item"));
            let fold = |sum: i64, i: i32| {
                check(i);
                sum + i64::from(i)
            };
            assert!(
                panic_text(|| _ = (0..2000).into_par_iter().fold(|| 0, fold).reduce(|| 0, |a, b| a + b))
                    .contains("item")
            );
        }
        assert_eq!((0..2000).into_par_iter().map(|i| i).collect::<Vec<_>>().len(), 2000);
    });
}

#[test]
fn results_of_a_map_that_panics_are_dropped_once() {
    everywhere(|| {
        for bad in [0, 1, 3, 500, 999] {
            let tally = Tally::default();
            let items: Vec<_> = (0..1000).map(|i| (i, tally.make())).collect();
            let text = panic_text(|| {
                items
                    .par_iter()
                    .map(|(i, _)| {
                        let result = (*i, tally.make());
                        thread::yield_now();
                        assert_ne!(result.0, bad, "bad");
                        result
                    })
                    .collect::<Vec<_>>();
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
            (0..100_000u32)
                .into_par_iter()
                .map(|_| {
                    let result = tally.make();
                    if thread::current().id() != owner {
                        stolen.store(true, Ordering::Release);
                        panic!("elsewhere");
                    }
                    wait_until(|| stolen.load(Ordering::Acquire));
                    result
                })
                .collect::<Vec<_>>();
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
            (0..5000u32)
                .into_par_iter()
                .fold(
                    || vec![tally.make()],
                    |mut all, i| {
                        assert_ne!(i, 4321, "bad");
                        all.push(tally.make());
                        all
                    },
                )
                .reduce(
                    || vec![tally.make()],
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
fn panic_of_a_progress_report_drops_the_items() {
    everywhere(|| {
        for len in [1, 2, 500] {
            let tally = Tally::default();
            let items: Vec<_> = (0..len).map(|_| tally.make()).collect();
            let text = panic_text(|| {
                let items = items.into_par_iter().progress(|_| panic!("the bar is broken"));
                items.zip(0..len).map(|(item, _)| item).reduce_with(|first, _| first);
            });
            assert_eq!(text, "the bar is broken");
            tally.assert_all_dropped();
        }
    });
}
