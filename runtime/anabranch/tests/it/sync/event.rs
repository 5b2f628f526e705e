//! `sync::Event`: all waiters wake once, and later ones do not wait until it is reset.

use crate::common::{
    LONG, in_pools, pool,
    waits::{Polled, until_waiting},
    watchdog,
};
use anabranch::{Operation, Pool, WaitError, sync::Event, time::ManualClock};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

static STATIC: Event = Event::new();

#[test]
fn event_is_set_until_reset() {
    assert!(!STATIC.is_set());
    let event = Event::default();
    assert_eq!(format!("{event:?}"), "Event { is_set: false }");
    event.set();
    event.set();
    assert!(event.is_set());
    assert!(Polled::new(event.waiting().into_future()).poll().is_some());
    assert_eq!(anabranch::run(|cx| event.wait(cx)), Ok(()));
    event.reset();
    event.reset();
    assert!(!event.is_set());
}

#[test]
fn set_wakes_all_waiters() {
    in_pools(|pool| {
        let event = Event::new();
        let woken = AtomicUsize::new(0);
        thread::scope(|threads| {
            threads.spawn(|| pool.run(|cx| event.wait(cx).map(|()| woken.fetch_add(1, Ordering::Relaxed))));
            pool.run(|cx| {
                cx.scope(|s| {
                    for fiber in 0..50 {
                        let (event, woken) = (&event, &woken);
                        s.spawn(move |cx| {
                            match fiber % 2 {
                                0 => event.wait(cx).unwrap(),
                                _ => cx.block_on(event.waiting()).unwrap(),
                            }
                            woken.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                    cx.yield_now();
                    event.set();
                });
            });
        });
        assert_eq!(woken.into_inner(), 51);
    });
}

#[test]
fn woken_waiter_proceeds_after_reset() {
    let event = Event::new();
    // More than are woken at a time.
    let mut early: Vec<_> = (0..50).map(|_| Polled::waiting(event.waiting())).collect();
    event.set();
    event.reset();
    let mut late = Polled::waiting(event.waiting());
    assert!(early.iter_mut().all(|waiter| waiter.wakes() == 1 && waiter.poll().is_some()));
    assert!(!late.is_woken() && late.poll().is_none());
    event.set();
    assert!(late.poll().is_some());
}

/// An event is a state: a wait begins when it is polled first, and sees the state of that time.
#[test]
fn wait_that_was_not_polled_misses_event_that_is_reset() {
    let event = Event::new();
    let begun = Polled::waiting(event.waiting());
    let (mut created, operation) = (Polled::new(event.waiting().into_future()), event.waiting());
    event.set();
    event.reset();
    assert!(begun.is_woken());
    assert!(created.poll().is_none());
    assert_eq!(anabranch::run(|cx| anabranch::select!(cx, { () = operation => 1, default => 2 })), Ok(2));
    event.set();
    assert!(created.is_woken() && created.poll().is_some());
}

#[test]
fn futures_may_be_dropped_in_every_state() {
    let event = Event::new();
    drop(event.waiting().into_future());
    let mut stays = Polled::waiting(event.waiting());
    drop(Polled::waiting(event.waiting()));
    let woken = Polled::waiting(event.waiting());
    event.set();
    drop(woken);
    assert!(stays.poll().is_some());
}

#[test]
fn cancelled_and_timed_out_waiters_leave() {
    watchdog(LONG, || {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(2).clock(clock.clock()).build().unwrap();
        let event = Arc::new(Event::new());
        let wait = |wait: fn(&Event, &anabranch::Cx<'_>) -> Result<(), WaitError>| {
            let event = Arc::clone(&event);
            pool.spawn(move |cx| wait(&event, cx))
        };
        let cancelled = wait(|event, cx| event.wait(cx).map_err(WaitError::from));
        let late = wait(|event, cx| event.waiting().timeout(cx, Duration::from_secs(60)));
        let late_too = wait(|event, cx| event.waiting().deadline(cx, cx.now() + Duration::from_secs(60)));
        let in_time = wait(|event, cx| event.waiting().timeout(cx, Duration::from_secs(62)));
        until_waiting(&pool, 4, "Event::wait");
        cancelled.cancel();
        clock.advance(Duration::from_secs(61));
        until_waiting(&pool, 1, "Event::wait");
        event.set();
        let outcomes = [cancelled, late, late_too, in_time].map(|handle| pool.run(|cx| handle.join(cx)).unwrap());
        use WaitError::TimedOut;
        assert_eq!(outcomes, [Err(WaitError::Cancelled), Err(TimedOut), Err(TimedOut), Ok(())]);
    });
}

#[test]
fn set_publishes_earlier_writes() {
    in_pools(|pool| {
        const ROUNDS: u64 = 2000;
        let (there, back) = (Event::new(), Event::new());
        let value = AtomicU64::new(0);
        pool.run(|cx| {
            cx.join(
                |cx| {
                    for round in 1..=ROUNDS {
                        value.store(round, Ordering::Relaxed);
                        there.set();
                        back.wait(cx).unwrap();
                        back.reset();
                    }
                },
                |cx| {
                    for round in 1..=ROUNDS {
                        there.wait(cx).unwrap();
                        there.reset();
                        assert_eq!(value.load(Ordering::Relaxed), round);
                        back.set();
                    }
                },
            );
        });
    });
}

#[test]
fn concurrent_waits_cancellations_and_sets_are_safe() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..300 {
            let event = Arc::new(Event::new());
            let handles: Vec<_> = (0..6)
                .map(|_| {
                    let event = Arc::clone(&event);
                    pool.spawn(move |cx| event.wait(cx))
                })
                .collect();
            handles[0].cancel();
            event.set();
            handles[1].cancel();
            let outcomes: Vec<_> = handles.into_iter().map(|handle| pool.run(|cx| handle.join(cx)).unwrap()).collect();
            // The two that were cancelled may have returned either.
            assert!(outcomes[2..].iter().all(Result::is_ok));
        }
    });
}
