//! Spawned fibers: results, panics, detaching, cancelling at each stage, and the callers that may spawn.

use crate::common::{
    self, LONG, Tally,
    fibers::{Event, FOREVER, in_all_pools, on_fiber, until, until_in, until_waiting, with_every_cx},
    pool, watchdog,
};
use anabranch::{Cancelled, JoinError, JoinHandle, Pool, prelude::*};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

#[test]
fn handles_are_send_and_sync() {
    fn assert_send_and_sync<T: Send + Sync>() {}
    assert_send_and_sync::<JoinHandle<u32>>();
    assert_send_and_sync::<JoinHandle<std::cell::Cell<u32>>>();
    assert_send_and_sync::<anabranch::fiber::CancelHandle>();
    assert_send_and_sync::<anabranch::sync::Trigger>();
    assert_send_and_sync::<anabranch::sync::Signal>();
    assert_send_and_sync::<anabranch::fiber::Spawner<'_, '_>>();
    fn assert_send<T: Send>(_: T) {}
    assert_send(anabranch::sync::Trigger::new().waiting().into_future());
}

#[test]
fn join_returns_results_and_panics() {
    in_all_pools(|pool| {
        let tally = Tally::default();
        let value = tally.make();
        let handle = pool.spawn(move |cx| {
            cx.yield_now();
            value
        });
        pool.run(|cx| drop(handle.join(cx).unwrap()));
        tally.assert_all_dropped();

        let payload = tally.make();
        let handle = pool.spawn(|cx| {
            cx.yield_now();
            std::panic::panic_any(payload)
        });
        let error = pool.run(|cx| handle.join(cx)).map(|()| unreachable!()).unwrap_err();
        assert!(matches!(&error, JoinError::Panicked(panic) if panic.is::<common::Counted>()));
        assert_eq!(error.to_string(), "the fiber panicked: with a payload that is not a string");
        assert_eq!(format!("{error:?}"), "Panicked(Any { .. })");
        drop(error);
        let error = pool.run(|cx| pool.spawn(|_| panic!("no. {}", 7)).join(cx)).map(|()| unreachable!()).unwrap_err();
        assert_eq!(format!("{error:?}"), "Panicked(\"no. 7\")");
        tally.assert_all_dropped();
    });
}

#[test]
fn fiber_starts_without_guests() {
    in_all_pools(|pool| {
        common::at_rest(pool);
        for _ in 0..20 {
            let handle = pool.spawn(|cx| cx.sleep(Duration::from_micros(200)));
            until(|| handle.is_finished());
        }
        // Detached.
        let count = Arc::new(AtomicU32::new(0));
        for _ in 0..100 {
            let count = Arc::clone(&count);
            pool.spawn(move |cx| {
                cx.yield_now();
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        until(|| count.load(Ordering::Relaxed) == 100);
    });
}

#[test]
fn result_of_detached_fiber_is_dropped() {
    in_all_pools(|pool| {
        let tally = Tally::default();
        for i in 0..60 {
            let (value, payload) = (tally.make(), tally.make());
            let handle = pool.spawn(move |cx| {
                if i % 3 == 0 {
                    cx.yield_now();
                }
                if i % 2 == 0 {
                    std::panic::panic_any(payload);
                }
                value
            });
            if i % 5 == 0 {
                until(|| handle.is_finished());
            }
        }
        until(|| tally.dropped() == tally.made());
    });
}

#[test]
fn detached_result_may_panic_when_dropped() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("bomb");
        }
    }
    watchdog(LONG, || {
        let reported = Arc::new(AtomicU32::new(0));
        let pool = Pool::builder()
            .threads(1)
            .on_panic({
                let reported = Arc::clone(&reported);
                move |_| _ = reported.fetch_add(1, Ordering::Relaxed)
            })
            .build()
            .unwrap();
        let gate = Event::default();
        pool.spawn({
            let gate = gate.clone();
            move |cx| {
                gate.wait(cx).unwrap();
                Bomb
            }
        });
        gate.set();
        until(|| reported.load(Ordering::Relaxed) == 1);
    });
}

