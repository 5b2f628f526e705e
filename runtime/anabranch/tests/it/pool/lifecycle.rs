//! Pools: how they are built, entered and dropped.

use crate::common::{LONG, in_pools, join_stolen, panic_text, pool, sum_to, watchdog};
use anabranch::{
    Pool, join,
    pool::{BuildError, current_num_threads},
    scope,
};
use std::{
    collections::HashSet,
    error::Error as _,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

#[test]
fn pool_has_configured_number_of_threads() {
    in_pools(|pool| {
        let threads = pool.num_threads();
        assert_eq!(pool.install(current_num_threads), threads);
        let ids = pool.broadcast(|_| thread::current().id());
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), threads);
        assert!(!ids.contains(&thread::current().id()), "a guest is none of the pool's own threads");
        assert!(format!("{pool:?}").contains(&format!("threads: {threads}")));
    });
}

#[test]
fn threads_are_named_by_index() {
    watchdog(LONG, || {
        let name = |_| thread::current().name().unwrap().to_owned();
        assert_eq!(pool(3).broadcast(name), ["anabranch-0", "anabranch-1", "anabranch-2"]);
        let named = Pool::builder().threads(2).thread_name(|i| format!("render {i}")).build().unwrap();
        assert_eq!(named.broadcast(name), ["render 0", "render 1"]);
    });
}

#[test]
fn stack_size_applies_to_worker_threads() {
    fn dive(depth: usize) -> u64 {
        let page = std::hint::black_box([depth as u8; 4096]);
        if depth == 0 { 1 } else { dive(depth - 1) + u64::from(page[7] == depth as u8) }
    }
    watchdog(LONG, || {
        let pool = Pool::builder().threads(2).stack_size(256 << 20).build().unwrap();
        // 80 MB at least: forty times the default.
        assert_eq!(pool.broadcast(|_| dive(20_000)), [20_001, 20_001]);
    });
}

#[test]
fn handlers_are_called_once_by_each_thread_with_its_index() {
    in_pools(|sample| {
        let threads = sample.num_threads();
        let calls = Arc::new(Mutex::new((Vec::new(), Vec::new())));
        let (on_start, on_exit) = (Arc::clone(&calls), Arc::clone(&calls));
        let pool = Pool::builder()
            .threads(threads)
            // One is added where a broadcast takes long, and it has its handlers too.
            .max_spare_threads(0)
            .on_start(move |index| on_start.lock().unwrap().0.push((index, thread::current().id())))
            .on_exit(move |index| on_exit.lock().unwrap().1.push((index, thread::current().id())))
            .build()
            .unwrap();
        let expected: HashSet<_> = pool.broadcast(|index| (index, thread::current().id())).into_iter().collect();
        let started = calls.lock().unwrap().0.clone();
        assert_eq!(started.len(), threads);
        assert_eq!(started.into_iter().collect::<HashSet<_>>(), expected);
        assert_eq!(calls.lock().unwrap().1, []);
        drop(pool);
        let exited = calls.lock().unwrap().1.clone();
        assert_eq!(exited.len(), threads);
        assert_eq!(exited.into_iter().collect::<HashSet<_>>(), expected);
    });
}

#[test]
fn start_handlers_run_inside_pool() {
    watchdog(LONG, || {
        let sums = Arc::new(Mutex::new(Vec::new()));
        let handler = {
            let sums = Arc::clone(&sums);
            move |_| {
                let mut total = 0;
                scope(|s| s.spawn(|| total = sum_to(1000)));
                sums.lock().unwrap().push((current_num_threads(), total, join(|| 1, || 2)));
            }
        };
        let _pool = Pool::builder().threads(3).on_start(handler).build().unwrap();
        let sums = sums.lock().unwrap();
        // Work in a handler may have called for a spare, which has its handlers too.
        assert!(sums.len() >= 3 && sums.iter().all(|sum| *sum == (3, 500_500, (1, 2))), "{sums:?}");
    });
}

