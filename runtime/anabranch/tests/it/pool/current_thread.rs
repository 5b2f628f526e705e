//! `Builder::use_current_thread`: the thread that builds a pool is one of its threads until the pool ends.

use crate::common::{LONG, join_stolen, panic_text, pool, sum_to, wait_until, watchdog};
use anabranch::{
    Pool, execute,
    fiber::sleep_async,
    pool::{BuildError, broadcast, current_num_threads, current_thread_index, in_pool, run_pending, spawn_broadcast},
    run, scope, spawn,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// Runs the test on a new thread, which is in the pool until its end.
fn in_new_pool(threads: usize, test: impl FnOnce(Pool) + Send) {
    watchdog(LONG, || {
        thread::scope(|s| {
            let body = || test(Pool::builder().threads(threads).use_current_thread().build().unwrap());
            s.spawn(body).join().unwrap();
        });
    });
}

#[test]
fn current_thread_is_thread_zero() {
    for threads in [1, 2, 8] {
        in_new_pool(threads, |pool| {
            assert!(in_pool());
            assert_eq!((current_num_threads(), current_thread_index()), (threads, Some(0)));
            let here = thread::current().id();
            assert_eq!(pool.call(|| thread::current().id()), here, "a plain call");
            let ids = pool.broadcast(|index| (index, current_thread_index().unwrap(), thread::current().id() == here));
            assert!(ids.iter().all(|&(number, index, is_here)| number == index && is_here == (number == 0)));
            assert_eq!(ids.len(), threads);
            assert_eq!(current_thread_index(), Some(0));
        });
    }
}

#[test]
fn current_thread_forks_and_waits_in_its_pool() {
    for threads in [1, 2, 8] {
        in_new_pool(threads, |pool| {
            assert_eq!(sum_to(1000), 500_500);
            let mut sum = 0;
            scope(|s| s.spawn(|| sum = sum_to(100)));
            assert_eq!(sum, 5050);
            if threads > 1 {
                let (a, b) = join_stolen(|| current_thread_index().unwrap(), || current_thread_index().unwrap());
                assert!(a == 0 && b != 0);
            }
            let fiber = anabranch::spawn(|_| sum_to(10));
            assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), 55);
            assert_eq!(current_thread_index(), Some(0));
        });
    }
}

#[test]
fn other_threads_run_tasks_while_current_thread_is_blocked() {
    for threads in [1, 2] {
        in_new_pool(threads, |_pool| {
            let (sender, receiver) = mpsc::channel();
            execute(move || sender.send(thread::current().id()).unwrap());
            if threads == 1 {
                // Nothing else would start a thread.
                let mut trigger = anabranch::sync::Trigger::new();
                let signal = trigger.signal();
                execute(move || signal.send());
                anabranch::run(|cx| trigger.wait(cx)).unwrap();
            }
            assert_ne!(receiver.recv(), Ok(thread::current().id()));
        });
    }
}

#[test]
fn current_thread_runs_pending_work() {
    in_new_pool(1, |pool| {
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..10 {
            let ran = Arc::clone(&ran);
            pool.execute(move || _ = ran.fetch_add(1, Ordering::Relaxed));
        }
        while ran.load(Ordering::Relaxed) < 10 {
            run_pending();
        }
    });
}

#[test]
fn guests_and_calls_use_the_other_threads() {
    in_new_pool(3, |pool| {
        let over = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                let here = thread::current().id();
                assert!(pool.call(|| thread::current().id()) != here);
                assert_eq!(pool.install(|| sum_to(100)), 5050);
                assert_eq!(pool.broadcast(|i| i), [0, 1, 2]);
                over.store(true, Ordering::Release);
            });
            // The broadcast waits for this thread.
            while !over.load(Ordering::Acquire) {
                run_pending();
            }
        });
    });
}

#[test]
fn thread_can_be_in_one_pool_only() {
    in_new_pool(1, |pool| {
        let again = || Pool::builder().threads(1).use_current_thread().build();
        assert!(matches!(again(), Err(BuildError::CurrentThreadInPool)));
        drop(pool);
        let second = again().unwrap();
        assert_eq!(anabranch::pool::current_pool_id(), Some(second.id()));
        assert_eq!(second.install(|| sum_to(100)), 5050);
    });
    let other = pool(1);
    let error = other.install(|| Pool::builder().use_current_thread().build()).unwrap_err();
    assert!(error.to_string().contains("in one already"));
    assert!(!in_pool());
}

#[test]
fn handlers_run_on_other_threads_only() {
    watchdog(LONG, || {
        let calls = Arc::new(AtomicUsize::new(0));
        let (on_start, on_exit) = (Arc::clone(&calls), Arc::clone(&calls));
        thread::spawn(move || {
            let builder = Pool::builder().threads(3).max_spare_threads(0).use_current_thread();
            let pool = builder
                .on_start(move |i| _ = on_start.fetch_add(i, Ordering::AcqRel))
                .on_exit(move |i| _ = on_exit.fetch_add(10 * i, Ordering::AcqRel))
                .build()
                .unwrap();
            drop(pool);
        })
        .join()
        .unwrap();
        assert_eq!(calls.load(Ordering::Acquire), 3 + 30);
    });
}

/// The pool is dropped while the thread has forks open in it, and before the thread ends.
#[test]
fn current_thread_computes_after_end_of_pool() {
    for threads in [1, 2] {
        in_new_pool(threads, |pool| {
            let (a, b) = anabranch::join(
                || {
                    drop(pool);
                    sum_to(100)
                },
                || sum_to(100),
            );
            assert_eq!((a, b), (5050, 5050));
            let mut sum = 0;
            scope(|s| s.spawn(|| sum = sum_to(100)));
            assert_eq!(sum, 5050);
        });
    }
}

