//! `Cx::join`: halves that wait for each other, on any pool and with any `Cx`, deep nesting, and compute forks in
//! between.

use crate::common::{
    LONG, Tally,
    fibers::{Event, FOREVER, Meeting, in_all_pools, on_fiber, with_every_cx},
    panic_text, sum_to, watchdog,
};
use anabranch::{Cancelled, Cx, Pool};
use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

#[test]
fn halves_can_wait_for_each_other_in_either_order() {
    with_every_cx(|cx| {
        for rounds in [1, 2, 50] {
            let (one, two) = Meeting::pair(rounds);
            assert_eq!(cx.join(|cx| one.attend(cx), |cx| two.attend(cx)), (Ok(rounds), Ok(rounds)));
            let (one, two) = Meeting::pair(rounds);
            assert_eq!(cx.join(|cx| two.attend(cx), |cx| one.attend(cx)), (Ok(rounds), Ok(rounds)));
        }
    });
}

#[test]
fn either_half_can_wait_for_the_other() {
    with_every_cx(|cx| {
        let event = Event::default();
        cx.join(|cx| event.wait(cx).unwrap(), |_| event.set());
        let event = Event::default();
        cx.join(|_| event.set(), |cx| event.wait(cx).unwrap());
    });
}

#[test]
fn one_half_yields_until_the_other_has_run() {
    with_every_cx(|cx| {
        let flag = AtomicU32::new(0);
        cx.join(
            |cx| {
                while flag.load(Ordering::Relaxed) == 0 {
                    cx.yield_now();
                }
            },
            |_| flag.store(1, Ordering::Relaxed),
        );
    });
}

#[test]
fn nested_halves_can_wait_for_each_other() {
    with_every_cx(|cx| {
        let ((a, b), (c, d)) = (Meeting::pair(5), Meeting::pair(5));
        let result = cx.join(
            |cx| cx.join(|cx| a.attend(cx), |cx| c.attend(cx)),
            |cx| cx.join(|cx| d.attend(cx), |cx| b.attend(cx)),
        );
        assert_eq!(result, ((Ok(5), Ok(5)), (Ok(5), Ok(5))));
    });
}

fn fib(cx: &Cx<'_>, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = cx.join(|cx| fib(cx, n - 1), |cx| fib(cx, n - 2));
    a + b
}

/// As `fib`, with a wait of a kind in each node.
fn fib_that_waits(cx: &Cx<'_>, n: u32) -> u64 {
    match n % 4 {
        0 => cx.yield_now(),
        1 => cx.sleep(Duration::from_micros(50)).unwrap(),
        _ => {}
    }
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = cx.join(|cx| fib_that_waits(cx, n - 1), |cx| fib_that_waits(cx, n - 2));
    a + b
}

#[test]
fn joins_nest_in_trees() {
    with_every_cx(|cx| {
        assert_eq!(fib(cx, 18), 2584);
        assert_eq!(fib_that_waits(cx, 11), 89);
    });
}

const DEPTH: usize = 10_000;

/// The depth that was reached. At the bottom it waits.
fn nested_in_the_first(cx: &Cx<'_>, left: usize) -> usize {
    if left == 0 {
        cx.sleep(Duration::from_millis(1)).unwrap();
        return 0;
    }
    let (depth, one) = cx.join(|cx| nested_in_the_first(cx, left - 1), |_| 1);
    depth + one
}

/// No thief takes them, so each second half is called on top of the one before.
fn nested_in_the_second(cx: &Cx<'_>, left: usize) -> usize {
    if left == 0 {
        cx.sleep(Duration::from_millis(1)).unwrap();
        return 0;
    }
    let (one, depth) = cx.join(|_| 1, |cx| nested_in_the_second(cx, left - 1));
    one + depth
}

#[test]
fn ten_thousand_joins_nest_on_fiber() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = Pool::builder().threads(threads).fiber_stack_size(64 << 20).build().unwrap();
            assert_eq!(on_fiber(&pool, |cx| nested_in_the_first(cx, DEPTH)), DEPTH);
            assert_eq!(on_fiber(&pool, |cx| nested_in_the_second(cx, DEPTH)), DEPTH);
        }
    });
}

#[test]
fn ten_thousand_joins_nest_on_thread() {
    watchdog(LONG, || {
        let deep = thread::Builder::new().stack_size(64 << 20).spawn(|| {
            for threads in [1, 2] {
                // Others take second halves, on stacks of their own.
                let pool = Pool::builder().threads(threads).fiber_stack_size(64 << 20).build().unwrap();
                assert_eq!(pool.run(|cx| nested_in_the_first(cx, DEPTH)), DEPTH);
                assert_eq!(pool.run(|cx| nested_in_the_second(cx, DEPTH)), DEPTH);
            }
        });
        deep.unwrap().join().unwrap();
    });
}

