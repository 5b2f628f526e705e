//! `sync::OnceCell` and `sync::Once`: initialised once, also when the first attempts fail.

use crate::common::{
    LONG, Tally, in_pools, pool,
    waits::{Polled, until_waiting},
    watchdog,
};
use anabranch::{
    Cancelled, JoinError,
    sync::{Once, OnceCell},
};
use std::{
    future::{pending, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

static STATIC: OnceCell<u32> = OnceCell::new();

#[test]
fn once_cell_has_container_api() {
    assert_eq!(STATIC.get(), None);
    let mut cell = OnceCell::from(vec![1]);
    cell.get_mut().unwrap().push(2);
    assert_eq!(format!("{cell:?}"), "OnceCell([1, 2])");
    assert_eq!(cell.set(vec![]), Err(vec![]));
    assert_eq!(cell.take(), Some(vec![1, 2]));
    assert_eq!(format!("{cell:?}"), "OnceCell(<empty>)");
    assert_eq!(cell.set(vec![3]), Ok(()));
    assert_eq!(cell.into_inner(), Some(vec![3]));
    let tally = Tally::default();
    drop(OnceCell::from(tally.make()));
    drop(OnceCell::new().set(tally.make()));
    tally.assert_all_dropped();
}

#[test]
fn one_of_many_initialises_and_all_see_value() {
    in_pools(|pool| {
        for _ in 0..20 {
            let (cell, calls) = (OnceCell::new(), AtomicUsize::new(0));
            pool.run(|cx| {
                cx.scope(|s| {
                    for fiber in 0..40 {
                        let (cell, calls) = (&cell, &calls);
                        s.spawn(move |cx| {
                            let value = match fiber % 2 {
                                0 => cell.get_or_init(cx, |cx| {
                                    calls.fetch_add(1, Ordering::Relaxed);
                                    cx.yield_now();
                                    vec![fiber]
                                }),
                                _ => cx.block_on(cell.get_or_init_async(async || {
                                    calls.fetch_add(1, Ordering::Relaxed);
                                    vec![fiber]
                                })),
                            };
                            assert_eq!(value, Ok(cell.get().unwrap()));
                        });
                    }
                });
            });
            assert_eq!(calls.into_inner(), 1);
        }
    });
}

#[test]
fn failed_or_panicked_initialiser_is_retried() {
    watchdog(LONG, || {
        let pool = pool(2);
        let cell = Arc::new(OnceCell::new());
        let attempt = |outcome: fn() -> Result<u32, Cancelled>| {
            let cell = Arc::clone(&cell);
            pool.spawn(move |cx| {
                cell.get_or_try_init(cx, |cx| {
                    cx.sleep(Duration::from_millis(1))?;
                    outcome()
                })
                .copied()
            })
        };
        let attempts = [attempt(|| Err(Cancelled)), attempt(|| panic!("in the initialiser")), attempt(|| Ok(7))];
        let [failed, panicked, made] = attempts.map(|attempt| pool.run(|cx| attempt.join(cx)));
        // Callers after the initialisation got the value.
        assert!(matches!(failed, Ok(Err(Cancelled) | Ok(7))));
        assert!(matches!(panicked, Err(JoinError::Panicked(_)) | Ok(Ok(7))));
        assert!(matches!(made, Ok(Ok(7))));
        assert_eq!(cell.get(), Some(&7));
    });
}

#[test]
fn panic_leaves_cell_empty() {
    let cell = OnceCell::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| anabranch::run(|cx| cell.get_or_init(cx, |_| panic!()).copied())));
    assert!(outcome.is_err());
    assert_eq!(cell.get(), None);
    assert_eq!(anabranch::run(|cx| cell.get_or_init(cx, |_| 1)), Ok(&1));
}

#[test]
fn cancelled_initialiser_is_replaced_and_cancelled_waiter_leaves() {
    watchdog(LONG, || {
        let pool = pool(1);
        let cell = Arc::new(OnceCell::new());
        let attempt = |seconds| {
            let cell = Arc::clone(&cell);
            pool.spawn(move |cx| {
                cell.get_or_try_init(cx, |cx| {
                    cx.sleep(Duration::from_secs(seconds))?;
                    Ok::<_, Cancelled>(seconds)
                })
                .copied()
            })
        };
        let first = attempt(3600);
        until_waiting(&pool, 1, "sleep");
        assert_eq!(cell.set(1), Err(1), "somebody is just making one");
        let waits = attempt(3600);
        until_waiting(&pool, 1, "OnceCell");
        let last = attempt(0);
        until_waiting(&pool, 2, "OnceCell");
        waits.cancel();
        until_waiting(&pool, 1, "OnceCell");
        first.cancel();
        let outcomes = [first, waits, last].map(|handle| pool.run(|cx| handle.join(cx)).unwrap());
        assert_eq!(outcomes, [Err(Cancelled), Err(Cancelled), Ok(0)]);
        // In a cancelled scope nothing is begun, nor looked up.
        pool.run(|cx| {
            cx.cancellable(|cx, canceller| {
                canceller.cancel();
                assert_eq!(cell.get_or_init(cx, |_| 0), Err(Cancelled));
            });
        });
    });
}

#[test]
fn dropped_initialiser_is_replaced() {
    let cell = OnceCell::new();
    let initialises = Polled::waiting(cell.get_or_init_async(pending::<u32>));
    let waits = Polled::waiting(cell.get_or_init_async(async || 1));
    let mut next = Polled::waiting(cell.get_or_try_init_async(async || Err::<u32, _>("refused")));
    let mut last = Polled::waiting(cell.get_or_init_async(async || 3));
    drop(initialises);
    assert!(waits.is_woken() && !next.is_woken());
    drop(waits);
    assert_eq!(next.poll(), Some(Err("refused")));
    assert_eq!(last.poll(), Some(&3));
}

#[test]
fn initialisation_wakes_all_waiters() {
    let cell = OnceCell::new();
    let mut is_ready = false;
    let mut first = Polled::waiting(cell.get_or_init_async(|| {
        poll_fn(move |_| if std::mem::replace(&mut is_ready, true) { Poll::Ready(5) } else { Poll::Pending })
    }));
    let mut others: Vec<_> = (0..40).map(|_| Polled::waiting(cell.get_or_init_async(async || 6))).collect();
    assert_eq!(first.poll(), Some(&5));
    assert!(others.iter().all(Polled::is_woken));
    assert!(others.iter_mut().all(|other| other.poll() == Some(&5)));
}

#[test]
fn once_runs_once() {
    in_pools(|pool| {
        let (once, calls) = (Once::new(), AtomicUsize::new(0));
        assert!(!once.is_done());
        pool.run(|cx| {
            assert_eq!(once.try_call(cx, |_| Err(Cancelled)), Err(Cancelled));
            assert!(!once.is_done());
            cx.scope(|s| {
                for fiber in 0..20 {
                    let (once, calls) = (&once, &calls);
                    s.spawn(move |cx| {
                        match fiber % 2 {
                            0 => once.call(cx, |_| _ = calls.fetch_add(1, Ordering::Relaxed)).unwrap(),
                            _ => cx
                                .block_on(once.call_async(async || _ = calls.fetch_add(1, Ordering::Relaxed)))
                                .unwrap(),
                        }
                        assert_eq!(calls.load(Ordering::Relaxed), 1);
                    });
                }
            });
        });
        assert_eq!(format!("{once:?}"), "Once { is_done: true }");
    });
}
