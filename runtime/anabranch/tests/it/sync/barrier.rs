//! `sync::Barrier`: all parties pass together, in every round, and one of them leads.

use crate::common::{
    LONG,
    fibers::until,
    in_pools, pool,
    waits::{Polled, on_the_only_thread, until_waiting, until_waiting_beside},
    watchdog,
};
use anabranch::{Cancelled, Pool, WaitError, sync::Barrier, time::ManualClock};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

static STATIC: Barrier = Barrier::new(1);

#[test]
fn barrier_of_one_does_not_wait() {
    watchdog(LONG, || {
        anabranch::run(|cx| {
            assert_eq!(STATIC.wait(cx), Ok(true));
            assert_eq!(Barrier::new(0).wait(cx), Ok(true));
        });
        assert_eq!(format!("{STATIC:?}"), "Barrier { parties: 1, arrived: 0 }");
    });
}

#[test]
fn barrier_releases_all_parties_in_each_round() {
    const PARTIES: usize = 40;
    const ROUNDS: usize = 30;
    in_pools(|pool| {
        let barrier = Barrier::new(PARTIES);
        let (arrived, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pool.run(|cx| {
            cx.scope(|s| {
                for party in 0..PARTIES {
                    let (barrier, arrived, leaders) = (&barrier, &arrived, &leaders);
                    s.spawn(move |cx| {
                        for round in 1..=ROUNDS {
                            arrived.fetch_add(1, Ordering::Relaxed);
                            let leads = match party % 2 {
                                0 => barrier.wait(cx).unwrap(),
                                _ => cx.block_on(barrier.wait_async()).unwrap(),
                            };
                            let now = arrived.load(Ordering::Relaxed);
                            assert!((round * PARTIES..=(round + 1) * PARTIES).contains(&now), "{now} in {round}");
                            leaders.fetch_add(usize::from(leads), Ordering::Relaxed);
                        }
                    });
                }
            });
        });
        assert_eq!(leaders.into_inner(), ROUNDS);
    });
}

#[test]
fn departed_party_no_longer_counts() {
    let barrier = Barrier::new(3);
    drop(barrier.wait_async());
    let mut first = Polled::waiting(barrier.wait_async());
    drop(Polled::waiting(barrier.wait_async()));
    let mut second = Polled::waiting(barrier.wait_async());
    assert!(!first.is_woken());
    let woken = Polled::new(barrier.wait_async()).poll();
    assert_eq!((first.poll(), second.poll(), woken), (Some(false), Some(false), Some(true)));
    // One that is dropped when its round is over takes nothing from the next.
    let dropped = Polled::waiting(barrier.wait_async());
    let mut stays = Polled::waiting(barrier.wait_async());
    assert_eq!(Polled::new(barrier.wait_async()).poll(), Some(true));
    let mut next = Polled::waiting(barrier.wait_async());
    drop(dropped);
    assert_eq!(stays.poll(), Some(false));
    let _also_next = Polled::waiting(barrier.wait_async());
    assert_eq!(Polled::new(barrier.wait_async()).poll(), Some(true));
    assert_eq!(next.poll(), Some(false));
}

#[test]
fn cancelled_and_timed_out_parties_leave() {
    watchdog(LONG, || {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(clock.clock()).build().unwrap();
        let barrier = Arc::new(Barrier::new(5));
        let wait = |wait: fn(&Barrier, &anabranch::Cx<'_>) -> Result<bool, WaitError>| {
            let barrier = Arc::clone(&barrier);
            pool.spawn(move |cx| wait(&barrier, cx))
        };
        let late = wait(|barrier, cx| cx.timeout(Duration::from_secs(60), |cx| Ok(barrier.wait(cx)?)));
        let late_too =
            wait(|barrier, cx| cx.with_deadline(cx.now() + Duration::from_secs(60), |cx| Ok(barrier.wait(cx)?)));
        let [one, other] = [(); 2].map(|()| wait(|barrier, cx| Ok(barrier.wait(cx)?)));
        until_waiting(&pool, 4, "Barrier::wait");
        clock.advance(Duration::from_secs(60));
        one.cancel();
        // A woken party no longer waits, but counts until it has left, which the list of fibers does not show.
        until(|| format!("{barrier:?}") == "Barrier { parties: 5, arrived: 1 }");
        for _ in 0..3 {
            drop(wait(|barrier, cx| Ok(barrier.wait(cx)?)));
        }
        until_waiting(&pool, 4, "Barrier::wait");
        assert_eq!(pool.run(|cx| barrier.wait(cx)), Ok(true));
        let outcomes = [late, late_too, one, other].map(|handle| pool.run(|cx| handle.join(cx)).unwrap());
        use WaitError::TimedOut;
        assert_eq!(outcomes, [Err(TimedOut), Err(TimedOut), Err(WaitError::Cancelled), Ok(false)]);
    });
}

#[test]
fn party_cancelled_after_release_has_passed() {
    watchdog(LONG, || {
        let barrier = Arc::new(Barrier::new(2));
        let outcome = on_the_only_thread(|cx| {
            let other = anabranch::spawn({
                let barrier = Arc::clone(&barrier);
                move |cx| barrier.wait(cx)
            });
            until_waiting_beside(cx, 1, "Barrier::wait");
            // The other cannot go on before this one waits.
            assert_eq!(barrier.wait(cx), Ok(true));
            other.cancel();
            other.join(cx).unwrap()
        });
        assert_eq!(outcome, Ok(false));
    });
}

#[test]
fn concurrent_arrivals_and_cancellations_are_safe() {
    watchdog(LONG, || {
        let pool = pool(2);
        for _ in 0..300 {
            let barrier = Arc::new(Barrier::new(3));
            let [unsure, one, other] = [(); 3].map(|()| {
                let barrier = Arc::clone(&barrier);
                pool.spawn(move |cx| barrier.wait(cx))
            });
            unsure.cancel();
            pool.run(|cx| {
                let third = match unsure.join(cx).unwrap() {
                    Ok(leads) => leads,
                    // It has left, and another party has to arrive instead.
                    Err(Cancelled) => barrier.wait(cx).unwrap(),
                };
                let passed = [third, one.join(cx).unwrap().unwrap(), other.join(cx).unwrap().unwrap()];
                assert_eq!(passed.into_iter().filter(|&leads| leads).count(), 1);
            });
        }
    });
}