#[test]
fn fiber_cancelled_before_start_cannot_sleep() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let pool = pool(threads);
            let handles: Vec<_> = (0..20)
                .map(|_| {
                    let handle = pool.spawn(|cx| (cx.is_cancelled(), cx.sleep(FOREVER), cx.check()));
                    handle.cancel();
                    handle
                })
                .collect();
            for handle in handles {
                // It may have begun before it was cancelled, but it cannot have slept.
                let (_, slept, check) = pool.run(|cx| handle.join(cx)).unwrap();
                assert_eq!((slept, check), (Err(Cancelled), Err(Cancelled)));
            }
        }
        // A spare would begin the second while the first blocks its thread.
        let pool = common::one_thread().build().unwrap();
        let was_cancelled = pool.run(|cx| {
            // The one worker is busy with the first until the second is cancelled.
            let (busy, go) = (Event::default(), Event::default());
            let first = pool.spawn({
                let (busy, go) = (busy.clone(), go.clone());
                move |_| {
                    busy.set();
                    until(|| go.is_set());
                }
            });
            busy.wait(cx).unwrap();
            let second = pool.spawn(|cx| cx.is_cancelled());
            second.cancel();
            go.set();
            first.join(cx).unwrap();
            second.join(cx).unwrap()
        });
        assert!(was_cancelled);
    });
}

#[test]
fn cancel_works_while_running_waiting_and_ended() {
    in_all_pools(|pool| {
        let begun = Event::default();
        let running = pool.spawn({
            let begun = begun.clone();
            move |cx| {
                begun.set();
                while !cx.is_cancelled() {
                    thread::yield_now();
                }
                (cx.check(), cx.sleep(Duration::ZERO))
            }
        });
        until(|| begun.is_set());
        running.cancel();
        assert_eq!(pool.run(|cx| running.join(cx)).unwrap(), (Err(Cancelled), Err(Cancelled)));

        let waiting = pool.spawn(|cx| (cx.sleep(FOREVER), cx.sleep(Duration::ZERO), cx.is_cancelled()));
        until_waiting(pool, 1);
        waiting.cancel();
        waiting.cancel_handle().cancel();
        assert_eq!(pool.run(|cx| waiting.join(cx)).unwrap(), (Err(Cancelled), Err(Cancelled), true));

        let ended = pool.spawn(|_| 5);
        until(|| ended.is_finished());
        ended.cancel();
        let canceller = ended.cancel_handle();
        assert_eq!(pool.run(|cx| ended.join(cx)).unwrap(), 5);
        canceller.cancel();
    });
}

#[test]
fn cancelled_join_keeps_handle() {
    in_all_pools(|pool| {
        let gate = Event::default();
        let mut slow = pool.spawn({
            let gate = gate.clone();
            move |cx| gate.wait(cx).map(|()| 7)
        });
        let waiter = pool.spawn(move |cx| {
            let cancelled = slow.wait(cx);
            (cancelled, slow)
        });
        until_waiting(pool, 2);
        waiter.cancel();
        let (cancelled, slow) = pool.run(|cx| waiter.join(cx)).unwrap();
        assert_eq!(cancelled, Err(Cancelled));
        gate.set();
        assert_eq!(pool.run(|cx| slow.join(cx)).unwrap(), Ok(7));
    });
}

#[test]
fn ended_fiber_can_be_joined_in_cancelled_scope() {
    with_every_cx(|cx| {
        cx.cancellable(|cx, canceller| {
            let [mut ended, panicked] = [1, 0].map(|n| anabranch::spawn(move |_| 10 / n));
            let slow = anabranch::spawn(|cx| cx.sleep(FOREVER));
            until_in(cx, || ended.is_finished() && panicked.is_finished());
            canceller.cancel();
            assert_eq!((cx.check(), ended.wait(cx)), (Err(Cancelled), Ok(())));
            assert_eq!(ended.join(cx).unwrap(), 10);
            assert!(matches!(panicked.join(cx), Err(JoinError::Panicked(_))));
            slow.cancel();
            // That one may have ended or not.
            assert!(matches!(slow.join(cx), Err(JoinError::Cancelled) | Ok(Err(Cancelled))));
            let slower = anabranch::spawn(|cx| cx.sleep(FOREVER));
            let canceller = slower.cancel_handle();
            assert!(matches!(slower.join(cx), Err(JoinError::Cancelled)));
            canceller.cancel();
        });
    });
}

#[test]
fn try_join_returns_handle_until_fiber_ends() {
    with_every_cx(|cx| {
        let (gate, tally) = (Event::default(), Tally::default());
        let (value, waits) = (tally.make(), gate.clone());
        let mut handle = anabranch::spawn(move |cx| (waits.wait(cx).unwrap(), value).1);
        for _ in 0..10 {
            handle = handle.try_join().err().expect("it waits");
            cx.yield_now();
        }
        gate.set();
        until_in(cx, || handle.is_finished());
        drop(handle.try_join().unwrap().unwrap());
        tally.assert_all_dropped();
    });
}