/// The pool has ended by then. The default pool runs what a handler spawns or forks.
#[test]
fn exit_handlers_run_outside_pool() {
    watchdog(LONG, || {
        const THREADS: usize = 17;
        let done = Arc::new(Mutex::new(Vec::new()));
        let handler = {
            let done = Arc::clone(&done);
            move |_| {
                let mut total = 0;
                scope(|s| s.spawn(|| total = sum_to(1000)));
                let (sender, receiver) = mpsc::channel();
                join(move || receiver.recv().unwrap(), move || sender.send(()).unwrap());
                let fiber = anabranch::spawn(|_| 6 * 7);
                let answer = anabranch::run(|cx| fiber.join(cx)).unwrap();
                let forgotten = Arc::clone(&done);
                drop(anabranch::spawn(move |_| drop(forgotten)));
                done.lock().unwrap().push((current_num_threads(), total, answer));
            }
        };
        let pool = Pool::builder().threads(THREADS).on_exit(handler).build().unwrap();
        drop(pool);
        let threads = current_num_threads();
        let outcome = std::mem::take(&mut *done.lock().unwrap());
        assert_eq!(outcome, vec![(threads, 500_500, 42); THREADS]);
        // Detached fibers run too.
        while Arc::strong_count(&done) > 1 {
            thread::yield_now();
        }
    });
}

#[test]
fn pool_works_after_caught_panic() {
    fn is_unwind_safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: &T) {}
    in_pools(|pool| {
        is_unwind_safe(pool);
        let panic = std::panic::catch_unwind(|| pool.install(|| join(|| panic!("a"), || sum_to(100))));
        assert!(panic.is_err());
        assert_eq!(pool.install(|| sum_to(1000)), 500_500);
    });
}

#[test]
fn build_errors_name_their_causes() {
    let error = Pool::builder().threads(0).build().unwrap_err();
    assert!(matches!(error, BuildError::ZeroThreads));
    assert!(error.to_string().contains("at least one thread"));
    let error = Pool::builder().threads(4096).build().unwrap_err();
    assert!(matches!(error, BuildError::TooManyThreads(4096)));
    assert!(error.to_string().contains("4095") && error.to_string().contains("4096"));
    for bytes in [0, 1, (64 << 10) - 1] {
        let error = Pool::builder().threads(1).stack_size(bytes).build().unwrap_err();
        assert!(matches!(error, BuildError::StackTooSmall(size) if size == bytes), "{error:?}");
        assert!(error.to_string().contains(&format!("at least 65536 bytes, but {bytes} were")), "{error}");
    }
    assert_eq!(Pool::builder().threads(2).stack_size(64 << 10).build().unwrap().call(|| sum_to(4)), 10);
    for bytes in [usize::MAX, usize::MAX / 2 + 1, usize::MAX >> 18] {
        let error = Pool::builder().threads(1).fiber_stack_size(bytes).build().unwrap_err();
        assert!(matches!(error, BuildError::FiberStackTooLarge(size) if size == bytes), "{error:?}");
        assert!(error.to_string().starts_with("the stack of a fiber has at most"), "{error}");
        let error = Pool::builder().threads(1).fiber_guard_size(bytes).build().unwrap_err();
        assert!(matches!(error, BuildError::FiberGuardTooLarge(size) if size == bytes), "{error:?}");
        assert!(error.to_string().starts_with("the guard of a fiber has at most"), "{error}");
    }
    let error = Pool::builder().threads(2).stack_size(usize::MAX / 2).build().unwrap_err();
    assert!(matches!(error, BuildError::Spawn(_)), "{error:?}");
    assert!(error.source().is_some());
    assert!(error.to_string().contains("refused"));
}

