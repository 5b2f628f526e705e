//! `execute`: detached tasks run once, on any thread of their pool, and before the pool ends.

use crate::common::{LONG, Random, Tally, in_pools, join_stolen, one_thread, pool, sum_to, watchdog};
use anabranch::{Pool, execute, join, pool::in_pool, scope};
use std::{
    panic::panic_any,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

#[test]
fn task_runs_on_thread_of_pool() {
    in_pools(|pool| {
        let (sender, receiver) = mpsc::channel();
        for inside in [false, true] {
            let sender = sender.clone();
            let task = move || sender.send((anabranch::pool::current_num_threads(), thread::current().id())).unwrap();
            if inside {
                pool.install(|| execute(task))
            } else {
                pool.execute(task)
            }
            let (threads, id) = receiver.recv().unwrap();
            assert_eq!(threads, pool.num_threads());
            assert_ne!(id, thread::current().id(), "the caller is a guest, or outside");
        }
    });
}

#[test]
fn task_from_outside_runs_in_default_pool() {
    let (sender, receiver) = mpsc::channel();
    execute(move || sender.send((in_pool(), anabranch::pool::current_num_threads())).unwrap());
    assert_eq!(receiver.recv(), Ok((true, anabranch::pool::current_num_threads())));
}

#[test]
fn dropped_pool_has_run_all_tasks() {
    in_pools(|sample| {
        for _ in 0..20 {
            let ran = Arc::new(AtomicUsize::new(0));
            let pool = pool(sample.num_threads());
            for _ in 0..50 {
                let ran = Arc::clone(&ran);
                pool.execute(move || {
                    let inner = Arc::clone(&ran);
                    execute(move || _ = inner.fetch_add(1, Ordering::Relaxed));
                    ran.fetch_add(1, Ordering::Relaxed);
                });
            }
            drop(pool);
            assert_eq!(ran.load(Ordering::Relaxed), 100);
        }
    });
}

/// The other workers are asleep when the last task ends.
#[test]
fn drop_of_pool_waits_for_running_task() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let ended = Arc::new(AtomicBool::new(false));
            let pool = pool(threads);
            let (begun, begins) = mpsc::channel();
            let end = Arc::clone(&ended);
            pool.execute(move || {
                begun.send(()).unwrap();
                thread::sleep(Duration::from_millis(40));
                end.store(true, Ordering::Release);
            });
            begins.recv().unwrap();
            drop(pool);
            assert!(ended.load(Ordering::Acquire));
        }
    });
}

#[test]
fn tasks_of_one_worker_run_newest_first() {
    watchdog(LONG, || {
        let pool = one_thread().build().unwrap();
        let (sender, receiver) = mpsc::channel();
        pool.execute(move || {
            for i in 0..10 {
                let sender = sender.clone();
                execute(move || sender.send(i).unwrap());
            }
        });
        assert_eq!(receiver.into_iter().collect::<Vec<_>>(), (0..10).rev().collect::<Vec<_>>());
    });
}

#[test]
fn tasks_from_outside_run_oldest_first() {
    watchdog(LONG, || {
        let pool = one_thread().build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let (open, opened) = mpsc::channel::<()>();
        pool.execute(move || _ = opened.recv());
        for i in 0..10 {
            let sender = sender.clone();
            pool.execute(move || sender.send(i).unwrap());
        }
        drop((sender, open));
        assert_eq!(receiver.into_iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    });
}

/// The lock is held across waits, and the tasks need it.
#[test]
fn waiting_thread_does_not_run_detached_tasks() {
    in_pools(|pool| {
        let lock = Arc::new(Mutex::new(0));
        for _ in 0..20 {
            pool.install(|| {
                let mut held = lock.lock().unwrap();
                for _ in 0..10 {
                    let lock = Arc::clone(&lock);
                    execute(move || *lock.lock().unwrap() += 1);
                }
                join(|| sum_to(50), || sum_to(50));
                let mut sum = 0;
                scope(|s| s.spawn(|| sum = sum_to(10)));
                *held += sum / 55;
            });
        }
        while *lock.lock().unwrap() < 220 {
            thread::yield_now();
        }
    });
}

/// The caller blocks at once, so another thread must run the task.
#[test]
fn waiting_thread_hands_its_tasks_over() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            for _ in 0..20 {
                let (sender, receiver) = mpsc::channel();
                pool.install(|| {
                    execute(move || sender.send(()).unwrap());
                    scope(|s| s.spawn(move || receiver.recv().unwrap()));
                });
            }
        }
    });
}

#[test]
fn guest_may_leave_before_its_tasks_have_run() {
    in_pools(|pool| {
        for _ in 0..50 {
            let (sender, receiver) = mpsc::channel();
            thread::spawn({
                let sender = sender.clone();
                move || sender.send(0)
            })
            .join()
            .unwrap()
            .unwrap();
            pool.install(|| {
                (1..5).for_each(|i| {
                    let sender = sender.clone();
                    execute(move || sender.send(i).unwrap());
                })
            });
            drop(sender);
            assert_eq!(receiver.into_iter().sum::<i32>(), 10);
        }
    });
}

