//! `spawn_broadcast`, detached and in a scope, and the free `broadcast`.

use crate::common::{LONG, Tally, in_pools, panic_text, pool, sum_to, watchdog};
use anabranch::{
    Pool, join,
    pool::{broadcast, current_num_threads, spawn_broadcast},
    scope,
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

fn sorted<T: Ord>(receiver: mpsc::Receiver<T>) -> Vec<T> {
    let mut all: Vec<_> = receiver.into_iter().collect();
    all.sort();
    all
}

#[test]
fn free_broadcast_runs_in_pool_of_caller() {
    in_pools(|pool| {
        let expected: Vec<_> = (0..pool.num_threads()).collect();
        assert_eq!(pool.install(|| broadcast(|index| index)), expected);
        assert_eq!(pool.call(|| broadcast(|index| index)), expected);
    });
    watchdog(LONG, || assert_eq!(broadcast(|index| index).len(), current_num_threads()));
}

#[test]
fn each_thread_runs_detached_part_once() {
    in_pools(|pool| {
        let own = pool.broadcast(|_| thread::current().id());
        for inside in [false, true] {
            let (sender, receiver) = mpsc::channel();
            let expected = own.clone();
            let op = move |index: usize| {
                assert_eq!(expected[index], thread::current().id());
                sender.send(index).unwrap();
            };
            if inside {
                pool.install(|| spawn_broadcast(op))
            } else {
                pool.spawn_broadcast(op)
            }
            assert_eq!(sorted(receiver), (0..pool.num_threads()).collect::<Vec<_>>());
        }
    });
}

#[test]
fn dropped_pool_has_run_all_parts() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let (tally, ran) = (Tally::default(), Arc::new(AtomicUsize::new(0)));
            let pool = pool(threads);
            for _ in 0..20 {
                let (ran, value) = (Arc::clone(&ran), tally.make());
                pool.spawn_broadcast(move |_| {
                    let _value = &value;
                    ran.fetch_add(1, Ordering::Relaxed);
                });
            }
            drop(pool);
            assert_eq!(ran.load(Ordering::Relaxed), 20 * threads);
            tally.assert_all_dropped();
        }
    });
}

/// The handler forks after the operation was dropped, on top of the part that has panicked.
#[test]
fn panics_of_detached_parts_go_to_panic_handler() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let sum = Arc::new(AtomicUsize::new(0));
            let sink = Arc::clone(&sum);
            let handler = move |panic: Box<dyn std::any::Any + Send>| {
                let (a, b) = join(|| sum_to(200), || sum_to(200));
                assert_eq!(a + b, 40_200);
                sink.fetch_add(*panic.downcast::<usize>().unwrap(), Ordering::Relaxed);
            };
            let pool = Pool::builder().threads(threads).on_panic(handler).build().unwrap();
            for _ in 0..10 {
                pool.spawn_broadcast(|index| std::panic::panic_any(index + 1));
            }
            drop(pool);
            assert_eq!(sum.load(Ordering::Relaxed), 10 * threads * (threads + 1) / 2);
        }
    });
}

#[test]
fn detached_broadcasts_nest_across_pools() {
    watchdog(LONG, || {
        let (one, two) = (Arc::new(pool(3)), Arc::new(pool(7)));
        let (sender, receiver) = mpsc::channel();
        {
            let (one, two) = (Arc::clone(&one), Arc::clone(&two));
            one.clone().spawn_broadcast(move |outer| {
                let (sender, one) = (sender.clone(), Arc::clone(&one));
                two.spawn_broadcast(move |inner| {
                    let sender = sender.clone();
                    one.execute(move || sender.send((outer, inner)).unwrap());
                });
            });
        }
        let expected: Vec<_> = (0..3).flat_map(|outer| (0..7).map(move |inner| (outer, inner))).collect();
        assert_eq!(sorted(receiver), expected);
    });
}

#[test]
fn scope_waits_for_all_parts() {
    in_pools(|pool| {
        let threads = pool.num_threads();
        for from_outside in [false, true] {
            let calls: Vec<_> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
            if from_outside {
                pool.in_place_scope(|s| {
                    (0..10).for_each(|_| s.spawn_broadcast(|index| _ = calls[index].fetch_add(1, Ordering::Relaxed)));
                });
            } else {
                pool.install(|| {
                    scope(|s| {
                        s.spawn_broadcast(|_| {
                            s.spawn(|| s.spawn_broadcast(|index| _ = calls[index].fetch_add(1, Ordering::Relaxed)));
                        });
                        (threads..10).for_each(|_| {
                            s.spawn_broadcast(|index| _ = calls[index].fetch_add(1, Ordering::Relaxed));
                        });
                    });
                });
            }
            assert!(calls.iter().all(|count| count.load(Ordering::Relaxed) == 10));
        }
    });
}

#[test]
fn panic_of_part_is_panic_of_scope() {
    in_pools(|pool| {
        let ended = AtomicUsize::new(0);
        let text = panic_text(|| {
            pool.install(|| {
                scope(|s| {
                    s.spawn_broadcast(|index| {
                        ended.fetch_add(1, Ordering::Relaxed);
                        assert_ne!(index, 0, "part");
                    });
                });
            });
        });
        assert!(text.contains("part"), "{text}");
        assert_eq!(ended.into_inner(), pool.num_threads());
    });
}

/// More parts wait on top of each other than a worker answers of unrelated broadcasts. Each waits for a scope whose
/// parts are on the same workers.
#[test]
fn broadcasts_of_scopes_nest_deeply() {
    fn nest(depth: u32, ran: &AtomicUsize) {
        ran.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            scope(|s| s.spawn_broadcast(move |_| nest(depth - 1, ran)));
        }
    }
    watchdog(LONG, || {
        for (threads, depth) in [(1, 40), (2, 9)] {
            let (pool, ran) = (pool(threads), AtomicUsize::new(0));
            pool.call(|| nest(depth, &ran));
            let parts = if threads == 1 { depth as usize + 1 } else { (1 << (depth + 1)) - 1 };
            assert_eq!(ran.into_inner(), parts);
        }
    });
}

#[test]
fn many_threads_spawn_broadcasts_at_once() {
    watchdog(LONG, || {
        let pool = pool(32);
        let ran = Mutex::new(vec![0; 32]);
        thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..5 {
                        pool.in_place_scope(|s| s.spawn_broadcast(|index| ran.lock().unwrap()[index] += 1));
                    }
                });
            }
        });
        assert_eq!(ran.into_inner().unwrap(), [40; 32]);
    });
}
