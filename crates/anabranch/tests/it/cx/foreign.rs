//! Ways by which safe code can use a `Cx` where it does not belong, by the help of published crates: each panics with
//! the message, or works.

#![forbid(unsafe_code)]
#![cfg(unix)]

use crate::common::{LONG, fibers::on_fiber, one_thread, panic_text, pool, watchdog};
use anabranch::{Cancelled, Cx, WaitError, channel, sync::Trigger};
use send_wrapper::SendWrapper;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll, Wake},
    time::Duration,
};

const SHORT: Duration = Duration::from_micros(100);

scoped_tls_hkt::scoped_thread_local!(static CURRENT: for<'a> &'a Cx<'a>);

/// On one thread: fibers of the same thread are where `!Send` is not enough.
fn on_one_thread<R: Send + 'static>(body: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> R {
    watchdog(LONG, || on_fiber(&one_thread().build().unwrap(), body))
}

#[track_caller]
fn check_foreign(text: &str) {
    assert!(text.contains("a `Cx` was used on a stack that is not its own"), "{text}");
}

/// Whether a wait by that `Cx` was refused as one of another fiber.
fn is_foreign(cx: &Cx<'_>) -> bool {
    let refused = catch_unwind(AssertUnwindSafe(|| _ = cx.sleep(SHORT)));
    refused.is_err_and(|panic| panic.downcast_ref::<&str>().is_some_and(|text| text.contains("not its own")))
}

#[test]
fn the_cx_of_a_child_is_not_that_of_its_parent_nor_of_a_sibling() {
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
fn the_cx_of_a_scope_around_the_current_one_works_on_the_same_fiber() {
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
fn an_inner_scope_that_is_left_by_unwinding_leaves_the_fiber_as_it_was() {
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
fn racers_and_halves_do_not_wait_by_the_cx_of_the_race() {
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
        // A half that nobody took runs on the stack of the join, where its `Cx` is the one of that fiber.
        let by_join = cx.join(|_| own.sleep(SHORT), |cx| cx.sleep(SHORT));
        (by_race, by_map, by_join)
    });
    assert_eq!(refused, (true, true, (Ok(()), Ok(()))));
}

#[test]
fn a_stolen_half_does_not_wait_by_the_cx_of_the_join() {
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
fn a_guest_of_another_pool_waits_by_either_cx_on_its_own_stack_alone() {
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

/// Waits when it is dropped.
struct WaitsInDrop<'a>(&'a Cx<'a>, &'a AtomicU32);

impl Drop for WaitsInDrop<'_> {
    fn drop(&mut self) {
        let shielded = self.0.shield(|cx| cx.sleep(SHORT));
        assert_eq!(shielded, Ok(()));
        _ = self.0.sleep(SHORT);
        self.0.yield_now();
        _ = self.0.timeout(SHORT, |cx| Ok::<_, WaitError>(cx.sleep(LONG)?));
        _ = self.0.join(|cx| cx.yield_now(), |cx| cx.yield_now());
        self.0.scope(|s| _ = s.spawn(|_| ()));
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn waits_in_drops_of_a_panic_end() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    for threads in [1, 2] {
        watchdog(LONG, || {
            on_fiber(&pool(threads), |cx| {
                for _ in 0..5 {
                    let unwound = catch_unwind(AssertUnwindSafe(|| {
                        let _waits = WaitsInDrop(cx, &DROPPED);
                        cx.scope(|s| {
                            s.spawn(|cx| _ = cx.sleep(LONG));
                            let _waits = WaitsInDrop(s, &DROPPED);
                            std::panic::resume_unwind(Box::new(()))
                        })
                    }));
                    assert!(unwound.is_err());
                    cx.sleep(SHORT).unwrap();
                }
            });
        });
    }
    assert_eq!(DROPPED.load(Ordering::Relaxed), 20);
}

#[test]
fn the_cx_of_a_fiber_that_waits_is_refused_in_a_drop_on_another() {
    // While another fiber unwinds: the drop must not abort the process by a second panic, so it catches it.
    struct Uses<'a>(&'a SendWrapper<&'a Cx<'a>>, &'a AtomicU32);
    impl Drop for Uses<'_> {
        fn drop(&mut self) {
            self.1.fetch_add(u32::from(is_foreign(self.0)), Ordering::Relaxed);
        }
    }
    let refused = on_one_thread(|cx| {
        let refused = AtomicU32::new(0);
        let own = SendWrapper::new(cx);
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            cx.scope(|s| {
                s.spawn(|cx| {
                    cx.yield_now();
                    let _uses = Uses(&own, &refused);
                    std::panic::resume_unwind(Box::new(()))
                });
            });
        }));
        assert!(unwound.is_err());
        cx.sleep(SHORT).unwrap();
        refused.into_inner()
    });
    assert_eq!(refused, 1);
}

