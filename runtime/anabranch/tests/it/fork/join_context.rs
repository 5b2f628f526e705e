//! `join_context`: each closure knows whether it has moved to another thread.

use crate::common::{LONG, everywhere, in_pools, panic_text, pool, wait_until, watchdog};
use anabranch::join_context;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

#[test]
fn closures_that_stay_have_not_migrated() {
    watchdog(LONG, || {
        pool(1).call(|| {
            for _ in 0..1000 {
                assert_eq!(join_context(|a| a.migrated(), |b| b.migrated()), (false, false));
            }
        });
    });
}

#[test]
fn stolen_closure_has_migrated() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..100 {
            let begun = AtomicBool::new(false);
            let (a, b) = pool.install(|| {
                join_context(
                    |a| {
                        wait_until(|| begun.load(Ordering::Acquire));
                        a.migrated()
                    },
                    |b| {
                        begun.store(true, Ordering::Release);
                        b.migrated()
                    },
                )
            });
            assert_eq!((a, b), (false, true));
        }
    });
}

/// The answer agrees with the thread, whichever runs the closure.
#[test]
fn answer_agrees_with_thread() {
    fn check(depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let here = thread::current().id();
        let side = |migrated: bool| {
            assert_eq!(thread::current().id() != here, migrated);
            check(depth - 1)
        };
        let (a, b) = join_context(|a| side(a.migrated()), |b| side(b.migrated()));
        a + b
    }
    everywhere(|| assert_eq!(check(12), 4096));
}

#[test]
fn panics_propagate_as_in_join() {
    in_pools(|pool| {
        pool.install(|| {
            assert_eq!(panic_text(|| _ = join_context(|_| panic!("first"), |_| ())), "first");
            assert_eq!(panic_text(|| _ = join_context(|_| (), |_| panic!("second"))), "second");
            assert_eq!(panic_text(|| _ = join_context(|_| panic!("first"), |_| panic!("second"))), "first");
        });
    });
}
