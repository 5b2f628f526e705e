//! How much the whole process allocates: a fork that is not stolen allocates nothing, and nothing leaks. The count is
//! that of all threads, so the tests run one at a time.

#[path = "common/allocator.rs"]
mod allocator;
mod common;

use allocator::{allocations, bytes_of_all};
use anabranch::{join, prelude::*, scope};
use common::{LONG, pool, sum_to, watchdog};
use std::sync::{Mutex, PoisonError};

/// The live bytes are those of the whole process: one test at a time.
static TURN: Mutex<()> = Mutex::new(());

fn alone(test: impl FnOnce()) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    watchdog(LONG, test);
}

/// A thread whose stolen half is late, because the system delays the thief, may add a spare, which allocates.
const ATTEMPTS: usize = 20;

#[test]
fn join_allocates_nothing() {
    alone(|| {
        for threads in [1, 2] {
            pool(threads).install(|| {
                sum_to(1000);
                let allocates_nothing = || {
                    let before = allocations();
                    assert_eq!(sum_to(100_000), 5_000_050_000);
                    allocations() == before
                };
                assert!((0..ATTEMPTS).any(|_| allocates_nothing()), "in a pool of {threads}");
            });
        }
    });
}

#[test]
fn loop_allocates_nothing() {
    alone(|| {
        pool(2).install(|| {
            let allocates_nothing = || {
                let before = allocations();
                let sum = (0..1_000_000u64).into_par_iter().fold(|| 0, |sum, i| sum + i).reduce(|| 0, |a, b| a + b);
                assert_eq!(sum, 499_999_500_000);
                allocations() == before
            };
            assert!((0..ATTEMPTS).any(|_| allocates_nothing()));
        });
    });
}

/// Uses every construct once. All allocations must be freed afterwards.
fn round(i: u64) {
    assert_eq!(sum_to(20), 210);
    scope(|s| {
        for _ in 0..3 {
            let text = format!("{i:100}");
            s.spawn(move || assert_eq!(text.len(), 100));
        }
    });
    let caught = std::panic::catch_unwind(|| match i % 3 {
        0 => _ = join(|| std::panic::panic_any(vec![i; 50]), || vec![1; 50]),
        1 => _ = join(|| vec![1; 50], || std::panic::panic_any(vec![i; 50])),
        _ => scope(|s| (0..2).for_each(|_| s.spawn(|| std::panic::panic_any(vec![i; 50])))),
    });
    assert_eq!(*caught.unwrap_err().downcast::<Vec<u64>>().unwrap(), [i; 50]);
}

#[test]
fn ten_thousand_rounds_leak_nothing() {
    // The messages of these panics are of no use.
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref::<Vec<u64>>().is_none() {
            eprintln!("{info}");
        }
    }));
    alone(|| {
        for threads in [1, 2] {
            let pool = pool(threads);
            let rounds = |n| (0..n).for_each(|i| pool.install(|| round(i)));
            rounds(200);
            let (before, spares) = (bytes_of_all(), pool.stats().spare_threads);
            rounds(10_000);
            // The slot of a spare is kept until the pool ends. The number of spares depends on timing.
            let seats = 150_000 * (pool.stats().spare_threads - spares) as i64;
            let grown = bytes_of_all() - before - seats;
            // The harness allocates a little, and queues grow; one leaked payload a round would be four million bytes.
            assert!(grown < 100_000, "{grown} bytes more than before, in a pool of {threads}");
        }
    });
}

#[test]
fn dropped_pool_frees_its_memory() {
    alone(|| {
        let make = || (0..50).for_each(|i| assert_eq!(pool(2).install(|| sum_to(i)), i * (i + 1) / 2));
        make();
        let before = bytes_of_all();
        make();
        // A pool allocates 100 kB for each slot.
        let grown = bytes_of_all() - before;
        assert!(grown < 4_000_000, "{grown} bytes more than before");
    });
}
