//! `Pool::call` and `Pool::in_place_scope`: work on a pool's own threads, from outside and from other pools.

use crate::common::{LONG, in_pools, join_stolen, one_thread, panic_text, pool, sum_to, watchdog};
use anabranch::{
    Pool, join,
    pool::{current_num_threads, in_pool},
    scope,
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

fn own_threads(pool: &Pool) -> Vec<thread::ThreadId> {
    pool.broadcast(|_| thread::current().id())
}

#[test]
fn root_runs_on_own_thread() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = Pool::builder().threads(threads).max_spare_threads(0).build().unwrap();
            let own = own_threads(&pool);
            for _ in 0..20 {
                let (id, number) = pool.call(|| (thread::current().id(), current_num_threads()));
                assert!(own.contains(&id) && number == threads);
            }
            assert!(!in_pool(), "the caller stays outside");
        }
    });
}

#[test]
fn call_from_inside_is_a_plain_call() {
    in_pools(|pool| {
        let same = || pool.call(|| thread::current().id()) == thread::current().id();
        assert!(pool.call(same), "own thread");
        assert!(pool.install(same), "guest");
    });
}

#[test]
fn caller_may_borrow_and_receives_result() {
    in_pools(|pool| {
        let (mut words, text) = (Vec::new(), String::from("root"));
        let length = pool.call(|| {
            words.push(text.as_str());
            text.len() as u64 + sum_to(100)
        });
        assert_eq!((length, words), (5054, vec!["root"]));
    });
}

#[test]
fn call_wakes_sleeping_pool() {
    in_pools(|pool| {
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(30));
            assert_eq!(pool.call(|| sum_to(10)), 55);
        }
    });
}

#[test]
fn panic_of_root_reaches_caller() {
    in_pools(|there| {
        let here = pool(1);
        assert_eq!(panic_text(|| there.call(|| panic!("root"))), "root");
        assert_eq!(panic_text(|| here.install(|| there.call(|| panic!("root")))), "root");
        assert_eq!(panic_text(|| here.call(|| there.call(|| here.call(|| panic!("deep"))))), "deep");
        assert_eq!(there.call(|| sum_to(100)) + here.call(|| sum_to(100)), 10_100);
    });
}

/// Each pool has a single thread, which is never replaced and waits for the other one.
#[test]
fn pools_of_one_thread_call_each_other() {
    fn pass(depth: u32, here: &Pool, there: &Pool) -> u32 {
        if depth == 0 { 0 } else { 1 + there.call(|| pass(depth - 1, there, here)) }
    }
    watchdog(LONG, || {
        let (one, two) = (one_thread().build().unwrap(), one_thread().build().unwrap());
        assert_eq!(one.call(|| pass(6, &one, &two)), 6);
    });
}

#[test]
fn pools_call_each_other_from_stolen_work() {
    watchdog(LONG, || {
        let (one, two) = (pool(2), pool(2));
        for _ in 0..10 {
            let sum = one.call(|| {
                let (a, b) = join_stolen(
                    || two.call(|| join(|| one.call(|| sum_to(50)), || sum_to(50))),
                    || two.call(|| join_stolen(|| sum_to(50), || one.call(|| sum_to(50)))),
                );
                a.0 + a.1 + b.0 + b.1
            });
            assert_eq!(sum, 4 * 1275);
        }
    });
}

/// While the caller waits, its pool runs with full strength.
#[test]
fn waiting_caller_lends_its_slot() {
    watchdog(LONG, || {
        let (here, there) = (pool(1), pool(1));
        for _ in 0..20 {
            let (sender, receiver) = mpsc::channel();
            here.call(|| {
                here.execute(move || sender.send(()).unwrap());
                there.call(move || receiver.recv().unwrap());
            });
        }
    });
}

/// The lock is held across the call, and other work of the caller's pool needs it.
#[test]
fn waiting_caller_runs_no_unrelated_work() {
    watchdog(LONG, || {
        let (here, there) = (pool(2), pool(1));
        let lock = Arc::new(Mutex::new(0));
        for _ in 0..20 {
            here.call(|| {
                let held = lock.lock().unwrap();
                for _ in 0..4 {
                    let lock = Arc::clone(&lock);
                    here.execute(move || *lock.lock().unwrap() += 1);
                }
                there.call(|| here.call(|| thread::sleep(Duration::from_millis(1))));
                drop(held);
            });
        }
        drop(here);
        assert_eq!(*lock.lock().unwrap(), 80);
    });
}

#[test]
fn call_from_fiber_returns() {
    in_pools(|there| {
        let here = pool(2);
        here.run(|cx| {
            cx.scope(|s| {
                let fibers: Vec<_> = (0..20).map(|i| s.spawn(move |_| there.call(|| sum_to(i)))).collect();
                for (i, fiber) in fibers.into_iter().enumerate() {
                    assert_eq!(fiber.join(s).unwrap(), (0..=i as u64).sum::<u64>());
                }
            });
        });
    });
}

#[test]
fn call_from_inside_broadcast_returns() {
    in_pools(|there| {
        let here = pool(3);
        let sums = here.broadcast(|index| there.call(|| there.broadcast(|i| i).len() + here.call(|| index)));
        assert_eq!(sums, (0..3).map(|i| there.num_threads() + i).collect::<Vec<_>>());
    });
}

