//! `sync::Monitor`: one user at a time, and a waiter sees every change that fulfils its condition.

use crate::common::{
    LONG, in_pools, panic_text, pool,
    waits::{Polled, until_waiting},
    watchdog,
};
use anabranch::{Cancelled, Cx, Pool, WaitError, sync::Monitor, time::ManualClock};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
    time::Duration,
};

#[test]
fn monitor_is_a_handle_to_shared_value() {
    let one = Monitor::from(vec![1]);
    let mut other = one.clone();
    assert!(one.ptr_eq(&other) && !one.ptr_eq(&Monitor::default()));
    assert!(other.get_mut().is_none());
    assert_eq!(format!("{one:?}"), "Monitor { value: [1] }");
    one.try_with(|_| assert_eq!(format!("{one:?}"), "Monitor { value: <in use> }")).unwrap();
    drop(one);
    other.get_mut().unwrap().push(2);
    assert_eq!(other.into_inner().unwrap(), [1, 2]);
}

#[test]
fn monitor_excludes_fibers_threads_and_tasks() {
    const ROUNDS: u32 = 300;
    in_pools(|pool| {
        let counter = Monitor::new(0);
        let add = |value: &mut u32| *value += 1;
        thread::scope(|threads| {
            let handle = counter.clone();
            threads.spawn(move || pool.run(|cx| (0..ROUNDS).for_each(|_| handle.with(cx, add).unwrap())));
            pool.run(|cx| {
                cx.scope(|s| {
                    for _ in 0..2 {
                        let handle = counter.clone();
                        s.spawn(move |cx| (0..ROUNDS).for_each(|_| handle.with(cx, add).unwrap()));
                        let handle = counter.clone();
                        s.spawn(move |cx| {
                            cx.block_on(async {
                                for _ in 0..ROUNDS {
                                    handle.with_async(add).await;
                                }
                            })
                        });
                    }
                });
            });
        });
        assert_eq!(counter.into_inner().unwrap(), 5 * ROUNDS);
    });
}

#[test]
fn waiters_alternate_by_conditions() {
    const FIBERS: u32 = 7;
    const TURNS: u32 = 200;
    in_pools(|pool| {
        let turn = Monitor::new(0_u32);
        pool.run(|cx| {
            cx.scope(|s| {
                for fiber in 0..FIBERS {
                    let turn = turn.clone();
                    s.spawn(move |cx| {
                        for _ in 0..TURNS {
                            let is_mine = |turn: &u32| turn % FIBERS == fiber;
                            match fiber % 3 {
                                0 => turn.when(cx, is_mine, |turn| *turn += 1).unwrap(),
                                1 => cx.block_on(turn.when_async(is_mine, |turn| *turn += 1)).unwrap(),
                                _ => {
                                    let pass = |held: &mut anabranch::sync::Held<'_, u32>| {
                                        held.wait_until(cx, is_mine)?;
                                        **held += 1;
                                        Ok(())
                                    };
                                    turn.with_cond(cx, pass).unwrap().unwrap_or_else(|Cancelled| unreachable!());
                                }
                            }
                        }
                    });
                }
            });
        });
        assert_eq!(turn.into_inner().unwrap(), FIBERS * TURNS);
    });
}

#[test]
fn changes_before_wait_are_visible() {
    in_pools(|pool| {
        let steps = Monitor::new(0);
        let (first, second) = pool.run(|cx| {
            cx.join(
                |cx| {
                    steps.with_cond(cx, |step| {
                        **step = 1;
                        step.wait_until(cx, |step| *step == 2).unwrap();
                        **step = 3;
                    })
                },
                |cx| steps.when(cx, |step| *step == 1, |step| *step = 2),
            )
        });
        assert_eq!((first, second), (Ok(()), Ok(())));
        assert_eq!(steps.into_inner().unwrap(), 3);
    });
}

#[test]
fn shared_access_wakes_none_and_mutable_access_wakes_waiters() {
    let value = Monitor::new(0);
    let mut waiting = Polled::waiting(value.when_async(|value| *value == 2, |value| *value));
    anabranch::run(|cx| value.read(cx, |_| ())).unwrap();
    assert_eq!(waiting.wakes(), 0);
    value.try_with(|value| *value = 1);
    assert_eq!(waiting.wakes(), 1);
    assert_eq!(waiting.poll(), None);
    value.try_with(|value| *value = 2);
    assert_eq!(waiting.poll(), Some(2));
    // A change is one even when it ends in a panic.
    let mut waiting = Polled::waiting(value.when_async(|value| *value == 3, |value| *value));
    let text = panic_text(|| {
        value.try_with(|value| {
            *value = 3;
            panic!("after the change");
        });
    });
    assert_eq!((text.as_str(), waiting.poll()), ("after the change", Some(3)));
    drop(Polled::waiting(value.when_async(|value| *value == 4, |_| ())));
    assert!(value.try_with(|_| ()).is_some());
}

#[test]
fn cancelled_and_timed_out_waiters_leave() {
    watchdog(LONG, || {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(clock.clock()).build().unwrap();
        let value = Monitor::new(0);
        let wait = |wait: fn(&Monitor<u32>, &Cx<'_>) -> Result<(), WaitError>| {
            let value = value.clone();
            pool.spawn(move |cx| wait(&value, cx))
        };
        let minute = Duration::from_secs(60);
        let handles = [
            wait(|value, cx| {
                cx.timeout(Duration::from_secs(60), |cx| Ok(value.when(cx, |value| *value == 1, |_| ())?))
            }),
            wait(|value, cx| Ok(value.when(cx, |value| *value == 1, |_| ())?)),
        ];
        until_waiting(&pool, 2, "Monitor::when");
        handles[1].cancel();
        clock.advance(minute);
        let outcomes = handles.map(|handle| pool.run(|cx| handle.join(cx)).unwrap());
        use WaitError::{Cancelled, TimedOut};
        assert_eq!(outcomes, [Err(TimedOut), Err(Cancelled)]);
        // A long use delays the others beyond their deadline.
        value.try_with(|_| {
            let late =
                wait(|value, cx| cx.timeout(Duration::from_secs(60), |cx| Ok(value.when(cx, |_| true, |_| ())?)));
            until_waiting(&pool, 1, "Mutex::lock");
            clock.advance(minute);
            assert_eq!(pool.run(|cx| late.join(cx)).unwrap(), Err(TimedOut));
        });
        assert_eq!(pool.run(|cx| value.read(cx, |value| *value)), Ok(0));
    });
}

#[test]
fn panic_inside_releases_monitor() {
    watchdog(LONG, || {
        let pool = pool(2);
        let value = Monitor::new(1);
        let outcome = catch_unwind(AssertUnwindSafe(|| pool.run(|cx| value.with(cx, |_| -> () { panic!("inside") }))));
        assert!(outcome.is_err());
        assert_eq!(pool.run(|cx| value.with(cx, |value| *value)), Ok(1));
    });
}
