//! `join`: results, ownership, nesting, and unusual callers.

use crate::common::{self, LONG, Tally, everywhere, in_pools, join_stolen, pool, sum_to, watchdog};
use anabranch::{Pool, join, prelude::*};
use std::{
    cell::Cell,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

#[test]
fn results_are_returned_in_order() {
    everywhere(|| {
        assert_eq!(join(|| 1, || "two"), (1, "two"));
        assert_eq!(sum_to(10_000), 50_005_000);
    });
}

#[test]
fn closures_may_borrow_mutably() {
    everywhere(|| {
        let mut left = vec![1, 2, 3];
        let mut right = String::from("a");
        let shared = [10, 20];
        let (a, b) = join(
            || {
                left.push(shared[0]);
                &left[..]
            },
            || {
                right.push('b');
                shared.len()
            },
        );
        assert_eq!((a, b), (&[1, 2, 3, 10][..], 2));
        assert_eq!(right, "ab");
    });
}

#[test]
fn quicksort_by_joins_sorts_slice() {
    fn sort(xs: &mut [u32]) {
        if xs.len() < 2 {
            return;
        }
        let (mut store, last) = (0, xs.len() - 1);
        xs.swap(last / 2, last);
        for i in 0..last {
            if xs[i] < xs[last] {
                xs.swap(i, store);
                store += 1;
            }
        }
        xs.swap(store, last);
        let (left, right) = xs.split_at_mut(store);
        join(|| sort(left), || sort(&mut right[1..]));
    }
    everywhere(|| {
        let mut xs: Vec<u32> = (0..20_000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let mut expected = xs.clone();
        expected.sort_unstable();
        sort(&mut xs);
        assert_eq!(xs, expected);
    });
}

#[test]
fn first_closure_runs_on_calling_thread() {
    everywhere(|| {
        let here = thread::current().id();
        for _ in 0..100 {
            join(|| assert_eq!(thread::current().id(), here), || ());
        }
    });
}

/// Runs the check on a thread and in pools whose stacks hold many frames of unoptimized code.
fn with_deep_stacks(check: impl Fn() + Send + Sync) {
    const STACK: usize = 512 << 20;
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = Pool::builder().threads(threads).stack_size(STACK).build().unwrap();
            thread::scope(|s| {
                thread::Builder::new().stack_size(STACK).spawn_scoped(s, || pool.install(&check)).unwrap();
            });
        }
    });
}

fn left_deep(depth: u64) -> u64 {
    if depth == 0 {
        return 0;
    }
    let (a, b) = join(|| left_deep(depth - 1), || 1);
    a + b
}

fn right_deep(depth: u64) -> u64 {
    if depth == 0 {
        return 0;
    }
    let (a, b) = join(|| 1, || right_deep(depth - 1));
    a + b
}

#[test]
fn ten_thousand_levels_nest_on_either_side() {
    with_deep_stacks(|| {
        assert_eq!(left_deep(10_000), 10_000);
        assert_eq!(right_deep(10_000), 10_000);
    });
}

#[test]
fn forks_beyond_fork_stack_are_plain_calls() {
    with_deep_stacks(|| {
        assert_eq!(left_deep(20_000), 20_000);
        assert_eq!(sum_to(1000), 500_500, "the pool works on after its fork stack was full");
    });
}

#[test]
fn panic_beyond_fork_stack_unwinds_all_levels() {
    fn dive(depth: u64, tally: &Tally) {
        if depth == 0 {
            panic!("bottom");
        }
        let counted = tally.make();
        join(|| dive(depth - 1, tally), move || drop(counted));
    }
    with_deep_stacks(|| {
        let tally = Tally::default();
        assert_eq!(common::panic_text(|| dive(17_000, &tally)), "bottom");
        assert_eq!(tally.made(), 17_000);
        tally.assert_all_dropped();
        assert_eq!(sum_to(1000), 500_500);
    });
}

#[test]
fn join_works_inside_drop() {
    struct Joins<'a>(&'a AtomicU64);
    impl Drop for Joins<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(sum_to(100), Ordering::Relaxed);
        }
    }
    everywhere(|| {
        let total = AtomicU64::new(0);
        join(|| drop(Joins(&total)), || Joins(&total));
        let _ = std::panic::catch_unwind(|| {
            let _held = Joins(&total);
            panic!("unwinds through the drop");
        });
        assert_eq!(total.into_inner(), 3 * 5050);
    });
}

