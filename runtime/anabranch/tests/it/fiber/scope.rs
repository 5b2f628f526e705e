//! Scopes of fibers: borrowing, panics, nesting and cancellation. When a scope returns, all its fibers have ended and
//! their results are dropped.

use crate::common::{
    LONG, Tally,
    fibers::{Event, FOREVER, in_all_pools, until, until_in, until_waiting, with_every_cx},
    panic_text, pool, watchdog,
};
use anabranch::{Cancelled, Cx, fiber::Spawner};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

#[test]
fn children_borrow_and_return() {
    with_every_cx(|cx| {
        let words = ["ana".to_owned(), "branch".to_owned(), "rivers".to_owned()];
        let mut lengths = [0; 3];
        let sum: usize = cx.scope(|s| {
            let handles: Vec<_> = words
                .iter()
                .zip(&mut lengths)
                .map(|(word, length)| {
                    s.spawn(move |cx| {
                        cx.yield_now();
                        *length = word.len();
                        word.as_str()
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join(s).unwrap().len()).sum()
        });
        assert_eq!((sum, lengths), (15, [3, 6, 6]));
    });
}

/// Says when it is dropped that what it borrows is still there.
struct Borrows<'a>(&'a AtomicBool, &'a AtomicU32);

impl Drop for Borrows<'_> {
    fn drop(&mut self) {
        assert!(self.0.load(Ordering::Relaxed), "what is borrowed has ended");
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn results_are_dropped_before_scope_ends() {
    with_every_cx(|cx| {
        let (is_there, dropped) = (AtomicBool::new(true), AtomicU32::new(0));
        let new = || Borrows(&is_there, &dropped);
        cx.scope(|s| {
            // The handle is dropped at once, before the end, and after it; the result is taken; another child has the
            // handle; the handle is leaked.
            s.spawn(|_| new());
            drop(s.spawn(|cx| {
                cx.yield_now();
                new()
            }));
            let ended = s.spawn(|_| new());
            while !ended.is_finished() {
                s.yield_now();
            }
            drop(ended);
            drop(s.spawn(|_| new()).join(s).unwrap());
            let given_away = s.spawn(|_| new());
            s.spawn(move |cx| {
                cx.sleep(Duration::from_micros(100)).unwrap();
                drop(given_away);
            });
            let in_a_result = s.spawn(|_| new());
            s.spawn(move |_| (in_a_result, new()));
        });
        is_there.store(false, Ordering::Relaxed);
        assert_eq!(dropped.into_inner(), 7);
    });
}

#[test]
fn panic_of_child_cancels_siblings_and_propagates_once() {
    in_all_pools(|pool| {
        let tally = Tally::default();
        let cancelled = AtomicU32::new(0);
        let text = panic_text(|| {
            pool.run(|cx| {
                cx.scope(|s| {
                    for _ in 0..10 {
                        let value = tally.make();
                        let cancelled = &cancelled;
                        s.spawn(move |cx| {
                            let _value = value;
                            if cx.sleep(FOREVER) == Err(Cancelled) {
                                cancelled.fetch_add(1, Ordering::Relaxed);
                            }
                        });
                    }
                    let panics = s.spawn(|cx| {
                        cx.sleep(Duration::from_micros(100)).unwrap();
                        panic!("child");
                    });
                    assert!(matches!(panics.join(s), Err(Cancelled)));
                    assert!(s.is_cancelled(), "who hears of the panic finds the scope cancelled");
                });
            });
        });
        assert_eq!((text.as_str(), cancelled.into_inner()), ("child", 10));
        tally.assert_all_dropped();
        until(|| pool.fibers().is_empty());
    });
}

#[test]
fn panic_of_body_takes_precedence() {
    with_every_cx(|cx| {
        let ended = AtomicU32::new(0);
        let text = panic_text(|| {
            cx.scope(|s| {
                for _ in 0..5 {
                    s.spawn(|cx| {
                        assert_eq!(cx.sleep(FOREVER), Err(Cancelled));
                        // Not at once: the scope waits for it.
                        let _ = cx.shield(|cx| cx.sleep(Duration::from_micros(200)));
                        ended.fetch_add(1, Ordering::Relaxed);
                        panic!("child");
                    });
                }
                panic!("body");
            })
        });
        assert_eq!((text.as_str(), ended.load(Ordering::Relaxed)), ("body", 5));
    });
}

#[test]
fn nested_scopes_pass_panics_up_and_cancellation_down() {
    with_every_cx(|cx| {
        let inner_cancelled = AtomicU32::new(0);
        let text = panic_text(|| {
            cx.scope(|outer| {
                outer.spawn(|cx| {
                    cx.scope(|inner| {
                        inner.spawn(|cx| {
                            cx.scope(|innermost| {
                                assert_eq!(innermost.sleep(FOREVER), Err(Cancelled));
                                inner_cancelled.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                        assert_eq!(inner.sleep(FOREVER), Err(Cancelled));
                        inner_cancelled.fetch_add(1, Ordering::Relaxed);
                    });
                });
                outer.spawn(|cx| {
                    cx.scope(|inner| {
                        inner.spawn(|cx| {
                            cx.sleep(Duration::from_micros(300)).unwrap();
                            panic!("deep");
                        });
                        inner.spawn(|cx| cx.sleep(FOREVER));
                    });
                });
            });
        });
        assert_eq!((text.as_str(), inner_cancelled.into_inner()), ("deep", 2));
    });
}

#[test]
fn children_spawn_by_a_spawner() {
    fn grow<'scope>(spawner: Spawner<'scope, '_>, count: &'scope AtomicU32, depth: u32) {
        count.fetch_add(1, Ordering::Relaxed);
        for _ in 0..2 * u32::from(depth > 0) {
            spawner.spawn(move |cx| {
                cx.yield_now();
                grow(spawner, count, depth - 1);
            });
        }
    }
    with_every_cx(|cx| {
        let count = AtomicU32::new(0);
        cx.scope(|s| grow(s.spawner(), &count, 7));
        assert_eq!(count.into_inner(), 255);
    });
}

#[test]
fn spawner_works_on_threads_and_in_other_pools() {
    let other = pool(1);
    in_all_pools(|pool| {
        let count = AtomicU32::new(0);
        let task = |_: &Cx<'_>| {
            assert_eq!(anabranch::pool::current_num_threads(), pool.num_threads());
            count.fetch_add(1, Ordering::Relaxed);
        };
        let (task, other) = (&task, &other);
        pool.run(|cx| {
            cx.scope(|s| {
                let spawner = s.spawner();
                thread::scope(|threads| {
                    threads.spawn(move || drop(spawner.spawn(task)));
                    threads.spawn(move || other.install(|| drop(spawner.spawn(task))));
                });
                other.install(|| drop(s.spawn(task)));
            });
        });
        assert_eq!(count.into_inner(), 3);
    });
}

#[test]
fn end_of_scope_waits_despite_cancellation() {
    in_all_pools(|pool| {
        let gate = Event::default();
        let ended = Arc::new(AtomicBool::new(false));
        let parent = pool.spawn({
            let (gate, ended) = (gate.clone(), Arc::clone(&ended));
            move |cx| {
                cx.scope(|s| {
                    // Ignores its cancellation.
                    s.spawn(|cx| {
                        cx.shield(|cx| gate.wait(cx)).unwrap();
                        ended.store(true, Ordering::Relaxed);
                    });
                });
                assert!(ended.load(Ordering::Relaxed), "the scope has waited");
                cx.is_cancelled()
            }
        });
        until_waiting(pool, 2);
        parent.cancel();
        thread::sleep(Duration::from_millis(1));
        assert!(!parent.is_finished());
        gate.set();
        assert!(pool.run(|cx| parent.join(cx)).unwrap());
    });
}

#[test]
fn cancelled_scope_cancels_only_its_contents() {
    with_every_cx(|cx| {
        let gate = Event::default();
        let result = cx.scope(|s| {
            let handles: Vec<_> = (0..5).map(|_| s.spawn(|cx| (cx.sleep(FOREVER), cx.check()))).collect();
            let shielded = s.spawn(|cx| cx.shield(|cx| gate.wait(cx)));
            s.cancel();
            // Spawned when it is cancelled already: begins, and finds out.
            let late = s.spawn(|cx| cx.check());
            assert_eq!(s.sleep(FOREVER), Err(Cancelled));
            assert!(matches!(shielded.join(s), Err(Cancelled)), "the wait is in the scope");
            gate.set();
            for handle in handles {
                assert_eq!(handle.join(cx), Ok((Err(Cancelled), Err(Cancelled))));
            }
            while !late.is_finished() {
                s.yield_now();
            }
            late.join(cx)
        });
        assert_eq!(result, Ok(Err(Cancelled)));
        assert_eq!((cx.check(), cx.sleep(Duration::ZERO)), (Ok(()), Ok(())));
    });
}

#[test]
fn ended_child_can_be_joined_in_cancelled_scope() {
    with_every_cx(|cx| {
        cx.scope(|s| {
            let [one, other] = [1, 2].map(|n| s.spawn(move |_| n));
            let mut slow = s.spawn(|cx| cx.sleep(FOREVER));
            slow = slow.try_join().expect_err("it sleeps");
            until_in(cx, || one.is_finished() && other.is_finished());
            s.cancel();
            assert_eq!((s.check(), one.join(s)), (Err(Cancelled), Ok(1)));
            assert_eq!(other.try_join().unwrap(), Ok(2));
            until_in(cx, || slow.is_finished());
            assert_eq!(slow.join(s), Ok(Err(Cancelled)));
        });
    });
}

#[test]
fn scopes_in_cancelled_scope_end() {
    in_all_pools(|pool| {
        let handle = pool.spawn(|cx| {
            let _ = cx.sleep(FOREVER);
            let count = AtomicU32::new(0);
            cx.scope(|s| {
                for _ in 0..5 {
                    s.spawn(|cx| {
                        assert_eq!(cx.sleep(FOREVER), Err(Cancelled));
                        cx.join(
                            |cx| assert_eq!(cx.sleep(FOREVER), Err(Cancelled)),
                            |cx| assert_eq!(cx.sleep(FOREVER), Err(Cancelled)),
                        );
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            count.into_inner()
        });
        until_waiting(pool, 1);
        handle.cancel();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), 5);
    });
}

#[test]
fn panicking_drop_of_unclaimed_result_propagates() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("bomb");
        }
    }
    with_every_cx(|cx| {
        let text = panic_text(|| {
            cx.scope(|s| {
                s.spawn(|_| Bomb);
            })
        });
        assert_eq!(text, "bomb");
    });
}

#[test]
fn surplus_panics_reach_panic_handler() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let surplus = Arc::new(Mutex::new(Vec::new()));
            let pool = anabranch::Pool::builder()
                .threads(threads)
                .on_panic({
                    let surplus = Arc::clone(&surplus);
                    move |panic| surplus.lock().unwrap().push(*panic.downcast::<u32>().unwrap())
                })
                .build()
                .unwrap();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pool.run(|cx| {
                    cx.scope(|s| {
                        for i in 0..10u32 {
                            s.spawn(move |cx| {
                                cx.yield_now();
                                std::panic::panic_any(i);
                            });
                        }
                    });
                });
            }));
            let mut all = surplus.lock().unwrap().clone();
            all.push(*outcome.unwrap_err().downcast::<u32>().unwrap());
            all.sort_unstable();
            assert_eq!(all, (0..10).collect::<Vec<_>>());
        }
    });
}
