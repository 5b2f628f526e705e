//! `sync::Semaphore`: never more permits than exist, none lost, and granted in order of arrival.

use crate::common::{
    LONG, in_pools, panic_text, pool,
    waits::{Polled, on_the_only_thread, until_waiting, until_waiting_beside},
    watchdog,
};
use anabranch::{
    Operation, Pool, WaitError,
    sync::{AcquireError, Permit, Semaphore, SemaphoreClosed, TryAcquireError},
    time::ManualClock,
};
use proptest::prelude::*;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

static STATIC: Semaphore = Semaphore::new(2);

#[test]
fn semaphore_counts_permits() {
    assert_eq!(STATIC.available(), 2);
    let semaphore = Semaphore::from(5);
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available: 5, is_closed: false }");
    let mut permit = semaphore.try_acquire_many(4).unwrap();
    assert_eq!((permit.count(), semaphore.available()), (4, 1));
    assert_eq!(semaphore.try_acquire_many(2).err(), Some(TryAcquireError::NoPermits));
    assert_eq!(semaphore.available(), 1, "an attempt in vain takes nothing");
    assert!(permit.split(5).is_none());
    permit.split(3).unwrap().forget();
    drop(permit);
    assert_eq!(semaphore.available(), 2);
    semaphore.add_permits(7);
    assert_eq!(semaphore.forget(100), 9);
    assert_eq!(Semaphore::default().available(), 0);
}

#[test]
fn acquiring_zero_permits_always_succeeds() {
    let semaphore = Semaphore::new(0);
    assert_eq!(semaphore.try_acquire_many(0).unwrap().count(), 0);
    let _waiting = Polled::waiting(semaphore.acquiring(1));
    assert_eq!(Polled::new(semaphore.acquiring(0).into_future()).poll().unwrap().unwrap().count(), 0);
}

#[test]
fn overflow_of_permits_panics() {
    let semaphore = Semaphore::new(Semaphore::MAX_PERMITS);
    assert!(panic_text(|| semaphore.add_permits(1)).contains("more permits"));
    assert_eq!(semaphore.available(), Semaphore::MAX_PERMITS);
    assert!(panic_text(|| _ = Semaphore::new(Semaphore::MAX_PERMITS + 1)).contains("more permits"));
    assert!(semaphore.try_acquire_many(usize::MAX).is_err());
    assert_eq!(semaphore.try_acquire_many(Semaphore::MAX_PERMITS).unwrap().count(), Semaphore::MAX_PERMITS);
}

#[test]
fn semaphore_limits_concurrency() {
    const PERMITS: usize = 3;
    in_pools(|pool| {
        let semaphore = Semaphore::new(PERMITS);
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pool.run(|cx| {
            cx.scope(|s| {
                for fiber in 0..9 {
                    let (semaphore, inside, most) = (&semaphore, &inside, &most);
                    s.spawn(move |cx| {
                        let count = 1 + fiber % PERMITS;
                        let enter = |permit: Permit<'_>| {
                            let now = inside.fetch_add(count, Ordering::SeqCst) + count;
                            assert!(now <= PERMITS, "{now} are inside");
                            most.fetch_max(now, Ordering::SeqCst);
                            cx.yield_now();
                            inside.fetch_sub(count, Ordering::SeqCst);
                            drop(permit);
                        };
                        for round in 0..100 {
                            match round % 2 {
                                0 => enter(semaphore.acquire_many(cx, count).unwrap()),
                                _ => enter(cx.block_on(semaphore.acquiring(count)).unwrap().unwrap()),
                            }
                        }
                    });
                }
            });
        });
        assert_eq!(most.into_inner(), PERMITS);
        assert_eq!(semaphore.available(), PERMITS);
    });
}

