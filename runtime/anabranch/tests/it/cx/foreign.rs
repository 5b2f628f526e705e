//! A `Cx` that safe code uses on a stack that is not its own: in children, racers, stolen halves and other pools.

use super::{CURRENT, SHORT, check_foreign, is_foreign, on_one_thread};
use crate::common::{LONG, fibers::on_fiber, one_thread, panic_text, pool, watchdog};
use anabranch::{Cancelled, Cx, WaitError, channel, prelude::*};
use send_wrapper::SendWrapper;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

#[test]
fn cx_of_child_is_refused_in_parent_and_sibling() {
    // A child lends its own to a sibling by a thread-local that both are in.
    let refused = on_one_thread(|cx| {
        let refused = AtomicU32::new(0);
        cx.scope(|s| {
            s.spawn(|own| {
                CURRENT.set(own, || {
                    while refused.load(Ordering::Relaxed) == 0 {
                        own.sleep(SHORT).unwrap();
                    }
                })
            });
            // The sibling, and the parent itself.
            s.spawn(|own| {
                while !CURRENT.is_set() {
                    own.yield_now();
                }
                CURRENT.with(|foreign| assert!(is_foreign(foreign)));
                refused.fetch_add(1, Ordering::Relaxed);
            });
            s.yield_now();
        });
        refused.into_inner()
    });
    assert_eq!(refused, 1);
}

#[test]
fn cx_of_outer_scope_works_on_same_fiber() {
    // Lifetimes keep that of an inner scope from being used after it; those of outer ones are there to be used.
    let waits = on_one_thread(|outer| {
        let in_timeout = outer.timeout(SHORT, |_| Ok::<_, WaitError>(outer.sleep(SHORT * 30)));
        let in_cancelled = outer.cancellable(|inner, canceller| {
            canceller.cancel();
            (outer.sleep(SHORT), inner.sleep(SHORT))
        });
        let in_shield = outer.shield(|inner| (outer.sleep(SHORT), inner.sleep(SHORT)));
        let in_scope = outer.scope(|inner| {
            inner.cancel();
            (outer.sleep(SHORT), inner.sleep(SHORT))
        });
        (in_timeout, in_cancelled, in_shield, in_scope)
    });
    assert_eq!(waits, (Ok(Ok(())), (Ok(()), Err(Cancelled)), (Ok(()), Ok(())), (Ok(()), Err(Cancelled))));
}

#[test]
fn unwinding_out_of_inner_scope_restores_fiber() {
    let waits = on_one_thread(|outer| {
        for _ in 0..3 {
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                _ = outer.timeout(SHORT, |inner| -> Result<(), WaitError> {
                    inner.cancellable(|inner, _| {
                        inner.scope(|s| {
                            s.spawn(|cx| _ = cx.sleep(LONG));
                            s.sleep(SHORT / 10).unwrap();
                            std::panic::resume_unwind(Box::new(()))
                        })
                    })
                });
            }));
            assert!(unwound.is_err());
        }
        (outer.sleep(SHORT), outer.is_cancelled())
    });
    assert_eq!(waits, (Ok(()), false));
}

#[test]
fn cx_of_race_is_refused_in_racers() {
    let refused = on_one_thread(|cx| {
        let own = SendWrapper::new(cx);
        let own = &own;
        let refused = |cx: &Cx<'_>| {
            cx.yield_now();
            is_foreign(own)
        };
        let by_race = cx.race((|cx: &Cx<'_>| refused(cx), |cx: &Cx<'_>| refused(cx)));
        let by_map = cx.map_concurrent(2, 0..4, |cx, _| Ok::<_, Cancelled>(refused(cx))).unwrap();
        // Some of these run on the fiber that maps, whose `Cx` it is.
        let by_map = by_map.len() == 4 && cx.sleep(SHORT).is_ok();
        // A half that was not stolen runs on the stack of the join, where its `Cx` is the one of that fiber.
        let by_join = cx.join(|_| own.sleep(SHORT), |cx| cx.sleep(SHORT));
        (by_race, by_map, by_join)
    });
    assert_eq!(refused, (true, true, (Ok(()), Ok(()))));
}

#[test]
fn cx_of_join_is_refused_in_stolen_half() {
    // The wrapper refuses on another thread; a fiber of the same thread may run the half while the join waits.
    watchdog(LONG, || {
        for threads in [1, 2, 4] {
            on_fiber(&pool(threads), |cx| {
                for _ in 0..20 {
                    let own = SendWrapper::new(cx);
                    let own = &own;
                    // Otherwise the half may run on the stack of the join, once the first one has ended.
                    let is_taken = &AtomicBool::new(false);
                    let (first, second) = cx.join(
                        |cx| {
                            while !is_taken.load(Ordering::Relaxed) {
                                cx.sleep(SHORT)?;
                            }
                            cx.sleep(SHORT)
                        },
                        |cx| {
                            is_taken.store(true, Ordering::Relaxed);
                            let refused = !own.valid() || is_foreign(own);
                            cx.sleep(SHORT).unwrap();
                            refused
                        },
                    );
                    assert_eq!((first, second), (Ok(()), true));
                }
            });
        }
    });
}

