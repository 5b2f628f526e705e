//! Work runs in parallel: pieces wait for each other on threads of their own. Only the watchdog uses a clock.

use crate::common::{self, LONG, pool, wait_until, watchdog};
use anabranch::{join, prelude::*, scope};
use std::{
    collections::HashSet,
    hint,
    sync::{
        Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
    time::Duration,
};

/// A rendezvous of `n` threads. A waiting thread lets others steal its forks.
struct Meeting {
    n: usize,
    present: Mutex<HashSet<ThreadId>>,
}

impl Meeting {
    fn of(n: usize) -> Self {
        Self { n, present: Mutex::default() }
    }

    fn attend(&self) {
        self.present.lock().unwrap().insert(thread::current().id());
        wait_until(|| self.present.lock().unwrap().len() >= self.n);
    }
}

#[test]
fn sleeping_pool_runs_both_branches_concurrently() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..10 {
            thread::sleep(Duration::from_millis(25));
            let barrier = Barrier::new(2);
            let meet = || {
                barrier.wait();
                thread::current().id()
            };
            // Neither branch forks: the first fork of a thread that comes in is open to others from the start.
            let (a, b) = pool.install(|| join(meet, meet));
            assert_eq!(a, thread::current().id());
            assert_ne!(a, b);
        }
    });
}

#[test]
fn busy_pool_runs_both_branches_concurrently() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..500 {
            let meeting = Meeting::of(2);
            pool.install(|| join(|| meeting.attend(), || meeting.attend()));
        }
    });
}

/// Threads that wait for each other by spinning use all cores, and another one still joins them.
#[test]
fn spinning_threads_beyond_number_of_cores_all_begin() {
    fn fork(threads: usize, spin: &(impl Fn() + Sync)) {
        if threads > 0 {
            join(spin, || fork(threads - 1, spin));
        }
    }

    watchdog(LONG, || {
        let threads = thread::available_parallelism().unwrap().get() + 2;
        let (pool, present) = (pool(threads), AtomicUsize::new(0));
        let spin = || {
            present.fetch_add(1, Ordering::Relaxed);
            while present.load(Ordering::Relaxed) < threads {
                hint::spin_loop();
            }
        };
        pool.install(|| fork(threads, &spin));
    });
}

#[test]
fn all_threads_take_part_in_recursion() {
    fn leaves(n: u32, leaf: &(impl Fn() + Sync)) {
        if n == 1 {
            return leaf();
        }
        join(|| leaves(n / 2, leaf), || leaves(n / 2, leaf));
    }
    watchdog(LONG, || {
        let pool = pool(4);
        for _ in 0..20 {
            let meeting = Meeting::of(4);
            pool.install(|| leaves(64, &|| meeting.attend()));
        }
    });
}

#[test]
fn all_threads_take_part_in_loop() {
    watchdog(LONG, || {
        let pool = pool(4);
        for _ in 0..20 {
            let meeting = Meeting::of(4);
            pool.install(|| (0..100_000u32).into_par_iter().for_each(|_| meeting.attend()));
        }
    });
}

#[test]
fn all_threads_take_part_in_scope() {
    watchdog(LONG, || {
        let pool = pool(4);
        for _ in 0..20 {
            let meeting = Meeting::of(4);
            pool.install(|| {
                scope(|s| (0..16).for_each(|_| s.spawn(|| meeting.attend())));
            });
        }
    });
}

#[test]
fn waiting_thread_lends_its_slot() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..20 {
            // The guest waits for its branch with nothing to do; two more pieces still run at once.
            let meeting = Meeting::of(2);
            pool.install(|| common::join_stolen(|| (), || join(|| meeting.attend(), || meeting.attend())));
        }
    });
}

#[test]
fn concurrent_guests_are_all_helped() {
    watchdog(LONG, || {
        let pool = pool(3);
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    for _ in 0..50 {
                        let meeting = Meeting::of(2);
                        pool.install(|| join(|| meeting.attend(), || meeting.attend()));
                    }
                });
            }
        });
    });
}
