//! What is in `sync`: contention, and waiters that go before their turn.

use super::{SHORT, Stage, await_for, run_program, wait_randomly};
use crate::{
    common::Counted,
    explore::{Event::*, any, explore},
};
use anabranch::{
    Cancelled, Cx, Operation, WaitError,
    sync::{Barrier, Condvar, Event, Monitor, Mutex, MutexGuard, OnceCell, RwLock, Semaphore},
};
use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
};

/// One of the ways to a lock.
fn lock<'a, T>(cx: &Cx<'_>, stage: &Stage<'_>, lock: &'a Mutex<T>) -> Option<MutexGuard<'a, T>> {
    match any(0, 5) {
        0 => lock.try_lock(),
        1 => stage.note(lock.locking().timeout(cx, SHORT), Late, Received),
        2 => stage.note(await_for(cx, lock.locking()), Late, Received),
        3 => stage.with_random_cancellation(cx, |cx| stage.note(lock.lock(cx), CutShort, Received)),
        _ => stage.note(lock.lock(cx), CutShort, Received),
    }
}

#[test]
fn mutexes_exclude_each_other() {
    let seen = explore(10_000, |seen| {
        run_program(seen, 8, |cx, stage| {
            let (count, locked) = (Mutex::new((0_u64, stage.make())), AtomicU64::new(0));
            cx.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|cx| {
                        for _ in 0..2 {
                            let Some(mut guard) = lock(cx, stage, &count) else { continue };
                            locked.fetch_add(1, Ordering::Relaxed);
                            let before = guard.0;
                            let waited = wait_randomly(cx);
                            guard.0 = before + 1;
                            drop(stage.trap.step());
                            waited?;
                        }
                        Ok::<_, Cancelled>(())
                    });
                }
            });
            assert!(!count.is_locked());
            assert_eq!(count.into_inner().0, locked.into_inner());
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Late, Received]);
    seen.assert_panics_at(4);
}

/// A buffer with two conditions: a wake-up that is lost, or is consumed by a waiter that gave up, leaves a fiber
/// waiting.
#[test]
fn condition_variables_lose_no_notification() {
    struct Buffer {
        values: Mutex<VecDeque<Counted>>,
        is_filled: Condvar,
        not_full: Condvar,
        taken: AtomicUsize,
    }
    const COUNT: usize = 6;
    fn take(cx: &Cx<'_>, stage: &Stage<'_>, buffer: &Buffer) -> Option<bool> {
        let mut values = stage.note(buffer.values.lock(cx), CutShort, Sent)?;
        while values.is_empty() {
            if buffer.taken.load(Ordering::Relaxed) == COUNT {
                return Some(false);
            }
            match any(0, 2) {
                0 => {
                    let waited = cx.timeout(SHORT, |cx| Ok::<_, WaitError>(buffer.is_filled.wait(cx, &mut values)?));
                    _ = stage.note(waited, Late, Sent);
                }
                1 => _ = stage.note(buffer.is_filled.wait(cx, &mut values), CutShort, Sent),
                _ => {
                    values = stage.note(cx.block_on(buffer.is_filled.wait_async(values)), CutShort, Sent)?;
                }
            }
            if values.is_empty() && cx.is_cancelled() {
                return None;
            }
        }
        drop(values.pop_front());
        if buffer.taken.fetch_add(1, Ordering::Relaxed) + 1 == COUNT {
            buffer.is_filled.notify_all();
        }
        drop(values);
        buffer.not_full.notify_one();
        Some(true)
    }
    let seen = explore(10_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let buffer = Buffer {
                values: Mutex::default(),
                is_filled: Condvar::new(),
                not_full: Condvar::new(),
                taken: AtomicUsize::new(0),
            };
            let buffer = &buffer;
            cx.scope(|s| {
                for _ in 0..2 {
                    s.spawn(|cx| {
                        for _ in 0..COUNT / 2 {
                            let mut values = buffer.values.lock(cx).unwrap();
                            buffer.not_full.wait_while(cx, &mut values, |values| values.len() == 2).unwrap();
                            values.push_back(stage.make());
                            drop(values);
                            buffer.is_filled.notify_one();
                        }
                    });
                }
                // One takes what there is, the others give up now and then.
                s.spawn(|cx| while take(cx, stage, buffer).unwrap() {});
                for _ in 0..any(0, 2) {
                    s.spawn(|cx| {
                        stage.with_random_cancellation(cx, |cx| while take(cx, stage, buffer) == Some(true) {})
                    });
                }
            });
            assert_eq!(buffer.taken.load(Ordering::Relaxed), COUNT);
            seen.add(Received, COUNT as u64);
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, CutShort, Late, Received]);
}

