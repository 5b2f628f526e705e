//! Every waiting operation with the `Cx` of another fiber panics. Each of these tests ended in a crash, a hang or a
//! corrupted list before the check existed.

use super::{CURRENT, SHORT, check_foreign, on_one_thread};
use crate::common::{LONG, one_thread, panic_text, watchdog};
use anabranch::{
    Cancelled, Cx, Pool,
    channel::{self, spsc},
    select,
    sync::{Condvar, Mutex, Trigger},
};
use send_wrapper::SendWrapper;
use std::{
    future,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

/// Checks that `operation` panics in a child of a scope with the `Cx` of its waiting parent.
#[track_caller]
fn use_that_of_the_parent(operation: impl FnOnce(&Cx<'_>) + Send + 'static) {
    let text = panic_text(|| {
        on_one_thread(move |cx| {
            cx.scope(|s| {
                let parent = SendWrapper::new(cx);
                s.spawn(move |own| {
                    // It is a fiber that waits like any other, before and after.
                    own.sleep(SHORT).unwrap();
                    operation(&parent);
                });
            });
        });
    });
    check_foreign(&text);
}

#[test]
fn sleep_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| _ = cx.sleep(SHORT));
}

#[test]
fn yield_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| cx.yield_now());
}

#[test]
fn join_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| _ = cx.join(|_| (), |_| ()));
}

#[test]
fn scope_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| cx.scope(|s| _ = s.spawn(|cx| cx.yield_now())));
}

#[test]
fn set_name_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| cx.set_name("impostor"));
}

#[test]
fn recv_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| {
        let (_sender, receiver) = channel::unbounded::<u8>();
        _ = receiver.recv(cx);
    });
    use_that_of_the_parent(|cx| {
        let (_sender, mut receiver) = spsc::unbounded::<u8>();
        _ = receiver.recv(cx);
    });
}

#[test]
fn repeated_recv_with_cx_of_another_fiber_panics_at_yield() {
    use_that_of_the_parent(|cx| {
        let (sender, receiver) = channel::unbounded();
        (0..1000).for_each(|n| sender.try_send(n).unwrap());
        (0..1000).for_each(|_| _ = receiver.recv(cx));
    });
}

#[test]
fn select_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| {
        let (_sender, receiver) = channel::unbounded::<u8>();
        _ = select!(cx, { _ = receiver.receiving() => (), () = cx.sleeping(Duration::from_secs(3600)) => () });
    });
}

#[test]
fn block_on_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| _ = cx.block_on(future::pending::<()>()));
}

#[test]
fn trigger_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| _ = Trigger::new().wait(cx));
}

#[test]
fn contended_lock_with_cx_of_another_fiber_panics() {
    use_that_of_the_parent(|cx| {
        let mutex = Mutex::new(());
        let _guard = mutex.try_lock().unwrap();
        _ = mutex.lock(cx);
    });
}

#[test]
fn condvar_with_cx_of_another_fiber_panics_and_unlocks() {
    static MUTEX: Mutex<()> = Mutex::new(());
    use_that_of_the_parent(|cx| {
        let condvar = Condvar::new();
        let mut guard = MUTEX.try_lock().unwrap();
        _ = condvar.wait(cx, &mut guard);
    });
    assert!(!MUTEX.is_locked());
}

#[test]
fn shielded_and_timed_waits_with_cx_of_another_fiber_panic() {
    use_that_of_the_parent(|cx| _ = cx.shield(|cx| cx.sleep(SHORT)));
    use_that_of_the_parent(|cx| {
        _ = cx.timeout(SHORT, |cx| Ok::<_, anabranch::WaitError>(cx.sleep(Duration::from_secs(3600))?));
    });
}

#[test]
fn operations_that_do_not_wait_accept_cx_of_another_fiber() {
    static NUMBER: anabranch::fiber::FiberLocal<AtomicU32> = anabranch::fiber::FiberLocal::new(|| AtomicU32::new(0));
    let number = on_one_thread(|cx| {
        NUMBER.get(cx).store(7, Ordering::Relaxed);
        cx.scope(|s| {
            let parent = SendWrapper::new(cx);
            let child = s.spawn(move |own| {
                assert!(!parent.is_cancelled() && parent.time_left().is_none() && parent.check().is_ok());
                parent.timeout(SHORT, |cx| Ok::<_, anabranch::TimedOut>(cx.now())).unwrap();
                assert_eq!(NUMBER.get(own).load(Ordering::Relaxed), 0);
                NUMBER.get(&parent).load(Ordering::Relaxed)
            });
            child.join(s)
        })
    });
    assert_eq!(number, Ok(7));
}