#[test]
fn nested_install_is_a_plain_call() {
    in_pools(|pool| {
        let here = thread::current().id();
        assert_eq!(pool.install(|| pool.install(|| thread::current().id())), here);
        let inside = pool.broadcast(|_| {
            let id = thread::current().id();
            (pool.install(|| thread::current().id()) == id, pool.install(|| sum_to(100)))
        });
        assert!(inside.iter().all(|&(same, sum)| same && sum == 5050));
    });
}

#[test]
fn pools_nest_in_each_other_and_in_themselves() {
    watchdog(LONG, || {
        let (a, b) = (pool(2), pool(3));
        let all = a.install(|| {
            let one = (current_num_threads(), sum_to(100));
            let inner = b.install(|| {
                let two = (current_num_threads(), sum_to(100));
                let three = a.install(|| (current_num_threads(), sum_to(100)));
                (two, three, (current_num_threads(), sum_to(100)))
            });
            (one, inner, (current_num_threads(), sum_to(100)))
        });
        assert_eq!(all, ((2, 5050), ((3, 5050), (2, 5050), (3, 5050)), (2, 5050)));
    });
}

#[test]
fn work_of_one_pool_may_enter_another_at_every_leaf() {
    watchdog(LONG, || {
        let (a, b) = (pool(2), pool(2));
        fn grow(depth: u32, here: &Pool, there: &Pool) -> u64 {
            if depth == 0 {
                return 1;
            }
            here.install(|| {
                let (x, y) = join(|| grow(depth - 1, there, here), || grow(depth - 1, there, here));
                x + y
            })
        }
        for _ in 0..20 {
            assert_eq!(grow(9, &a, &b), 512);
        }
    });
}

#[test]
fn forks_of_thread_run_while_it_is_in_another_pool() {
    fn fork(depth: usize, ran: &AtomicUsize, away: &Pool) {
        if depth == 0 {
            // This thread forks no more in its first pool, so all its forks there must be open to thieves.
            return away.install(|| {
                while ran.load(Ordering::Acquire) < 5 {
                    thread::yield_now();
                }
            });
        }
        join(|| fork(depth - 1, ran, away), || ran.fetch_add(1, Ordering::AcqRel));
    }
    watchdog(LONG, || {
        let (home, away) = (pool(2), pool(2));
        for _ in 0..50 {
            home.install(|| fork(5, &AtomicUsize::new(0), &away));
        }
    });
}

