//! Broadcasts, handlers and payloads in unlucky company: each of these once went wrong.

use crate::common::{self, LONG, join_stolen, pool, wait_until, watchdog};
use anabranch::{BuildError, Pool, join, par_for_each, scope};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

fn wait_without_forking(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        thread::yield_now();
    }
}

/// Operations that wait do not count as running: the word of `pool::sleep` must not run below zero meanwhile.
#[test]
fn a_guest_comes_in_while_operations_of_a_broadcast_wait() {
    watchdog(LONG, || {
        let pool = pool(3);
        let over = AtomicBool::new(false);
        thread::scope(|threads| {
            threads.spawn(|| {
                for _ in 0..20 {
                    pool.broadcast(|_| pool.broadcast(|_| thread::sleep(Duration::from_millis(2))));
                }
                over.store(true, Ordering::Release);
            });
            while !over.load(Ordering::Acquire) {
                pool.install(|| join(|| (), || ()));
                thread::sleep(Duration::from_micros(200));
            }
        });
    });
}

/// A sleeper that runs an operation is called as lookout, and the wait inside the operation takes the token.
#[test]
fn a_call_that_comes_during_an_operation_is_not_lost() {
    watchdog(LONG, || {
        let pool = pool(4);
        for (waits, holds) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))).filter(|(i, j)| i != j) {
            thread::sleep(Duration::from_millis(25));
            let (release, held, over) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
            thread::scope(|threads| {
                threads.spawn(|| {
                    pool.broadcast(|i| {
                        if i == waits {
                            pool.broadcast(|j| {
                                if j == holds {
                                    held.store(true, Ordering::Release);
                                    wait_without_forking(&release);
                                }
                            });
                        }
                    })
                });
                wait_without_forking(&held);
                thread::sleep(Duration::from_millis(2));
                threads.spawn(|| {
                    thread::sleep(Duration::from_millis(8));
                    release.store(true, Ordering::Release);
                    thread::sleep(Duration::from_millis(3));
                    over.store(true, Ordering::Release);
                });
                let ends = || over.load(Ordering::Acquire);
                pool.install(|| join(|| wait_until(ends), || wait_without_forking(&over)));
            });
            thread::sleep(Duration::from_millis(25));
            pool.install(|| join_stolen(|| (), || ()));
        }
    });
}

/// The owner is unwinding and waits for its stolen half, which wants an answer from the owner.
#[test]
fn a_stolen_job_broadcasts_while_its_owner_panics() {
    watchdog(LONG, || {
        let pool = pool(2);
        let begun = AtomicBool::new(false);
        pool.install(|| {
            scope(|s| {
                s.spawn(|| {
                    begun.store(true, Ordering::Release);
                    let text = common::panic_text(|| {
                        join_stolen(
                            || panic!("owner"),
                            || {
                                thread::sleep(Duration::from_millis(20));
                                pool.broadcast(|i| i)
                            },
                        );
                    });
                    assert_eq!(text, "owner");
                });
                wait_until(|| begun.load(Ordering::Acquire));
            });
        });
    });
}

/// Worker 1 waits for a job on worker 0, where an operation is stacked upon it that wants an answer from worker 1.
#[test]
fn a_nested_broadcast_meets_one_from_a_stolen_job() {
    watchdog(LONG, || {
        let pool = pool(2);
        let (go, begun) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|threads| {
            threads.spawn(|| {
                wait_without_forking(&go);
                pool.broadcast(|_| pool.broadcast(|_| ()));
            });
            pool.install(|| {
                scope(|s| {
                    s.spawn(|| {
                        begun.store(true, Ordering::Release);
                        join_stolen(
                            || (),
                            || {
                                go.store(true, Ordering::Release);
                                thread::sleep(Duration::from_millis(100));
                                pool.broadcast(|i| i)
                            },
                        );
                    });
                    wait_until(|| begun.load(Ordering::Acquire));
                    thread::sleep(Duration::from_millis(300));
                });
            });
        });
    });
}

struct Spiteful;

impl Drop for Spiteful {
    fn drop(&mut self) {
        panic!("spite");
    }
}

#[test]
fn a_start_handler_panics_with_a_payload_whose_drop_panics() {
    watchdog(LONG, || {
        let error = Pool::builder().threads(2).on_start(|_| panic_any(Spiteful)).build().unwrap_err();
        assert!(matches!(error, BuildError::StartHandlerPanicked));
    });
}

#[test]
fn an_exit_handler_panics_with_a_payload_whose_drop_panics() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    struct Looks;
    impl Drop for Looks {
        fn drop(&mut self) {
            SEEN.store(anabranch::current_num_threads(), Ordering::Release);
        }
    }
    thread_local!(static LOOKS: Looks = const { Looks });
    watchdog(LONG, || {
        let exit = |_| {
            LOOKS.with(|_| ());
            panic_any(Spiteful);
        };
        let default = anabranch::current_num_threads();
        drop(Pool::builder().threads(default + 1).on_exit(exit).build().unwrap());
        assert_eq!(SEEN.load(Ordering::Acquire), default, "a thread that is about to end is in no pool any more");
    });
}

/// What the drop of a payload throws is a payload too.
#[test]
fn the_panic_of_a_payload_s_drop_is_dropped_as_well() {
    struct Carrier(Option<common::Counted>);
    impl Drop for Carrier {
        fn drop(&mut self) {
            panic_any(self.0.take());
        }
    }
    watchdog(LONG, || {
        let tally = common::Tally::default();
        let carrier = Carrier(Some(tally.make()));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                s.spawn(move || panic_any(carrier));
                panic!("body");
            });
        }));
        assert!(outcome.is_err());
        tally.assert_all_dropped();
    });
}

/// The names of spares are asked for in the middle of waits. A panic there once unwound a join whose other half was
/// running.
#[test]
fn names_that_are_not_to_be_had_do_not_cost_a_spare() {
    const OWN: usize = 2;
    fn name(i: usize) -> String {
        match i % 3 {
            _ if i < OWN => format!("own-{i}"),
            0 => panic_any(i),
            1 => "no\0name".to_owned(),
            _ => format!("spare-{i}"),
        }
    }
    watchdog(LONG, || {
        let (names, panics) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (named, thrown) = (Arc::clone(&names), Arc::clone(&panics));
        let pool = Pool::builder()
            .threads(OWN)
            .thread_name(name)
            .on_start(move |i| named.lock().unwrap().push((i, thread::current().name().unwrap().to_owned())))
            .on_panic(move |panic| thrown.lock().unwrap().push(*panic.downcast::<usize>().unwrap()))
            .build()
            .unwrap();
        let meeting = Barrier::new(12);
        pool.install(|| par_for_each(0..12, |_| _ = meeting.wait()));
        let least = OWN + pool.stats().spare_threads;
        drop(pool);
        let all = names.lock().unwrap().len().max(least);
        let is_named = |i| i < OWN || i % 3 == 2;
        let expected = (0..all).map(|i| (i, if is_named(i) { name(i) } else { format!("anabranch-{i}") }));
        let (mut names, mut panics) = (names.lock().unwrap(), panics.lock().unwrap());
        names.sort_unstable();
        panics.sort_unstable();
        assert!(all > 6, "{all} threads for twelve who meet");
        assert!(names.iter().cloned().eq(expected), "{names:?}");
        assert!(panics.iter().copied().eq((OWN..all).filter(|i| i % 3 == 0)), "{panics:?}");
    });
}
