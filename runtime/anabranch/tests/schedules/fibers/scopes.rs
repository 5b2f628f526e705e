//! Scopes, joins and races: what is under way together ends together.

use super::{FOREVER, SHORT, Stage, run_program, run_program_with_spares, wait_randomly};
use crate::{
    common::fibers::Meeting,
    explore::{Event::*, any, explore},
    trap::Trap,
    tree,
};
use anabranch::{Cancelled, Cx, Pool, WaitError, panicking, sync::Mutex};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

/// Spawns down to 2^`depth` leaves, with a wait at each, and gives back how many there were.
fn grow(cx: &Cx<'_>, stage: &Stage<'_>, depth: u32) -> Result<u64, Cancelled> {
    let _kept = stage.trap.step();
    wait_randomly(cx)?;
    if depth == 0 {
        return Ok(1);
    }
    cx.scope(|s| {
        let spawner = s.spawner();
        let one = s.spawn(move |cx| grow(cx, stage, depth - 1));
        // What is spawned by a child of the scope belongs to the scope too.
        let other = s.spawn(move |_| spawner.spawn(move |cx| grow(cx, stage, depth - 1)));
        if any(0, 15) == 0 {
            s.cancel();
        }
        // Not every result is asked for.
        if any(0, 7) == 0 {
            return Err(Cancelled);
        }
        Ok(other.join(s)?.join(s)?? + one.join(s)??)
    })
}

#[test]
fn scopes_wait_for_all_fibers() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 20, |cx, stage| {
            let leaves = stage.with_random_cancellation(cx, |cx| grow(cx, stage, 2));
            if let Some(leaves) = stage.note(leaves, CutShort, Received) {
                assert_eq!(leaves, 4);
            }
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Received]);
    seen.assert_panics_at(7);
}

/// Both halves of a join meet, which they can on a pool of one, and then fork again.
fn meet(cx: &Cx<'_>, stage: &Stage<'_>, depth: u32) -> Result<usize, Cancelled> {
    let (one, other) = Meeting::pair(2);
    let side = |meeting: Meeting| {
        move |cx: &Cx<'_>| {
            let _kept = stage.trap.step();
            let rounds = meeting.attend(cx)?;
            drop(stage.trap.step());
            wait_randomly(cx)?;
            Ok(rounds + if depth == 0 { 0 } else { meet(cx, stage, depth - 1)? })
        }
    };
    let (a, b) = cx.join(side(one), side(other));
    assert!(!panicking());
    Ok(a? + b?)
}

#[test]
fn halves_of_a_join_wait_for_each_other() {
    let seen = explore(12_000, |seen| {
        run_program(seen, 16, |cx, stage| {
            let rounds = stage.with_random_cancellation(cx, |cx| meet(cx, stage, 1));
            if let Some(rounds) = stage.note(rounds, CutShort, Received) {
                assert_eq!(rounds, 12);
            }
        });
    });
    seen.assert(&[Published, Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Received]);
    seen.assert_panics_at(10);
}

/// Joins that may fail, in time limits, with compute forks in them, so that offers and forks are open on one stack.
#[test]
fn failed_joins_end_both_halves() {
    fn divide(cx: &Cx<'_>, stage: &Stage<'_>, depth: u32) -> Result<u64, WaitError> {
        let _kept = stage.trap.step();
        if depth == 0 {
            wait_randomly(cx)?;
            return if any(0, 15) == 0 { Err(WaitError::Cancelled) } else { Ok(tree(&stage.trap, 1)) };
        }
        let (a, b) = match any(0, 3) {
            0 => cx.timeout(SHORT * 2, |cx| {
                cx.try_join(|cx| divide(cx, stage, depth - 1), |cx| divide(cx, stage, depth - 1))
            })?,
            1 => {
                let halves = cx.map_concurrent(any(1, 2), 0..2, |cx, _| divide(cx, stage, depth - 1))?;
                (halves[0], halves[1])
            }
            _ => cx.try_join(|cx| divide(cx, stage, depth - 1), |cx| divide(cx, stage, depth - 1))?,
        };
        Ok(a + b)
    }
    let seen = explore(8_000, |seen| {
        run_program(seen, 24, |cx, stage| {
            let leaves = divide(cx, stage, 2);
            assert!(!panicking());
            match leaves {
                Ok(leaves) => {
                    assert_eq!(leaves, 8);
                    seen.add(Received, 1);
                }
                Err(WaitError::Cancelled) => seen.add(CutShort, 1),
                Err(WaitError::TimedOut) => seen.add(Late, 1),
            }
        });
    });
    seen.assert(&[Published, Reclaimed, Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Late, Received]);
    seen.assert_panics_at(12);
}

