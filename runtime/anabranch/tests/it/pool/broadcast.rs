//! `Pool::broadcast`: runs once on each thread of the pool, from every kind of caller.

use crate::common::{self, LONG, Tally, in_pools, join_stolen, pool, sum_to, wait_until, watchdog};
use anabranch::{Pool, join, scope};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

#[test]
fn results_are_in_order_of_threads() {
    in_pools(|pool| {
        let threads = pool.num_threads();
        let expected: Vec<_> = (0..threads).collect();
        assert_eq!(pool.broadcast(|index| index), expected, "from outside");
        assert_eq!(pool.install(|| pool.broadcast(|index| index)), expected, "by a guest");
        let calls: Vec<_> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
        pool.broadcast(|index| calls[index].fetch_add(1, Ordering::Relaxed));
        assert!(calls.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    });
}

#[test]
fn broadcast_wakes_sleeping_pool() {
    in_pools(|pool| {
        for _ in 0..5 {
            thread::sleep(std::time::Duration::from_millis(30));
            assert_eq!(pool.broadcast(|index| index).len(), pool.num_threads());
        }
    });
}

#[test]
fn broadcast_runs_on_all_threads_concurrently() {
    in_pools(|pool| {
        let barrier = Barrier::new(pool.num_threads());
        for _ in 0..20 {
            pool.broadcast(|_| _ = barrier.wait());
        }
    });
}

#[test]
fn worker_may_broadcast_to_its_own_pool() {
    in_pools(|pool| {
        let answers = pool.broadcast(|outer| pool.broadcast(move |inner| (outer, inner)));
        for (outer, inner) in answers.into_iter().enumerate() {
            assert_eq!(inner, (0..pool.num_threads()).map(|i| (outer, i)).collect::<Vec<_>>());
        }
    });
}

#[test]
fn two_workers_may_broadcast_to_each_other() {
    watchdog(LONG, || {
        let pool = pool(2);
        let barrier = Barrier::new(2);
        for _ in 0..100 {
            let answers = pool.broadcast(|_| {
                barrier.wait();
                pool.broadcast(|index| index)
            });
            assert_eq!(answers, [[0, 1], [0, 1]]);
        }
    });
}

#[test]
fn stolen_job_may_broadcast_while_owner_waits() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..100 {
            // Both the guest's fork and that of a worker: the worker must answer inside its wait.
            assert_eq!(pool.install(|| join_stolen(|| (), || pool.broadcast(|i| i))).1, [0, 1]);
            let (mut answer, begun) = (Vec::new(), AtomicUsize::new(0));
            pool.install(|| {
                anabranch::scope(|s| {
                    s.spawn(|| {
                        begun.store(1, Ordering::Release);
                        answer = join_stolen(|| (), || pool.broadcast(|i| i)).1;
                    });
                    wait_until(|| begun.load(Ordering::Acquire) == 1);
                });
            });
            assert_eq!(answer, [0, 1]);
        }
    });
}

#[test]
fn operations_may_fork_and_spawn() {
    in_pools(|pool| {
        for _ in 0..20 {
            let sums = pool.broadcast(|index| {
                let mut more = 0;
                anabranch::scope(|s| s.spawn(|| more = sum_to(50)));
                sum_to(100 + index as u64) + more
            });
            let expected: Vec<_> = (100..).take(sums.len()).map(|n: u64| n * (n + 1) / 2 + 1275).collect();
            assert_eq!(sums, expected);
        }
    });
}

#[test]
fn many_threads_may_broadcast_and_work_concurrently() {
    in_pools(|pool| {
        thread::scope(|threads| {
            for i in 0..12 {
                threads.spawn(move || {
                    for _ in 0..20 {
                        if i % 2 == 0 {
                            assert_eq!(pool.broadcast(|index| index).len(), pool.num_threads());
                        } else {
                            assert_eq!(pool.install(|| sum_to(500)), 125_250);
                        }
                    }
                });
            }
        });
    });
}

fn wait_without_forking(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        thread::yield_now();
    }
}

