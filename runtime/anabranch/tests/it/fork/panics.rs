//! Panics in joins and scopes propagate once, unchanged, after all closures have ended, and leak nothing.

use crate::common::{
    self, LONG, Tally, at_rest, everywhere, in_pools, join_stolen, panic_text, sum_to, watchdog, where_work_is_stolen,
};
use anabranch::{join, scope};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

#[test]
fn panic_of_first_closure_skips_second() {
    in_pools(|pool| {
        let tally = Tally::default();
        let counted = tally.make();
        let ran = AtomicBool::new(false);
        // A new thread searches for work before it checks for a free slot.
        at_rest(pool);
        let text = panic_text(|| {
            pool.install(|| {
                join(
                    // Without a message: while that is written the thread may be blocked, and another one takes its
                    // place.
                    || std::panic::resume_unwind(Box::new("first")),
                    || {
                        ran.store(true, Ordering::Relaxed);
                        drop(counted);
                    },
                )
            });
        });
        assert_eq!(text, "first");
        tally.assert_all_dropped();
        if pool.num_threads() == 1 {
            assert!(!ran.into_inner(), "no other thread works in a pool of one");
        }
        assert_eq!(pool.install(|| sum_to(200)), 20_100);
    });
}

#[test]
fn panic_of_second_closure_drops_first_result() {
    everywhere(|| {
        let tally = Tally::default();
        let text = panic_text(|| _ = join(|| tally.make(), || panic!("second")));
        assert_eq!(text, "second");
        tally.assert_all_dropped();
        assert_eq!(sum_to(200), 20_100);
    });
}

#[test]
fn panic_of_stolen_closure_propagates() {
    where_work_is_stolen(|| {
        let tally = Tally::default();
        let captured = tally.make();
        let text = panic_text(|| {
            join_stolen(
                || tally.make(),
                move || {
                    let _captured = captured;
                    panic!("stolen");
                },
            );
        });
        assert_eq!(text, "stolen");
        tally.assert_all_dropped();
    });
}

#[test]
fn panic_waits_for_stolen_closure_and_drops_its_result() {
    where_work_is_stolen(|| {
        let tally = Tally::default();
        let ended = AtomicBool::new(false);
        let text = panic_text(|| {
            join_stolen(
                || panic!("first"),
                || {
                    thread::sleep(std::time::Duration::from_millis(2));
                    let result = (tally.make(), sum_to(100));
                    ended.store(true, Ordering::Release);
                    result
                },
            );
        });
        assert_eq!(text, "first");
        assert!(ended.into_inner(), "the join ended before its branch");
        tally.assert_all_dropped();
    });
}

#[test]
fn panic_of_first_closure_takes_precedence() {
    where_work_is_stolen(|| {
        let tally = Tally::default();
        let (a, b) = (tally.make(), tally.make());
        let payload = catch_unwind(AssertUnwindSafe(|| {
            join_stolen(|| panic_any((1, a)), || panic_any((2, b)));
        }))
        .unwrap_err();
        assert_eq!(payload.downcast_ref::<(i32, common::Counted)>().unwrap().0, 1);
        assert_eq!(tally.dropped(), 1, "the second payload is dropped, the first one lives");
        drop(payload);
        tally.assert_all_dropped();
    });
}

#[test]
fn payload_arrives_once_and_unchanged() {
    struct Payload(Box<u64>, common::Counted);
    everywhere(|| {
        let tally = Tally::default();
        let address = AtomicUsize::new(0);
        let body = || {
            let number = Box::new(42);
            address.store((&raw const *number).addr(), Ordering::Relaxed);
            panic_any(Payload(number, tally.make()));
        };
        let payload = catch_unwind(AssertUnwindSafe(|| join(|| join(|| (), body), || ()))).unwrap_err();
        let payload = payload.downcast::<Payload>().unwrap();
        assert_eq!(*payload.0, 42);
        assert_eq!((&raw const *payload.0).addr(), address.into_inner(), "the payload is the very same");
        assert_eq!(tally.dropped(), 0);
        drop(payload.1);
        tally.assert_all_dropped();
    });
}

/// A payload whose drop panics once.
struct Spiteful {
    _counted: common::Counted,
}

impl Drop for Spiteful {
    fn drop(&mut self) {
        panic!("spite");
    }
}

