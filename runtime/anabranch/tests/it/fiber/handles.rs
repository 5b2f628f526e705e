//! The result or panic of a fiber, for each way in which its handle is used or dropped, and the winner of a race.

#![cfg(unix)]

use crate::common::{
    LONG,
    fibers::{Event, FOREVER, on_fiber, until},
    panic_text, pool, watchdog,
};
use anabranch::{Cancelled, Cx, JoinError, Pool, WaitError};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

/// A pool of two threads, and the texts of the panics that its handler was given.
fn with_reports(check: impl FnOnce(&Pool, &dyn Fn() -> Vec<String>)) {
    watchdog(LONG, || {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&reports);
        let handler = move |panic: Box<dyn std::any::Any + Send>| {
            seen.lock().unwrap().push((*panic.downcast_ref::<&str>().unwrap()).to_owned());
        };
        let pool = Pool::builder().threads(2).on_panic(handler).build().unwrap();
        check(&pool, &|| reports.lock().unwrap().clone());
    });
}

#[test]
fn panic_before_drop_of_handle_is_reported_once() {
    with_reports(|pool, reports| {
        let handle = pool.spawn(|_| panic!("early"));
        until(|| handle.is_finished());
        assert!(reports().is_empty(), "somebody may ask for it yet");
        drop(handle);
        assert_eq!(reports(), ["early"]);
    });
}

#[test]
fn panic_after_drop_of_handle_is_reported_once() {
    with_reports(|pool, reports| {
        let gate = Event::default();
        let wait = gate.clone();
        drop(pool.spawn(move |cx| {
            wait.wait(cx).unwrap();
            panic!("late");
        }));
        gate.set();
        until(|| reports() == ["late"]);
    });
}

#[test]
fn panic_returned_by_join_is_not_reported() {
    with_reports(|pool, reports| {
        let handle = pool.spawn(|_| panic!("returned"));
        assert!(matches!(pool.run(|cx| handle.join(cx)), Err(JoinError::Panicked(_))));
        let handle = pool.spawn(|_| panic!("returned"));
        until(|| handle.is_finished());
        assert!(matches!(handle.try_join(), Ok(Err(JoinError::Panicked(_)))));
        let handle = pool.spawn(|_| panic!("returned"));
        assert!(matches!(pool.run(|cx| cx.block_on(handle)), Ok(Err(JoinError::Panicked(_)))));
        assert!(reports().is_empty());
    });
}

#[test]
fn panic_is_reported_while_canceller_exists() {
    with_reports(|pool, reports| {
        // After the panic.
        let handle = pool.spawn(|_| panic!("early"));
        let first = handle.cancel_handle();
        until(|| handle.is_finished());
        drop(handle);
        assert_eq!(reports(), ["early"]);
        // Before it.
        let gate = Event::default();
        let wait = gate.clone();
        let handle = pool.spawn(move |cx| {
            wait.wait(cx).unwrap();
            panic!("late");
        });
        let second = handle.cancel_handle();
        drop(handle);
        gate.set();
        until(|| reports().len() == 2);
        drop((first, second));
        assert_eq!(reports(), ["early", "late"]);
    });
}

#[test]
fn panic_is_reported_after_end_of_pool() {
    let mut kept = None;
    let seen = Arc::new(AtomicU32::new(0));
    watchdog(LONG, || {
        let count = Arc::clone(&seen);
        let pool =
            Pool::builder().threads(1).on_panic(move |_| _ = count.fetch_add(1, Ordering::Relaxed)).build().unwrap();
        kept = Some(pool.spawn(|_| panic!("kept")));
    });
    assert_eq!(seen.load(Ordering::Relaxed), 0);
    drop(kept);
    assert_eq!(seen.load(Ordering::Relaxed), 1);
}

#[test]
fn panic_is_reported_after_polled_handle_is_dropped() {
    with_reports(|pool, reports| {
        let gate = Event::default();
        let wait = gate.clone();
        let mut handle = pool.spawn(move |cx| {
            wait.wait(cx).unwrap();
            panic!("late");
        });
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(std::future::Future::poll(std::pin::Pin::new(&mut handle), &mut context).is_pending());
        drop(handle);
        gate.set();
        until(|| reports() == ["late"]);
    });
}

#[test]
fn cancelled_join_keeps_handle_and_result() {
    with_reports(|pool, _| {
        let gate = Event::default();
        let wait = gate.clone();
        let mut handle = pool.spawn(move |cx| wait.wait(cx).map(|()| 7));
        pool.run(|cx| {
            let late = cx.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(handle.wait(cx)?));
            assert_eq!(late, Err(WaitError::TimedOut));
            gate.set();
            assert_eq!(handle.wait(cx), Ok(()));
            assert_eq!(handle.join(cx).unwrap(), Ok(7));
        });
    });
}

#[test]
fn cancelled_join_of_child_keeps_handle_and_result() {
    with_reports(|pool, _| {
        let gate = Event::default();
        let result = pool.run(|cx| {
            cx.scope(|s| {
                let mut child = s.spawn(|cx| gate.wait(cx).map(|()| 7));
                let late = s.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(child.wait(cx)?));
                assert_eq!(late, Err(WaitError::TimedOut));
                gate.set();
                child.join(s)
            })
        });
        assert_eq!(result, Ok(Ok(7)));
    });
}

#[test]
fn race_returns_first_result_and_race_ok_first_success() {
    with_reports(|pool, _| {
        let fail = |_: &Cx<'_>| Err::<u32, &str>("refused");
        let succeed = |cx: &Cx<'_>| cx.sleep(Duration::from_millis(1)).map(|()| 1).map_err(|Cancelled| "cancelled");
        let never = |cx: &Cx<'_>| cx.sleep(FOREVER).map(|()| 2).map_err(|Cancelled| "cancelled");
        on_fiber(pool, move |cx| {
            assert_eq!(cx.race((fail, never)), Err("refused"));
            assert_eq!(cx.race_ok((fail, succeed, never, fail)), Ok(1));
            assert_eq!(cx.race_ok((fail,)), Err(vec!["refused"]));
            assert_eq!(cx.race_ok_iter(0..4u32, |_, n| if n == 2 { Ok(n) } else { Err(n) }), Ok(2));
            assert_eq!(cx.race_ok_iter(0..0u32, |_, n| Err::<(), _>(n)), Err(vec![]));
        });
    });
}

#[test]
fn race_ok_returns_errors_in_order_of_racers() {
    with_reports(|pool, _| {
        let slow = |cx: &Cx<'_>| {
            cx.sleep(Duration::from_millis(2)).unwrap();
            Err::<(), _>("slow")
        };
        let errors = on_fiber(pool, move |cx| cx.race_ok((slow, |_: &Cx<'_>| Err("quick"))));
        assert_eq!(errors, Err(vec!["slow", "quick"]));
        let text = panic_text(|| {
            on_fiber(pool, |cx| {
                _ = cx.race_ok((|_: &Cx<'_>| Err::<(), ()>(()), |_: &Cx<'_>| panic!("racer")));
            });
        });
        assert_eq!(text, "racer");
    });
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn unclaimed_result_may_panic_when_dropped() {
    watchdog(LONG, || {
        let pool = pool(1);
        // The worker or this thread drops the result, whichever is later.
        _ = std::panic::catch_unwind(|| drop(pool.spawn(|_| PanicsWhenDropped)));
        assert!(pool.run(|cx| pool.spawn(|_| ()).join(cx)).is_ok(), "the worker goes on");
    });
}