#[test]
fn semaphores_limit_concurrency() {
    let seen = explore(10_000, |seen| {
        run_program(seen, 8, |cx, stage| {
            let (semaphore, used) = (Semaphore::new(2), AtomicUsize::new(0));
            cx.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|cx| {
                        for _ in 0..2 {
                            let count = any(1, 2);
                            let permit = match any(0, 4) {
                                0 => semaphore.try_acquire_many(count).ok(),
                                1 => stage
                                    .note(semaphore.acquiring(count).timeout(cx, SHORT), Late, Received)
                                    .map(Result::unwrap),
                                2 => stage
                                    .note(await_for(cx, semaphore.acquiring(count)), Late, Received)
                                    .map(Result::unwrap),
                                3 => stage.with_random_cancellation(cx, |cx| {
                                    stage.note(semaphore.acquire_many(cx, count), CutShort, Received)
                                }),
                                _ => stage.note(semaphore.acquire_many(cx, count), CutShort, Received),
                            };
                            let Some(permit) = permit else { continue };
                            assert!(used.fetch_add(count, Ordering::Relaxed) + count <= 2);
                            let waited = wait_randomly(cx);
                            used.fetch_sub(count, Ordering::Relaxed);
                            drop((stage.trap.step(), permit));
                            waited?;
                        }
                        Ok::<_, Cancelled>(())
                    });
                }
            });
            assert_eq!(semaphore.available(), 2);
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Late, Received]);
    seen.assert_panics_at(3);
}

#[test]
fn writers_exclude_readers() {
    let seen = explore(6_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let (pair, written) = (RwLock::new((0_u64, 0_u64)), AtomicU64::new(0));
            cx.scope(|s| {
                for id in 0..4 {
                    let (pair, written) = (&pair, &written);
                    s.spawn(move |cx| {
                        let write = |guard: Option<anabranch::sync::RwLockWriteGuard<'_, (u64, u64)>>| {
                            let Some(mut guard) = guard else { return };
                            guard.0 += 1;
                            _ = wait_randomly(cx);
                            guard.1 += 1;
                            written.fetch_add(1, Ordering::Relaxed);
                        };
                        let read = |guard: Option<anabranch::sync::RwLockReadGuard<'_, (u64, u64)>>| {
                            let Some(guard) = guard else { return };
                            _ = wait_randomly(cx);
                            assert_eq!(guard.0, guard.1);
                        };
                        for _ in 0..2 {
                            match (id % 2, any(0, 2)) {
                                (0, 0) => write(stage.note(pair.writing().timeout(cx, SHORT), Late, Received)),
                                (0, 1) => write(stage.note(await_for(cx, pair.writing()), Late, Received)),
                                (0, _) => {
                                    write(stage.with_random_cancellation(cx, |cx| {
                                        stage.note(pair.write(cx), CutShort, Received)
                                    }));
                                }
                                (_, 0) => read(stage.note(pair.reading().timeout(cx, SHORT), Late, Received)),
                                (_, 1) => read(stage.note(await_for(cx, pair.reading()), Late, Received)),
                                _ => read(stage.note(pair.read(cx), CutShort, Received)),
                            }
                        }
                    });
                }
            });
            assert_eq!(pair.into_inner(), (written.load(Ordering::Relaxed), written.into_inner()));
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, CutShort, Late, Received]);
}

/// One fiber initialises, some meet, and none goes on before the last has come.
#[test]
fn cells_barriers_and_events_release_all_waiters() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 4, |cx, stage| {
            let (cell, made) = (OnceCell::new(), AtomicUsize::new(0));
            let (barrier, event, arrived) = (Barrier::new(3), Event::new(), AtomicUsize::new(0));
            let exclusive = Monitor::new((0, stage.make()));
            let leaders = AtomicUsize::new(0);
            cx.scope(|s| {
                let result = s.timeout(SHORT * 8, |cx| {
                    cx.scope(|s| {
                        for id in 0..3 {
                            let (exclusive, cell, made, barrier) = (exclusive.clone(), &cell, &made, &barrier);
                            let (event, arrived, leaders) = (&event, &arrived, &leaders);
                            s.spawn(move |cx| {
                                // A fiber that gives up or panics leaves it to another.
                                let init = |cx: &Cx<'_>| {
                                    wait_randomly(cx)?;
                                    drop(stage.trap.step());
                                    made.fetch_add(1, Ordering::Relaxed);
                                    Ok::<_, Cancelled>(stage.make())
                                };
                                let value =
                                    stage.with_random_cancellation(cx, |cx| cell.get_or_try_init(cx, init).is_ok());
                                if !value {
                                    cell.get_or_try_init(cx, init)?;
                                }
                                assert_eq!(made.load(Ordering::Relaxed), 1);
                                // A waiter that comes and goes does not count.
                                if any(0, 2) == 0 {
                                    _ = stage.note(event.waiting().timeout(cx, SHORT), Late, Received);
                                }
                                arrived.fetch_add(1, Ordering::Relaxed);
                                let is_leader = barrier.wait(cx)?;
                                assert_eq!(arrived.load(Ordering::Relaxed), 3);
                                leaders.fetch_add(usize::from(is_leader), Ordering::Relaxed);
                                if id == 0 {
                                    wait_randomly(cx)?;
                                    event.set();
                                }
                                stage.note(event.wait(cx), CutShort, Received);
                                assert!(event.is_set() || cx.is_cancelled());
                                exclusive.when(cx, |n| n.0 == id, |n| n.0 += 1)?;
                                Ok::<_, Cancelled>(())
                            });
                        }
                    });
                    cx.check().map_err(WaitError::from)
                });
                if stage.note(result, Late, Sent).is_some() {
                    assert_eq!(leaders.load(Ordering::Relaxed), 1);
                    assert_eq!(exclusive.read(s, |n| n.0).unwrap(), 3);
                }
            });
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, Late, Received, Sent]);
    seen.assert_panics_at(1);
}