#[test]
fn spawn_works_from_threads_fibers_and_compute_code() {
    in_all_pools(|outer| {
        // From a thread in no pool, a guest, a fiber, a child of a scope.
        let from_fiber = outer.spawn(|cx| {
            let inner = anabranch::spawn(|cx| {
                cx.yield_now();
                1
            });
            inner.join(cx).unwrap()
                + cx.scope(|s| s.spawn(|cx| anabranch::spawn(|_| 2).join(cx).unwrap()).join(s)).unwrap()
        });
        assert_eq!(outer.run(|cx| from_fiber.join(cx)).unwrap(), 3);
        let from_guest = outer.install(|| anabranch::spawn(|_| 4));
        assert_eq!(anabranch::run(|cx| from_guest.join(cx)).unwrap(), 4, "from the default pool");

        // From compute code: both halves of a join, the items of a loop, a task.
        let count = Arc::new(AtomicU32::new(0));
        let spawn = || {
            let count = Arc::clone(&count);
            anabranch::spawn(move |cx| {
                cx.yield_now();
                count.fetch_add(1, Ordering::Relaxed);
            })
        };
        let handles = outer.install(|| {
            let (a, b) = anabranch::join(spawn, spawn);
            let mut handles: Vec<_> = (0..50u32).into_par_iter().map(|_| spawn()).collect();
            anabranch::scope(|s| s.spawn(|| drop(spawn())));
            handles.extend([a, b]);
            handles
        });
        outer.run(|cx| handles.into_iter().for_each(|handle| handle.join(cx).unwrap()));
        until(|| count.load(Ordering::Relaxed) == 53);

        // From inside another pool: `spawn` uses that pool, `Pool::spawn` the given one.
        let inner = pool(1);
        let (here, there) = outer.install(|| {
            (inner.install(|| anabranch::spawn(|_| anabranch::pool::current_num_threads())), inner.spawn(|_| 0))
        });
        assert_eq!(outer.run(|cx| here.join(cx)).unwrap(), 1);
        assert_eq!(outer.run(|cx| there.join(cx)).unwrap(), 0);
    });
}

#[test]
fn chain_of_a_thousand_joins_ends() {
    in_all_pools(|pool| {
        let last = (0..1000).fold(pool.spawn(|_| 0u32), |before, _| pool.spawn(move |cx| before.join(cx).unwrap() + 1));
        assert_eq!(pool.run(|cx| last.join(cx)).unwrap(), 1000);
    });
}

#[test]
fn yielding_fibers_do_not_starve_new_fibers() {
    watchdog(LONG, || {
        let pool = pool(1);
        let flag = Arc::new(AtomicU32::new(0));
        let yielders: Vec<_> = (0..3)
            .map(|_| {
                let flag = Arc::clone(&flag);
                pool.spawn(move |cx| {
                    while flag.load(Ordering::Relaxed) == 0 {
                        cx.yield_now();
                    }
                })
            })
            .collect();
        until(|| pool.fibers().iter().all(|fiber| fiber.worker().is_some()));
        pool.spawn(move |_| flag.store(1, Ordering::Relaxed));
        pool.run(|cx| yielders.into_iter().for_each(|yielder| yielder.join(cx).unwrap()));

        // In the queue of a thread that is parked.
        let flag = Arc::new(AtomicU32::new(0));
        let yielder = pool.spawn({
            let flag = Arc::clone(&flag);
            move |cx| {
                while flag.load(Ordering::Relaxed) == 0 {
                    cx.yield_now();
                }
            }
        });
        until(|| pool.fibers().iter().all(|fiber| fiber.worker().is_some()));
        pool.run(|cx| {
            let event = Event::default();
            cx.join(
                |cx| event.wait(cx).unwrap(),
                |_| {
                    flag.store(1, Ordering::Relaxed);
                    event.set();
                },
            );
            yielder.join(cx).unwrap();
        });
    });
}

#[test]
fn fiber_may_wait_for_fiber_by_run() {
    // The thread is parked, so another one has to take the fiber.
    in_all_pools(|pool| {
        let sum = on_fiber(pool, |_| {
            let handle = anabranch::spawn(|cx| {
                cx.yield_now();
                40
            });
            2 + anabranch::run(|cx| handle.join(cx)).unwrap()
        });
        assert_eq!(sum, 42);
    });
}

#[test]
fn panic_without_handle_reaches_panic_handler() {
    watchdog(LONG, || {
        let (send, receive) = std::sync::mpsc::channel();
        let pool = Pool::builder()
            .threads(1)
            .on_panic(move |panic| send.send(panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap())
            .build()
            .unwrap();
        let gate = Event::default();
        drop(pool.spawn({
            let gate = gate.clone();
            move |cx| {
                gate.wait(cx).unwrap();
                panic!("alone")
            }
        }));
        gate.set();
        assert_eq!(receive.recv().unwrap().as_deref(), Some("alone"));
    });
}