#[test]
fn two_hundred_threads_at_once_join_in_one_pool() {
    in_pools(|pool| {
        let sum = AtomicUsize::new(0);
        thread::scope(|threads| {
            for i in 0..200 {
                let sum = &sum;
                threads.spawn(move || {
                    let part = pool.install(|| (0..5).map(|_| sum_to(i)).sum::<u64>());
                    sum.fetch_add(part as usize, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(sum.into_inner() as u64, (0..200).map(|i| 5 * i * (i + 1) / 2).sum::<u64>());
        assert_eq!(pool.broadcast(|i| i).len(), pool.num_threads());
    });
    watchdog(LONG, || {
        thread::scope(|threads| {
            for i in 0..200 {
                threads.spawn(move || assert_eq!(sum_to(i), i * (i + 1) / 2));
            }
        });
    });
}

#[test]
fn more_guests_than_threads_all_work() {
    in_pools(|pool| {
        // No thread leaves before all have arrived.
        let inside = Barrier::new(12);
        thread::scope(|threads| {
            for _ in 0..12 {
                threads.spawn(|| {
                    pool.install(|| {
                        inside.wait();
                        assert_eq!(sum_to(1000), 500_500);
                    });
                });
            }
        });
    });
}

#[test]
fn pool_may_be_dropped_right_after_work() {
    watchdog(LONG, || {
        for i in 0..100 {
            assert_eq!(pool(4).install(|| sum_to(i)), i * (i + 1) / 2);
        }
    });
}

#[test]
fn three_hundred_pools_can_be_built_and_dropped() {
    watchdog(LONG, || {
        for threads in 0..300 {
            drop(pool(1 + threads % 4));
        }
    });
}

#[test]
fn pool_may_be_dropped_by_thread_of_another_pool() {
    watchdog(LONG, || {
        let keeper = pool(2);
        for _ in 0..50 {
            let doomed = pool(3);
            keeper.install(|| join(|| sum_to(50), move || doomed.install(|| sum_to(50))));
        }
        // A pool that an exit handler holds is dropped by the thread that runs it.
        let inner = Arc::new(pool(2));
        let handler = Arc::clone(&inner);
        let outer = Pool::builder().threads(1).on_exit(move |_| _ = handler.num_threads()).build().unwrap();
        drop(inner);
        drop(outer);
    });
}

/// The drop would wait for the task, and the task for the drop.
#[test]
fn work_that_task_of_pool_waits_for_may_drop_that_pool() {
    type Work = Box<dyn FnOnce() + Send>;
    let ways: [fn(&Pool, Work); 7] = [
        |other, work| other.call(work),
        |other, work| other.call(|| join(|| thread::sleep(Duration::from_millis(1)), work).1),
        |other, work| other.in_place_scope(|s| s.spawn(|| scope(|s| s.spawn(work)))),
        |other, work| pool(1).call(|| other.call(work)),
        |other, work| {
            let work = Mutex::new(Some(work));
            other.broadcast(|_| work.lock().unwrap().take().map(|work| work()));
        },
        |other, work| anabranch::run(|cx| other.spawn(|_| work()).join(cx).unwrap()),
        |other, work| {
            // The other thread of that pool takes the second half.
            pool(2).install(|| other.install(|| join(|| thread::sleep(Duration::from_millis(1)), work).1));
        },
    ];
    watchdog(LONG, || {
        for way in ways {
            for threads in [1, 2] {
                for is_blocking_call in [false, true] {
                    let (doomed, other) = (Arc::new(pool(threads)), pool(1));
                    let (sender, receiver) = mpsc::channel();
                    let last = Arc::clone(&doomed);
                    let work = move || {
                        while Arc::strong_count(&last) > 1 {
                            thread::yield_now();
                        }
                        way(&other, Box::new(move || drop(last)));
                        sender.send(()).unwrap();
                    };
                    if is_blocking_call {
                        drop(doomed.spawn(|cx| cx.blocking(work)));
                    } else {
                        doomed.execute(work);
                    }
                    while is_blocking_call && doomed.stats().blocking_calls == 0 {
                        thread::yield_now();
                    }
                    drop(doomed);
                    receiver.recv().unwrap();
                }
            }
        }
    });
}

#[test]
fn pool_outlives_thread_that_built_it() {
    watchdog(LONG, || {
        let pool = thread::spawn(|| {
            let pool = pool(2);
            pool.install(|| sum_to(10));
            pool
        });
        let pool = pool.join().unwrap();
        assert_eq!(pool.install(|| sum_to(100)), 5050);
    });
}

#[test]
fn pools_and_errors_are_send_and_sync() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Pool>();
    is_send_and_sync::<BuildError>();
    fn is_error<T: std::error::Error + 'static>() {}
    is_error::<BuildError>();
}

#[test]
fn thread_is_outside_pool_after_panic_in_install() {
    in_pools(|pool| {
        let outside = anabranch::pool::current_num_threads();
        assert_eq!(panic_text(|| pool.install(|| panic!("root"))), "root");
        assert_eq!(anabranch::pool::current_num_threads(), outside);
        assert_eq!(pool.install(anabranch::pool::current_num_threads), pool.num_threads());
    });
}

#[test]
fn panic_propagates_between_pools() {
    let (one, two) = (pool(2), pool(2));
    watchdog(LONG, || {
        let text = panic_text(|| {
            one.install(|| join_stolen(|| (), || two.install(|| join_stolen(|| (), || panic!("far away")))));
        });
        assert_eq!(text, "far away");
        assert_eq!(one.install(|| sum_to(100)) + two.install(|| sum_to(100)), 10_100);
    });
}