/// Waits by the `Cx` in the thread-local when it is polled, woken, cloned and dropped.
struct Waits {
    left: u32,
    refused: Arc<AtomicU32>,
}

impl Future for Waits {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        CURRENT.with(|cx| {
            // `poll` is called between two waits, on the fiber's own stack.
            if is_foreign(cx) {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            cx.yield_now();
        });
        self.left -= 1;
        context.waker().wake_by_ref();
        if self.left == 0 { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn a_future_that_waits_when_it_is_polled_works_or_is_refused() {
    let refused = Arc::new(AtomicU32::new(0));
    let in_future = Arc::clone(&refused);
    let ended = on_one_thread(move |cx| {
        let future = || Waits { left: 5, refused: Arc::clone(&in_future) };
        cx.scope(|s| {
            s.spawn(|cx| (0..20).for_each(|_| cx.yield_now()));
            let outcome =
                CURRENT.set(s, || catch_unwind(AssertUnwindSafe(|| CURRENT.with(|cx| cx.block_on(future())))));
            outcome.map_or(true, |ended| ended.is_ok())
        })
    });
    assert!(ended);
}

/// A foreign waker, which is called in the middle of a wait or a send, and waits itself.
struct WaitingWaker(SendWrapper<Arc<AtomicU32>>);

impl Wake for WaitingWaker {
    fn wake(self: Arc<Self>) {
        if CURRENT.is_set() {
            CURRENT.with(|cx| {
                let slept = catch_unwind(AssertUnwindSafe(|| cx.sleep(SHORT)));
                assert!(!cx.is_cancelled());
                self.0.fetch_add(1 + u32::from(slept.is_err()) * 100, Ordering::Relaxed);
            });
        }
    }
}

#[test]
fn a_waker_that_waits_works_or_is_refused() {
    let woken = on_one_thread(|cx| {
        let woken = Arc::new(AtomicU32::new(0));
        let waker = Arc::new(WaitingWaker(SendWrapper::new(Arc::clone(&woken)))).into();
        let mut context = Context::from_waker(&waker);
        cx.scope(|s| {
            s.spawn(|cx| (0..50).for_each(|_| cx.yield_now()));
            CURRENT.set(s, || {
                for _ in 0..10 {
                    // By a send, a trigger, a lock and a permit.
                    let (sender, receiver) = channel::unbounded();
                    let mut received = Box::pin(receiver.recv_async());
                    assert!(received.as_mut().poll(&mut context).is_pending());
                    sender.send(s, 1).unwrap();
                    assert_eq!(received.as_mut().poll(&mut context), Poll::Ready(Ok(1)));
                    let mut trigger = Trigger::new();
                    let signal = trigger.signal();
                    let mut triggered = Box::pin(trigger.wait_async());
                    assert!(triggered.as_mut().poll(&mut context).is_pending());
                    signal.send();
                    assert!(triggered.as_mut().poll(&mut context).is_ready());
                    let mutex = anabranch::sync::Mutex::new(());
                    let guard = mutex.lock(s).unwrap();
                    let mut locked = Box::pin(mutex.lock_async());
                    assert!(locked.as_mut().poll(&mut context).is_pending());
                    drop(guard);
                    assert!(locked.as_mut().poll(&mut context).is_ready());
                    // By a handle, when its fiber ends, on that fiber's stack.
                    let mut handle = anabranch::spawn(|_| 5);
                    let mut joined = Box::pin(async { (&mut handle).await.unwrap() });
                    let first = joined.as_mut().poll(&mut context);
                    while first.is_pending() && joined.as_mut().poll(&mut context).is_pending() {
                        s.sleep(SHORT).unwrap();
                    }
                    s.yield_now();
                }
            });
        });
        woken.load(Ordering::Relaxed)
    });
    assert!(woken >= 30, "{woken}");
}

#[test]
fn loops_wait_by_the_cx_around_them_where_they_run_on_its_stack() {
    watchdog(LONG, || {
        for threads in [1, 2, 4] {
            on_fiber(&pool(threads), |cx| {
                let own = SendWrapper::new(cx);
                let own = &own;
                let values: Vec<u32> = anabranch::par_map(0..64u32, |n| {
                    if own.valid() && n % 9 == 0 {
                        // Another fiber of this thread does not run it: it runs on the stack of the loop, or elsewhere.
                        own.sleep(SHORT).unwrap();
                        own.yield_now();
                    }
                    n
                });
                assert_eq!(values, (0..64).collect::<Vec<_>>());
            });
        }
    });
}

#[test]
fn runs_in_runs_on_a_fiber_wait_by_all_their_cxs_and_refuse_others() {
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

/// Waits by the `Cx` when it is dropped, as far as that is allowed.
struct WaitsAnyway<'a>(&'a SendWrapper<&'a Cx<'a>>);

impl Drop for WaitsAnyway<'_> {
    fn drop(&mut self) {
        if self.0.valid() {
            _ = catch_unwind(AssertUnwindSafe(|| self.0.shield(|cx| cx.sleep(SHORT))));
        }
    }
}

// The fibers of a map take turns at its iterator. One that left its stack meanwhile would never be back: the next one
// of the same thread waits for its turn, and with it the thread.

#[test]
fn an_iterator_that_waits_while_a_map_takes_from_it_does_not_block_the_others() {
    let mapped = on_one_thread(|cx| {
        let own = SendWrapper::new(cx);
        let items = (0..8).inspect(|_| drop(WaitsAnyway(&own)));
        cx.map_concurrent(4, items, |cx, n| cx.sleep(SHORT).map(|()| n))
    });
    assert_eq!(mapped, Ok((0..8).collect()));
}

#[test]
fn an_item_that_waits_when_a_map_drops_it_does_not_block_the_others() {
    let failed = on_one_thread(|cx| {
        let own = SendWrapper::new(cx);
        let first = AtomicU32::new(0);
        cx.map_concurrent(4, (0..32).map(|_| WaitsAnyway(&own)), |cx, item| {
            // The error comes while the fiber that maps waits: it drops the next item.
            if first.fetch_add(1, Ordering::Relaxed) == 0 {
                (0..9).for_each(|_| cx.yield_now());
                drop(item);
                return Ok(());
            }
            std::mem::forget(item);
            Err(Cancelled)
        })
    });
    assert_eq!(failed, Err(Cancelled));
}

#[test]
fn the_initialiser_of_a_fiber_local_may_come_by_a_cx() {
    use anabranch::FiberLocal;
    static MADE: AtomicU32 = AtomicU32::new(0);
    static LOCAL: FiberLocal<u32> = FiberLocal::new(|| {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // In the midst of it: of the same fiber, and others meanwhile.
        if number < 3 {
            CURRENT.with(|cx| {
                cx.sleep(SHORT).unwrap();
                assert!(*LOCAL.get(cx) > number);
            });
        }
        number
    });
    let values = on_one_thread(|cx| {
        cx.scope(|s| {
            s.spawn(|cx| (0..20).for_each(|_| cx.yield_now()));
            let first = CURRENT.set(s, || LOCAL.get(s));
            [*first, *LOCAL.get(s), *LOCAL.get(cx)]
        })
    });
    assert_eq!(values, [3; 3]);
    assert_eq!(MADE.load(Ordering::Relaxed), 4);
}

#[test]
fn a_fiber_local_that_waits_when_it_is_dropped_is_refused() {
    use anabranch::FiberLocal;
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    struct Waits;
    impl Drop for Waits {
        fn drop(&mut self) {
            if CURRENT.is_set() {
                REFUSED.fetch_add(CURRENT.with(|cx| u32::from(is_foreign(cx))), Ordering::Relaxed);
            }
        }
    }
    static LOCAL: FiberLocal<Waits> = FiberLocal::new(|| Waits);
    on_one_thread(|cx| {
        cx.scope(|s| {
            s.spawn(|cx| {
                cx.yield_now();
                LOCAL.get(cx);
            });
            CURRENT.set(s, || s.sleep(SHORT * 10).unwrap());
        });
    });
    assert_eq!(REFUSED.load(Ordering::Relaxed), 1);
}

#[test]
fn a_loop_over_messages_by_the_cx_of_another_fiber_is_refused_where_it_waits() {
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
fn an_item_of_a_set_and_a_handle_by_the_cx_of_another_fiber_are_refused() {
    let refused = on_one_thread(|cx| {
        let (_sender, receiver) = channel::unbounded::<u8>();
        let own = SendWrapper::new(cx);
        let own = &own;
        cx.scope(|s| {
            let child = s.spawn(move |cx| {
                let mut set = channel::ReceiverSet::from_iter([receiver]);
                let slow = anabranch::spawn(|cx| cx.sleep(SHORT * 10));
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

#[test]
fn a_handler_of_hazards_does_not_wait_by_the_cx_whose_wait_is_told_of() {
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    watchdog(LONG, || {
        let told = |_: &anabranch::Hazard| {
            if CURRENT.is_set() {
                REFUSED.fetch_add(CURRENT.with(|cx| u32::from(is_foreign(cx))), Ordering::Relaxed);
            }
        };
        let pool = one_thread().on_hazard(told).build().unwrap();
        on_fiber(&pool, |_| {
            anabranch::run(|cx| {
                CURRENT.set(cx, || (0..3).for_each(|_| cx.sleep(SHORT).unwrap()));
            });
        });
    });
    assert_eq!(REFUSED.load(Ordering::Relaxed), 1);
}
