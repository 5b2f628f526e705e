//! Large numbers of guests, roots, pools and threads.

use crate::common::{self, LONG, pool, sum_to, watchdog};
use anabranch::{join, prelude::*, scope};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

/// A thousand threads with small stacks, all inside at the same time once the last has arrived.
fn crowd(visit: impl Fn() + Sync) {
    const CROWD: usize = 1000;
    let (visit, come) = (&visit, &std::sync::Barrier::new(CROWD));
    thread::scope(|threads| {
        for i in 0..CROWD {
            let body = move || {
                come.wait();
                visit();
            };
            thread::Builder::new()
                .name(format!("visitor-{i}"))
                .stack_size(192 << 10)
                .spawn_scoped(threads, body)
                .unwrap();
        }
    });
}

/// It took 14 s of CPU time when each thread looked at each other one at its start, and takes 0.2 s.
#[test]
#[cfg(target_os = "linux")]
fn pool_of_two_thousand_threads_starts_quickly() {
    watchdog(LONG, || {
        let start = std::time::Instant::now();
        let pool = anabranch::Pool::builder().threads(2000).stack_size(64 << 10).build().unwrap();
        assert_eq!(pool.install(|| sum_to(30)), 465);
        drop(pool);
        assert!(start.elapsed() < std::time::Duration::from_secs(8), "took {:?}", start.elapsed());
    });
}

fn small_work() {
    assert_eq!(sum_to(30), 465);
    assert_eq!((0..50u32).into_par_iter().map(|i| i * 2).collect::<Vec<_>>()[49], 98);
    assert_eq!(join(|| sum_to(5), || sum_to(6)), (15, 21));
}

#[test]
fn thousand_guests_enter_concurrently() {
    watchdog(LONG, || {
        let pool = pool(2);
        let visits = AtomicU64::new(0);
        crowd(|| {
            pool.install(small_work);
            visits.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(visits.into_inner(), 1000);
        assert_eq!(pool.install(|| sum_to(200)), 20_100);
        common::at_rest(&pool);
    });
}

#[test]
fn thousand_threads_use_default_pool_concurrently() {
    watchdog(LONG, || crowd(small_work));
}

/// All guests are inside. Each has an open root, whose first branch waits until all have arrived.
#[test]
fn three_hundred_roots_are_open_at_once() {
    watchdog(LONG, || {
        let pool = pool(2);
        let come = std::sync::Barrier::new(300);
        thread::scope(|threads| {
            for _ in 0..300 {
                threads.spawn(|| {
                    let body = || _ = join(|| come.wait(), || sum_to(100));
                    pool.install(body);
                });
            }
        });
        assert_eq!(pool.install(|| sum_to(200)), 20_100);
    });
}

#[test]
fn thousands_of_pools_are_built_and_dropped() {
    let pools = if std::env::var_os("ANABRANCH_SOAK").is_some() { 10_000 } else { 2_000 };
    watchdog(2 * LONG, || {
        for i in 0..pools {
            let pool = pool(1 + i % 3);
            match i % 4 {
                0 => {}
                1 => assert_eq!(pool.install(|| sum_to(50)), 1275),
                2 => assert_eq!(pool.broadcast(|index| index).len(), 1 + i % 3),
                _ => pool.install(|| scope(|s| (0..3).for_each(|_| s.spawn(|| _ = sum_to(20))))),
            }
        }
    });
}

#[test]
fn thirty_two_threads_do_mixed_work() {
    watchdog(LONG, || {
        let pool = pool(32);
        thread::scope(|threads| {
            for kind in 0..6 {
                let pool = &pool;
                threads.spawn(move || {
                    for i in 0..40u64 {
                        match kind {
                            0 => assert_eq!(pool.install(|| sum_to(2000)), 2_001_000),
                            1 => assert_eq!(
                                pool.install(|| (0..3000u64).into_par_iter().map(|i| i + 1).collect::<Vec<_>>())[2999],
                                3000
                            ),
                            2 => assert_eq!(pool.broadcast(|index| index as u64 + i)[31], 31 + i),
                            3 => pool.install(|| scope(|s| (0..20).for_each(|_| s.spawn(|| _ = sum_to(50))))),
                            4 => pool.install(|| {
                                (0..8u32)
                                    .into_par_iter()
                                    .for_each(|_| thread::sleep(std::time::Duration::from_micros(100)))
                            }),
                            _ => {
                                let add = |a, b| a + b;
                                assert_eq!(
                                    pool.install(|| (0..5000u64).into_par_iter().fold(|| 0, add).reduce(|| 0, add)),
                                    12_497_500
                                );
                            }
                        }
                    }
                });
            }
        });
        common::at_rest(&pool);
    });
}