/// Operations that wait do not count as running: the word of `pool::sleep` must not run below zero meanwhile.
#[test]
fn guest_may_enter_while_operations_wait() {
    watchdog(LONG, || {
        let pool = pool(3);
        let over = AtomicBool::new(false);
        thread::scope(|threads| {
            threads.spawn(|| {
                for _ in 0..20 {
                    pool.broadcast(|_| pool.broadcast(|_| thread::sleep(Duration::from_millis(2))));
                }
                over.store(true, Ordering::Release);
            });
            while !over.load(Ordering::Acquire) {
                pool.install(|| join(|| (), || ()));
                thread::sleep(Duration::from_micros(200));
            }
        });
    });
}

/// A sleeper that runs an operation is woken as the heartbeat worker, and the wait inside the operation consumes the
/// wakeup.
#[test]
fn wakeup_during_operation_is_not_lost() {
    watchdog(LONG, || {
        let pool = pool(4);
        for (waits, holds) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))).filter(|(i, j)| i != j) {
            thread::sleep(Duration::from_millis(25));
            let (release, held, over) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
            thread::scope(|threads| {
                threads.spawn(|| {
                    pool.broadcast(|i| {
                        if i == waits {
                            pool.broadcast(|j| {
                                if j == holds {
                                    held.store(true, Ordering::Release);
                                    wait_without_forking(&release);
                                }
                            });
                        }
                    })
                });
                wait_without_forking(&held);
                thread::sleep(Duration::from_millis(2));
                threads.spawn(|| {
                    thread::sleep(Duration::from_millis(8));
                    release.store(true, Ordering::Release);
                    thread::sleep(Duration::from_millis(3));
                    over.store(true, Ordering::Release);
                });
                let ends = || over.load(Ordering::Acquire);
                pool.install(|| join(|| wait_until(ends), || wait_without_forking(&over)));
            });
            thread::sleep(Duration::from_millis(25));
            pool.install(|| join_stolen(|| (), || ()));
        }
    });
}

/// The owner is unwinding and waits for its stolen half, which wants an answer from the owner.
#[test]
fn stolen_job_may_broadcast_while_owner_panics() {
    watchdog(LONG, || {
        let pool = pool(2);
        let begun = AtomicBool::new(false);
        pool.install(|| {
            scope(|s| {
                s.spawn(|| {
                    begun.store(true, Ordering::Release);
                    let text = common::panic_text(|| {
                        join_stolen(
                            || panic!("owner"),
                            || {
                                thread::sleep(Duration::from_millis(20));
                                pool.broadcast(|i| i)
                            },
                        );
                    });
                    assert_eq!(text, "owner");
                });
                wait_until(|| begun.load(Ordering::Acquire));
            });
        });
    });
}

/// Worker 1 waits for a job on worker 0, where a nested operation waits for an answer from worker 1.
#[test]
fn nested_broadcast_and_broadcast_of_stolen_job_end() {
    watchdog(LONG, || {
        let pool = pool(2);
        let (go, begun) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|threads| {
            threads.spawn(|| {
                wait_without_forking(&go);
                pool.broadcast(|_| pool.broadcast(|_| ()));
            });
            pool.install(|| {
                scope(|s| {
                    s.spawn(|| {
                        begun.store(true, Ordering::Release);
                        join_stolen(
                            || (),
                            || {
                                go.store(true, Ordering::Release);
                                thread::sleep(Duration::from_millis(100));
                                pool.broadcast(|i| i)
                            },
                        );
                    });
                    wait_until(|| begun.load(Ordering::Acquire));
                    thread::sleep(Duration::from_millis(300));
                });
            });
        });
    });
}

#[test]
fn panic_propagates_after_all_threads_answered() {
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

/// A worker answers some unrelated broadcasts on top of a part that another worker waits for, and these broadcast in
/// turn. So a worker with many answers must not refuse the parts of those.
#[test]
fn trees_of_broadcasts_end() {
    fn nest(pool: &Pool, depth: u32) -> usize {
        if depth == 0 { 1 } else { pool.broadcast(|_| nest(pool, depth - 1)).into_iter().sum() }
    }
    watchdog(LONG, || {
        for _ in 0..10 {
            let pool = pool(2);
            thread::scope(|threads| {
                for _ in 0..8 {
                    threads.spawn(|| assert_eq!(nest(&pool, 6), 64));
                }
            });
        }
    });
}