#[test]
fn two_hundred_threads_call_at_once() {
    in_pools(|pool| {
        let sum = AtomicUsize::new(0);
        thread::scope(|threads| {
            for i in 0..200 {
                let sum = &sum;
                threads.spawn(move || sum.fetch_add(pool.call(|| sum_to(i)) as usize, Ordering::Relaxed));
            }
        });
        assert_eq!(sum.into_inner() as u64, (0..200).map(|i| i * (i + 1) / 2).sum::<u64>());
    });
}

/// The parker of a caller outside of pools is gone as soon as it has returned.
#[test]
fn short_lived_threads_may_call() {
    in_pools(|pool| {
        for i in 0..200 {
            thread::scope(|s| s.spawn(|| assert_eq!(pool.call(|| i), i)).join().unwrap());
        }
    });
}

/// The caller's own pool ends as soon as the call has returned.
#[test]
fn pool_of_caller_may_end_right_after_call() {
    in_pools(|there| {
        for i in 0..100 {
            let here = pool(1);
            assert_eq!(here.install(|| there.call(|| i)), i);
            drop(here);
        }
    });
}

#[test]
fn body_of_in_place_scope_stays_outside() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = Pool::builder().threads(threads).max_spare_threads(0).build().unwrap();
            let own = own_threads(&pool);
            let ids = Mutex::new(Vec::new());
            // Not `Send`.
            let cell = std::rc::Rc::new(std::cell::Cell::new(0));
            let here = pool.in_place_scope(|s| {
                for _ in 0..20 {
                    s.spawn(|| {
                        ids.lock().unwrap().push(thread::current().id());
                        s.spawn(|| ids.lock().unwrap().push(thread::current().id()));
                    });
                }
                assert!(!in_pool());
                cell.set(cell.get() + 1);
                thread::current().id()
            });
            assert_eq!((here, cell.get()), (thread::current().id(), 1));
            let ids = ids.into_inner().unwrap();
            assert!(ids.len() == 40 && ids.iter().all(|id| own.contains(id)));
        }
    });
}

#[test]
fn in_place_scope_inside_of_pool_is_a_scope() {
    in_pools(|pool| {
        let mut sum = 0;
        pool.install(|| {
            pool.in_place_scope(|s| {
                s.spawn(|| sum = sum_to(100));
                assert!(in_pool());
            });
        });
        assert_eq!(sum, 5050);
    });
}

#[test]
fn in_place_scope_from_other_pool_spawns_there() {
    in_pools(|there| {
        let here = pool(3);
        let numbers = Mutex::new(Vec::new());
        let body = here.install(|| {
            there.in_place_scope(|s| {
                s.spawn(|| numbers.lock().unwrap().push(current_num_threads()));
                // A fork of the body belongs to the caller's pool.
                join_stolen(current_num_threads, || {
                    s.spawn(|| numbers.lock().unwrap().push(current_num_threads()));
                    current_num_threads()
                })
            })
        });
        assert_eq!(body, (3, 3));
        assert_eq!(numbers.into_inner().unwrap(), [there.num_threads(); 2]);
    });
}

#[test]
fn panics_of_in_place_scope_arrive_after_all_tasks() {
    in_pools(|pool| {
        let ended = AtomicUsize::new(0);
        let text = panic_text(|| {
            pool.in_place_scope(|s| {
                for i in 0..10 {
                    let ended = &ended;
                    s.spawn(move || {
                        ended.fetch_add(1, Ordering::Relaxed);
                        assert_ne!(i, 5, "task");
                    });
                }
                panic!("body");
            });
        });
        assert_eq!((text.as_str(), ended.into_inner()), ("body", 10));
        let text = panic_text(|| pool.in_place_scope(|s| s.spawn(|| panic!("task"))));
        assert_eq!(text, "task");
    });
}

#[test]
fn scopes_and_calls_nest_across_pools() {
    watchdog(LONG, || {
        let (one, two) = (one_thread().build().unwrap(), pool(2));
        let sum = AtomicUsize::new(0);
        let add = |n: u64| _ = sum.fetch_add(n as usize, Ordering::Relaxed);
        for _ in 0..10 {
            one.call(|| {
                two.in_place_scope(|s| {
                    s.spawn(|| one.in_place_scope(|t| t.spawn(|| add(sum_to(10)))));
                    scope(|t| t.spawn(|| s.spawn(|| add(one.call(|| sum_to(10))))));
                });
            });
        }
        assert_eq!(sum.into_inner(), 10 * 110);
    });
}

/// The only thread of one pool waits for a broadcast in the other pool, whose parts broadcast back.
#[test]
fn pools_broadcast_to_each_other() {
    watchdog(LONG, || {
        for (one, two) in [(1, 1), (3, 7)] {
            let (one, two) = (pool(one), pool(two));
            for _ in 0..5 {
                let count = AtomicUsize::new(0);
                one.call(|| two.broadcast(|_| one.broadcast(|_| count.fetch_add(1, Ordering::Relaxed))));
                assert_eq!(count.into_inner(), one.num_threads() * two.num_threads());
            }
        }
    });
}
