//! `Pool::broadcast`: each thread of the pool once, wherever the call comes from.

use crate::common::{LONG, in_pools, join_stolen, pool, sum_to, wait_until, watchdog};
use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

#[test]
fn answers_are_in_the_order_of_the_threads() {
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
fn it_reaches_a_pool_that_sleeps() {
    in_pools(|pool| {
        for _ in 0..5 {
            thread::sleep(std::time::Duration::from_millis(30));
            assert_eq!(pool.broadcast(|index| index).len(), pool.num_threads());
        }
    });
}

#[test]
fn all_threads_are_in_it_at_once() {
    in_pools(|pool| {
        let barrier = Barrier::new(pool.num_threads());
        for _ in 0..20 {
            pool.broadcast(|_| _ = barrier.wait());
        }
    });
}

#[test]
fn a_worker_broadcasts_to_all_and_to_itself() {
    in_pools(|pool| {
        let answers = pool.broadcast(|outer| pool.broadcast(move |inner| (outer, inner)));
        for (outer, inner) in answers.into_iter().enumerate() {
            assert_eq!(inner, (0..pool.num_threads()).map(|i| (outer, i)).collect::<Vec<_>>());
        }
    });
}

#[test]
fn two_workers_broadcast_to_each_other_at_once() {
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
fn a_stolen_job_broadcasts_while_its_owner_waits() {
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
fn many_threads_broadcast_and_work_at_once() {
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
