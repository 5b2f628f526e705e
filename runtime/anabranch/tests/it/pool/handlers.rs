//! Start, exit and panic handlers, and thread names, that panic or are invalid.

use super::spares;
use crate::common::{self, LONG, Tally, at_rest, join_stolen, panic_text, sum_to, watchdog};
use anabranch::{Builder, Pool, pool::BuildError, prelude::*, scope};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

struct Spiteful;

impl Drop for Spiteful {
    fn drop(&mut self) {
        panic!("spite");
    }
}

#[test]
fn start_handler_payload_may_panic_when_dropped() {
    watchdog(LONG, || {
        let error = Pool::builder().threads(2).on_start(|_| panic_any(Spiteful)).build().unwrap_err();
        assert!(matches!(error, BuildError::StartHandlerPanicked));
    });
}

#[test]
fn exit_handler_payload_may_panic_when_dropped() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    struct RecordThreads;
    impl Drop for RecordThreads {
        fn drop(&mut self) {
            SEEN.store(anabranch::pool::current_num_threads(), Ordering::Release);
        }
    }
    thread_local!(static AT_THREAD_END: RecordThreads = const { RecordThreads });
    watchdog(LONG, || {
        let exit = |_| {
            AT_THREAD_END.with(|_| ());
            panic_any(Spiteful);
        };
        let default = anabranch::pool::current_num_threads();
        drop(Pool::builder().threads(default + 1).on_exit(exit).build().unwrap());
        assert_eq!(SEEN.load(Ordering::Acquire), default, "a thread that is about to end is in no pool any more");
    });
}

