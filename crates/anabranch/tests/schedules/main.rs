//! Whole programs under thousands of random schedules (shuttle): no hang, no leak, no wrong result, no panic that gets lost
//! or comes twice, wherever one is thrown.
//!
//! Each execution makes its pools and drops them; all threads in it, the pool's included, take turns as the schedule says.
//! A hang is a deadlock, or an execution that never ends. Time passes at random, and random threads are taken for blocked.
//! shuttle has no weak memory: that is for the loom models.
//!
//! Nothing here may fork outside of every pool: the default pool is shared by all executions, which shuttle's threads
//! cannot be.
//!
//!     RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p anabranch --release --test schedules
#![cfg(shuttle)]

#[path = "../common/mod.rs"]
mod common;
mod explore;
mod trap;

use anabranch::{BuildError, Odds, Pool, join, par_for_each, par_map, par_reduce, scope, set_odds};
use common::{Counted, Tally};
use explore::{Event::*, Seen, any, dawdle, explore};
use shuttle::{
    sync::{Barrier, Mutex, mpsc},
    thread,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};
use trap::Trap;

/// One execution of a program in a pool of its own, one of whose first `most` steps panics. What the program returns, if
/// nothing has.
fn attempt<R>(seen: &Seen, most: usize, program: impl FnOnce(&Pool, &Arc<Trap>) -> R) -> Option<R> {
    let trap = Trap::within(most);
    let pool = trap.pool();
    let result = trap.catch(|| program(&pool, &trap));
    // All that was forked or spawned has ended by now.
    let result = trap.settle(seen, result);
    assert_eq!(pool.install(|| sum(0, 6)), 15);
    seen.note(&pool);
    result
}

fn sum(low: u64, high: u64) -> u64 {
    if high - low <= 1 {
        return low;
    }
    let (a, b) = join(|| sum(low, low.midpoint(high)), || sum(low.midpoint(high), high));
    a + b
}

/// Forks down to 2^`depth` leaves, with a step at each node, and gives back how many leaves there were.
fn tree(trap: &Trap, depth: u32) -> u64 {
    let _kept = trap.step();
    if depth == 0 {
        return 1;
    }
    let (a, b) = join(|| tree(trap, depth - 1), || tree(trap, depth - 1));
    a + b
}

#[test]
fn joins() {
    let seen = explore(3000, |seen| {
        let leaves = attempt(seen, 40, |pool, trap| pool.install(|| tree(trap, 4)));
        assert!(leaves.is_none_or(|leaves| leaves == 16));
    });
    seen.assert(&[Published, Raided, Reclaimed, Stolen, Helped, Woken, Spare, Refused, Lent, Panic]);
    seen.assert_panics_at(31);
}

/// More forks are open than a shelf has room for.
#[test]
fn deep_joins() {
    fn dive(trap: &Trap, depth: u32) -> u32 {
        let _kept = trap.step();
        if depth == 0 {
            return 0;
        }
        let (a, _kept) = join(|| dive(trap, depth - 1), || trap.step());
        a + 1
    }
    let seen = explore(2000, |seen| {
        let depth = attempt(seen, 40, |pool, trap| pool.install(|| dive(trap, 12)));
        assert!(depth.is_none_or(|depth| depth == 12));
    });
    seen.assert(&[Published, Raided, Reclaimed, Stolen, Panic]);
    seen.assert_panics_at(25);
}