/// Starts work of each kind, and waits for it.
fn start_everything() {
    let (sender, receiver) = mpsc::channel();
    let of_task = sender.clone();
    execute(move || of_task.send(1).unwrap());
    spawn_broadcast(move |_| sender.send(1).unwrap());
    let fiber = spawn(|cx| cx.block_on(sleep_async(Duration::from_millis(1))));
    assert!(run(|cx| fiber.join(cx)).unwrap().is_ok());
    assert_eq!(broadcast(|index| index), (0..current_num_threads()).collect::<Vec<_>>());
    assert_eq!(receiver.into_iter().sum::<usize>(), current_num_threads() + 1);
}

#[test]
fn thread_leaves_pool_that_it_drops() {
    for threads in [1, 2, 8] {
        in_new_pool(threads, |pool| {
            drop(pool);
            assert!(!in_pool() && current_thread_index().is_none());
            start_everything();
        });
        in_new_pool(threads, |pool| {
            pool.shutdown_background();
            assert!(!in_pool());
            start_everything();
        });
    }
}

#[test]
fn thread_leaves_pool_that_another_thread_drops() {
    for threads in [1, 2, 8] {
        in_new_pool(threads, |pool| {
            thread::scope(|s| s.spawn(|| drop(pool)).join().unwrap());
            start_everything();
            assert!(!in_pool());
        });
    }
}

#[test]
fn drop_runs_what_only_current_thread_can_run() {
    for (threads, spares) in [(1, 0), (1, 9), (2, 0), (8, 0)] {
        watchdog(LONG, || {
            thread::scope(|s| {
                let body = || {
                    let builder = Pool::builder().threads(threads).max_spare_threads(spares).use_current_thread();
                    let pool = builder.build().unwrap();
                    let (sender, receiver) = mpsc::channel();
                    let (of_task, of_late) = (sender.clone(), sender.clone());
                    spawn_broadcast(move |_| sender.send(1).unwrap());
                    execute(move || of_task.send(1).unwrap());
                    execute(move || {
                        thread::sleep(Duration::from_millis(20));
                        spawn_broadcast(move |_| of_late.send(1).unwrap());
                    });
                    drop(pool);
                    assert_eq!(receiver.try_iter().sum::<usize>(), 2 * threads + 1);
                };
                s.spawn(body).join().unwrap();
            });
        });
    }
}

#[test]
fn task_on_current_thread_may_drop_its_pool() {
    for threads in [1, 2] {
        in_new_pool(threads, |pool| {
            let (pool, ran) = (Arc::new(pool), Arc::new(AtomicBool::new(false)));
            let (last, signal) = (Arc::clone(&pool), Arc::clone(&ran));
            pool.execute(move || {
                while Arc::strong_count(&last) > 1 {
                    thread::yield_now();
                }
                drop(last);
                signal.store(true, Ordering::Release);
            });
            drop(pool);
            while !ran.load(Ordering::Acquire) {
                run_pending();
            }
        });
    }
}

/// The thread cannot leave, since `run` waits in the pool in which it began.
#[test]
fn work_for_pool_that_has_ended_panics() {
    in_new_pool(2, |pool| {
        run(|cx| {
            drop(pool);
            assert!(in_pool());
            for start in
                [|| drop(spawn(|_| ())), || execute(|| ()), || spawn_broadcast(|_| ()), || drop(broadcast(|_| ()))]
            {
                let text = panic_text(start);
                assert!(text.contains("the pool of this thread has ended"), "{text}");
            }
            let outcome = cx.scope(|s| {
                assert!(panic_text(|| drop(s.spawn(|_| ()))).contains("has ended"));
                Ok::<_, anabranch::Cancelled>(sum_to(100))
            });
            assert_eq!(outcome, Ok(5050));
            cx.sleep(Duration::from_millis(20)).unwrap();
        });
        start_everything();
    });
}

#[test]
fn memory_of_pool_is_freed_when_its_thread_has_ended() {
    let token = Arc::new(());
    let held = Arc::clone(&token);
    watchdog(LONG, || {
        thread::spawn(move || {
            let pool = Pool::builder().threads(2).use_current_thread().on_exit(move |_| _ = &held).build().unwrap();
            wait_until(|| pool.stats().workers.len() == 2);
        })
        .join()
        .unwrap();
        while Arc::strong_count(&token) > 1 {
            thread::yield_now();
        }
    });
}

/// A thread-local of the program that is dropped after the thread has left the pool.
#[test]
fn thread_locals_may_compute_while_thread_ends() {
    struct Computes(mpsc::Sender<u64>);
    impl Drop for Computes {
        fn drop(&mut self) {
            self.0.send(sum_to(100)).unwrap();
        }
    }
    thread_local!(static LOCAL: std::cell::RefCell<Option<Computes>> = const { std::cell::RefCell::new(None) });
    for is_first in [true, false] {
        let (sender, receiver) = mpsc::channel();
        watchdog(LONG, || {
            thread::spawn(move || {
                let set = || LOCAL.set(Some(Computes(sender)));
                let build = || drop(Pool::builder().threads(2).use_current_thread().build().unwrap());
                if is_first {
                    set();
                    build();
                } else {
                    build();
                    set();
                }
            })
            .join()
            .unwrap();
        });
        assert_eq!(receiver.recv(), Ok(5050));
    }
}
