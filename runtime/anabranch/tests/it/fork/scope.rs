//! `scope`: the parent waits, tasks borrow, and any thread may spawn.

use crate::common::{self, LONG, Tally, everywhere, in_pools, pool, sum_to, wait_until, watchdog};
use anabranch::{join, scope};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

#[test]
fn scope_waits_for_all_tasks() {
    everywhere(|| {
        let ended = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..50 {
                s.spawn(|| {
                    thread::yield_now();
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(ended.into_inner(), 50);
    });
}

#[test]
fn scope_returns_result_of_body() {
    everywhere(|| {
        let text = scope(|s| {
            s.spawn(|| ());
            String::from("result")
        });
        assert_eq!(text, "result");
        assert_eq!(scope(|_| 7), 7, "a scope without tasks");
    });
}

#[test]
fn tasks_may_borrow_from_outside_scope() {
    everywhere(|| {
        let mut cells = vec![0; 100];
        let step = 3;
        scope(|s| {
            for (i, cell) in cells.iter_mut().enumerate() {
                let step = &step;
                s.spawn(move || *cell = i * step);
            }
        });
        assert!(cells.iter().enumerate().all(|(i, &x)| x == 3 * i));
    });
}

#[test]
fn tasks_spawn_tasks_at_any_depth() {
    fn grow<'s>(s: &'s anabranch::Scope<'s, '_>, depth: u32, leaves: &'s AtomicU64) {
        if depth == 0 {
            leaves.fetch_add(1, Ordering::Relaxed);
            return;
        }
        s.spawn(move || grow(s, depth - 1, leaves));
        s.spawn(move || grow(s, depth - 1, leaves));
    }
    everywhere(|| {
        let leaves = AtomicU64::new(0);
        scope(|s| grow(s, 10, &leaves));
        assert_eq!(leaves.into_inner(), 1024);
    });
}

#[test]
fn scope_waits_for_chain_of_spawned_tasks() {
    fn next<'s>(s: &'s anabranch::Scope<'s, '_>, left: u32, steps: &'s AtomicU64) {
        steps.fetch_add(1, Ordering::Relaxed);
        if left > 0 {
            s.spawn(move || next(s, left - 1, steps));
        }
    }
    everywhere(|| {
        let steps = AtomicU64::new(0);
        scope(|s| next(s, 2000, &steps));
        assert_eq!(steps.into_inner(), 2001);
    });
}

#[test]
fn thread_outside_pools_may_spawn_while_body_runs() {
    everywhere(|| {
        let sum = AtomicU64::new(0);
        scope(|s| {
            thread::scope(|threads| {
                for i in 0..8 {
                    let sum = &sum;
                    threads.spawn(move || s.spawn(move || _ = sum.fetch_add(i, Ordering::Relaxed)));
                }
            });
        });
        assert_eq!(sum.into_inner(), 28);
    });
}

#[test]
fn thread_inside_task_may_spawn_while_parent_waits() {
    everywhere(|| {
        let done = AtomicU64::new(0);
        scope(|s| {
            s.spawn(|| {
                thread::scope(|threads| {
                    for _ in 0..20 {
                        threads.spawn(|| s.spawn(|| _ = done.fetch_add(1, Ordering::Relaxed)));
                    }
                });
            });
        });
        assert_eq!(done.into_inner(), 20);
    });
}

#[test]
fn worker_of_another_pool_spawns_into_pool_of_scope() {
    in_pools(|pool| {
        let other = common::pool(2);
        let names = Mutex::new(Vec::new());
        let named =
            anabranch::Pool::builder().threads(pool.num_threads()).thread_name(|_| "home".into()).build().unwrap();
        let guest = thread::current().id();
        named.install(|| {
            scope(|s| {
                let names = &names;
                other.broadcast(|_| {
                    s.spawn(move || {
                        let thread = thread::current();
                        names.lock().unwrap().push(thread.id() == guest || thread.name() == Some("home"));
                    });
                });
            });
        });
        assert_eq!(names.into_inner().unwrap(), [true, true]);
    });
}

#[test]
fn hundred_thousand_tasks_all_run() {
    everywhere(|| {
        let sum = AtomicU64::new(0);
        scope(|s| {
            for i in 0..100_000u64 {
                let sum = &sum;
                s.spawn(move || _ = sum.fetch_add(i, Ordering::Relaxed));
            }
        });
        assert_eq!(sum.into_inner(), 4_999_950_000);
    });
}

#[test]
fn scopes_and_joins_nest_in_each_other() {
    fn nest(depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let (mut a, mut b) = (0, 0);
        scope(|s| {
            s.spawn(|| {
                let (left, right) = join(|| nest(depth - 1), || nest(depth - 1));
                a = left + right;
            });
            b = nest(depth - 1);
        });
        a + b
    }
    everywhere(|| assert_eq!(nest(6), 729));
}

#[test]
fn tasks_own_values_that_are_dropped_once() {
    everywhere(|| {
        let tally = Tally::default();
        scope(|s| {
            for _ in 0..500 {
                let counted = tally.make();
                s.spawn(move || drop(counted));
                let unused = tally.make();
                s.spawn(move || {
                    let _ = &unused;
                });
            }
        });
        assert_eq!(tally.made(), 1000);
        tally.assert_all_dropped();
    });
}

#[test]
fn values_of_tasks_are_dropped_before_scope_ends() {
    struct Touches<'a>(&'a AtomicU64);
    impl Drop for Touches<'_> {
        fn drop(&mut self) {
            thread::yield_now();
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    everywhere(|| {
        for _ in 0..100 {
            let touched = AtomicU64::new(0);
            scope(|s| {
                for _ in 0..4 {
                    let touches = Touches(&touched);
                    s.spawn(move || _ = &touches);
                }
            });
            assert_eq!(touched.into_inner(), 4);
        }
    });
}

#[test]
fn tasks_run_concurrently_with_body_on_two_threads() {
    in_pools(|pool| {
        if pool.num_threads() > 1 {
            pool.install(|| {
                let begun = AtomicBool::new(false);
                scope(|s| {
                    s.spawn(|| begun.store(true, Ordering::Release));
                    wait_until(|| begun.load(Ordering::Acquire));
                });
            });
        }
    });
}

#[test]
fn waiting_parent_runs_tasks_of_busy_thread() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..100 {
            let ran = AtomicBool::new(false);
            let begun = AtomicBool::new(false);
            pool.install(|| {
                scope(|s| {
                    s.spawn(|| {
                        begun.store(true, Ordering::Release);
                        s.spawn(|| ran.store(true, Ordering::Release));
                        // This thread does not fork or wait in the pool, so another thread has to run the inner task.
                        while !ran.load(Ordering::Acquire) {
                            thread::yield_now();
                        }
                    });
                    wait_until(|| begun.load(Ordering::Acquire));
                });
            });
        }
    });
}

#[test]
fn scopes_on_many_threads_are_independent() {
    in_pools(|pool| {
        thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for round in 0..50 {
                        let sum = AtomicU64::new(0);
                        pool.install(|| {
                            scope(|s| {
                                for _ in 0..4 {
                                    s.spawn(|| _ = sum.fetch_add(sum_to(round), Ordering::Relaxed));
                                }
                            });
                        });
                        assert_eq!(sum.into_inner(), 2 * round * (round + 1));
                    }
                });
            }
        });
    });
}

#[test]
fn debug_of_scope_shows_number_of_pending_tasks() {
    watchdog(LONG, || {
        scope(|s| assert!(format!("{s:?}").contains("pending: 0")));
    });
}
