//! Pools, and the threads that meet in them.

use crate::{
    attempt,
    common::{Counted, Tally},
    explore::{Event::*, any, explore, pause_randomly},
    trap::Trap,
    tree,
};
use anabranch::{
    Odds, Pool, catch_unwind, join, pool::BuildError, prelude::*, resume_unwind, scope, set_odds, sync::Trigger,
};
use shuttle::{
    sync::{Barrier, Mutex, mpsc},
    thread,
};
use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// Some threads enter a pool, which all have a part in each other's work.
#[test]
fn guests_run_each_others_work() {
    let seen = explore(10_000, |seen| {
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
fn pools_enter_each_other() {
    let seen = explore(5_000, |seen| {
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

/// Tasks are spawned into a scope by threads of another pool and by one of none.
#[test]
fn scopes_accept_tasks_from_other_threads() {
    let seen = explore(5_000, |seen| {
        attempt(seen, 16, |one, trap| {
            let two = trap.pool();
            let step = || drop(trap.step());
            one.install(|| {
                scope(|s| {
                    s.spawn(|| {
                        two.install(|| _ = join(|| s.spawn(step), || s.spawn(|| _ = join(step, step))));
                        step();
                    });
                    thread::scope(|threads| _ = threads.spawn(|| s.spawn(|| s.spawn(step))));
                    step();
                });
            });
            seen.note(&two);
        });
    });
    seen.assert(&[Stolen, Helped, Panic]);
    seen.assert_panics_at(6);
}

/// The body of a scope waits for a task that a thread of no pool spawns. In one case a fiber
/// yields until it has run, in the other no thread is awake.
#[test]
fn scope_body_waits_for_a_task_from_outside() {
    let seen = explore(5_000, |seen| {
        attempt(seen, 4, |pool, trap| {
            let has_run = Arc::new(AtomicBool::new(false));
            let fiber = (any(0, 1) == 0).then(|| {
                let has_run = Arc::clone(&has_run);
                pool.spawn(move |cx| {
                    while !has_run.load(Ordering::Acquire) {
                        cx.yield_now();
                    }
                })
            });
            pool.install(|| {
                scope(|s| {
                    thread::scope(|threads| {
                        let mut trigger = Trigger::new();
                        let (signal, has_run) = (trigger.signal(), &has_run);
                        let (leave, stay) = mpsc::channel::<()>();
                        threads.spawn(move || {
                            (0..any(0, 20)).for_each(|_| thread::yield_now());
                            s.spawn(move || {
                                has_run.store(true, Ordering::Release);
                                signal.send();
                                drop(trap.step());
                            });
                            // When a thread of a scope ends shuttle wakes the parent, whatever that waits for.
                            let _ = stay.recv();
                        });
                        anabranch::run(|cx| trigger.wait(cx)).unwrap();
                        drop(leave);
                    });
                    // Not inside: shuttle does not wait for the threads of a scope that unwinds.
                    drop(trap.step());
                });
            });
            if let Some(fiber) = fiber {
                pool.run(|cx| fiber.join(cx)).unwrap();
            }
        });
    });
    seen.assert(&[Stolen, Fiber, Switch, Panic]);
    seen.assert_panics_at(2);
}

/// Every thread of the pool is wanted, while it works for another, waits or sleeps.
#[test]
fn broadcasts_run_on_every_thread() {
    let seen = explore(10_000, |seen| {
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
fn wait_until_idle(pool: &Pool) {
    let mut parks = 0;
    while std::mem::replace(&mut parks, pool.stats().total().parks) != parks {
        (0..50).for_each(|_| thread::yield_now());
    }
}

/// A pool falls asleep between its roots, and ends asleep or awake.
#[test]
fn pools_sleep_between_roots() {
    let seen = explore(10_000, |seen| {
        let trap = Trap::none();
        let pool = trap.pool();
        for _ in 0..any(0, 3) {
            (0..any(0, 30)).for_each(|_| pause_randomly());
            assert_eq!(pool.install(|| tree(&trap, 3)), 8);
        }
        if any(0, 1) == 0 {
            wait_until_idle(&pool);
        }
        seen.note(&pool);
        drop(pool);
        trap.settle(seen, Ok(()));
    });
    seen.assert(&[Stolen, Woken]);
}

/// Threads block in calls that the pool knows nothing of, for what other pieces of work have to do first.
#[test]
fn spares_replace_blocked_threads() {
    /// The first branch of each join waits for the second.
    fn chain(trap: &Trap, links: u64) -> u64 {
        if links == 0 {
            return tree(trap, 1);
        }
        let (sender, receiver) = mpsc::channel();
        let (number, ()) = join(move || receiver.recv().unwrap(), move || sender.send(chain(trap, links - 1)).unwrap());
        number + 1
    }
    let seen = explore(5_000, |seen| {
        let trap = Trap::none();
        let pool = trap.builder().max_spare_threads(any(4, 6)).build().unwrap();
        let links = any(1, 4) as u64;
        let body = || assert_eq!(chain(&trap, links), links + 2);
        pool.install(|| if any(0, 1) == 0 { body() } else { scope(|s| s.spawn(body)) });
        let meeting = Barrier::new(2);
        pool.install(|| (0..2).into_par_iter().for_each(|_| _ = meeting.wait()));
        seen.note(&pool);
    });
    seen.assert(&[Raided, Stolen, Spare, Lent]);
}

/// Each worker blocks in its part of a broadcast until the fork of the broadcasting thread has run, which a spare has
/// to take. The broadcasting thread may have parked before the heartbeat worker finds its part.
#[test]
fn spares_replace_threads_blocked_in_broadcasts() {
    let seen = explore(5_000, |seen| {
        let trap = Trap::none();
        let pool = trap.builder().max_spare_threads(any(4, 6)).build().unwrap();
        for _ in 0..any(1, 2) {
            let (sender, receiver) = mpsc::channel();
            let receiver = Mutex::new(receiver);
            let count = pool.num_threads();
            let (answers, ()) = pool.install(|| {
                let broadcast = || pool.broadcast(|_| receiver.lock().unwrap().recv().unwrap());
                join(broadcast, move || (0..count).for_each(|_| sender.send(()).unwrap()))
            });
            assert_eq!(answers.len(), count);
        }
        seen.note(&pool);
    });
    seen.assert(&[Stolen, Spare, Lent]);
}

/// A lock that is held across a join is never met again on the same stack.
#[test]
fn lock_across_a_join_is_not_taken_twice_on_a_stack() {
    let seen = explore(5_000, |seen| {
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
                pool.install(|| (0..4).into_par_iter().for_each(step));
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
fn handlers_run_once_for_each_thread() {
    let seen = explore(15_000, |seen| {
        let trap = Trap::within(24);
        let (at_start, at_exit, namer) = (Arc::clone(&trap), Arc::clone(&trap), Arc::clone(&trap));
        set_odds(Odds { long_waits_end: any(0, 1) == 0, refusals: if any(1, 4) == 1 { 4 } else { 0 } });
        let builder = trap.builder().on_start(move |_| drop(at_start.step())).on_exit(move |_| drop(at_exit.step()));
        let builder = builder.thread_name(move |index| {
            drop(namer.step());
            format!("thread {index}")
        });
        match trap.catch(|| builder.build()) {
            Ok(Ok(pool)) => {
                let leaves = trap.catch(|| pool.install(|| tree(&trap, 3)));
                assert!(leaves.is_err() || leaves == Ok(8));
                seen.note(&pool);
            }
            Ok(Err(error)) => {
                assert!(match error {
                    BuildError::StartHandlerPanicked => trap.thrown() > 0,
                    error => matches!(error, BuildError::Spawn(_)),
                });
            }
            Err(step) => assert_ne!(step, 0),
        }
        trap.settle(seen, Ok(()));
    });
    seen.assert(&[Stolen, Spare, Panic]);
    seen.assert_panics_at(5);
}

/// Panics about panics: in the handler, and in the drop of a payload.
#[test]
fn panics_of_the_panic_handler_are_dropped() {
    struct Spiteful(Tally, #[allow(dead_code, reason = "its drop is counted")] Counted);
    impl Drop for Spiteful {
        fn drop(&mut self) {
            resume_unwind(Box::new(self.0.make()));
        }
    }
    let seen = explore(10_000, |seen| {
        let tally = Tally::default();
        let throw = || {
            join(pause_randomly, || join(pause_randomly, pause_randomly));
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
fn pool_dropped_from_inside() {
    let seen = explore(15_000, |seen| {
        let (slot, trap, threads) = (Arc::new(Mutex::new(None::<Pool>)), Trap::none(), any(1, 3));
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let on_start = {
            let (slot, begun) = (Arc::clone(&slot), Arc::clone(&begun));
            move |index| {
                begun.fetch_add(1, Ordering::SeqCst);
                (0..if index < threads { 0 } else { any(0, 30) }).for_each(|_| pause_randomly());
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
        (0..any(0, 20)).for_each(|_| pause_randomly());
        let left = slot.lock().unwrap().take();
        seen.add(Dropped, u64::from(left.is_none()));
        drop(left);
        while begun.load(Ordering::SeqCst) != ended.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    });
    seen.assert(&[Spare, Dropped]);
}
