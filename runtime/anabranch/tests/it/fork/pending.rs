//! `run_pending`, `run_pending_local` and `has_pending`: a thread runs pending work where it asks for it.

use crate::common::{LONG, in_pools, one_thread, panic_text, pool, sum_to, watchdog};
use anabranch::{
    Pool, execute, join, join_context,
    pool::{has_pending, run_pending, run_pending_local},
    scope,
};
use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// A pool of one thread that is never replaced.
fn lone() -> Pool {
    one_thread().build().unwrap()
}

/// Runs `root` on the only thread of a pool.
fn on_the_only_worker(root: impl FnOnce() + Send) {
    watchdog(LONG, || lone().call(root));
}

fn until(flag: &AtomicBool, step: impl Fn() -> Option<bool>) {
    while !flag.load(Ordering::Acquire) {
        step().unwrap();
    }
}

#[test]
fn nothing_is_pending_outside_of_pools() {
    assert_eq!((run_pending(), run_pending_local(), has_pending()), (None, None, None));
}

#[test]
fn nothing_is_pending_in_idle_pool() {
    on_the_only_worker(|| {
        assert_eq!((has_pending(), run_pending_local(), run_pending()), (Some(false), Some(false), Some(false)));
    });
}

#[test]
fn lone_thread_runs_its_own_tasks() {
    for step in [run_pending, run_pending_local] {
        on_the_only_worker(|| {
            let flag = Arc::new(AtomicBool::new(false));
            let set = Arc::clone(&flag);
            execute(move || set.store(true, Ordering::Release));
            assert_eq!(has_pending(), Some(true));
            assert_eq!(step(), Some(true));
            assert!(flag.load(Ordering::Acquire));
            assert_eq!((has_pending(), step()), (Some(false), Some(false)));
        });
    }
}

#[test]
fn lone_thread_runs_its_own_fork() {
    for step in [run_pending, run_pending_local] {
        on_the_only_worker(|| {
            let flag = AtomicBool::new(false);
            let here = thread::current().id();
            let ((), has_migrated) = join_context(
                |_| {
                    assert_eq!(has_pending(), Some(true));
                    until(&flag, step);
                    assert_eq!(has_pending(), Some(false));
                },
                |context| {
                    flag.store(true, Ordering::Release);
                    assert_eq!(thread::current().id(), here);
                    context.migrated()
                },
            );
            assert!(!has_migrated, "the same thread ran it");
        });
    }
}

#[test]
fn guest_runs_its_own_fork() {
    in_pools(|pool| {
        for _ in 0..20 {
            let flag = AtomicBool::new(false);
            pool.install(|| join(|| until(&flag, run_pending_local), || flag.store(true, Ordering::Release)));
        }
    });
}

#[test]
fn lone_thread_runs_all_open_forks() {
    fn fork(depth: usize, ran: &AtomicUsize) -> usize {
        if depth == 0 {
            while ran.load(Ordering::Acquire) < 100 {
                assert_eq!(run_pending_local(), Some(true));
            }
            assert_eq!((has_pending(), run_pending_local()), (Some(false), Some(false)));
            return 1;
        }
        let (a, b) = join(|| fork(depth - 1, ran), || ran.fetch_add(1, Ordering::AcqRel) / 1000 + 1);
        a + b
    }
    on_the_only_worker(|| assert_eq!(fork(100, &AtomicUsize::new(0)), 101));
}

/// What runs on top of a piece may fork, wait and run pending work in turn.
#[test]
fn pending_work_nests() {
    fn nest(depth: u32) -> u64 {
        if depth == 0 {
            return sum_to(20);
        }
        let flag = AtomicBool::new(false);
        let (a, b) = join(
            || {
                until(&flag, run_pending);
                nest(depth - 1)
            },
            || {
                let mut inner = 0;
                scope(|s| s.spawn(|| inner = nest(depth - 1)));
                flag.store(true, Ordering::Release);
                inner
            },
        );
        a + b
    }
    on_the_only_worker(|| assert_eq!(nest(6), 64 * 210));
    in_pools(|pool| assert_eq!(pool.install(|| nest(6)), 64 * 210));
}

