//! A fiber that unwinds does not leave its stack. Destructors may try to wait, no other fiber runs on a panicking
//! thread, and fibers that destructors start are waited for.

use crate::common::{
    LONG,
    fibers::{Event, FOREVER, in_all_pools, on_fiber, until, with_every_cx},
    panic_text, pool, watchdog,
};
use anabranch::{Cancelled, Cx, Operation, Pool, WaitError, sync};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// Calls a function when it is dropped.
struct Guard<F: FnMut()>(F);

impl<F: FnMut()> Drop for Guard<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Fibers that yield, sleep and check whether their thread panics, until the test ends them.
struct Witnesses {
    is_over: Arc<AtomicBool>,
    looks: Arc<AtomicU32>,
    handles: Vec<anabranch::JoinHandle<bool>>,
}

impl Witnesses {
    fn call(pool: &Pool) -> Self {
        let (is_over, looks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let handles = (0..3 * pool.num_threads())
            .map(|i| {
                let (is_over, looks) = (Arc::clone(&is_over), Arc::clone(&looks));
                pool.spawn(move |cx| {
                    let mut has_seen_a_panic = false;
                    while !is_over.load(Ordering::Relaxed) {
                        has_seen_a_panic |= thread::panicking();
                        looks.fetch_add(1, Ordering::Relaxed);
                        if i % 2 == 0 { cx.yield_now() } else { cx.sleep(Duration::from_micros(100)).unwrap() }
                    }
                    has_seen_a_panic
                })
            })
            .collect();
        until(|| looks.load(Ordering::Relaxed) > 100);
        Self { is_over, looks, handles }
    }

    fn hear(self, pool: &Pool) {
        let looks = self.looks.load(Ordering::Relaxed);
        until(|| self.looks.load(Ordering::Relaxed) > looks + 100);
        self.is_over.store(true, Ordering::Relaxed);
        for handle in self.handles {
            assert!(!pool.run(|cx| handle.join(cx)).unwrap(), "a fiber ran in a thread that unwinds");
        }
    }
}

/// Does everything that a destructor might do, and checks the results: on a fiber, waits are cancelled.
fn try_to_wait(cx: &Cx<'_>) {
    cx.yield_now();
    let _ = cx.sleep(Duration::from_micros(100));
    let _ = cx.check();
    let handle = anabranch::spawn(|_| 1);
    let _ = handle.join(cx);
    let count = AtomicU32::new(0);
    cx.scope(|s| {
        for _ in 0..3 {
            s.spawn(|cx| {
                assert!(!thread::panicking(), "a fiber was begun in a thread that unwinds");
                cx.yield_now();
                let _ = cx.sleep(Duration::from_micros(100));
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 3, "a scope waits, whatever it is in");
    let (a, b) = cx.join(
        |cx| {
            cx.yield_now();
            1
        },
        |cx| {
            cx.yield_now();
            2
        },
    );
    assert_eq!(a + b, 3);
    let _ = cx.timeout(Duration::from_micros(100), |cx| Ok::<_, WaitError>(cx.sleep(FOREVER)?));
    let _ = cx.shield(|cx| cx.sleep(Duration::from_micros(100)));
    let _ = cx.block_on(std::future::ready(()));
    let winner = cx.race((|_: &Cx<'_>| 1, |_: &Cx<'_>| 1));
    assert_eq!(winner, 1);
    assert_eq!(anabranch::join(|| 1, || 2), (1, 2));
}

#[test]
fn waits_in_guards_end_while_unwinding() {
    in_all_pools(|pool| {
        let witnesses = Witnesses::call(pool);
        for _ in 0..5 {
            let dropped = Arc::new(AtomicU32::new(0));
            let text = panic_text(|| {
                on_fiber(pool, {
                    let dropped = Arc::clone(&dropped);
                    move |cx| {
                        let _outer = Guard(|| {
                            assert!(thread::panicking());
                            try_to_wait(cx);
                            dropped.fetch_add(1, Ordering::Relaxed);
                        });
                        cx.yield_now();
                        cx.scope(|s| {
                            let _inner = Guard(|| {
                                try_to_wait(s);
                                dropped.fetch_add(1, Ordering::Relaxed);
                            });
                            s.spawn(|cx| cx.sleep(FOREVER));
                            s.yield_now();
                            panic!("body");
                        });
                    }
                });
            });
            assert_eq!((text.as_str(), dropped.load(Ordering::Relaxed)), ("body", 2));
        }
        witnesses.hear(pool);
    });
}

#[test]
fn waits_in_guards_of_halves_end_while_unwinding() {
    in_all_pools(|pool| {
        let witnesses = Witnesses::call(pool);
        for who in 0..3 {
            let dropped = Arc::new(AtomicU32::new(0));
            let text = panic_text(|| {
                on_fiber(pool, {
                    let dropped = Arc::clone(&dropped);
                    move |cx| {
                        let half = |panics: bool| {
                            let dropped = &dropped;
                            move |cx: &Cx<'_>| {
                                let _guard = Guard(|| {
                                    try_to_wait(cx);
                                    dropped.fetch_add(1, Ordering::Relaxed);
                                });
                                cx.yield_now();
                                assert!(!panics, "half");
                            }
                        };
                        cx.join(half(who != 1), half(who != 0));
                    }
                });
            });
            assert_eq!(text, "half");
            assert!(dropped.load(Ordering::Relaxed) >= 1);
        }
        witnesses.hear(pool);
    });
}

#[test]
fn guard_on_thread_may_wait() {
    // Nothing else runs on the thread meanwhile.
    in_all_pools(|pool| {
        let slept = AtomicBool::new(false);
        let text = panic_text(|| {
            pool.run(|cx| {
                let _guard = Guard(|| {
                    try_to_wait(cx);
                    slept.store(cx.sleep(Duration::from_micros(100)).is_ok(), Ordering::Relaxed);
                });
                panic!("body");
            });
        });
        assert_eq!((text.as_str(), slept.into_inner()), ("body", true));
    });
}

#[test]
fn wait_of_guard_on_fiber_is_cancelled() {
    in_all_pools(|pool| {
        let cancelled = Arc::new(AtomicU32::new(0));
        panic_text(|| {
            on_fiber(pool, {
                let cancelled = Arc::clone(&cancelled);
                move |cx| {
                    let _guard = Guard(|| {
                        let event = Event::default();
                        let waits =
                            [cx.sleep(Duration::from_micros(1)), event.wait(cx), cx.check().and(event.wait(cx))];
                        let count = waits.iter().filter(|wait| **wait == Err(Cancelled)).count();
                        cancelled.store(count as u32, Ordering::Relaxed);
                    });
                    panic!("body");
                }
            });
        });
        assert_eq!(cancelled.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn fiber_waits_normally_after_caught_panic() {
    with_every_cx(|cx| {
        for _ in 0..20 {
            let text = panic_text(|| {
                cx.yield_now();
                cx.scope(|s| {
                    s.spawn(|cx| cx.sleep(Duration::from_micros(10)));
                    s.yield_now();
                    panic!("text");
                })
            });
            assert_eq!(text, "text");
            assert!(!thread::panicking());
            assert_eq!(cx.sleep(Duration::from_micros(10)), Ok(()));
        }
    });
}

#[test]
fn scope_in_guard_waits_for_its_child() {
    // On one worker the child is begun by a spare: the fiber that unwinds holds the other thread.
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            let gate = Event::default();
            let handle = pool.spawn({
                let gate = gate.clone();
                move |cx| {
                    let _guard = Guard(|| {
                        cx.scope(|s| {
                            s.spawn(|cx| gate.wait(cx).unwrap());
                        });
                    });
                    panic!("body");
                }
            });
            until(|| pool.fibers().iter().filter(|fiber| fiber.waits_for() == Some("Trigger")).count() == 1);
            thread::sleep(Duration::from_millis(2));
            assert!(!handle.is_finished());
            gate.set();
            assert_eq!(pool.run(|cx| handle.join(cx)).unwrap_err().to_string(), "the fiber panicked: body");
        }
    });
}

/// Returns the result of `body` in a destructor, on a fiber that unwinds.
fn while_unwinding<R: Send + 'static>(pool: &Pool, body: impl Fn(&Cx<'_>) -> R + Send + 'static) -> R {
    let result = Arc::new(Mutex::new(None));
    let text = panic_text(|| {
        on_fiber(pool, {
            let result = Arc::clone(&result);
            move |cx| {
                let _guard = Guard(|| {
                    assert!(thread::panicking());
                    *result.lock().unwrap() = Some(body(cx));
                });
                panic!("body");
            }
        });
    });
    assert_eq!(text, "body");
    let result = result.lock().unwrap().take();
    result.unwrap()
}

#[test]
fn shielded_waits_complete_while_unwinding() {
    in_all_pools(|pool| {
        let start = Instant::now();
        let slept = while_unwinding(pool, |cx| cx.shield(|cx| cx.sleep(Duration::from_millis(1))));
        assert!(slept == Ok(()) && start.elapsed() >= Duration::from_millis(1));
        // Limits hold, in scopes below the shield too.
        let late = while_unwinding(pool, |cx| {
            cx.shield(|cx| cx.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(cx.sleep(FOREVER)?)))
        });
        assert_eq!(late, Err(WaitError::TimedOut));
        // An event that comes from outside.
        let event = Event::default();
        let result = while_unwinding(pool, move |cx| {
            let other = event.clone();
            let teller = thread::spawn(move || {
                thread::sleep(Duration::from_millis(1));
                other.set();
            });
            let result = cx.shield(|cx| event.wait(cx));
            teller.join().unwrap();
            result
        });
        assert_eq!(result, Ok(()));
    });
}

#[test]
fn contended_locks_are_acquired_while_unwinding() {
    in_all_pools(|pool| {
        let mutex = Arc::new(sync::Mutex::new(0));
        let lock = Arc::new(sync::RwLock::new(0));
        let permits = Arc::new(sync::Semaphore::new(1));
        let (held, hold) = mpsc::channel();
        let holder = thread::spawn({
            let (mutex, lock, permits) = (Arc::clone(&mutex), Arc::clone(&lock), Arc::clone(&permits));
            move || {
                let _guards = (mutex.try_lock().unwrap(), lock.try_write().unwrap(), permits.try_acquire().unwrap());
                held.send(()).unwrap();
                thread::sleep(Duration::from_millis(2));
            }
        });
        hold.recv().unwrap();
        let value = while_unwinding(pool, move |cx| {
            *mutex.lock(cx).unwrap() += 1;
            *lock.write(cx).unwrap() += 1;
            drop(permits.acquire(cx).unwrap());
            let guard = mutex.locking().timeout(cx, Duration::from_secs(60)).unwrap();
            let read = anabranch::select!(cx, { guard = lock.reading() => *guard }).unwrap();
            *guard + read
        });
        assert_eq!(value, 2);
        holder.join().unwrap();
    });
}

#[test]
fn lock_of_fiber_on_other_thread_is_acquired_while_unwinding() {
    watchdog(LONG, || {
        let pool = pool(2);
        let mutex = Arc::new(sync::Mutex::new(()));
        let (sender, receiver) = mpsc::channel();
        // It keeps its worker, so the one that unwinds is on the other.
        let holder = pool.spawn({
            let mutex = Arc::clone(&mutex);
            move |cx| {
                let _guard = mutex.lock(cx).unwrap();
                sender.send(()).unwrap();
                let end = Instant::now() + Duration::from_millis(5);
                while Instant::now() < end {
                    std::hint::spin_loop();
                }
            }
        });
        receiver.recv().unwrap();
        assert!(while_unwinding(&pool, move |cx| mutex.lock(cx).is_ok()));
        pool.run(|cx| holder.join(cx)).unwrap();
    });
}
