//! Fiber-local values: one for each fiber and each half of a join, dropped before a join returns.

use crate::common::{
    self, Counted, LONG, Tally,
    fibers::{Event, FOREVER, in_all_pools, on_fiber, until_waiting, with_every_cx},
    panic_text, pool, watchdog,
};
use anabranch::{Cx, TimedOut, fiber::FiberLocal};
use std::{
    cell::{Cell, RefCell},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

static NUMBER: FiberLocal<Cell<u32>> = FiberLocal::new(|| Cell::new(7));
static OTHER: FiberLocal<Cell<u32>> = FiberLocal::new(|| Cell::new(8));
static LIST: FiberLocal<RefCell<Vec<Counted>>> = FiberLocal::new(RefCell::default);

#[test]
fn each_fiber_has_its_own_value() {
    in_all_pools(|pool| {
        let handles: Vec<_> = (0..50)
            .map(|i| {
                pool.spawn(move |cx| {
                    assert_eq!((NUMBER.get(cx).get(), OTHER.get(cx).get()), (7, 8));
                    NUMBER.get(cx).set(i);
                    cx.yield_now();
                    cx.sleep(Duration::from_micros(u64::from(i % 5))).unwrap();
                    (NUMBER.get(cx).get(), OTHER.get(cx).get()) == (i, 8)
                })
            })
            .collect();
        for handle in handles {
            assert!(pool.run(|cx| handle.join(cx)).unwrap());
        }
    });
}

#[test]
fn halves_children_and_runs_have_their_own_values() {
    with_every_cx(|cx| {
        let fresh = |cx: &Cx<'_>| {
            assert_eq!(NUMBER.get(cx).get(), 7);
            NUMBER.get(cx).set(1000);
            cx.yield_now();
            assert_eq!(NUMBER.get(cx).get(), 1000);
        };
        let mine = NUMBER.get(cx).get();
        NUMBER.get(cx).set(mine + 1);
        for waits in [false, true] {
            cx.join(
                |cx| {
                    assert_eq!(NUMBER.get(cx).get(), mine + 1, "the first half goes on with the fiber's");
                    if waits {
                        cx.sleep(Duration::from_micros(50)).unwrap();
                    }
                },
                fresh,
            );
        }
        cx.scope(|s| {
            s.spawn(fresh);
            s.spawn(fresh);
            assert_eq!(NUMBER.get(s).get(), mine + 1);
        });
        anabranch::run(fresh);
        let seen = cx.timeout(Duration::from_secs(60), |cx| Ok::<_, TimedOut>(NUMBER.get(cx).get()));
        assert_eq!(seen, Ok(mine + 1));
        assert_eq!(NUMBER.get(cx).get(), mine + 1);
    });
}

#[test]
fn values_are_dropped_before_join_returns() {
    with_every_cx(|cx| {
        let tally = Tally::default();
        let keep = |cx: &Cx<'_>, waits: bool| {
            LIST.get(cx).borrow_mut().push(tally.make());
            if waits {
                cx.sleep(Duration::from_micros(50)).unwrap();
            }
        };
        for waits in [false, true] {
            cx.join(|cx| cx.yield_now(), |cx| keep(cx, waits));
            tally.assert_all_dropped();
            cx.scope(|s| {
                s.spawn(|cx| keep(cx, waits));
            });
            tally.assert_all_dropped();
            let value = tally.make();
            anabranch::spawn(move |cx| {
                LIST.get(cx).borrow_mut().push(value);
                cx.yield_now();
            })
            .join(cx)
            .unwrap();
            tally.assert_all_dropped();
            anabranch::run(|cx| keep(cx, waits));
            tally.assert_all_dropped();
            let text = panic_text(|| {
                cx.scope(|s| {
                    s.spawn(|cx| {
                        keep(cx, waits);
                        panic!("child");
                    });
                });
            });
            assert_eq!(text, "child");
            tally.assert_all_dropped();
            let text = panic_text(|| {
                cx.join(
                    |_| (),
                    |cx| {
                        keep(cx, waits);
                        panic!("half");
                    },
                );
            });
            assert_eq!(text, "half");
            tally.assert_all_dropped();
        }
    });
}

#[test]
fn values_are_dropped_when_pool_cancels_fibers() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = common::pool(threads);
            let tally = Tally::default();
            for _ in 0..50 {
                let value = tally.make();
                pool.spawn(move |cx| {
                    LIST.get(cx).borrow_mut().push(value);
                    let _ = cx.sleep(FOREVER);
                });
            }
            until_waiting(&pool, 50);
            drop(pool);
            tally.assert_all_dropped();
        }
    });
}

static ATTEMPTS: AtomicU32 = AtomicU32::new(0);
static FAILS_FIRST: FiberLocal<u32> = FiberLocal::new(|| {
    assert_ne!(ATTEMPTS.fetch_add(1, Ordering::Relaxed) % 2, 0, "initialiser");
    5
});