#[test]
fn large_request_is_not_overtaken() {
    let semaphore = Semaphore::new(2);
    let one = semaphore.try_acquire().unwrap();
    let mut wants_two = Polled::waiting(semaphore.acquiring(2));
    assert!(semaphore.try_acquire().is_err(), "one is free, but somebody waits for two");
    let mut wants_one = Polled::waiting(semaphore.acquiring(1));
    drop(one);
    assert!(wants_two.is_woken() && !wants_one.is_woken());
    let two = wants_two.poll().unwrap();
    drop(two);
    assert!(wants_one.poll().is_some());
    assert_eq!(semaphore.available(), 2);
}

#[test]
fn abandoned_wait_unblocks_waiters_behind_it() {
    let semaphore = Semaphore::new(1);
    let wants_many = Polled::waiting(semaphore.acquiring(2));
    let mut wants_one = Polled::waiting(semaphore.acquiring(1));
    drop(wants_many);
    assert!(wants_one.is_woken());
    let one = wants_one.poll().unwrap();
    // Woken, and dropped without having been polled: the next one is woken in its place.
    let woken = Polled::waiting(semaphore.acquiring(1));
    let mut next = Polled::waiting(semaphore.acquiring(1));
    drop(one);
    assert!(woken.is_woken() && !next.is_woken());
    drop(woken);
    drop(next.poll().unwrap());
    assert_eq!(semaphore.available(), 1);
}

#[test]
fn one_release_serves_many_waiters() {
    let semaphore = Semaphore::new(0);
    let mut waiting: Vec<_> = (0..100).map(|_| Polled::waiting(semaphore.acquiring(1))).collect();
    semaphore.add_permits(70);
    assert!(waiting.iter().enumerate().all(|(index, waiter)| waiter.is_woken() == (index < 70)));
    waiting.iter_mut().take(70).for_each(|waiter| waiter.poll().unwrap().unwrap().forget());
    assert_eq!(semaphore.available(), 0);
    semaphore.add_permits(31);
    waiting.iter_mut().skip(70).for_each(|waiter| waiter.poll().unwrap().unwrap().forget());
    assert_eq!(semaphore.available(), 1);
}

#[test]
fn cancelled_waiter_takes_no_permit() {
    watchdog(LONG, || {
        let pool = pool(2);
        let semaphore = Arc::new(Semaphore::new(0));
        let [first, second] = [2, 1].map(|count| {
            let semaphore = Arc::clone(&semaphore);
            let handle = pool.spawn(move |cx| semaphore.acquire_many(cx, count).map(Permit::forget));
            until_waiting(&pool, 3 - count, "Semaphore::acquire");
            handle
        });
        semaphore.add_permits(1);
        assert!(!second.is_finished());
        first.cancel();
        assert_eq!(pool.run(|cx| first.join(cx)).unwrap(), Err(AcquireError::Cancelled));
        assert_eq!(pool.run(|cx| second.join(cx)).unwrap(), Ok(()));
        assert_eq!(semaphore.available(), 0);
    });
}

#[test]
fn grant_precedes_later_cancellation() {
    watchdog(LONG, || {
        let semaphore = Arc::new(Semaphore::new(0));
        let got = on_the_only_thread(|cx| {
            let handle = anabranch::spawn({
                let semaphore = Arc::clone(&semaphore);
                move |cx| semaphore.acquire(cx).map(|permit| permit.count())
            });
            until_waiting_beside(cx, 1, "Semaphore::acquire");
            // The other cannot go on before this one waits.
            semaphore.add_permits(1);
            handle.cancel();
            handle.join(cx).unwrap()
        });
        assert_eq!(got, Ok(1));
        assert_eq!(semaphore.available(), 1);
    });
}

