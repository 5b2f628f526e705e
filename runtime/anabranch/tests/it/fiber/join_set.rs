//! Join sets and unordered maps: results in the order of the ends, panics, cancellation of one and of all, detaching.

use crate::common::{
    LONG, Tally,
    fibers::{Event, FOREVER, in_all_pools, on_fiber, until_in, with_every_cx},
    panic_text, watchdog,
};
use anabranch::{
    Cancelled, Cx, JoinError, Operation, Pool, WaitError, channel,
    fiber::{CancelHandle, JoinSet},
    select,
};
use std::{
    panic::panic_any,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

#[test]
fn join_next_returns_results_in_order_of_ends() {
    with_every_cx(|cx| {
        let gates: Vec<Event> = (0..20).map(|_| Event::default()).collect();
        cx.scope(|s| {
            let mut set = s.join_set();
            for (n, gate) in gates.iter().enumerate() {
                set.spawn(move |cx| gate.wait(cx).map(|()| n));
            }
            assert_eq!((set.len(), set.is_empty()), (20, false));
            assert!(set.try_join_next().unwrap().is_none());
            assert_eq!(set.joining().timeout(cx, Duration::from_millis(1)).unwrap_err(), WaitError::TimedOut);
            for n in [7, 3, 19, 0] {
                gates[n].set();
                assert_eq!(set.join_next(s).unwrap(), Some(Ok(n)));
            }
            gates.iter().for_each(Event::set);
            let mut rest: Vec<_> = set.join_all(s).unwrap().into_iter().map(Result::unwrap).collect();
            rest.sort_unstable();
            assert_eq!(rest, (1..19).filter(|n| ![7, 3].contains(n)).collect::<Vec<_>>());
        });
    });
}

#[test]
fn empty_set_has_no_next() {
    with_every_cx(|cx| {
        cx.scope(|s| {
            let mut set: JoinSet<'_, '_, ()> = s.join_set();
            assert_eq!(set.join_next(s).unwrap(), None);
            assert_eq!(set.try_join_next().unwrap(), None);
            set.spawn(|_| ());
            assert_eq!(set.join_next(s).unwrap(), Some(()));
            assert_eq!(set.join_next(s).unwrap(), None);
            set.shutdown(s);
            // In a selection it is not ready, so a loop with other operations does not spin.
            let timed_out = select!(s, {
                _ = set.joining() => false,
                () = s.sleeping(Duration::from_micros(100)) => true,
            });
            assert_eq!(timed_out, Ok(true));
        });
    });
}

#[test]
fn panic_is_result_of_its_fiber_alone() {
    with_every_cx(|cx| {
        cx.scope(|s| {
            let mut set = s.join_set();
            set.spawn(|_| panic!("one of them"));
            let error = set.join_next(s).unwrap_err();
            assert_eq!(error.to_string(), "the fiber panicked: one of them");
            assert!(!s.is_cancelled());
            set.spawn(|cx| cx.check());
            assert_eq!(set.join_next(s).unwrap(), Some(Ok(())));
        });
    });
}

#[test]
fn handle_cancels_one_fiber_before_and_after_its_start() {
    with_every_cx(|cx| {
        cx.scope(|s| {
            let mut set = s.join_set();
            let handles: Vec<CancelHandle> =
                (0..10).map(|n| set.spawn_named("member", move |cx| (n, cx.sleep(FOREVER)))).collect();
            for n in [4, 9, 0] {
                handles[n].cancel();
                assert!(handles[n].is_cancelled());
                assert_eq!(set.join_next(s).unwrap(), Some((n, Err(Cancelled))));
            }
            assert!(!handles[1].is_cancelled());
            // The next one takes the place of one that has ended, whose handle does not reach it.
            let late = set.spawn(|cx| {
                cx.yield_now();
                (10, cx.check())
            });
            handles.iter().filter(|handle| handle.is_cancelled()).for_each(CancelHandle::cancel);
            assert_eq!(set.join_next(s).unwrap(), Some((10, Ok(()))));
            assert!(!late.is_cancelled());
            set.cancel_all();
        });
    });
}

#[test]
fn cancel_all_keeps_the_fibers_and_spares_later_ones() {
    with_every_cx(|cx| {
        cx.scope(|s| {
            let mut set = s.join_set();
            for _ in 0..10 {
                set.spawn(|cx| cx.sleep(FOREVER));
            }
            set.cancel_all();
            assert_eq!(set.len(), 10);
            set.spawn(|cx| cx.sleep(Duration::from_micros(10)));
            let results = set.join_all(s).unwrap();
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
            assert_eq!((results.len(), s.check()), (11, Ok(())));
        });
    });
}

#[test]
fn shutdown_waits_for_the_end_of_all() {
    with_every_cx(|cx| {
        let ended = AtomicUsize::new(0);
        cx.scope(|s| {
            let mut set = s.join_set();
            for _ in 0..10 {
                set.spawn(|cx| {
                    _ = cx.sleep(FOREVER);
                    cx.shield(|cx| cx.sleep(Duration::from_micros(100))).unwrap();
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }
            // In a cancelled scope too.
            s.cancel();
            set.shutdown(s);
            assert_eq!((ended.load(Ordering::Relaxed), set.len()), (10, 0));
            set.spawn(|_| ());
            while set.try_join_next().unwrap().is_none() {
                cx.yield_now();
            }
        });
    });
}

#[test]
fn wait_of_join_next_is_cancelled_and_loses_nothing() {
    with_every_cx(|cx| {
        cx.scope(|s| {
            let gate = Event::default();
            let mut set = s.join_set();
            let other = gate.clone();
            set.spawn(move |cx| other.wait(cx).map(|()| 5));
            let late = s.timeout(Duration::from_millis(1), |cx| Ok::<_, JoinError>(set.join_next(cx)?.is_some()));
            assert!(matches!(late, Err(JoinError::TimedOut)));
            assert_eq!(set.len(), 1);
            gate.set();
            assert_eq!(set.join_next(s).unwrap(), Some(Ok(5)));
            // A result that is there needs no wait.
            set.spawn(|_| Ok(6));
            s.cancellable(|cx, handle| {
                until_in(s, || format!("{set:?}").contains("ready: 1"));
                handle.cancel();
                assert!(matches!(set.join_next(cx), Ok(Some(Ok(6)))));
                set.spawn(|cx| cx.sleep(FOREVER).map(|()| 7));
                assert!(matches!(set.join_next(cx), Err(JoinError::Cancelled)));
                set.shutdown(cx);
            });
        });
    });
}

#[test]
fn dropped_set_cancels_and_drops_results() {
    with_every_cx(|cx| {
        let (tally, ended) = (Tally::default(), AtomicUsize::new(0));
        cx.scope(|s| {
            let mut set = s.join_set();
            for n in 0..10 {
                let (value, ended) = (tally.make(), &ended);
                set.spawn(move |cx| {
                    if n % 2 == 0 {
                        assert_eq!(cx.sleep(FOREVER), Err(Cancelled));
                    }
                    ended.fetch_add(1, Ordering::Relaxed);
                    value
                });
            }
            drop(set);
            // The scope continues, and waits for them.
            assert!(!s.is_cancelled());
        });
        assert_eq!(ended.into_inner(), 10);
        tally.assert_all_dropped();
    });
}

#[test]
fn detached_fibers_are_not_cancelled() {
    with_every_cx(|cx| {
        let (tally, gate) = (Tally::default(), Event::default());
        cx.scope(|s| {
            let mut set = s.join_set();
            for _ in 0..10 {
                let (value, gate) = (tally.make(), &gate);
                set.spawn(move |cx| {
                    gate.wait(cx).unwrap();
                    value
                });
            }
            set.detach_all();
            assert!(set.is_empty());
            set.spawn(|_| tally.make());
            assert!(set.join_next(s).unwrap().is_some());
            drop(set);
            gate.set();
        });
        tally.assert_all_dropped();
    });
}

#[test]
fn panics_that_are_not_taken_go_to_the_handler() {
    crate::common::silence_panics_with::<Counted>();
    struct Counted(#[expect(dead_code, reason = "dropped")] crate::common::Counted);
    watchdog(LONG, || {
        let (tally, seen) = (Tally::default(), Arc::new(Mutex::new(0)));
        let count = Arc::clone(&seen);
        let pool = Pool::builder().threads(2).on_panic(move |_| *count.lock().unwrap() += 1).build().unwrap();
        let values = tally.clone();
        on_fiber(&pool, move |cx| {
            cx.scope(|s| {
                let mut set: JoinSet<'_, '_, ()> = s.join_set();
                for n in 0..9 {
                    let value = values.make();
                    set.spawn(move |cx| {
                        if n % 3 == 0 {
                            _ = cx.sleep(FOREVER);
                        }
                        panic_any(Counted(value));
                    });
                }
                set.shutdown(s);
                for _ in 0..9 {
                    let value = values.make();
                    set.spawn(move |cx| {
                        _ = cx.sleep(FOREVER);
                        panic_any(Counted(value));
                    });
                }
            });
        });
        drop(pool);
        assert_eq!(*seen.lock().unwrap(), 18);
        tally.assert_all_dropped();
    });
}

#[test]
fn select_takes_members_and_messages() {
    with_every_cx(|cx| {
        let (sender, requests) = channel::bounded(1);
        let sums = cx.scope(|s| {
            s.spawn(move |cx| (0..100u64).for_each(|n| sender.send(cx, n).unwrap()));
            let (mut set, mut asked, mut answered) = (s.join_set(), 0, 0);
            loop {
                let is_open = select!(s, {
                    request = requests.receiving() => match request {
                        Ok(n) => {
                            asked += n;
                            set.spawn(move |cx| { cx.yield_now(); n });
                            true
                        }
                        Err(_) => false,
                    },
                    answer = set.joining() => {
                        answered += answer.unwrap();
                        true
                    }
                })
                .unwrap();
                if !is_open {
                    break;
                }
            }
            while let Some(answer) = set.join_next(s).unwrap() {
                answered += answer;
            }
            (asked, answered)
        });
        assert_eq!(sums, (4950, 4950));
    });
}

#[test]
fn spawner_makes_sets_on_other_fibers() {
    with_every_cx(|cx| {
        let total = cx.scope(|s| {
            let spawner = s.spawner();
            let fiber = s.spawn(move |cx| {
                let mut set = spawner.join_set();
                (0..50).for_each(|n| _ = set.spawn(move |_| n));
                set.join_all(cx).unwrap().into_iter().sum::<u32>()
            });
            fiber.join(s).unwrap()
        });
        assert_eq!(total, 1225);
    });
}

#[test]
fn unordered_map_yields_results_as_they_arrive() {
    with_every_cx(|cx| {
        let gates: Vec<Event> = (0..5).map(|_| Event::default()).collect();
        gates[3].set();
        let order = cx.map_unordered(
            5,
            0..5,
            |cx, n: usize| gates[n].wait(cx).map(|()| n),
            |arrivals| {
                let mut order = Vec::new();
                for next in [1, 4, 0, 2, 0] {
                    order.push(arrivals.next(cx)?.unwrap()?);
                    gates[next].set();
                }
                assert_eq!(arrivals.next(cx), Ok(None));
                Ok::<_, Cancelled>(order)
            },
        );
        assert_eq!(order, Ok(vec![3, 1, 4, 0, 2]));
    });
}

#[test]
fn unordered_map_keeps_its_limit_and_pulls_lazily() {
    in_all_pools(|pool| {
        on_fiber(pool, |cx| {
            let (now, most, pulled) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let items = std::iter::repeat_with(|| pulled.fetch_add(1, Ordering::Relaxed));
            let call = |cx: &Cx<'_>, n| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                cx.yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
                n
            };
            let sum = cx.map_unordered(3, items, call, |arrivals| {
                let mut sum = 0;
                for taken in 0..100 {
                    sum += arrivals.next(cx)?.unwrap();
                    assert_eq!(pulled.load(Ordering::Relaxed), taken + 3, "an endless iterator is pulled on demand");
                }
                Ok::<_, Cancelled>(sum)
            });
            assert!(sum.unwrap() >= 4950);
            assert!((1..=3).contains(&most.into_inner()));
        });
    });
}

#[test]
fn unordered_map_cancels_the_rest_and_passes_panics_on() {
    with_every_cx(|cx| {
        let ended = AtomicUsize::new(0);
        let call = |cx: &Cx<'_>, n: u32| {
            let result = if n == 1 { Ok(()) } else { cx.sleep(FOREVER) };
            ended.fetch_add(1, Ordering::Relaxed);
            result.map(|()| n)
        };
        assert_eq!(cx.map_unordered(4, 0..4, call, |arrivals| arrivals.next(cx)), Ok(Some(Ok(1))));
        assert_eq!(ended.into_inner(), 4);
        let text = panic_text(|| {
            cx.map_unordered(
                2,
                0..2,
                |cx, n| if n == 1 { panic!("item") } else { cx.sleep(FOREVER) },
                |arrivals| while let Ok(Some(_)) = arrivals.next(cx) {},
            );
        });
        assert_eq!(text, "item");
        let late = cx.timeout(Duration::from_millis(1), |cx| {
            cx.map_unordered(
                1,
                [()],
                |cx, ()| cx.sleep(FOREVER),
                |arrivals| Ok::<_, WaitError>(arrivals.next(cx)?.transpose()?),
            )
        });
        assert_eq!(late, Err(WaitError::TimedOut));
    });
}