#[test]
fn thread_runs_its_part_of_broadcast() {
    on_the_only_worker(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        anabranch::pool::spawn_broadcast(move |_| set.store(true, Ordering::Release));
        assert_eq!((has_pending(), run_pending_local(), has_pending()), (Some(true), Some(true), Some(false)));
        assert!(flag.load(Ordering::Acquire));
    });
}

/// The other thread has a slot, does not block, and does not fork again.
#[test]
fn thread_runs_fork_of_busy_thread() {
    watchdog(LONG, || {
        for pool in [pool(2), Pool::builder().threads(2).max_spare_threads(0).build().unwrap()] {
            for _ in 0..10 {
                let (flag, ready) = (AtomicBool::new(false), Barrier::new(2));
                pool.broadcast(|index| {
                    ready.wait();
                    if index == 0 {
                        until(&flag, run_pending);
                    } else {
                        let spin = || {
                            while !flag.load(Ordering::Acquire) {
                                std::hint::spin_loop();
                            }
                        };
                        join(spin, || flag.store(true, Ordering::Release));
                    }
                });
            }
        }
    });
}

#[test]
fn thread_runs_task_from_outside() {
    watchdog(LONG, || {
        let pool = lone();
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        thread::scope(|s| {
            let (begun, begins) = mpsc::channel();
            let pool = &pool;
            s.spawn(move || {
                pool.call(|| {
                    begun.send(()).unwrap();
                    until(&flag, run_pending);
                });
            });
            begins.recv().unwrap();
            pool.execute(move || set.store(true, Ordering::Release));
        });
    });
}

#[test]
fn panic_of_pending_fork_reaches_its_join() {
    on_the_only_worker(|| {
        let ran = AtomicBool::new(false);
        let text = panic_text(|| {
            join(
                || {
                    assert_eq!(run_pending(), Some(true), "the panic does not arrive here");
                    ran.store(true, Ordering::Release);
                },
                || panic!("second"),
            );
        });
        assert!(text == "second" && ran.load(Ordering::Acquire));
        assert_eq!(has_pending(), Some(false));
    });
}

/// A guard that rolls back on panic, in a piece that has not panicked.
#[test]
fn unwinding_thread_runs_no_pending_work() {
    struct Waits<'a>(&'a AtomicUsize);
    impl Drop for Waits<'_> {
        fn drop(&mut self) {
            assert_eq!((run_pending_local(), run_pending()), (Some(false), Some(false)));
            assert_eq!(self.0.load(Ordering::Acquire), 0);
        }
    }
    on_the_only_worker(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let text = panic_text(|| {
            let count = Arc::clone(&ran);
            execute(move || {
                assert!(!thread::panicking());
                count.fetch_add(1, Ordering::AcqRel);
            });
            let _waits = Waits(&ran);
            panic!("root");
        });
        assert_eq!(text, "root");
        assert_eq!((run_pending(), ran.load(Ordering::Acquire)), (Some(true), 1));
    });
}

#[test]
fn fiber_runs_pending_work() {
    in_pools(|pool| {
        let fiber = pool.spawn(|cx| {
            let flag = Arc::new(AtomicBool::new(false));
            let set = Arc::clone(&flag);
            execute(move || set.store(true, Ordering::Release));
            until(&flag, run_pending);
            cx.yield_now();
            let flag = AtomicBool::new(false);
            join(|| until(&flag, run_pending), || flag.store(true, Ordering::Release));
            // Forks that may wait run on fibers.
            cx.join(|_| (has_pending(), run_pending_local()), |_| ()).0
        });
        assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), (Some(false), Some(false)));
    });
}

/// Many threads run each other's pieces, in a pool with more threads than cores.
#[test]
fn many_threads_run_pieces_of_each_other() {
    watchdog(LONG, || {
        let pool = pool(32);
        let (left, made) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        pool.broadcast(|_| {
            for _ in 0..50 {
                let left = Arc::clone(&left);
                left.fetch_add(1, Ordering::AcqRel);
                made.fetch_add(1, Ordering::Relaxed);
                execute(move || {
                    sum_to(50);
                    left.fetch_sub(1, Ordering::AcqRel);
                });
            }
            while left.load(Ordering::Acquire) > 0 {
                run_pending();
            }
        });
        assert_eq!((left.load(Ordering::Relaxed), made.into_inner()), (0, 1600));
    });
}