#[test]
fn waits_end_at_deadlines() {
    type Wait = fn(&Semaphore, &anabranch::Cx<'_>) -> Result<Result<(), SemaphoreClosed>, WaitError>;
    watchdog(LONG, || {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(clock.clock()).build().unwrap();
        let semaphore = Arc::new(Semaphore::new(1));
        let minute = Duration::from_secs(60);
        let wait = |wait: Wait| {
            let semaphore = Arc::clone(&semaphore);
            pool.spawn(move |cx| wait(&semaphore, cx))
        };
        let many = wait(|s, cx| s.acquiring(2).timeout(cx, Duration::from_secs(60)).map(|got| got.map(drop)));
        until_waiting(&pool, 1, "Semaphore::acquire");
        let others = [
            wait(|s, cx| s.acquiring(1).timeout(cx, Duration::from_secs(120)).map(|got| got.map(drop))),
            wait(|s, cx| s.acquiring(1).deadline(cx, cx.now() + Duration::from_secs(120)).map(|got| got.map(drop))),
        ];
        until_waiting(&pool, 3, "Semaphore::acquire");
        clock.advance(minute);
        // The first one gives up, and the others need no longer wait for it.
        assert_eq!(pool.run(|cx| many.join(cx)).unwrap(), Err(WaitError::TimedOut));
        for other in others {
            assert_eq!(pool.run(|cx| other.join(cx)).unwrap(), Ok(Ok(())));
        }
        assert_eq!(semaphore.available(), 1);
    });
}

#[test]
fn concurrent_cancellations_and_releases_lose_no_permit() {
    watchdog(LONG, || {
        let pool = pool(2);
        let semaphore = Arc::new(Semaphore::new(3));
        for _ in 0..300 {
            let handles: Vec<_> = (0..8)
                .map(|n| {
                    let semaphore = Arc::clone(&semaphore);
                    pool.spawn(move |cx| {
                        if let Ok(_permit) = semaphore.acquire_many(cx, 1 + n % 3) {
                            cx.yield_now();
                        }
                    })
                })
                .collect();
            handles.iter().step_by(2).for_each(|handle| handle.cancel());
            handles.into_iter().for_each(|handle| pool.run(|cx| handle.join(cx)).unwrap());
            assert_eq!(semaphore.available(), 3);
        }
    });
}

/// An operation on a semaphore.
#[derive(Debug, Clone, Copy)]
enum Step {
    Try(usize),
    Wait(usize),
    /// Drops the held permit of this index, forgets it, or splits it.
    Drop(usize),
    Leak(usize),
    Split(usize),
    /// Polls or drops the future of this index.
    Poll(usize),
    Abandon(usize),
    Add(usize),
    Forget(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..5_usize).prop_map(Step::Try),
        (0..5_usize).prop_map(Step::Wait),
        (0..5_usize).prop_map(Step::Wait),
        any::<usize>().prop_map(Step::Drop),
        any::<usize>().prop_map(Step::Drop),
        any::<usize>().prop_map(Step::Leak),
        any::<usize>().prop_map(Step::Split),
        any::<usize>().prop_map(Step::Poll),
        any::<usize>().prop_map(Step::Poll),
        any::<usize>().prop_map(Step::Abandon),
        (0..5_usize).prop_map(Step::Add),
        (0..5_usize).prop_map(Step::Forget),
    ];
    proptest::collection::vec(step, 0..60)
}

type AcquireFuture<'a> = Pin<Box<dyn Future<Output = Result<Permit<'a>, SemaphoreClosed>> + 'a>>;

/// A wait for permits, and how often it had been woken when it was last polled.
struct Acquiring<'a> {
    count: usize,
    future: Polled<AcquireFuture<'a>>,
    seen: usize,
}

impl<'a> Acquiring<'a> {
    fn is_on_its_way(&self) -> bool {
        self.future.wakes() > self.seen
    }

    fn poll(&mut self) -> Option<Permit<'a>> {
        self.seen = self.future.wakes();
        self.future.poll().map(Result::unwrap)
    }
}