/// The first wins, the others are cancelled, and have ended when the race is over.
#[test]
fn races_cancel_the_losers() {
    let seen = explore(12_000, |seen| {
        run_program(seen, 10, |cx, stage| {
            let ended = AtomicU64::new(0);
            let racer = |cx: &Cx<'_>, id: u32| {
                let kept = stage.trap.step();
                let result = if id == 0 { cx.sleep(FOREVER) } else { wait_randomly(cx) };
                ended.fetch_add(1, Ordering::Relaxed);
                result.map(|()| (id, kept))
            };
            let winner = stage.with_random_cancellation(cx, |cx| match any(0, 2) {
                0 => cx.race((|cx: &Cx<'_>| racer(cx, 0), |cx: &Cx<'_>| racer(cx, 1), |cx: &Cx<'_>| racer(cx, 2))),
                1 => cx.race_iter(0..3, racer).expect("there are three"),
                _ => cx.race_ok_iter(0..3, racer).map_err(|errors| {
                    assert_eq!(errors.len(), 3);
                    Cancelled
                }),
            });
            assert_eq!(ended.into_inner(), 3);
            if let Some((winner, _)) = stage.note(winner, CutShort, Received) {
                assert_ne!(winner, 0);
            }
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Received]);
    seen.assert_panics_at(3);
}

/// Waits in a drop that unwinds: a fiber does not leave its stack for them. So it must not wait for a lock that another
/// fiber of its thread holds while that one waits.
#[test]
fn waits_in_an_unwinding_drop_end() {
    struct Mourns<'a>(&'a Cx<'a>, &'a Stage<'a>, &'a Mutex<u64>);
    impl Drop for Mourns<'_> {
        fn drop(&mut self) {
            let Self(cx, stage, lock) = *self;
            let was_panicking = panicking();
            match any(0, 2) {
                0 => _ = cx.sleep(SHORT),
                1 => _ = lock.lock(cx).map(|mut count| *count += 1),
                _ => {
                    let (a, b) = cx.join(|cx| wait_randomly(cx), |cx| wait_randomly(cx));
                    _ = a.and(b);
                    cx.scope(|s| _ = s.spawn(wait_randomly));
                }
            }
            assert_eq!(was_panicking, panicking());
            _ = stage.make();
        }
    }
    let seen = explore(8_000, |seen| {
        // Each fiber that unwinds may keep a thread.
        run_program_with_spares(seen, 6, |cx, stage| {
            let (lock, brief) = (Mutex::new(0), Mutex::new(0));
            cx.scope(|s| {
                for _ in 0..2 {
                    s.spawn(|cx| {
                        let _mourns = Mourns(cx, stage, &brief);
                        let result = wait_randomly(cx);
                        stage.note(result, CutShort, Received);
                        *brief.lock(cx)? += 1;
                        let mut guard = lock.lock(cx)?;
                        *guard += 1;
                        let result = wait_randomly(cx);
                        stage.note(result, CutShort, Received);
                        drop((stage.trap.step(), guard));
                        let (a, b) = cx.join(
                            |_| drop(stage.trap.step()),
                            |cx| wait_randomly(cx).map(|()| drop(stage.trap.step())),
                        );
                        b.map(|()| a)
                    });
                }
            });
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Received]);
    seen.assert_panics_at(4);
}

/// A fiber waits inside another pool: its thread is kept, and those of its own pool go on without.
#[test]
fn waits_in_another_pool_keep_the_thread() {
    let seen = explore(8_000, |seen| {
        // Both branches of a join in the other pool may panic, and its handler gets the second panic.
        let trap = Arc::new(OnceLock::<Arc<Trap>>::new());
        let of_handler = Arc::clone(&trap);
        let on_panic = move |payload| _ = of_handler.get().expect("a step has panicked").receive(payload);
        let other: Pool = Pool::builder().threads(1).on_panic(on_panic).build().unwrap();
        run_program_with_spares(seen, 10, |cx, stage| {
            assert!(trap.set(Arc::clone(&stage.trap)).is_ok());
            let other = &other;
            let (leaves, b) = cx.join(
                |_| other.install(|| (tree(&stage.trap, 1), other.run(|cx| cx.join(|_| (), wait_randomly).1.is_ok()))),
                |cx| {
                    cx.scope(|s| {
                        let handle = s.spawn(|cx| other.install(|| cx.sleep(SHORT)));
                        drop(stage.trap.step());
                        handle.join(s)
                    })
                },
            );
            assert_eq!(leaves, (2, true));
            stage.note(b.and_then(|slept| slept), CutShort, Received);
        });
        seen.note(&other);
    });
    seen.assert(&[Published, Stolen, Spare, Lent, Panic, Fiber, Switch, Received]);
    seen.assert_panics_at(3);
}
