//! What went wrong once with fibers, and what came near to it.

use crate::common::{LONG, pool, watchdog};
use anabranch::{
    FiberLocal, Pool, WaitError,
    sync::{Signal, Trigger},
    time::ManualClock,
};
use std::{
    cell::Cell,
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

const HOUR: Duration = Duration::from_secs(3600);

fn trigger() -> (Trigger, Signal) {
    let trigger = Trigger::new();
    let signal = trigger.signal();
    (trigger, signal)
}

fn poll_once<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

struct PanicsWhenWoken;

impl Wake for PanicsWhenWoken {
    fn wake(self: Arc<Self>) {
        panic!("woken");
    }
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Two scopes of one fiber side by side: that of the body, and one that was made by the `Cx` outside of it. On one
/// worker the fiber of the scope runs when the body waits.
#[test]
fn a_cancelled_scope_leaves_waits_in_the_scope_beside_it_alone() {
    watchdog(LONG, || {
        let pool = pool(1);
        let (mut trigger, signal) = trigger();
        let outcome = pool.spawn(move |cx| {
            cx.scope(|s| {
                let spawner = s.spawner();
                s.spawn(move |_| {
                    spawner.cancel();
                    signal.send();
                });
                let outcome = cx.timeout(HOUR, |beside| Ok::<_, WaitError>(trigger.wait(beside)?));
                assert!(s.is_cancelled(), "the fiber has run");
                outcome
            })
        });
        assert_eq!(anabranch::run(|cx| outcome.join(cx)).unwrap(), Ok(()));
    });
}

/// On one worker the last fiber runs when the one that joins waits.
#[test]
fn a_handle_that_was_polled_can_be_joined() {
    watchdog(LONG, || {
        let pool = pool(1);
        let (mut trigger, signal) = trigger();
        let mut handle = pool.spawn(move |cx| trigger.wait(cx));
        assert!(poll_once(&mut handle, Waker::noop()).is_pending());
        let joined = pool.spawn(move |cx| {
            drop(anabranch::spawn(move |_| signal.send()));
            handle.join(cx)
        });
        assert_eq!(pool.run(|cx| joined.join(cx)).unwrap().unwrap(), Ok(()));
    });
}

#[test]
fn a_waker_that_panics_unwinds_nobody() {
    watchdog(LONG, || {
        let pool = pool(1);
        let waker = Waker::from(Arc::new(PanicsWhenWoken));
        let (mut trigger, signal) = trigger();
        let mut handle = pool.spawn(move |cx| trigger.wait(cx));
        assert!(poll_once(&mut handle, &waker).is_pending());
        signal.send();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Ok(()), "the worker goes on");

        let mut trigger = Trigger::new();
        let signal = trigger.signal();
        let mut wait = pin!(trigger.wait_async());
        assert!(poll_once(&mut wait, &waker).is_pending());
        signal.send();
        assert!(poll_once(&mut wait, &waker).is_ready());
    });
}

#[test]
fn a_result_that_nobody_wants_may_panic_when_it_is_dropped() {
    watchdog(LONG, || {
        let pool = pool(1);
        // Whoever comes last drops the result: the worker, or this thread.
        _ = std::panic::catch_unwind(|| drop(pool.spawn(|_| PanicsWhenDropped)));
        assert!(pool.run(|cx| pool.spawn(|_| ()).join(cx)).is_ok(), "the worker goes on");
    });
}

/// The fibers run one after the other on the same stack.
#[test]
fn a_value_that_panics_when_it_is_dropped_leaves_no_other_to_the_next_fiber() {
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

/// The deadline is one of the pool in which it was set, whose clock is moved by hand.
#[test]
fn a_deadline_is_kept_inside_another_pool() {
    watchdog(LONG, || {
        let manual = ManualClock::new();
        let outer = Pool::builder().threads(1).clock(manual.clock()).build().unwrap();
        let inner = pool(1);
        let outcome = outer.run(|cx| {
            cx.timeout(HOUR, |cx| {
                manual.advance(2 * HOUR);
                Ok(inner.run(|_| cx.sleep(10 * HOUR))?)
            })
        });
        assert_eq!(outcome, Err(WaitError::TimedOut));
    });
}