#[test]
fn scope_waits_for_fiber_spawned_by_another_fiber() {
    // Spawned after the body of the scope has ended: the scope counts it all the same.
    let ended = Arc::new(AtomicU32::new(0));
    let seen = on_one_thread({
        let ended = Arc::clone(&ended);
        move |cx| {
            cx.scope(|s| {
                let (outer, ended) = (SendWrapper::new(s), &ended);
                s.spawn(move |cx| {
                    cx.sleep(SHORT).unwrap();
                    outer.spawn_named("late", move |cx| {
                        cx.sleep(SHORT).unwrap();
                        ended.fetch_add(1, Ordering::Relaxed);
                    });
                });
            });
            ended.load(Ordering::Relaxed)
        }
    });
    assert_eq!(seen, 1);
}

#[test]
fn cx_in_thread_local_is_refused_in_other_fibers() {
    let text = panic_text(|| {
        on_one_thread(|cx| {
            cx.scope(|s| {
                s.spawn(|_| CURRENT.with(|cx| _ = cx.sleep(SHORT)));
                // Cancelled by the panic of the other one.
                CURRENT.set(s, || CURRENT.with(|cx| _ = cx.sleep(LONG)));
            });
        });
    });
    check_foreign(&text);
}

#[test]
fn cx_in_thread_local_works_in_its_fiber() {
    let slept = on_one_thread(|cx| CURRENT.set(cx, || CURRENT.with(|cx| cx.sleep(SHORT))));
    assert_eq!(slept, Ok(()));
}

#[test]
fn cx_of_run_on_fiber_is_refused_in_other_fibers() {
    let text = panic_text(|| {
        on_one_thread(|fiber| {
            anabranch::run(|thread| {
                fiber.scope(|s| {
                    let thread = SendWrapper::new(thread);
                    s.spawn(move |_| _ = thread.sleep(SHORT));
                });
            });
        });
    });
    check_foreign(&text);
}

#[test]
fn cx_of_fiber_works_inside_run_and_another_pool() {
    let other = Pool::builder().threads(1).build().unwrap();
    let waits = on_one_thread(move |fiber| {
        [
            anabranch::run(|thread| fiber.sleep(SHORT).and_then(|()| thread.sleep(SHORT))),
            other.install(|| fiber.sleep(SHORT)),
            other.run(|guest| fiber.sleep(SHORT).and_then(|()| guest.sleep(SHORT))),
            anabranch::run(|outer| anabranch::run(|inner| outer.sleep(SHORT).and_then(|()| inner.sleep(SHORT)))),
        ]
    });
    assert_eq!(waits, [Ok::<_, Cancelled>(()); 4]);
}

#[test]
fn broadcast_refuses_cx_that_already_waits() {
    // The thread of the pool answers while it waits in `run`, by the `Cx` of just that wait.
    watchdog(LONG, || {
        let pool = one_thread().build().unwrap();
        let (begin, begun) = std::sync::mpsc::channel();
        let text = std::thread::scope(|s| {
            let worker = s.spawn(|| {
                pool.broadcast(|_| {
                    anabranch::run(|cx| {
                        let mut end = Trigger::new();
                        begin.send(end.signal()).unwrap();
                        CURRENT.set(cx, || end.wait(cx).unwrap());
                    });
                });
            });
            let end = begun.recv().unwrap();
            let text = panic_text(|| {
                pool.broadcast(|_| CURRENT.with(|cx| _ = cx.sleep(SHORT)));
            });
            end.send();
            worker.join().unwrap();
            text
        });
        assert!(text.contains("a `Cx` was used on a stack that is not its own"), "{text}");
    });
}

#[test]
fn run_in_thread_local_initialiser_runs_no_other_fiber() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    thread_local!(static VALUE: u32 = {
        anabranch::run(|cx| cx.sleep(SHORT)).unwrap();
        MADE.fetch_add(1, Ordering::Relaxed)
    });
    let values = on_one_thread(|cx| {
        cx.scope(|s| {
            let fibers = [(); 3].map(|()| {
                s.spawn(|cx| {
                    cx.yield_now();
                    VALUE.with(|value| *value)
                })
            });
            fibers.map(|fiber| fiber.join(s).unwrap())
        })
    });
    assert_eq!((values, MADE.load(Ordering::Relaxed)), ([0; 3], 1));
}
