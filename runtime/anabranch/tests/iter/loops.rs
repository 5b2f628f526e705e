//! The driver: each item is visited once, whatever the length of the loop and the number of threads.

use crate::{
    common::{LONG, everywhere, wait_until, watchdog},
    harness::{check, pieces, pools},
};
use anabranch::prelude::*;
use std::{
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

#[test]
fn each_item_is_visited_once() {
    for len in [0, 1, 2, 3, 4, 5, 20, 21, 22, 85, 86, 1000, 10_000, 100_000] {
        let items: Vec<u64> = (1..=len).collect();
        check(items.iter().sum::<u64>(), || items.par_iter().map(|item| *item).sum::<u64>());
        check(items.iter().sum::<u64>(), || {
            let sum = AtomicU64::new(0);
            items.par_iter().for_each(|item| _ = sum.fetch_add(*item, Ordering::Relaxed));
            sum.into_inner()
        });
    }
}

#[test]
fn pieces_yield_each_item_once() {
    for seed in 0..100 {
        assert_eq!(pieces(1..=seed, seed).map(|item| item).sum::<u64>(), (1..=seed).sum::<u64>());
    }
}

#[test]
fn long_loop_visits_each_item_once() {
    everywhere(|| {
        let visits: Vec<_> = (0..200_000).map(|_| AtomicUsize::new(0)).collect();
        visits.par_iter().for_each(|count| _ = count.fetch_add(1, Ordering::Relaxed));
        assert!(visits.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    });
}

#[test]
fn loops_nest() {
    let numbers: Vec<u64> = (0..60).collect();
    let nested = || numbers.par_iter().map(|i| numbers.par_iter().map(|j| i * j).sum::<u64>()).sum::<u64>();
    check(1770 * 1770, nested);
}

#[test]
fn two_pieces_run_at_once() {
    watchdog(LONG, || {
        for pool in &pools()[1..] {
            for len in [2, 3, 1000] {
                let (items, threads) = (vec![(); len], Mutex::new(HashSet::new()));
                pool.install(|| {
                    items.par_iter().for_each(|()| {
                        threads.lock().unwrap().insert(thread::current().id());
                        // No thread gets beyond the first items until a second one takes part.
                        while threads.lock().unwrap().len() < 2 {
                            wait_until(|| true);
                            thread::yield_now();
                        }
                    });
                });
            }
        }
    });
}

/// Also if no item forks or polls: the rest of the loop can be raided.
#[cfg(target_os = "linux")]
#[test]
fn two_items_that_wait_for_each_other_end() {
    watchdog(LONG, || {
        for pool in pools() {
            let (items, meeting) = ([(); 2], std::sync::Barrier::new(2));
            pool.install(|| items.par_iter().for_each(|()| _ = meeting.wait()));
        }
    });
}

/// However many items before it were quick, an item holds up only a part of the loop.
#[test]
fn late_item_can_wait_for_later_one() {
    watchdog(LONG, || {
        let pool = anabranch::Pool::builder().threads(8).build().unwrap();
        for len in [64, 100, 10_000, 100_000] {
            let has_run = AtomicBool::new(false);
            pool.install(|| {
                (0..len).into_par_iter().for_each(|i| {
                    if i == len / 2 {
                        wait_until(|| has_run.load(Ordering::Acquire));
                    } else if i == len - 1 {
                        has_run.store(true, Ordering::Release);
                    }
                });
            });
        }
    });
}