/// Independent of the clock: a waiter that was overtaken for long is handed its permits.
fn check(
    semaphore: &Semaphore,
    total: usize,
    held: &[Permit<'_>],
    waiting: &[Acquiring<'_>],
) -> Result<(), TestCaseError> {
    let held: usize = held.iter().map(Permit::count).sum();
    let on_their_way: usize = waiting.iter().filter(|wait| wait.is_on_its_way()).map(|wait| wait.count).sum();
    let handed = (total - held).checked_sub(semaphore.available());
    prop_assert!(handed.is_some_and(|handed| handed <= on_their_way), "{handed:?} of {on_their_way}");
    if on_their_way == 0 && !waiting.is_empty() {
        let is_one_too_big = waiting.iter().any(|wait| wait.count > semaphore.available());
        prop_assert!(is_one_too_big, "all could go on, and nobody was woken");
    }
    Ok(())
}

proptest! {
    #[test]
    fn random_operations_lose_no_permit_and_no_waiter(start in 0..4_usize, steps in steps()) {
        let semaphore = Semaphore::new(start);
        let mut total = start;
        let mut held: Vec<Permit<'_>> = Vec::new();
        let mut waiting: Vec<Acquiring<'_>> = Vec::new();
        for step in steps {
            let free = semaphore.available();
            let is_closed = !waiting.is_empty() && !waiting.iter().any(Acquiring::is_on_its_way);
            let may_acquire = |count| count == 0 || free >= count && !is_closed;
            match step {
                Step::Try(count) => {
                    let permit = semaphore.try_acquire_many(count).ok();
                    prop_assert!(permit.is_none() || may_acquire(count));
                    prop_assert!(permit.is_some() || !waiting.is_empty() || free < count);
                    held.extend(permit);
                }
                Step::Wait(count) => {
                    let future: AcquireFuture<'_> = Box::pin(semaphore.acquiring(count).into_future());
                    let mut wait = Acquiring { count, future: Polled::new(future), seen: 0 };
                    let permit = wait.poll();
                    prop_assert!(permit.is_none() || may_acquire(count));
                    if permit.is_none() {
                        waiting.push(wait);
                    }
                    held.extend(permit);
                }
                Step::Drop(index) if !held.is_empty() => drop(held.swap_remove(index % held.len())),
                Step::Leak(index) if !held.is_empty() => {
                    let permit = held.swap_remove(index % held.len());
                    total -= permit.count();
                    permit.forget();
                }
                Step::Split(index) if !held.is_empty() => {
                    let index = index % held.len();
                    let half = held[index].count() / 2;
                    let part = held[index].split(half).unwrap();
                    held.push(part);
                }
                Step::Poll(index) if !waiting.is_empty() => {
                    let index = index % waiting.len();
                    let was_woken = waiting[index].is_on_its_way();
                    if let Some(permit) = waiting[index].poll() {
                        prop_assert!(was_woken && permit.count() == waiting[index].count);
                        held.push(permit);
                        drop(waiting.remove(index));
                    } else {
                        prop_assert!(!was_woken || free < waiting[index].count);
                    }
                }
                Step::Abandon(index) if !waiting.is_empty() => drop(waiting.remove(index % waiting.len())),
                Step::Add(count) => {
                    semaphore.add_permits(count);
                    total += count;
                }
                Step::Forget(count) => {
                    prop_assert_eq!(semaphore.forget(count), count.min(free));
                    total -= count.min(free);
                }
                _ => {}
            }
            check(&semaphore, total, &held, &waiting)?;
        }
        // Each woken waiter returns its permits: then every waiter that can be served is served.
        held.clear();
        while let Some(index) = waiting.iter().position(Acquiring::is_on_its_way) {
            if waiting[index].poll().is_some() {
                waiting.remove(index);
            }
            check(&semaphore, total, &held, &waiting)?;
        }
        prop_assert!(waiting.is_empty() || waiting.iter().any(|wait| wait.count > total));
        waiting.clear();
        prop_assert_eq!(semaphore.available(), total);
    }
}