#[test]
fn surplus_payload_may_panic_when_dropped() {
    where_work_is_stolen(|| {
        let tally = Tally::default();
        let (one, two) = (tally.make(), tally.make());
        let text = panic_text(|| {
            join_stolen(|| panic!("first"), || panic_any(Spiteful { _counted: one }));
        });
        assert_eq!(text, "first");
        let text = panic_text(|| {
            scope(|s| {
                s.spawn(|| panic_any(Spiteful { _counted: two }));
                panic!("body");
            });
        });
        assert_eq!(text, "body");
        tally.assert_all_dropped();
    });
}

#[test]
fn panic_deep_in_recursion_unwinds_all_levels() {
    fn grow(depth: u32, bad: u32, tally: &Tally) {
        let _counted = tally.make();
        if depth == 0 {
            assert_ne!(bad, 0, "leaf");
            return;
        }
        join(|| grow(depth - 1, bad.wrapping_sub(1 << (depth - 1)), tally), || grow(depth - 1, bad, tally));
    }
    everywhere(|| {
        for bad in [0, 1, 200, 255] {
            let tally = Tally::default();
            assert!(panic_text(|| grow(8, bad, &tally)).contains("leaf"));
            tally.assert_all_dropped();
        }
        assert_eq!(sum_to(200), 20_100);
    });
}

#[test]
fn panic_of_scope_body_waits_for_tasks() {
    everywhere(|| {
        let ended = AtomicUsize::new(0);
        let text = panic_text(|| {
            scope(|s| {
                for _ in 0..20 {
                    s.spawn(|| _ = ended.fetch_add(1, Ordering::Relaxed));
                }
                panic!("body");
            });
        });
        assert_eq!(text, "body");
        assert_eq!(ended.into_inner(), 20);
    });
}

#[test]
fn one_of_many_task_panics_propagates() {
    everywhere(|| {
        let (payloads, results) = (Tally::default(), Tally::default());
        let payload = catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                for _ in 0..20 {
                    s.spawn(|| panic_any(payloads.make()));
                }
                results.make()
            })
        }))
        .err()
        .unwrap();
        results.assert_all_dropped();
        assert_eq!((payloads.made(), payloads.dropped()), (20, 19));
        drop(payload);
        payloads.assert_all_dropped();
    });
}

#[test]
fn panic_of_body_takes_precedence_over_tasks() {
    everywhere(|| {
        let text = panic_text(|| {
            scope(|s| {
                s.spawn(|| panic!("task"));
                panic!("body");
            });
        });
        assert_eq!(text, "body");
    });
}

#[test]
fn panic_of_nested_task_propagates_after_all_tasks() {
    everywhere(|| {
        let ended = AtomicUsize::new(0);
        let text = panic_text(|| {
            scope(|s| {
                s.spawn(|| {
                    s.spawn(|| {
                        s.spawn(|| _ = ended.fetch_add(1, Ordering::Relaxed));
                        join(|| (), || panic!("inner"));
                    });
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            });
        });
        assert_eq!(text, "inner");
        assert_eq!(ended.into_inner(), 2);
    });
}

#[test]
fn join_in_unwinding_drop_waits_for_stolen_work() {
    struct Forks;
    impl Drop for Forks {
        fn drop(&mut self) {
            assert!(thread::panicking());
            let (a, b) = join_stolen(|| sum_to(50), || sum_to(100));
            assert_eq!((a, b), (1275, 5050));
        }
    }
    where_work_is_stolen(|| {
        let text = panic_text(|| {
            let _forks = Forks;
            panic!("outer");
        });
        assert_eq!(text, "outer");
    });
}

#[test]
fn unwinding_thread_runs_no_tasks_while_it_waits() {
    fn grow(depth: u32, on_top: &AtomicBool) {
        if thread::panicking() {
            on_top.store(true, Ordering::Relaxed);
        }
        if depth > 0 {
            join(|| grow(depth - 1, on_top), || grow(depth - 1, on_top));
        }
    }
    where_work_is_stolen(|| {
        let on_top = AtomicBool::new(false);
        let payload = catch_unwind(AssertUnwindSafe(|| {
            // Without the message of a panic, which takes so long that the other branch would be over before the wait.
            join_stolen(|| std::panic::resume_unwind(Box::new(7)), || grow(13, &on_top));
        }));
        assert_eq!(*payload.unwrap_err().downcast::<i32>().unwrap(), 7);
        assert!(!on_top.into_inner(), "work was run on top of a panic");
    });
}

/// The drop of a payload may panic with a payload of its own.
#[test]
fn payload_thrown_by_drop_of_payload_is_dropped() {
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