#[test]
fn panic_of_task_goes_to_panic_handler() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let (sender, receiver) = mpsc::channel();
            let sender = Mutex::new(sender);
            let handler = move |panic: Box<dyn std::any::Any + Send>| {
                // A handler may compute.
                assert_eq!(sum_to(100), 5050);
                scope(|s| s.spawn(|| _ = sum_to(100)));
                sender.lock().unwrap().send(*panic.downcast::<u32>().unwrap()).unwrap();
            };
            let pool = Pool::builder().threads(threads).on_panic(handler).build().unwrap();
            for i in 0..20u32 {
                pool.execute(move || panic_any(i));
                pool.install(|| execute(move || panic_any(i)));
            }
            drop(pool);
            assert_eq!(receiver.into_iter().sum::<u32>(), 2 * 190);
        }
    });
}

#[test]
fn panicking_tasks_without_handler_do_no_harm() {
    in_pools(|pool| {
        for _ in 0..20 {
            pool.execute(|| panic!("detached"));
        }
        assert_eq!(pool.install(|| sum_to(100)), 5050);
    });
}

/// A captured value whose drop panics after the task.
#[test]
fn values_of_tasks_are_dropped_once() {
    struct Spiteful(#[expect(dead_code, reason = "counted")] crate::common::Counted);
    impl Drop for Spiteful {
        fn drop(&mut self) {
            panic!("spite");
        }
    }
    watchdog(LONG, || {
        let (tally, caught) = (Tally::default(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&caught);
        let handler = move |_| _ = count.fetch_add(1, Ordering::Relaxed);
        let pool = Pool::builder().threads(2).on_panic(handler).build().unwrap();
        for _ in 0..20 {
            let (value, plain) = (Spiteful(tally.make()), tally.make());
            pool.execute(move || drop((plain, || drop(value))));
            let value = tally.make();
            pool.execute(move || {
                let _value = value;
                panic!("task");
            });
        }
        drop(pool);
        tally.assert_all_dropped();
        assert_eq!(caught.load(Ordering::Relaxed), 40);
    });
}

#[test]
fn tasks_may_use_everything_that_computes() {
    in_pools(|pool| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..20 {
            let sender = sender.clone();
            pool.execute(move || {
                let mut more = 0;
                scope(|s| s.spawn(|| more = sum_to(50)));
                let fiber = anabranch::spawn(|_| sum_to(10));
                sender.send((more + sum_to(100), fiber)).unwrap();
            });
        }
        drop(sender);
        for (sum, fiber) in receiver {
            assert_eq!((sum, pool.run(|cx| fiber.join(cx)).unwrap()), (1275 + 5050, 55));
        }
    });
}

#[test]
fn fiber_may_execute() {
    in_pools(|pool| {
        let (sender, receiver) = mpsc::channel();
        let fiber = pool.spawn(move |cx| {
            cx.yield_now();
            execute(move || sender.send(thread::current().id()).unwrap());
        });
        pool.run(|cx| fiber.join(cx)).unwrap();
        receiver.recv().unwrap();
    });
}

#[test]
fn thread_of_another_pool_may_execute() {
    in_pools(|there| {
        let here = pool(1);
        let (sender, receiver) = mpsc::channel();
        here.install(|| there.execute(move || sender.send(anabranch::pool::current_num_threads()).unwrap()));
        assert_eq!(receiver.recv(), Ok(there.num_threads()));
    });
}

/// Workers, guests and other threads execute, fork and wait at random while tasks execute others.
#[test]
fn random_programs_run_each_task_once() {
    fn grow(depth: u32, random: &mut Random, ran: &Arc<AtomicUsize>, made: &Arc<AtomicUsize>) {
        for _ in 0..1 + random.below(3) {
            let (ran, made, mut random) = (Arc::clone(ran), Arc::clone(made), Random(random.next()));
            made.fetch_add(1, Ordering::Relaxed);
            execute(move || {
                if depth > 0 {
                    match random.below(3) {
                        0 => grow(depth - 1, &mut random, &ran, &made),
                        1 => {
                            let mut other = Random(random.next());
                            join(
                                || grow(depth - 1, &mut random, &ran, &made),
                                || grow(depth - 1, &mut other, &ran, &made),
                            );
                        }
                        _ => scope(|s| s.spawn(|| grow(depth - 1, &mut random, &ran, &made))),
                    }
                }
                ran.fetch_add(1, Ordering::Relaxed);
            });
        }
    }
    watchdog(LONG, || {
        for (seed, threads) in [1, 2, 32].into_iter().enumerate() {
            let (ran, made) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let pool = pool(threads);
            thread::scope(|s| {
                for i in 0..4 {
                    let (pool, ran, made) = (&pool, &ran, &made);
                    s.spawn(move || {
                        let mut random = Random(seed as u64 * 4 + i);
                        for _ in 0..10 {
                            pool.install(|| grow(4, &mut random, ran, made));
                        }
                    });
                }
            });
            drop(pool);
            assert_eq!(ran.load(Ordering::Relaxed), made.load(Ordering::Relaxed), "{threads} threads");
        }
    });
}

/// Both halves wait for a task of the other one.
#[test]
fn stolen_half_may_wait_for_task_of_first_half() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..20 {
            let (sender, receiver) = mpsc::channel();
            pool.install(|| join_stolen(|| execute(move || sender.send(7).unwrap()), move || receiver.recv().unwrap()));
        }
    });
}
