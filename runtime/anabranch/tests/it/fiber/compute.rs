//! Fork-join inside fibers, fibers inside fork-join, and both at once in one pool: neither starves the other.

use crate::common::{
    LONG, Tally,
    fibers::{Event, FOREVER, in_all_pools, on_fiber, until, with_every_cx},
    panic_text, pool, sum_to, watchdog,
};
use anabranch::{Cx, Pool, WaitError, prelude::*};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// Uses every compute construct.
fn compute() {
    assert_eq!(sum_to(300), 45_150);
    let sum = AtomicU64::new(0);
    (0..200u64).into_par_iter().for_each(|i| _ = sum.fetch_add(i, Ordering::Relaxed));
    anabranch::scope(|s| {
        for i in 0..20 {
            let sum = &sum;
            s.spawn(move || _ = sum.fetch_add(i, Ordering::Relaxed));
        }
    });
    assert_eq!(sum.into_inner(), 19_900 + 190);
    assert_eq!((0..100u64).into_par_iter().map(|i| i).collect::<Vec<_>>().len(), 100);
}

#[test]
fn fibers_compute_while_others_wait() {
    in_all_pools(|pool| {
        let gate = Event::default();
        let waits: Vec<_> = (0..50)
            .map(|_| {
                let gate = gate.clone();
                pool.spawn(move |cx| gate.wait(cx))
            })
            .collect();
        let computes: Vec<_> = (0..10)
            .map(|_| {
                pool.spawn(|cx| {
                    for _ in 0..5 {
                        compute();
                        cx.yield_now();
                    }
                })
            })
            .collect();
        pool.run(|cx| computes.into_iter().for_each(|handle| handle.join(cx).unwrap()));
        gate.set();
        pool.run(|cx| waits.into_iter().for_each(|handle| handle.join(cx).unwrap().unwrap()));
    });
}

#[test]
fn std_lock_may_be_held_across_compute_join() {
    // No unrelated work runs on top of it.
    in_all_pools(|pool| {
        let total = Arc::new(Mutex::new(0));
        let handles: Vec<_> = (0..20)
            .map(|_| {
                let total = Arc::clone(&total);
                pool.spawn(move |cx| {
                    for _ in 0..10 {
                        let mut total = total.lock().unwrap();
                        *total += sum_to(20);
                        drop(total);
                        cx.yield_now();
                    }
                })
            })
            .collect();
        pool.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).unwrap()));
        assert_eq!(*total.lock().unwrap(), 20 * 10 * 210);
    });
}

#[test]
fn branches_in_fiber_may_block_on_each_other() {
    in_all_pools(|pool| {
        on_fiber(pool, |cx| {
            cx.yield_now();
            let (send, receive) = std::sync::mpsc::channel();
            let (_, got) = anabranch::join(
                || {
                    let (back, answer) = std::sync::mpsc::channel();
                    send.send(back).unwrap();
                    assert_eq!(answer.recv(), Ok(7));
                },
                move || receive.recv().unwrap().send(7).is_ok(),
            );
            assert!(got);
        });
    });
}

#[test]
fn compute_panics_propagate_in_fibers() {
    in_all_pools(|pool| {
        let tally = Tally::default();
        for i in 0..20 {
            let value = tally.make();
            let text = panic_text(|| {
                on_fiber(pool, move |cx| {
                    let _value = value;
                    cx.yield_now();
                    let (bad, good) = (|| panic!("branch"), || _ = sum_to(20));
                    if i % 2 == 0 {
                        anabranch::join(bad, good)
                    } else {
                        anabranch::join(good, bad)
                    };
                });
            });
            assert_eq!(text, "branch");
        }
        tally.assert_all_dropped();
    });
}