/// The pool requests the names of spares during waits. A panic there once unwound a join whose other half was
/// running.
#[test]
fn invalid_names_do_not_prevent_spares() {
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
        pool.install(|| (0..12).into_par_iter().for_each(|_| _ = meeting.wait()));
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

#[test]
fn panicking_start_handler_fails_build_and_ends_threads() {
    watchdog(LONG, || {
        for bad in 0..4 {
            static EXITS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
            let error = Pool::builder()
                .threads(4)
                .on_start(move |index| assert_ne!(index, bad, "no start"))
                .on_exit(|index| EXITS.lock().unwrap().push(index))
                .build()
                .unwrap_err();
            assert!(matches!(error, BuildError::StartHandlerPanicked));
            let mut exits = std::mem::take(&mut *EXITS.lock().unwrap());
            exits.sort_unstable();
            assert_eq!(exits, (0..4).filter(|&index| index != bad).collect::<Vec<_>>(), "those that had started end");
        }
    });
}

#[test]
fn panicking_exit_handler_does_not_prevent_shutdown() {
    watchdog(LONG, || {
        static EXITS: AtomicUsize = AtomicUsize::new(0);
        let pool = Pool::builder()
            .threads(3)
            .on_exit(|_| {
                EXITS.fetch_add(1, Ordering::Relaxed);
                panic!("no exit");
            })
            .build()
            .unwrap();
        assert_eq!(pool.install(|| sum_to(100)), 5050);
        drop(pool);
        assert_eq!(EXITS.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn panicking_start_handler_keeps_spare() {
    watchdog(LONG, || {
        let (pool, seen) = {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let sink = Arc::clone(&seen);
            let builder = Pool::builder()
                .threads(2)
                .on_start(|i| {
                    if i >= 2 {
                        panic_any(i)
                    }
                })
                .on_exit(|i| assert!(i < 2, "a thread that has not started properly has no exit"))
                .on_panic(move |panic| sink.lock().unwrap().push(*panic.downcast::<usize>().unwrap()));
            (builder.build().unwrap(), seen)
        };
        at_rest(&pool);
        pool.install(spares::meet);
        let least = pool.stats().spare_threads;
        drop(pool);
        let mut seen = seen.lock().unwrap();
        seen.sort_unstable();
        assert_eq!(*seen, (2..2 + seen.len().max(least)).collect::<Vec<_>>());
    });
}

/// A builder whose panic handler keeps the numbers that were thrown.
fn keeping(builder: Builder) -> (Builder, Arc<Mutex<Vec<u32>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let handler = move |panic: Box<dyn std::any::Any + Send>| sink.lock().unwrap().push(*panic.downcast().unwrap());
    (builder.on_panic(handler), seen)
}

fn thrown(body: impl FnOnce()) -> u32 {
    *catch_unwind(AssertUnwindSafe(body)).unwrap_err().downcast().unwrap()
}

#[test]
fn panic_handler_receives_surplus_panics() {
    watchdog(LONG, || {
        for threads in [2, 8] {
            let (builder, seen) = keeping(Pool::builder().threads(threads));
            let pool = builder.build().unwrap();
            let take = || {
                let mut numbers = std::mem::take(&mut *seen.lock().unwrap());
                numbers.sort_unstable();
                numbers
            };
            assert_eq!(thrown(|| _ = pool.install(|| join_stolen(|| panic_any(1u32), || panic_any(2u32)))), 1);
            assert_eq!(take(), [2], "the second panic of a join");
            assert_eq!(thrown(|| _ = pool.install(|| join_stolen(|| (), || panic_any(3u32)))), 3);
            assert_eq!(take(), [0u32; 0], "one that arrives is nobody else's business");
            let first = thrown(|| {
                pool.install(|| scope(|s| (0..5u32).for_each(|i| s.spawn(move || panic_any(i)))));
            });
            let rest: Vec<_> = (0..5).filter(|&i| i != first).collect();
            assert_eq!(take(), rest, "all but one of a scope");
            let body = thrown(|| {
                pool.install(|| {
                    scope(|s| {
                        (0..5u32).for_each(|i| s.spawn(move || panic_any(i)));
                        panic_any(9u32);
                    });
                });
            });
            assert_eq!((body, take()), (9, vec![0, 1, 2, 3, 4]), "all tasks where the body panics");
            let first = thrown(|| _ = pool.broadcast(|i| panic_any(i as u32)));
            let rest: Vec<_> = (0..threads as u32).filter(|&i| i != first).collect();
            assert_eq!(take(), rest, "all but one of a broadcast");
        }
    });
}

#[test]
fn panic_handler_receives_panics_of_handlers() {
    watchdog(LONG, || {
        let (builder, seen) = keeping(Pool::builder().threads(3).on_exit(|i| panic_any(i as u32)));
        drop(builder.build().unwrap());
        seen.lock().unwrap().sort_unstable();
        assert_eq!(*seen.lock().unwrap(), [0, 1, 2]);
        let (builder, seen) = keeping(Pool::builder().threads(1).on_start(|_| panic_any(7u32)));
        assert!(matches!(builder.build().unwrap_err(), BuildError::StartHandlerPanicked));
        assert_eq!(*seen.lock().unwrap(), [7]);
    });
}

/// A payload whose drop panics.
struct CountedSpite {
    _counted: common::Counted,
}

impl Drop for CountedSpite {
    fn drop(&mut self) {
        panic!("spite");
    }
}

#[test]
fn panicking_panic_handler_is_contained() {
    watchdog(LONG, || {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        static EXITS: AtomicUsize = AtomicUsize::new(0);
        let tally = Tally::default();
        let sink = tally.clone();
        let pool = Pool::builder()
            .threads(2)
            .on_panic(move |_| {
                CALLS.fetch_add(1, Ordering::Relaxed);
                panic_any(CountedSpite { _counted: sink.make() });
            })
            .on_exit(|_| {
                EXITS.fetch_add(1, Ordering::Relaxed);
                panic!("exit");
            })
            .build()
            .unwrap();
        for _ in 0..20 {
            // In the middle of an unwinding, in a task, and where the body panics too.
            let text = panic_text(|| _ = pool.install(|| join_stolen(|| panic!("first"), || panic!("second"))));
            assert_eq!(text, "first");
            let text = panic_text(|| {
                pool.install(|| {
                    scope(|s| {
                        (0..3).for_each(|_| s.spawn(|| panic!("task")));
                        panic!("body");
                    });
                });
            });
            assert_eq!(text, "body");
            assert_eq!(pool.install(|| sum_to(100)), 5050);
        }
        let least = 2 + pool.stats().spare_threads;
        drop(pool);
        let exits = EXITS.load(Ordering::Relaxed);
        assert!(exits >= least);
        assert_eq!(CALLS.load(Ordering::Relaxed), 20 * 4 + exits, "three and one a round, and the exits");
        tally.assert_all_dropped();
    });
}