#[test]
fn initialiser_is_retried_after_panic() {
    in_all_pools(|pool| {
        on_fiber(pool, |cx| {
            assert!(panic_text(|| _ = FAILS_FIRST.get(cx)).contains("initialiser"));
            assert_eq!(*FAILS_FIRST.get(cx), 5);
            assert_eq!(*FAILS_FIRST.get(cx), 5);
        });
    });
}

static MAKES_OTHERS: FiberLocal<Box<u32>> = FiberLocal::new(|| {
    // It has no `Cx` but may make one; the values of that are others.
    Box::new(anabranch::run(|cx| {
        NUMBER.get(cx).set(1);
        NUMBER.get(cx).get()
    }))
});

#[test]
fn initialiser_may_call_run() {
    with_every_cx(|cx| {
        let number = NUMBER.get(cx);
        assert_eq!(**MAKES_OTHERS.get(cx), 1);
        assert_eq!(number.get(), 7);
    });
}

struct Bomb(Arc<Mutex<Vec<u32>>>, u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(self.1);
        assert_eq!(self.1, 0, "bomb");
    }
}

static BOMB: FiberLocal<RefCell<Option<Bomb>>> = FiberLocal::new(RefCell::default);
static BEFORE: FiberLocal<RefCell<Option<Bomb>>> = FiberLocal::new(RefCell::default);
static AFTER: FiberLocal<RefCell<Option<Bomb>>> = FiberLocal::new(RefCell::default);

#[test]
fn panicking_drop_does_not_keep_other_values() {
    watchdog(LONG, || {
        let (order, reported) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU32::new(0)));
        let pool = anabranch::Pool::builder()
            .threads(1)
            .on_panic({
                let reported = Arc::clone(&reported);
                move |_| _ = reported.fetch_add(1, Ordering::Relaxed)
            })
            .build()
            .unwrap();
        on_fiber(&pool, {
            let order = Arc::clone(&order);
            move |cx| {
                BEFORE.get(cx).replace(Some(Bomb(Arc::clone(&order), 0)));
                BOMB.get(cx).replace(Some(Bomb(Arc::clone(&order), 1)));
                AFTER.get(cx).replace(Some(Bomb(order, 0)));
            }
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 0]);
        assert_eq!(reported.load(Ordering::Relaxed), 1);
    });
}

/// The panic goes to the handler, wherever the values are: of a fiber, of either half of a join, or of a `run`.
#[test]
fn panic_of_destructor_goes_to_panic_handler() {
    static DROPPED: FiberLocal<PanicsWhenDropped> = FiberLocal::new(|| PanicsWhenDropped);
    let positions: [fn(&Cx<'_>); 4] = [
        |cx| _ = DROPPED.get(cx),
        |cx| _ = cx.join(|_| (), |cx| _ = DROPPED.get(cx)),
        |cx| _ = cx.join(|cx| _ = DROPPED.get(cx), |_| ()),
        |cx| {
            // The second half runs on a fiber of its own.
            let begun = Event::default();
            cx.join(
                |cx| begun.wait(cx).unwrap(),
                |cx| {
                    DROPPED.get(cx);
                    begun.set();
                },
            );
        },
    ];
    watchdog(LONG, || {
        let reported = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&reported);
        let builder = anabranch::Pool::builder().threads(1);
        let pool = builder.on_panic(move |_| _ = count.fetch_add(1, Ordering::Relaxed)).build().unwrap();
        for position in positions {
            let handle = pool.spawn(position);
            pool.run(|cx| handle.join(cx)).unwrap();
            assert_eq!(reported.swap(0, Ordering::Relaxed), 1);
            pool.run(position);
            assert_eq!(reported.swap(0, Ordering::Relaxed), 1);
        }
        // A destructor that panics during another panic does not end the process.
        let panic = panic_text(|| {
            pool.run(|cx| {
                DROPPED.get(cx);
                panic!("body");
            })
        });
        assert_eq!((&*panic, reported.load(Ordering::Relaxed)), ("body", 1));
    });
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// The fibers run one after the other on the same stack.
#[test]
fn panicking_drop_leaks_no_value_to_next_fiber() {
    static COUNT: FiberLocal<Cell<u32>> = FiberLocal::new(|| Cell::new(0));
    static BOMB: FiberLocal<PanicsWhenDropped> = FiberLocal::new(|| PanicsWhenDropped);
    watchdog(LONG, || {
        let pool = pool(1);
        let counts = [true, false].map(|has_bomb| {
            let handle = pool.spawn(move |cx| {
                let count = COUNT.get(cx);
                if has_bomb {
                    BOMB.get(cx);
                }
                count.replace(count.get() + 1)
            });
            pool.run(|cx| handle.join(cx)).unwrap()
        });
        assert_eq!(counts, [0, 0]);
    });
}