#[test]
fn fibers_nest_in_joins_in_fibers() {
    in_all_pools(|pool| {
        let sum = on_fiber(pool, |cx| {
            cx.yield_now();
            let inside = |n: u64| {
                move || {
                    anabranch::run(|cx| {
                        let (a, b) = cx.join(
                            |cx| {
                                cx.sleep(Duration::from_micros(100)).unwrap();
                                n
                            },
                            |cx| {
                                let from_scope = cx.scope(|s| s.spawn(|_| sum_to(10)).join(s).unwrap());
                                let from_spawn = anabranch::spawn(|cx| {
                                    cx.yield_now();
                                    1
                                });
                                from_scope + from_spawn.join(cx).unwrap()
                            },
                        );
                        a + b
                    })
                }
            };
            let ((a, b), (c, d)) = anabranch::join(
                || anabranch::join(inside(100), inside(200)),
                || anabranch::join(inside(300), inside(400)),
            );
            a + b + c + d
        });
        assert_eq!(sum, 1000 + 4 * 56);
    });
}

#[test]
fn loops_and_tasks_may_spawn_fibers() {
    in_all_pools(|pool| {
        let sum = AtomicU64::new(0);
        pool.install(|| {
            (0..40u64).into_par_iter().for_each(|i| {
                let half = anabranch::run(|cx| cx.join(|cx| cx.sleep(Duration::from_micros(20)).map(|()| i), |_| i));
                sum.fetch_add(half.0.unwrap() + half.1, Ordering::Relaxed);
            });
            anabranch::scope(|s| {
                for i in 0..10 {
                    let sum = &sum;
                    s.spawn(move || {
                        let handle = anabranch::spawn(move |_| i);
                        sum.fetch_add(anabranch::run(|cx| handle.join(cx)).unwrap(), Ordering::Relaxed);
                    });
                }
            });
        });
        assert_eq!(sum.into_inner(), 1560 + 45);
    });
}

#[test]
fn compute_scope_may_be_open_while_fiber_waits() {
    in_all_pools(|pool| {
        let count = on_fiber(pool, |cx| {
            let count = AtomicU64::new(0);
            anabranch::scope(|s| {
                for _ in 0..10 {
                    s.spawn(|| _ = count.fetch_add(1, Ordering::Relaxed));
                    cx.sleep(Duration::from_micros(20)).unwrap();
                    s.spawn(|| {
                        compute();
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                    cx.yield_now();
                }
            });
            count.into_inner()
        });
        assert_eq!(count, 20);
    });
}

#[test]
fn broadcast_completes_while_fibers_run_and_wait() {
    in_all_pools(|pool| {
        let is_over = Arc::new(AtomicBool::new(false));
        for i in 0..10 {
            let is_over = Arc::clone(&is_over);
            pool.spawn(move |cx| {
                while !is_over.load(Ordering::Relaxed) {
                    if i % 2 == 0 { cx.yield_now() } else { cx.sleep(Duration::from_micros(50)).unwrap() }
                }
            });
        }
        for _ in 0..20 {
            let indices = pool.broadcast(|index| {
                compute();
                // The thread waits for the fiber, and is parked meanwhile.
                anabranch::run(|cx| cx.sleep(Duration::from_micros(10))).unwrap();
                index
            });
            assert_eq!(indices, (0..pool.num_threads()).collect::<Vec<_>>());
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn fiber_may_broadcast() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = Arc::new(pool(threads));
            let handle = pool.spawn({
                let pool = Arc::clone(&pool);
                move |cx| {
                    cx.yield_now();
                    let sum: usize = pool.broadcast(|index| index).into_iter().sum();
                    drop(pool);
                    sum
                }
            });
            assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), threads * (threads - 1) / 2);
            until(|| Arc::strong_count(&pool) == 1);
        }
    });
}

#[test]
fn more_guests_than_threads_make_progress() {
    in_all_pools(|pool| {
        thread::scope(|s| {
            for i in 0..2 * pool.num_threads() + 2 {
                s.spawn(move || {
                    for _ in 0..5 {
                        pool.run(|cx| {
                            cx.join(|cx| cx.sleep(Duration::from_micros(50)).unwrap(), |_| compute());
                            cx.scope(|s| {
                                s.spawn(|cx| cx.sleep(Duration::from_micros(50)));
                                s.spawn(|_| compute());
                            });
                        });
                        if i % 2 == 0 {
                            pool.install(compute);
                        }
                    }
                });
            }
        });
    });
}