/// Values whose drop may panic, in the closures that are forked.
#[test]
fn joins_of_what_panics_when_it_is_dropped() {
    struct Touchy<'a>(&'a Trap, #[allow(dead_code, reason = "its drop is counted")] Counted);
    impl Drop for Touchy<'_> {
        fn drop(&mut self) {
            if !std::thread::panicking() {
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
    let seen = explore(2000, |seen| {
        let leaves = attempt(seen, 25, |pool, trap| pool.install(|| tree(trap, 3)));
        assert!(leaves.is_none_or(|leaves| leaves == 8));
    });
    seen.assert(&[Reclaimed, Stolen, Helped, Panic]);
    seen.assert_panics_at(20);
}

/// Joins in a drop that unwinds wait too, and what they fork may be stolen.
#[test]
fn joins_while_unwinding() {
    struct Forks;
    impl Drop for Forks {
        fn drop(&mut self) {
            assert_eq!(tree(&Trap::none(), 2), 4);
        }
    }
    let seen = explore(2000, |seen| {
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
fn scopes() {
    let seen = explore(3000, |seen| {
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
fn loops() {
    let seen = explore(2000, |seen| {
        attempt(seen, 32, |pool, trap| {
            pool.install(|| {
                let mut visits = [0; 8];
                par_for_each(&mut visits[..], |visit| {
                    drop(trap.step());
                    *visit += 1;
                });
                assert_eq!(visits, [1; 8]);
                let mapped = par_map(0..8usize, |i| (i, trap.step()));
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
                assert!(par_reduce(0..8usize, identity, fold, combine).0.into_iter().eq(0..8));
            });
        });
    });
    seen.assert(&[Published, Reclaimed, Stolen, Helped, Panic]);
    seen.assert_panics_at(25);
}

/// Long enough to look at the clock.
#[test]
fn long_loops() {
    let seen = explore(200, |seen| {
        let total = attempt(seen, 400, |pool, trap| {
            let fold = |total, i: u64| {
                if i % 16 == 0 {
                    drop(trap.step());
                }
                total + i
            };
            pool.install(|| par_reduce(0..5000u64, || 0, fold, |a, b| a + b))
        });
        assert!(total.is_none_or(|total| total == 12_497_500));
    });
    seen.assert(&[Published, Reclaimed, Stolen, Helped, Panic]);
}

/// Some threads enter a pool, which all have a part in each other's work.
#[test]
fn guests() {
    let seen = explore(2000, |seen| {
        let trap = Trap::within(30);
        let pool = Arc::new(trap.pool());
        let visit = {
            let (trap, pool) = (Arc::clone(&trap), Arc::clone(&pool));
            move || {
                let leaves = trap.catch(|| pool.install(|| tree(&trap, any(0, 4) as u32)));
                assert!(leaves.is_err() || leaves.is_ok_and(|leaves| leaves.is_power_of_two()));
            }
        };
        let threads: Vec<_> = (0..any(1, 3)).map(|_| thread::spawn(visit.clone())).collect();
        visit();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        drop(visit);
        trap.settle(seen, Ok(()));
        seen.note(&pool);
    });
    seen.assert(&[Published, Reclaimed, Stolen, Helped, Woken, Panic]);
    seen.assert_panics_at(3);
}

/// Threads of one pool are guests of another, and the other way round.
#[test]
fn pools_in_pools() {
    let seen = explore(1000, |seen| {
        attempt(seen, 24, |one, trap| {
            let two = trap.pool();
            let there = || two.install(|| tree(trap, 1));
            let back = || two.install(|| join(|| one.install(|| tree(trap, 1)), there));
            let ((a, (b, c)), d) = one.install(|| join(|| join(there, back), || tree(trap, 1)));
            assert_eq!((a, b, c, d), (2, 2, 2, 2));
            seen.note(&two);
        });
    });
    seen.assert(&[Published, Reclaimed, Stolen, Helped, Panic]);
    seen.assert_panics_at(12);
}

/// Every thread of the pool is wanted, while it works for another, waits or sleeps.
#[test]
fn broadcasts() {
    let seen = explore(2000, |seen| {
        let trap = Trap::within(30);
        let pool = Arc::new(trap.pool());
        let other = thread::spawn({
            let (trap, pool) = (Arc::clone(&trap), Arc::clone(&pool));
            move || {
                // The thread that waits for the broadcast in a join is among those that have to answer it.
                let ask = || pool.broadcast(|index| (index, trap.step())).len();
                let inner = || join(|| tree(&trap, 1), ask);
                let root = || assert_eq!(join(|| tree(&trap, 1), inner), (2, (2, pool.num_threads())));
                let _ = trap.catch(|| pool.install(root));
            }
        });
        let answers = trap.catch(|| pool.broadcast(|index| (index, tree(&trap, 1))));
        if let Ok(answers) = answers {
            assert!(answers.into_iter().eq((0..pool.num_threads()).map(|index| (index, 2))));
        }
        other.join().unwrap();
        trap.settle(seen, Ok(()));
        seen.note(&pool);
    });
    seen.assert(&[Reclaimed, Stolen, Woken, Panic]);
    seen.assert_panics_at(7);
}

/// Waits until nothing ticks any more.
fn at_rest(pool: &Pool) {
    let mut parks = 0;
    while std::mem::replace(&mut parks, pool.stats().total().parks) != parks {
        (0..50).for_each(|_| thread::yield_now());
    }
}

/// A pool falls asleep between its roots, and ends asleep or awake.
#[test]
fn rests() {
    let seen = explore(2000, |seen| {
        let trap = Trap::none();
        let pool = trap.pool();
        for _ in 0..any(0, 3) {
            (0..any(0, 30)).for_each(|_| dawdle());
            assert_eq!(pool.install(|| tree(&trap, 3)), 8);
        }
        if any(0, 1) == 0 {
            at_rest(&pool);
        }
        seen.note(&pool);
        drop(pool);
        trap.settle(seen, Ok(()));
    });
    seen.assert(&[Stolen, Woken]);
}

/// Threads block in calls that the pool knows nothing of, for what other pieces of work have to do first.
#[test]
fn blocking() {
    /// The first branch of each join waits for the second.
    fn chain(trap: &Trap, links: u64) -> u64 {
        if links == 0 {
            return tree(trap, 1);
        }
        let (tell, told) = mpsc::channel();
        let (number, ()) = join(move || told.recv().unwrap(), move || tell.send(chain(trap, links - 1)).unwrap());
        number + 1
    }
    let seen = explore(1000, |seen| {
        let trap = Trap::none();
        let pool = trap.builder().max_spare_threads(any(4, 6)).build().unwrap();
        let links = any(1, 4) as u64;
        assert_eq!(pool.install(|| chain(&trap, links)), links + 2);
        let meeting = Barrier::new(2);
        pool.install(|| par_for_each(0..2, |_| _ = meeting.wait()));
        seen.note(&pool);
    });
    seen.assert(&[Raided, Stolen, Spare, Lent]);
}

/// A lock that is held across a join is never met again on the same stack.
#[test]
fn locks() {
    let seen = explore(1000, |seen| {
        let pool = Arc::new(Trap::none().pool());
        let count = Arc::new(Mutex::new(0));
        let visit = {
            let (pool, count) = (Arc::clone(&pool), Arc::clone(&count));
            move || {
                let trap = Trap::none();
                let step = |_| {
                    let mut count = count.lock().unwrap();
                    *count += tree(&trap, 2);
                };
                pool.install(|| par_for_each(0..4, step));
            }
        };
        let threads: Vec<_> = (0..2).map(|_| thread::spawn(visit.clone())).collect();
        visit();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*count.lock().unwrap(), 48);
        seen.note(&pool);
    });
    seen.assert(&[Stolen, Spare, Lent]);
}

#[test]
fn handlers() {
    let seen = explore(3000, |seen| {
        let trap = Trap::within(24);
        let (at_start, at_exit) = (Arc::clone(&trap), Arc::clone(&trap));
        set_odds(Odds { long_waits_end: any(0, 1) == 0, refusals: if any(1, 4) == 1 { 4 } else { 0 } });
        let builder = trap.builder().on_start(move |_| drop(at_start.step())).on_exit(move |_| drop(at_exit.step()));
        match builder.build() {
            Ok(pool) => {
                let leaves = trap.catch(|| pool.install(|| tree(&trap, 3)));
                assert!(leaves.is_err() || leaves == Ok(8));
                seen.note(&pool);
            }
            Err(error) => {
                assert!(match error {
                    BuildError::StartHandlerPanicked => trap.thrown() > 0,
                    error => matches!(error, BuildError::Spawn(_)),
                });
            }
        }
        trap.settle(seen, Ok(()));
    });
    seen.assert(&[Stolen, Spare, Panic]);
    seen.assert_panics_at(5);
}

/// Panics about panics: in the handler, and in the drop of a payload.
#[test]
fn panics_about_panics() {
    struct Spiteful(Tally, #[allow(dead_code, reason = "its drop is counted")] Counted);
    impl Drop for Spiteful {
        fn drop(&mut self) {
            resume_unwind(Box::new(self.0.make()));
        }
    }
    let seen = explore(2000, |seen| {
        let tally = Tally::default();
        let throw = || {
            join(dawdle, || join(dawdle, dawdle));
            resume_unwind(Box::new(Spiteful(tally.clone(), tally.make())))
        };
        let builder = Pool::builder().threads(any(1, 3)).max_spare_threads(1);
        let builder = if any(0, 1) == 0 { builder } else { builder.on_panic(move |payload| resume_unwind(payload)) };
        let pool = builder.build().unwrap();
        let root = || {
            scope(|s| {
                (0..2).for_each(|_| s.spawn(throw));
                join(throw, throw);
            });
        };
        let payload = catch_unwind(AssertUnwindSafe(|| pool.install(root))).unwrap_err();
        assert!(payload.is::<Spiteful>());
        assert!(catch_unwind(AssertUnwindSafe(|| drop(payload))).unwrap_err().is::<Counted>());
        assert_eq!(tally.made(), tally.dropped());
        seen.note(&pool);
    });
    seen.assert(&[Published, Stolen]);
}

/// A pool that is dropped by a thread of its own, a spare that is just starting.
#[test]
fn a_pool_dropped_from_inside() {
    let seen = explore(3000, |seen| {
        let (slot, trap, threads) = (Arc::new(Mutex::new(None::<Pool>)), Trap::none(), any(1, 3));
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let on_start = {
            let (slot, begun) = (Arc::clone(&slot), Arc::clone(&begun));
            move |index| {
                begun.fetch_add(1, Ordering::SeqCst);
                (0..if index < threads { 0 } else { any(0, 30) }).for_each(|_| dawdle());
                let doomed = slot.lock().unwrap().take();
                drop(doomed);
            }
        };
        let on_exit = {
            let ended = Arc::clone(&ended);
            move |_| _ = ended.fetch_add(1, Ordering::SeqCst)
        };
        let builder = Pool::builder().threads(threads).on_start(on_start).on_exit(on_exit);
        let pool = builder.build().unwrap();
        assert_eq!(pool.install(|| tree(&trap, 3)), 8);
        seen.note(&pool);
        *slot.lock().unwrap() = Some(pool);
        (0..any(0, 20)).for_each(|_| dawdle());
        let left = slot.lock().unwrap().take();
        seen.add(Dropped, u64::from(left.is_none()));
        drop(left);
        while begun.load(Ordering::SeqCst) != ended.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    });
    seen.assert(&[Spare, Dropped]);
}
