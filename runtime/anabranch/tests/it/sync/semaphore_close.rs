//! `Semaphore::close`: every wait ends, and nothing is acquired afterwards.

use crate::common::{
    LONG, in_pools, pool,
    waits::{Polled, until_waiting},
    watchdog,
};
use anabranch::{
    Cancelled, Error, ErrorKind, Operation, WaitError,
    channel::Select,
    sync::{AcquireError, Semaphore, SemaphoreClosed, TryAcquireError},
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

#[test]
fn closed_semaphore_refuses_every_acquisition() {
    let semaphore = Arc::new(Semaphore::new(3));
    assert!(!semaphore.is_closed());
    semaphore.close();
    semaphore.close();
    assert!(semaphore.is_closed());
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available: 3, is_closed: true }");
    for count in [0, 1, 4] {
        assert_eq!(semaphore.try_acquire_many(count).err(), Some(TryAcquireError::Closed));
        let owned = Arc::clone(&semaphore).try_acquire_many_owned(count);
        assert_eq!(owned.err(), Some(TryAcquireError::Closed));
        assert_eq!(Polled::new(semaphore.acquiring(count).into_future()).poll().unwrap().err(), Some(SemaphoreClosed));
        anabranch::run(|cx| {
            assert_eq!(semaphore.acquire_many(cx, count).err(), Some(AcquireError::Closed));
            let second = Duration::from_secs(1);
            let late = semaphore.acquiring(count).timeout(cx, second);
            assert_eq!(late.unwrap().err(), Some(SemaphoreClosed));
            let mut select = Select::from_iter([semaphore.acquiring(count)]);
            assert_eq!(select.wait(cx).unwrap().1.err(), Some(SemaphoreClosed));
        });
    }
    assert_eq!(semaphore.available(), 3);
}

#[test]
fn closing_ends_every_wait() {
    let semaphore = Semaphore::new(1);
    // More than are woken under one lock.
    let mut waiting: Vec<_> = (0..50).map(|n| Polled::waiting(semaphore.acquiring(2 + n % 3))).collect();
    semaphore.close();
    for wait in &mut waiting {
        assert!(wait.is_woken());
        assert_eq!(wait.poll().unwrap().err(), Some(SemaphoreClosed));
    }
    assert_eq!(semaphore.available(), 1);
}

#[test]
fn waiter_that_was_woken_before_finds_the_semaphore_closed() {
    let semaphore = Semaphore::new(0);
    let mut woken = Polled::waiting(semaphore.acquiring(1));
    semaphore.add_permits(1);
    assert!(woken.is_woken());
    semaphore.close();
    assert_eq!(woken.poll().unwrap().err(), Some(SemaphoreClosed));
    assert_eq!(semaphore.available(), 1);
}

#[test]
fn permits_return_to_a_closed_semaphore() {
    let semaphore = Arc::new(Semaphore::new(3));
    let mut permit = semaphore.try_acquire_many(2).unwrap();
    let owned = Arc::clone(&semaphore).try_acquire_owned().unwrap();
    semaphore.close();
    assert_eq!(semaphore.available(), 0);
    drop(permit.split(1));
    assert_eq!(semaphore.available(), 1);
    drop((permit, owned));
    semaphore.add_permits(1);
    assert_eq!((semaphore.available(), semaphore.forget(9), semaphore.available()), (4, 4, 0));
    assert_eq!(semaphore.try_acquire().err(), Some(TryAcquireError::Closed));
}

#[test]
fn closing_wakes_fibers_and_cancellation_is_told_apart() {
    watchdog(LONG, || {
        let pool = pool(2);
        let semaphore = Arc::new(Semaphore::new(0));
        let [cancelled, closed] = [1, 2].map(|waiting| {
            let semaphore = Arc::clone(&semaphore);
            let handle = pool.spawn(move |cx| semaphore.acquire(cx).map(drop));
            until_waiting(&pool, waiting, "Semaphore::acquire");
            handle
        });
        cancelled.cancel();
        assert_eq!(pool.run(|cx| cancelled.join(cx)).unwrap(), Err(AcquireError::Cancelled));
        semaphore.close();
        assert_eq!(pool.run(|cx| closed.join(cx)).unwrap(), Err(AcquireError::Closed));
    });
}

#[test]
fn nothing_is_acquired_after_a_concurrent_close() {
    watchdog(LONG, || {
        in_pools(|pool| {
            for _ in 0..100 {
                let (semaphore, refused) = (Semaphore::new(2), AtomicUsize::new(0));
                pool.run(|cx| {
                    cx.scope(|s| {
                        for n in 0..6 {
                            let (semaphore, refused) = (&semaphore, &refused);
                            s.spawn(move |cx| {
                                loop {
                                    match semaphore.acquire_many(cx, 1 + n % 2) {
                                        Ok(_permit) => cx.yield_now(),
                                        Err(error) => {
                                            assert_eq!(error, AcquireError::Closed);
                                            assert!(semaphore.is_closed() && semaphore.try_acquire().is_err());
                                            return refused.fetch_add(1, Ordering::Relaxed);
                                        }
                                    }
                                }
                            });
                        }
                        (0..3).for_each(|_| cx.yield_now());
                        semaphore.close();
                    });
                });
                assert_eq!((refused.into_inner(), semaphore.available()), (6, 2));
            }
        });
    });
}

#[test]
fn errors_convert() {
    assert_eq!(AcquireError::from(SemaphoreClosed), AcquireError::Closed);
    assert_eq!(AcquireError::from(Cancelled), AcquireError::Cancelled);
    assert_eq!(TryAcquireError::from(SemaphoreClosed), TryAcquireError::Closed);
    let kinds = [
        (Error::from(SemaphoreClosed), ErrorKind::Closed),
        (AcquireError::Cancelled.into(), ErrorKind::Cancelled),
        (WaitError::TimedOut.into(), ErrorKind::TimedOut),
        (TryAcquireError::NoPermits.into(), ErrorKind::WouldBlock),
    ];
    assert!(kinds.iter().all(|(error, kind)| error.kind() == *kind));
    assert_eq!(kinds[0].0.to_string(), "the semaphore is closed");
    assert_eq!(io::Error::from(AcquireError::Closed).kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(io::Error::from(WaitError::TimedOut).kind(), io::ErrorKind::TimedOut);
    assert_eq!(Error::from(io::Error::from(AcquireError::Cancelled)).kind(), ErrorKind::Cancelled);
}