#[test]
fn roots_and_fibers_do_not_starve_each_other() {
    in_all_pools(|pool| {
        let is_over = Arc::new(AtomicBool::new(false));
        let spins = |cx: &Cx<'_>, is_over: &AtomicBool| {
            while !is_over.load(Ordering::Relaxed) {
                cx.yield_now();
            }
        };
        for _ in 0..3 * pool.num_threads() {
            let is_over = Arc::clone(&is_over);
            pool.spawn(move |cx| spins(cx, &is_over));
        }
        for _ in 0..10 {
            pool.install(compute);
            assert_eq!(on_fiber(pool, |_| 5), 5);
        }
        is_over.store(true, Ordering::Relaxed);

        // And the other way round: guests compute without end, fibers still get their turn.
        let is_over = AtomicBool::new(false);
        thread::scope(|s| {
            for _ in 0..pool.num_threads() {
                s.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        pool.install(compute);
                    }
                });
            }
            for _ in 0..10 {
                on_fiber(pool, |cx| cx.sleep(Duration::from_micros(50)).unwrap());
            }
            is_over.store(true, Ordering::Relaxed);
        });
    });
}

#[test]
fn fibers_of_one_pool_work_in_another() {
    let other = Arc::new(pool(2));
    in_all_pools(|pool| {
        let handles: Vec<_> = (0..10)
            .map(|_| {
                let other = Arc::clone(&other);
                pool.spawn(move |cx| {
                    other.install(compute);
                    // Its own `Cx` inside another pool: the thread waits, and its fibers with it.
                    other.install(|| cx.sleep(Duration::from_micros(20))).unwrap();
                    other.install(|| {
                        cx.scope(|s| {
                            s.spawn(|_| assert_eq!(anabranch::pool::current_num_threads(), 2));
                            s.yield_now();
                        });
                    });
                    other.run(|cx| cx.join(|cx| cx.yield_now(), |cx| cx.yield_now()));
                    cx.yield_now();
                })
            })
            .collect();
        pool.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).unwrap()));
    });
}

#[test]
fn timeout_and_cancellation_reach_fiber_inside_another_pool() {
    in_all_pools(|pool| {
        let other = Pool::builder().threads(2).build().unwrap();
        let timed_out = Arc::new(AtomicBool::new(false));
        let handle = pool.spawn({
            let timed_out = Arc::clone(&timed_out);
            move |cx| {
                let late = other.install(|| cx.timeout(Duration::from_millis(1), |cx| Ok(cx.sleep(FOREVER)?)));
                assert_eq!(late, Err(WaitError::TimedOut));
                timed_out.store(true, Ordering::Relaxed);
                other.install(|| cx.sleep(FOREVER))
            }
        });
        until(|| timed_out.load(Ordering::Relaxed));
        until(|| pool.fibers().iter().any(|fiber| fiber.waits_for() == Some("sleep")));
        handle.cancel();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(anabranch::Cancelled));
    });
}

#[test]
fn thread_locals_belong_to_thread_across_waits() {
    thread_local! {
        static DEPTH: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    }
    with_every_cx(|cx| {
        let (thread, address) = (thread::current().id(), DEPTH.with(|depth| std::ptr::from_ref(depth).addr()));
        for _ in 0..10 {
            cx.yield_now();
            cx.sleep(Duration::from_micros(5)).unwrap();
            assert_eq!(thread::current().id(), thread, "a fiber stays on its thread");
            assert_eq!(DEPTH.with(|depth| std::ptr::from_ref(depth).addr()), address);
        }
    });
}

#[test]
fn fibers_start_while_guests_hold_all_slots() {
    in_all_pools(|pool| {
        let begun = AtomicU64::new(0);
        let is_over = AtomicBool::new(false);
        thread::scope(|s| {
            for _ in 0..pool.num_threads() {
                s.spawn(|| {
                    pool.install(|| {
                        begun.fetch_add(1, Ordering::Relaxed);
                        while !is_over.load(Ordering::Relaxed) {
                            compute();
                        }
                    });
                });
            }
            until(|| begun.load(Ordering::Relaxed) == pool.num_threads() as u64);
            let handles: Vec<_> = (0..100).map(|_| pool.spawn(|cx| cx.sleep(Duration::from_micros(50)))).collect();
            until(|| handles.iter().all(anabranch::JoinHandle::is_finished));
            is_over.store(true, Ordering::Relaxed);
        });
    });
}
