//! Operations on the processor that stop before their end: a scope is cancelled, a deadline passes, a piece traps.
//!
//! The tests count the calls of kernels, and no result depends on a clock.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anabranch::time::ManualClock;
use anabranch::{Cx, Pool};
use anabranch_kernel::{AsQueue, Error, Kernel, Map, Number, Queue, Vector, indices, sort_by_key};

use crate::kernels::{cpu, elements, is_odd, trap};
use crate::watchdog::{LONG, watchdog};

/// So many elements that no operation has computed half of them when it stops.
const LEN: usize = 4_000_000;

/// The call that cancels.
const CANCELLING: usize = 1000;

type Action = Box<dyn Fn(u32, usize) + Send + Sync>;

/// Counts calls, and does something at each one.
struct Calls {
    count: AtomicUsize,
    action: OnceLock<Action>,
}

static CALLS: [Calls; 256] = [const { Calls { count: AtomicUsize::new(0), action: OnceLock::new() } }; 256];

/// Returns the number of unused calls. Each call gets the element and the number of the call.
fn calls(action: impl Fn(u32, usize) + Send + Sync + 'static) -> u32 {
    static USED: AtomicUsize = AtomicUsize::new(0);
    let number = USED.fetch_add(1, Ordering::Relaxed);
    assert!(CALLS[number].action.set(Box::new(action)).is_ok());
    number as u32
}

fn call(calls: u32, element: u32) {
    let Calls { count, action } = &CALLS[calls as usize];
    let number = count.fetch_add(1, Ordering::Relaxed);
    action.get().expect("the calls are in use")(element, number);
}

fn count(calls: u32) -> usize {
    CALLS[calls as usize].count.load(Ordering::Relaxed)
}

/// Returns the element, and calls `call`.
#[derive(Debug)]
enum Visit {}

impl Kernel for Visit {
    type Params = (u32, u32);
    type Output = u32;
    const NAME: &'static str = "visit";
    const PROGRAM: &'static [u8] = &[];

    fn call((element, calls): (u32, u32)) -> u32 {
        call(calls, element);
        element
    }
}

/// Adds, and calls `call` with the right operand. An operand is the element and the number of the calls.
enum Add {}

impl Kernel for Add {
    type Params = ([u32; 2], [u32; 2]);
    type Output = [u32; 2];
    const NAME: &'static str = "add";
    const PROGRAM: &'static [u8] = &[];

    fn call((left, right): ([u32; 2], [u32; 2])) -> [u32; 2] {
        call(right[1], right[0]);
        [left[0].wrapping_add(right[0]), right[1]]
    }
}

/// The element with the number of the calls.
enum Pair {}

impl Kernel for Pair {
    type Params = (u32, u32);
    type Output = [u32; 2];
    const NAME: &'static str = "pair";
    const PROGRAM: &'static [u8] = &[];

    fn call((element, calls): (u32, u32)) -> [u32; 2] {
        [element, calls]
    }
}