#[test]
fn guest_of_another_pool_may_use_both_cxs_on_its_own_stack() {
    watchdog(LONG, || {
        let other = one_thread().build().unwrap();
        let inner = Arc::new(one_thread().build().unwrap());
        let refused = on_fiber(&other, move |fiber| {
            let works = inner.run(|guest| {
                inner.install(|| fiber.sleep(SHORT).and_then(|()| guest.sleep(SHORT))).unwrap();
                other_fiber(guest, fiber)
            });
            fiber.sleep(SHORT).unwrap();
            works
        });
        assert!(refused);
    });
    /// A fiber that the guest starts does not wait by the `Cx` of the fiber that is the guest.
    fn other_fiber(guest: &Cx<'_>, fiber: &Cx<'_>) -> bool {
        let fiber = SendWrapper::new(fiber);
        let fiber = &fiber;
        guest.scope(|s| {
            let child = s.spawn(move |cx| {
                cx.yield_now();
                !fiber.valid() || is_foreign(fiber)
            });
            child.join(s).unwrap()
        })
    }
}

#[test]
fn parallel_loop_may_use_outer_cx_on_its_stack() {
    watchdog(LONG, || {
        for threads in [1, 2, 4] {
            on_fiber(&pool(threads), |cx| {
                let own = SendWrapper::new(cx);
                let own = &own;
                let values: Vec<u32> = (0..64u32)
                    .into_par_iter()
                    .map(|n| {
                        if own.valid() && n % 9 == 0 {
                            // Another fiber of this thread does not run it: it runs on the stack of the loop, or
                            // elsewhere.
                            own.sleep(SHORT).unwrap();
                            own.yield_now();
                        }
                        n
                    })
                    .collect();
                assert_eq!(values, (0..64).collect::<Vec<_>>());
            });
        }
    });
}

#[test]
fn nested_runs_may_use_all_their_cxs_and_refuse_others() {
    let text = panic_text(|| {
        on_one_thread(|fiber| {
            anabranch::run(|first| {
                anabranch::run(|second| {
                    for _ in 0..3 {
                        [first, second, fiber].iter().for_each(|cx| cx.sleep(SHORT).unwrap());
                        [second, fiber, first].iter().for_each(|cx| cx.yield_now());
                    }
                    let second = SendWrapper::new(second);
                    fiber.scope(|s| {
                        s.spawn(move |cx| {
                            // A run of the child's own does not make the others' its own.
                            anabranch::run(|_| {
                                cx.yield_now();
                                _ = second.sleep(SHORT);
                            });
                        });
                    });
                });
            });
        });
    });
    check_foreign(&text);
}

// The fibers of a map take turns at its iterator. One that left its stack meanwhile would never be back: the next one
// of the same thread waits for its turn, and with it the thread.

#[test]
fn iterator_with_cx_of_another_fiber_panics_where_it_waits() {
    let seen = on_one_thread(|cx| {
        let (sender, receiver) = channel::unbounded();
        let own = SendWrapper::new(cx);
        let (own, receiver) = (&own, &receiver);
        cx.scope(|s| {
            let child = s.spawn(move |_| {
                sender.try_send(1).unwrap();
                sender.try_send(2).unwrap();
                let mut seen = Vec::new();
                let refused = catch_unwind(AssertUnwindSafe(|| seen.extend(receiver.iter(own))));
                (seen, refused.is_err())
            });
            child.join(s).unwrap()
        })
    });
    assert_eq!(seen, (vec![Ok(1), Ok(2)], true));
}

#[test]
fn set_and_handle_refuse_cx_of_another_fiber() {
    let refused = on_one_thread(|cx| {
        let (_sender, receiver) = channel::unbounded::<u8>();
        let own = SendWrapper::new(cx);
        let own = &own;
        cx.scope(|s| {
            let child = s.spawn(move |cx| {
                let mut set = channel::ReceiverSet::from_iter([receiver]);
                let slow = anabranch::spawn(|cx| cx.sleep(LONG));
                let by_set = catch_unwind(AssertUnwindSafe(|| _ = set.recv(own)));
                let by_handle = catch_unwind(AssertUnwindSafe(|| _ = slow.join(own)));
                cx.sleep(SHORT).unwrap();
                (by_set.is_err(), by_handle.is_err())
            });
            child.join(s).unwrap()
        })
    });
    assert_eq!(refused, (true, true));
}