#[test]
fn join_works_inside_thread_local_initialiser() {
    thread_local! {
        static SUM: Cell<u64> = Cell::new(sum_to(1000));
    }
    everywhere(|| {
        let (a, b) = join(|| SUM.get(), || SUM.get());
        assert_eq!((a, b), (500_500, 500_500));
    });
    watchdog(LONG, || thread::spawn(|| assert_eq!(SUM.get(), 500_500)).join().unwrap());
}

#[test]
fn join_works_inside_contended_lazy_lock() {
    in_pools(|pool| {
        for _ in 0..50 {
            let lazy = LazyLock::new(|| sum_to(300));
            pool.install(|| {
                (0..64u32).into_par_iter().for_each(|_| assert_eq!(*lazy, 45_150));
            });
        }
    });
}

#[test]
fn large_closures_and_results_arrive_intact() {
    fn twice(depth: u32, big: [u8; 1024]) -> ([u8; 1024], u64) {
        if depth == 0 {
            return (big, big.iter().map(|&x| u64::from(x)).sum());
        }
        let (mut left, mut right) = (big, big);
        left[depth as usize] += 1;
        right[depth as usize] += 2;
        let (a, b) = join(move || twice(depth - 1, left), move || twice(depth - 1, right));
        (b.0, a.1 + b.1)
    }
    everywhere(|| {
        let (big, sum) = twice(7, [1; 1024]);
        assert_eq!(&big[..9], [1, 3, 3, 3, 3, 3, 3, 3, 1]);
        assert_eq!(sum, 128 * 1024 + 7 * 64 * 3);
    });
}

#[test]
fn zero_sized_closures_and_results_work() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    #[derive(Debug, PartialEq)]
    struct Nothing;
    fn call() -> Nothing {
        CALLS.fetch_add(1, Ordering::Relaxed);
        Nothing
    }
    everywhere(|| {
        let before = CALLS.load(Ordering::Relaxed);
        for _ in 0..1000 {
            assert_eq!(join(call, call), (Nothing, Nothing));
        }
        assert_eq!(CALLS.load(Ordering::Relaxed) - before, 2000);
    });
}

#[test]
fn over_aligned_closures_and_results_are_aligned() {
    #[repr(align(128))]
    #[derive(Clone, Copy)]
    struct Wide(u8);
    fn check(wide: &Wide) -> u8 {
        assert_eq!(std::ptr::from_ref(wide).addr() % 128, 0);
        wide.0
    }
    everywhere(|| {
        let (a, b) = (Wide(1), Wide(2));
        let (a, b) = join(move || (check(&a), a).1, move || (check(&b), b).1);
        assert_eq!(check(&a) + check(&b), 3);
    });
}

#[test]
fn owned_values_are_dropped_once() {
    fn spread(depth: u32, tally: &Tally) -> common::Counted {
        let (for_a, for_b) = (tally.make(), tally.make());
        if depth == 0 {
            return for_a;
        }
        let (a, _b) = join(
            move || {
                let _own = for_a;
                spread(depth - 1, tally)
            },
            move || (spread(depth - 1, tally), for_b),
        );
        a
    }
    everywhere(|| {
        let tally = Tally::default();
        drop(spread(10, &tally));
        tally.assert_all_dropped();
    });
}

#[test]
fn owned_values_of_stolen_closure_are_dropped_once() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..200 {
            let tally = Tally::default();
            let (captured, returned) = (tally.make(), tally.make());
            pool.install(|| {
                join_stolen(
                    || (),
                    move || {
                        drop(captured);
                        returned
                    },
                )
            });
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn both_closures_run_concurrently_on_two_threads() {
    in_pools(|pool| {
        if pool.num_threads() > 1 {
            for _ in 0..100 {
                let (a, b) = pool.install(|| join_stolen(|| thread::current().id(), || thread::current().id()));
                assert_ne!(a, b);
            }
        }
    });
}