type Operation = fn(&Cx<'_>, &Queue, u32) -> Result<(), Error>;

/// Each operation, on elements or with an operator that makes the calls.
const OPERATIONS: [(&str, Operation); 10] = [
    ("collect", |cx, queue, calls| visit(calls).collect(queue.cancelled_by(cx)).map(drop)),
    ("max", |cx, queue, calls| visit(calls).max(queue.cancelled_by(cx))?.wait(cx).map(drop)),
    ("chain", |cx, queue, calls| {
        Map::<Visit, _>::new((Map::<Visit, _>::new((indices(LEN), calls)), calls)).sum(queue.cancelled_by(cx)).map(drop)
    }),
    ("scan", |cx, queue, calls| visit(calls).scan::<<u32 as Number>::Add>(queue.cancelled_by(cx), 0).map(drop)),
    ("exclusive_scan", |cx, queue, calls| {
        visit(calls).exclusive_scan::<<u32 as Number>::Add>(queue.cancelled_by(cx), 0).map(drop)
    }),
    ("compact", |cx, queue, calls| visit(calls).compact::<is_odd>(cx, queue).map(drop)),
    ("scatter", |cx, queue, calls| {
        let mut target = queue.zeroed(LEN)?;
        visit(calls).scatter(queue.cancelled_by(cx), indices(LEN), &mut target)
    }),
    ("histogram", |cx, queue, calls| visit(calls).histogram(queue.cancelled_by(cx), LEN).map(drop)),
    ("sort_by_key", |cx, queue, calls| sort_by_key(queue.cancelled_by(cx), visit(calls), indices(LEN)).map(drop)),
    ("scan by an operator", |cx, queue, calls| {
        Map::<Pair, _>::new((indices(LEN), calls)).scan::<Add>(queue.cancelled_by(cx), [0, calls]).map(drop)
    }),
];

fn visit(calls: u32) -> Map<Visit, (anabranch_kernel::Indices, u32)> {
    Map::new((indices(LEN), calls))
}

/// Runs a test for each operation, in pools of one, two and four threads with a clock of their own.
fn for_all_operations(test: impl Fn(&Pool, &ManualClock, Operation) -> (u32, Result<(), Error>) + Send + Sync) {
    for threads in [1, 2, 4] {
        let clock = ManualClock::new();
        let pool = Pool::builder().threads(threads).clock(clock.clock()).build().unwrap();
        for (name, operation) in OPERATIONS {
            let (calls, result) = watchdog(LONG, || test(&pool, &clock, operation));
            let done = count(calls);
            assert!(done > CANCELLING && done < LEN / 2, "{name}, {threads} threads: {done} calls, {result:?}");
        }
        // The pool is as before.
        assert_eq!(pool.install(|| elements(&indices(3).collect(&cpu()).unwrap())), [0, 1, 2]);
    }
}

#[test]
fn a_cancelled_scope_ends_its_operation() {
    for_all_operations(|pool, _, operation| {
        pool.run(|cx| {
            cx.cancellable(|cx, handle| {
                let calls = calls(move |_, number| {
                    if number == CANCELLING {
                        handle.cancel();
                    }
                });
                let result = operation(cx, &cpu(), calls);
                assert_eq!(result, Err(Error::Cancelled));
                (calls, result)
            })
        })
    });
}

#[test]
fn a_deadline_ends_an_operation_of_a_nested_scope() {
    for_all_operations(|pool, clock, operation| {
        let clock = clock.clone();
        let calls = calls(move |_, number| {
            if number == CANCELLING {
                clock.advance(Duration::from_secs(60));
            }
        });
        let result = pool
            .run(|cx| cx.timeout(Duration::from_secs(60), |cx| cx.cancellable(|cx, _| operation(cx, &cpu(), calls))));
        assert_eq!(result, Err(Error::TimedOut));
        (calls, result)
    });
}

#[test]
fn an_operation_of_a_fiber_ends_with_its_scope_and_others_go_on() {
    for threads in [1, 2] {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for (name, operation) in OPERATIONS {
            watchdog(LONG, || {
                pool.run(|cx| {
                    let (cancelled, complete) = cx.join(
                        |cx| {
                            cx.cancellable(|cx, handle| {
                                let calls = calls(move |_, number| {
                                    if number == CANCELLING {
                                        handle.cancel();
                                    }
                                });
                                (operation(cx, &cpu(), calls), count(calls))
                            })
                        },
                        |cx| indices(LEN).max(cpu().cancelled_by(cx))?.wait(cx),
                    );
                    assert_eq!((cancelled.0, complete), (Err(Error::Cancelled), Ok(LEN as u32 - 1)), "{name}");
                    assert!(cancelled.1 < LEN / 2, "{name}: {} calls", cancelled.1);
                });
            });
        }
    }
}

#[test]
fn an_operation_of_a_cancelled_scope_does_not_begin() {
    let calls = calls(|_, _| {});
    let mut target = cpu().upload(&[7; LEN]).unwrap();
    anabranch::run(|cx| {
        cx.cancellable(|cx, handle| {
            handle.cancel();
            for (name, operation) in OPERATIONS {
                assert_eq!(operation(cx, &cpu(), calls), Err(Error::Cancelled), "{name}");
            }
            let queue = cpu();
            let queue = queue.cancelled_by(cx);
            assert_eq!(indices(LEN).scatter(queue, indices(LEN), &mut target), Err(Error::Cancelled));
            let of_none = indices(0).exclusive_scan::<<u32 as Number>::Add>(queue, 0);
            assert_eq!(of_none.map(drop), Err(Error::Cancelled));
        });
    });
    assert_eq!(count(calls), 0);
    assert!(elements(&target).iter().all(|element| *element == 7));
}

/// Returns the results of all operations.
fn results(cx: &Cx<'_>, queue: impl AsQueue + Copy) -> Result<(Vec<Vec<u32>>, u32), Error> {
    const LEN: usize = 100_003;
    let numbers = indices(LEN);
    let mut target = cpu().zeroed(LEN)?;
    numbers.scatter(queue, numbers, &mut target)?;
    let vecs = [
        target,
        sort_by_key(queue, numbers, numbers)?.0,
        numbers.scan::<<u32 as Number>::Add>(queue, 0)?,
        numbers.exclusive_scan::<<u32 as Number>::Add>(queue, 0)?,
        numbers.histogram(queue, LEN)?,
        numbers.compact::<is_odd>(cx, queue)?,
        numbers.collect(queue)?,
    ];
    Ok((vecs.iter().map(elements).collect(), numbers.sum(queue)?.wait(cx)?))
}

#[test]
fn an_operation_that_is_not_cancelled_has_its_result() {
    let clock = ManualClock::new();
    for threads in [1, 2, 4] {
        let pool = Pool::builder().threads(threads).clock(clock.clock()).build().unwrap();
        pool.run(|cx| {
            let expected = results(cx, &cpu()).unwrap();
            assert!(results(cx, cpu().cancelled_by(cx)).unwrap() == expected);
            let in_time = cx.timeout(Duration::from_secs(1), |cx| results(cx, cpu().cancelled_by(cx)));
            assert!(in_time.unwrap() == expected);
        });
    }
}

#[test]
fn a_trap_ends_the_other_pieces() {
    const MAX_SLOW_CALLS: usize = 50_000;
    let pool = Pool::builder().threads(2).build().unwrap();
    for (name, operation) in OPERATIONS {
        let others = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
        let calls = calls(move |element, _| {
            let (begun, traps) = &*others;
            if element == 1 {
                // Another thread has taken a part, and waits.
                while begun.load(Ordering::Relaxed) == 0 {
                    thread::yield_now();
                }
                traps.store(true, Ordering::Relaxed);
                panic!("the first piece traps");
            }
            if element as usize > LEN / 4 {
                let before = begun.fetch_add(1, Ordering::Relaxed);
                while !traps.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
                // The first piece needs some time to print its panic, and to unwind.
                if before < MAX_SLOW_CALLS {
                    thread::sleep(Duration::from_micros(100));
                }
            }
        });
        let result = watchdog(LONG, || pool.run(|cx| operation(cx, &cpu(), calls)));
        assert_eq!(trap(result).1, "the first piece traps", "{name}");
        assert!(count(calls) < LEN / 4, "{name}: {} calls", count(calls));
    }
}
