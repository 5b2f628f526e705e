//! Joins, scopes and loops, one after the other.

use crate::{
    attempt,
    common::Counted,
    explore::{Event::*, explore},
    trap::Trap,
    tree,
};
use anabranch::{join, prelude::*, scope};
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn joins_return_all_results() {
    let seen = explore(15_000, |seen| {
        let leaves = attempt(seen, 40, |pool, trap| pool.install(|| tree(trap, 4)));
        assert!(leaves.is_none_or(|leaves| leaves == 16));
    });
    seen.assert(&[Published, Raided, Reclaimed, Stolen, Helped, Woken, Spare, Refused, Lent, Panic]);
    seen.assert_panics_at(31);
}

/// More forks are open than a shelf has room for.
#[test]
fn joins_deeper_than_a_shelf_return() {
    fn dive(trap: &Trap, depth: u32) -> u32 {
        let _kept = trap.step();
        if depth == 0 {
            return 0;
        }
        let (a, _kept) = join(|| dive(trap, depth - 1), || trap.step());
        a + 1
    }
    let seen = explore(10_000, |seen| {
        let depth = attempt(seen, 40, |pool, trap| pool.install(|| dive(trap, 12)));
        assert!(depth.is_none_or(|depth| depth == 12));
    });
    seen.assert(&[Published, Raided, Reclaimed, Stolen, Panic]);
    seen.assert_panics_at(25);
}

/// Values whose drop may panic, in the closures that are forked.
#[test]
fn joins_drop_closures_whose_drop_panics() {
    struct Touchy<'a>(&'a Trap, #[allow(dead_code, reason = "its drop is counted")] Counted);
    impl Drop for Touchy<'_> {
        fn drop(&mut self) {
            if !anabranch::panicking() {
                drop(self.0.step());
            }
        }
    }
    // What is returned here has no drop: rustc leaks it if that of a local panics (rust-lang/rust#47949).
    fn tree(trap: &Trap, depth: u32) -> u64 {
        if depth == 0 {
            drop(trap.step());
            return 1;
        }
        let side = |touchy: Touchy| {
            let _kept = touchy;
            tree(trap, depth - 1)
        };
        let (one, two) = (Touchy(trap, trap.make()), Touchy(trap, trap.make()));
        let (a, b) = join(move || side(one), move || side(two));
        a + b
    }
    let seen = explore(10_000, |seen| {
        let leaves = attempt(seen, 25, |pool, trap| pool.install(|| tree(trap, 3)));
        assert!(leaves.is_none_or(|leaves| leaves == 8));
    });
    seen.assert(&[Reclaimed, Stolen, Helped, Panic]);
    seen.assert_panics_at(20);
}

/// Joins in a drop that unwinds wait too, and what they fork may be stolen.
#[test]
fn joins_in_an_unwinding_drop_return() {
    struct Forks;
    impl Drop for Forks {
        fn drop(&mut self) {
            assert_eq!(tree(&Trap::none(), 2), 4);
        }
    }
    let seen = explore(10_000, |seen| {
        attempt(seen, 5, |pool, trap| {
            pool.install(|| {
                let side = || {
                    let _forks = Forks;
                    tree(trap, 1)
                };
                assert_eq!(join(side, side), (2, 2));
            })
        });
    });
    seen.assert(&[Reclaimed, Stolen, Helped, Panic]);
    seen.assert_panics_at(5);
}

#[test]
fn scopes_run_all_tasks() {
    let seen = explore(15_000, |seen| {
        attempt(seen, 24, |pool, trap| {
            let ended = AtomicU64::new(0);
            let end = |_: Counted| _ = ended.fetch_add(1, Ordering::Relaxed);
            pool.install(|| {
                scope(|s| {
                    for _ in 0..3 {
                        s.spawn(|| {
                            let kept = trap.step();
                            s.spawn(|| {
                                s.spawn(|| end(trap.step()));
                                end(trap.step());
                            });
                            join(|| trap.step(), || trap.step());
                            end(kept);
                        });
                    }
                    trap.step()
                })
            });
            assert_eq!(ended.into_inner(), 9);
        });
    });
    seen.assert(&[Stolen, Helped, Spare, Lent, Panic]);
    seen.assert_panics_at(16);
}

#[test]
fn loops_visit_each_item_once() {
    let seen = explore(10_000, |seen| {
        attempt(seen, 32, |pool, trap| {
            pool.install(|| {
                let mut visits = [0; 8];
                visits.par_iter_mut().for_each(|visit| {
                    drop(trap.step());
                    *visit += 1;
                });
                assert_eq!(visits, [1; 8]);
                let mapped = (0..8usize).into_par_iter().map(|i| (i, trap.step())).collect::<Vec<_>>();
                assert!(mapped.iter().map(|(i, _)| *i).eq(0..8));
                let identity = || (Vec::new(), trap.step());
                let fold = |(mut all, kept): (Vec<usize>, Counted), i| {
                    drop(trap.step());
                    all.push(i);
                    (all, kept)
                };
                let combine = |(mut a, kept): (Vec<usize>, Counted), (b, _): (Vec<usize>, Counted)| {
                    drop(trap.step());
                    a.extend(b);
                    (a, kept)
                };
                assert!(
                    (0..8usize).into_par_iter().fold(identity, fold).reduce(identity, combine).0.into_iter().eq(0..8)
                );
            });
        });
    });
    seen.assert(&[Published, Reclaimed, Stolen, Helped, Panic]);
    seen.assert_panics_at(25);
}

/// Long enough to look at the clock.
#[test]
fn long_loops_visit_each_item_once() {
    let seen = explore(1_000, |seen| {
        let total = attempt(seen, 400, |pool, trap| {
            let fold = |total, i: u64| {
                if i.is_multiple_of(16) {
                    drop(trap.step());
                }
                total + i
            };
            pool.install(|| (0..5000u64).into_par_iter().fold(|| 0, fold).reduce(|| 0, |a, b| a + b))
        });
        assert!(total.is_none_or(|total| total == 12_497_500));
    });
    seen.assert(&[Published, Reclaimed, Stolen, Helped, Panic]);
}