#[test]
fn join_inside_another_pool_blocks_until_half_ends() {
    in_all_pools(|pool| {
        let inner = Pool::builder().threads(1).build().unwrap();
        let rounds = on_fiber(pool, move |cx| {
            let (one, two) = Meeting::pair(10);
            inner.install(|| cx.join(|cx| one.attend(cx), |cx| two.attend(cx)))
        });
        assert_eq!(rounds, (Ok(10), Ok(10)));
    });
}

#[test]
fn waiting_and_computing_joins_nest() {
    with_every_cx(|cx| {
        let (one, two) = Meeting::pair(20);
        let ((a, sum), b) = cx.join(
            |cx| cx.join(|cx| one.attend(cx), |_| sum_to(2000)),
            |cx| {
                let rounds = two.attend(cx);
                anabranch::join(|| sum_to(1000), || sum_to(1000));
                rounds
            },
        );
        assert_eq!((a, sum, b), (Ok(20), 2_001_000, Ok(20)));
    });
}

#[test]
fn first_half_may_use_non_send_values() {
    with_every_cx(|cx| {
        let counter = std::rc::Rc::new(std::cell::Cell::new(0));
        let ((), b) = cx.join(
            |cx| {
                for _ in 0..10 {
                    counter.set(counter.get() + 1);
                    cx.yield_now();
                }
            },
            |cx| {
                cx.yield_now();
                String::from("b")
            },
        );
        assert_eq!((counter.get(), b.as_str()), (10, "b"));
    });
}

#[derive(Debug, PartialEq)]
enum Failure {
    Own(u32),
    Cancelled,
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

#[test]
fn failing_half_cancels_other_half() {
    with_every_cx(|cx| {
        let fails = |cx: &Cx<'_>| {
            cx.yield_now();
            Err::<u32, _>(Failure::Own(1))
        };
        let sleeps = |cx: &Cx<'_>| {
            cx.sleep(FOREVER)?;
            Ok(2)
        };
        assert_eq!(cx.try_join(fails, sleeps), Err(Failure::Own(1)));
        // The other way round the first has to wait before the second begins.
        assert_eq!(cx.try_join(sleeps, fails), Err(Failure::Own(1)));
        assert_eq!(cx.try_join(|_| Ok::<_, Failure>(1), |_| Ok("two")), Ok((1, "two")));
        assert_eq!(cx.check(), Ok(()), "only what is inside is cancelled");
    });
}

#[test]
fn try_join_returns_first_error_in_time() {
    with_every_cx(|cx| {
        let (a, b) = (Event::default(), Event::default());
        let first = |own: &Event, n| {
            own.set();
            Err::<(), _>(Failure::Own(n))
        };
        // It fails when the other has, or is cancelled while it waits for that.
        let second = |cx: &Cx<'_>, other: &Event, n| {
            other.wait(cx)?;
            cx.sleep(FOREVER).map_err(|Cancelled| Failure::Own(n))
        };
        let outcome = cx.try_join(|cx| second(cx, &b, 1), |_| first(&b, 2));
        assert!(matches!(outcome, Err(Failure::Own(2))), "{outcome:?}");
        // If the first has failed before the second has begun, the second does not begin.
        let outcome = cx.try_join(|_| first(&a, 1), |cx| second(cx, &a, 2));
        assert!(matches!(outcome, Err(Failure::Own(1))), "{outcome:?}");
        // From outside.
        let outcome = cx.cancellable(|cx, canceller| {
            cx.try_join(
                |cx| {
                    canceller.cancel();
                    Ok::<_, Failure>(cx.check()?)
                },
                |cx| Ok(cx.sleep(FOREVER)?),
            )
        });
        assert_eq!(outcome, Err(Failure::Cancelled));
    });
}

#[test]
fn values_of_failed_halves_are_dropped() {
    with_every_cx(|cx| {
        let tally = Tally::default();
        for (one_fails, other_fails) in [(false, false), (false, true), (true, false), (true, true)] {
            let half = |fails| {
                let (value, error) = (tally.make(), tally.make());
                move |cx: &Cx<'_>| {
                    cx.yield_now();
                    if fails { Err(error) } else { Ok(value) }
                }
            };
            let outcome = cx.try_join(half(one_fails), half(other_fails));
            assert_eq!(outcome.is_err(), one_fails || other_fails);
        }
        tally.assert_all_dropped();
        let text = panic_text(|| _ = cx.try_join(|cx| cx.sleep(FOREVER), |_| -> Result<(), _> { panic!("b") }));
        assert_eq!(text, "b");
    });
}
