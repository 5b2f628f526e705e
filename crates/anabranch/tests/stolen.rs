//! What one thread takes from another, once each: a fork, a panic, nested forks, tasks, a broadcast. Small enough for Miri, which checks
//! that each pointer is used for what it was made for (CONTRIBUTING has the command).

mod common;

use anabranch::{join, scope};
use common::{LONG, pool, watchdog};
use std::{
    panic::catch_unwind,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

/// Lets others run until another thread has said so.
fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        join(|| (), || ());
        thread::yield_now();
    }
}

/// A join whose second closure is run by another thread.
fn stolen<R: Send>(b: impl FnOnce() -> R + Send) -> R {
    let begun = AtomicBool::new(false);
    join(
        || wait_for(&begun),
        || {
            begun.store(true, Ordering::Release);
            b()
        },
    )
    .1
}

#[test]
fn a_stolen_fork_reads_its_captures_and_brings_its_result() {
    watchdog(LONG, || {
        let (text, mut count) = (String::from("captured"), 0);
        let result = pool(2).install(|| {
            stolen(|| {
                count += 1;
                text.clone() + " by reference"
            })
        });
        assert_eq!((result.as_str(), count), ("captured by reference", 1));
    });
}

#[test]
fn a_stolen_fork_owns_what_was_moved_into_it() {
    watchdog(LONG, || {
        let moved = vec![Box::new(1), Box::new(2)];
        assert_eq!(pool(2).install(|| stolen(move || moved.into_iter().map(|item| *item).sum::<i32>())), 3);
    });
}

#[test]
fn the_panic_of_a_stolen_fork_arrives() {
    watchdog(LONG, || {
        let panic = catch_unwind(|| pool(2).install(|| stolen(|| panic!("stolen")))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"stolen"));
    });
}

#[test]
fn a_stolen_fork_is_ended_when_the_first_closure_panics() {
    watchdog(LONG, || {
        let (begun, has_run) = (AtomicBool::new(false), AtomicBool::new(false));
        let panic = catch_unwind(|| {
            pool(2).install(|| {
                join(
                    || {
                        wait_for(&begun);
                        panic!("first")
                    },
                    || {
                        begun.store(true, Ordering::Release);
                        has_run.store(true, Ordering::Release);
                        String::from("a result that nobody wants")
                    },
                )
            })
        });
        assert!(panic.is_err() && has_run.into_inner());
    });
}

/// The owner waits, and runs what the thief has forked meanwhile.
#[test]
fn forks_inside_of_a_stolen_one_are_taken_back() {
    watchdog(LONG, || {
        let result = pool(2).install(|| stolen(|| join(|| stolen(|| 1), || join(|| 2, || 3))));
        assert_eq!(result, (1, (2, 3)));
    });
}

#[test]
fn a_fork_that_was_published_is_taken_back() {
    watchdog(LONG, || {
        // Entering another pool publishes what is open in the first.
        let (one, other) = (pool(2), pool(2));
        let (a, b) = one.install(|| join(|| other.install(|| join(|| 1, || 2)), || vec![3]));
        assert_eq!((a, b), ((1, 2), vec![3]));
    });
}

#[test]
fn tasks_of_a_scope_are_taken() {
    watchdog(LONG, || {
        let mut numbers = [0; 3];
        pool(2).install(|| {
            let begun = AtomicBool::new(false);
            scope(|s| {
                let begun = &begun;
                for (i, number) in numbers.iter_mut().enumerate() {
                    s.spawn(move || {
                        *number = i + 1;
                        begun.store(true, Ordering::Release);
                    });
                }
                // By another thread.
                wait_for(begun);
            });
        });
        assert_eq!(numbers, [1, 2, 3]);
    });
}

#[test]
fn a_broadcast_beside_an_open_fork_is_answered() {
    watchdog(LONG, || {
        let pool = pool(2);
        assert_eq!(pool.install(|| join(|| pool.broadcast(|index| index + 1), || 2)), (vec![1, 2], 2));
    });
}
