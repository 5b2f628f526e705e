//! Many at once: guests by the thousand, pools by the thousand, forks ten thousand deep, panics everywhere.

use crate::common::{self, Counted, LONG, Tally, pool, sum_to, watchdog};
use anabranch::{Pool, join, par_for_each, par_map, par_reduce, scope};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

/// A thousand threads with small stacks, all inside at the same time at the latest when the last has come.
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

fn small_work() {
    assert_eq!(sum_to(30), 465);
    assert_eq!(par_map(0..50u32, |i| i * 2)[49], 98);
    assert_eq!(join(|| sum_to(5), || sum_to(6)), (15, 21));
}

#[test]
fn a_thousand_guests_come_at_once() {
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
fn a_thousand_threads_use_the_default_pool_at_once() {
    watchdog(LONG, || crowd(small_work));
}

/// All of them inside, each with a root open and its first branch waiting until everybody is there.
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
fn thousands_of_pools_come_and_go() {
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

// ---- depth ----

/// Forks inside the first branch: all of them are open at once.
fn dive(depth: u32, bottom: &(impl Fn() + Sync), tally: &Tally) -> u32 {
    let _counted = tally.make();
    if depth == 0 {
        bottom();
        return 0;
    }
    let (a, b) = join(|| dive(depth - 1, bottom, tally), || depth % 2);
    a + b
}

/// Forks inside the second branch: one after the other.
fn follow(depth: u32, bottom: &(impl Fn() + Sync), tally: &Tally) -> u32 {
    let _counted = tally.make();
    if depth == 0 {
        bottom();
        return 0;
    }
    let (a, b) = join(|| depth % 2, || follow(depth - 1, bottom, tally));
    a + b
}

/// Without the message of a panic, which costs more than all the rest.
fn throw(number: u64) -> ! {
    resume_unwind(Box::new(number))
}

fn caught(body: impl FnOnce()) -> Option<u64> {
    catch_unwind(AssertUnwindSafe(body)).err().map(|payload| *payload.downcast().unwrap())
}

/// Ten thousand are within what a thread can have open, twenty thousand are not: those beyond are plain calls.
#[test]
fn forks_nest_by_the_ten_thousand_and_panics_come_up_from_the_bottom() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = Pool::builder().threads(threads).stack_size(256 << 20).build().unwrap();
            for depth in [10_000, 20_000] {
                // On threads of the pool, whose stacks are large enough.
                pool.broadcast(|_| {
                    let tally = Tally::default();
                    assert_eq!(dive(depth, &|| (), &tally), depth / 2);
                    assert_eq!(follow(depth, &|| (), &tally), depth / 2);
                    assert_eq!(caught(|| _ = dive(depth, &|| throw(1), &tally)), Some(1));
                    assert_eq!(caught(|| _ = follow(depth, &|| throw(2), &tally)), Some(2));
                    tally.assert_all_dropped();
                    assert_eq!(sum_to(100), 5050);
                });
            }
        }
    });
}

// ---- more threads than cores ----

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
                            1 => assert_eq!(pool.install(|| par_map(0..3000u64, |i| i + 1))[2999], 3000),
                            2 => assert_eq!(pool.broadcast(|index| index as u64 + i)[31], 31 + i),
                            3 => pool.install(|| scope(|s| (0..20).for_each(|_| s.spawn(|| _ = sum_to(50))))),
                            4 => pool.install(|| {
                                par_for_each(0..8u32, |_| thread::sleep(std::time::Duration::from_micros(100)))
                            }),
                            _ => {
                                let add = |a, b| a + b;
                                assert_eq!(pool.install(|| par_reduce(0..5000u64, || 0, add, add)), 12_497_500);
                            }
                        }
                    }
                });
            }
        });
        common::at_rest(&pool);
    });
}

// ---- panics ----

/// Where the `n`th step panics; each step leaves a counted value.
struct Trap<'a> {
    left: AtomicU64,
    tally: &'a Tally,
}

impl Trap<'_> {
    fn step(&self) -> Counted {
        let counted = self.tally.make();
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            throw(42);
        }
        counted
    }
}

/// A bit of everything that runs closures, each of which may be the one that panics.
fn everything(trap: &Trap) {
    let step = || trap.step();
    let kept = (step(), join(step, step));
    join(|| join(step, || (step(), step())), || join(step, step));
    let mapped = par_map(0..5u32, |_| step());
    par_for_each(&mapped[..], |_| drop(step()));
    par_reduce(
        0..5u32,
        || vec![step()],
        |mut all, _| {
            all.push(step());
            all
        },
        |mut a, b| {
            a.push(step());
            a.extend(b);
            a
        },
    );
    scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                let _kept = step();
                s.spawn(|| _ = join(step, step));
            });
        }
        step()
    });
    drop(kept);
}

#[test]
fn every_place_may_panic() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = pool(threads);
            let tally = Tally::default();
            // There are more than twenty-five steps, and fewer than fifty: beyond the last nothing panics.
            let (mut panics, mut ends) = (0, 0);
            for round in 0..3000 {
                let trap = Trap { left: AtomicU64::new(1 + round % 50), tally: &tally };
                match caught(|| pool.install(|| everything(&trap))) {
                    Some(number) => {
                        assert_eq!(number, 42);
                        panics += 1;
                    }
                    None => ends += 1,
                }
                assert_eq!(tally.made(), tally.dropped(), "round {round}");
            }
            assert!(panics > 1500 && ends > 100, "{panics} panics, {ends} ends");
            assert_eq!(pool.install(|| sum_to(200)), 20_100);
        }
    });
}

#[test]
fn every_place_may_panic_in_operations_of_broadcasts() {
    watchdog(LONG, || {
        let pool = pool(2);
        let tally = Tally::default();
        for round in 0..300 {
            let trap = Trap { left: AtomicU64::new(1 + round % 120), tally: &tally };
            let outcome = caught(|| _ = pool.broadcast(|_| everything(&trap)));
            assert!(outcome.is_none_or(|number| number == 42));
            assert_eq!(tally.made(), tally.dropped(), "round {round}");
        }
    });
}
