//! Destructors, wakers, futures, iterators and handlers that use a `Cx` in the middle of an operation: the wait panics
//! or works.

use super::{CURRENT, SHORT, is_foreign, on_one_thread};
use crate::common::{LONG, fibers::on_fiber, one_thread, pool, watchdog};
use anabranch::{Cancelled, Cx, WaitError, channel, sync::Trigger};
use send_wrapper::SendWrapper;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Wake},
};

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
fn waits_in_drops_end_while_unwinding() {
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
fn cx_of_waiting_fiber_is_refused_in_drop_on_another() {
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
fn future_that_waits_in_poll_works_or_panics() {
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
fn waker_that_waits_works_or_panics() {
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
                    let mut received = Box::pin(receiver.receiving().into_future());
                    assert!(received.as_mut().poll(&mut context).is_pending());
                    sender.send(s, 1).unwrap();
                    assert_eq!(received.as_mut().poll(&mut context), Poll::Ready(Ok(1)));
                    let mut trigger = Trigger::new();
                    let signal = trigger.signal();
                    let mut triggered = Box::pin(trigger.waiting().into_future());
                    assert!(triggered.as_mut().poll(&mut context).is_pending());
                    signal.send();
                    assert!(triggered.as_mut().poll(&mut context).is_ready());
                    let mutex = anabranch::sync::Mutex::new(());
                    let guard = mutex.lock(s).unwrap();
                    let mut locked = Box::pin(mutex.locking().into_future());
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

/// Waits by the `Cx` when it is dropped, as far as that is allowed.
struct WaitsAnyway<'a>(&'a SendWrapper<&'a Cx<'a>>);

impl Drop for WaitsAnyway<'_> {
    fn drop(&mut self) {
        if self.0.valid() {
            _ = catch_unwind(AssertUnwindSafe(|| self.0.shield(|cx| cx.sleep(SHORT))));
        }
    }
}

#[test]
fn iterator_that_waits_does_not_block_map() {
    let mapped = on_one_thread(|cx| {
        let own = SendWrapper::new(cx);
        let items = (0..8).inspect(|_| drop(WaitsAnyway(&own)));
        cx.map_concurrent(4, items, |cx, n| cx.sleep(SHORT).map(|()| n))
    });
    assert_eq!(mapped, Ok((0..8).collect()));
}

#[test]
fn item_that_waits_in_drop_does_not_block_map() {
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
fn initialiser_of_fiber_local_may_wait() {
    use anabranch::fiber::FiberLocal;
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
fn drop_of_fiber_local_refuses_cx_of_another_fiber() {
    use anabranch::fiber::FiberLocal;
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
            CURRENT.set(s, || {
                while REFUSED.load(Ordering::Relaxed) == 0 {
                    s.sleep(SHORT).unwrap();
                }
            });
        });
    });
    assert_eq!(REFUSED.load(Ordering::Relaxed), 1);
}

#[test]
fn hazard_handler_refuses_cx_of_reported_wait() {
    static REFUSED: AtomicU32 = AtomicU32::new(0);
    watchdog(LONG, || {
        let on_hazard = |_: &anabranch::pool::Hazard| {
            if CURRENT.is_set() {
                REFUSED.fetch_add(CURRENT.with(|cx| u32::from(is_foreign(cx))), Ordering::Relaxed);
            }
        };
        let pool = one_thread().on_hazard(on_hazard).build().unwrap();
        on_fiber(&pool, |_| {
            anabranch::run(|cx| {
                CURRENT.set(cx, || (0..3).for_each(|_| cx.sleep(SHORT).unwrap()));
            });
        });
    });
    assert_eq!(REFUSED.load(Ordering::Relaxed), 1);
}
