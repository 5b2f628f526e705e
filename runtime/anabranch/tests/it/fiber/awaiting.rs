//! Handles, triggers and futures between fibers and async code, on a hand-written executor.

use crate::common::{
    LONG, Tally,
    fibers::{Event, FOREVER, in_all_pools, on_fiber, trigger, until},
    pool, watchdog,
};
use anabranch::{JoinHandle, Pool, WaitError, sync::Trigger, time::ManualClock};
use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

/// Wakes the thread and counts.
struct Unpark(Thread, AtomicUsize);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.unpark();
    }
}

fn waker() -> (Arc<Unpark>, Waker) {
    let unpark = Arc::new(Unpark(thread::current(), AtomicUsize::new(0)));
    (Arc::clone(&unpark), unpark.into())
}

/// Polls on this thread until it is done.
fn block_on<F: Future>(future: F) -> F::Output {
    let (_, waker) = waker();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn handles_are_futures() {
    in_all_pools(|pool| {
        let quick = pool.spawn(|_| 1);
        until(|| quick.is_finished());
        assert_eq!(block_on(quick).unwrap(), 1);
        let slow = pool.spawn(|cx| cx.sleep(Duration::from_millis(1)).map(|()| 2));
        assert_eq!(block_on(slow).unwrap(), Ok(2));
        let panics = pool.spawn(|cx| {
            cx.yield_now();
            panic!("text");
        });
        assert_eq!(block_on(panics).map(|()| 0).unwrap_err().to_string(), "the fiber panicked: text");
        // Many at once, each moved after its first poll.
        let mut many: Vec<JoinHandle<usize>> = (0..100)
            .map(|i| {
                pool.spawn(move |cx| {
                    cx.yield_now();
                    i
                })
            })
            .collect();
        let sum = block_on(poll_fn(|context| {
            let mut sum = 0;
            many.rotate_left(1);
            let mut left = Vec::new();
            for mut handle in many.drain(..) {
                match Pin::new(&mut handle).poll(context) {
                    Poll::Ready(result) => sum += result.unwrap(),
                    Poll::Pending => left.push(handle),
                }
            }
            many = left;
            Poll::Ready(sum)
        }));
        let rest: usize = many.into_iter().map(|handle| block_on(handle).unwrap()).sum();
        assert_eq!(sum + rest, 4950);
    });
}

#[test]
fn handle_may_be_dropped_while_pending() {
    in_all_pools(|pool| {
        let tally = Tally::default();
        for i in 0..100 {
            let gate = Event::default();
            let value = tally.make();
            let mut handle = pool.spawn({
                let gate = gate.clone();
                move |cx| {
                    gate.wait(cx).unwrap();
                    value
                }
            });
            let (unpark, waker) = waker();
            let is_pending = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending();
            assert!(is_pending, "it waits for the gate");
            if i % 2 == 0 {
                // The drop and the end at the same time.
                thread::scope(|s| {
                    s.spawn(|| gate.set());
                    drop(handle);
                });
            } else {
                drop(handle);
                assert_eq!(unpark.1.load(Ordering::Relaxed), 0);
                gate.set();
            }
        }
        until(|| tally.dropped() == tally.made());
    });
}

#[test]
fn polled_handle_can_be_joined_and_joined_handle_polled() {
    watchdog(LONG, || {
        let pool = pool(2);
        let gate = Event::default();
        let mut handle = pool.spawn({
            let gate = gate.clone();
            move |cx| gate.wait(cx)
        });
        let (unpark, waker) = waker();
        assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
        pool.run(|cx| {
            assert!(cx.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(handle.wait(cx)?)).is_err())
        });
        assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
        gate.set();
        until(|| handle.is_finished());
        until(|| unpark.1.load(Ordering::Relaxed) == 1);
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Ok(()));
    });
}

#[test]
fn last_waker_is_woken() {
    watchdog(LONG, || {
        let pool = pool(1);
        let gate = Event::default();
        let mut handle = pool.spawn({
            let gate = gate.clone();
            move |cx| gate.wait(cx)
        });
        let wakers: Vec<_> = (0..10).map(|_| waker()).collect();
        for (_, waker) in &wakers {
            assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(waker)).is_pending());
        }
        gate.set();
        until(|| handle.is_finished());
        until(|| wakers[9].0.1.load(Ordering::Relaxed) == 1);
        assert!(wakers[..9].iter().all(|(unpark, _)| unpark.1.load(Ordering::Relaxed) == 0));
    });
}

#[test]
fn triggers_work_between_fibers_threads_and_tasks() {
    in_all_pools(|pool| {
        let (mut to_fiber, mut to_async) = (Trigger::new(), Trigger::new());
        let (wake_fiber, wake_async) = (to_fiber.signal(), to_async.signal());
        let fiber = pool.spawn(move |cx| {
            to_fiber.wait(cx).unwrap();
            wake_async.send();
            wake_async.send();
        });
        wake_fiber.send();
        block_on(to_async.waiting().into_future());
        block_on(to_async.waiting().into_future());
        assert!(to_async.is_signalled());
        block_on(fiber).unwrap();

        // A wait that was given up, before it was polled and after.
        let mut trigger = Trigger::new();
        drop(trigger.waiting().into_future());
        {
            let mut wait = pin!(trigger.waiting().into_future());
            assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        trigger.signal().send();
        assert_eq!(pool.run(|cx| trigger.wait(cx)), Ok(()));
    });
}

#[test]
fn block_on_runs_future_in_fiber() {
    in_all_pools(|pool| {
        // One that wakes itself, one that another thread wakes, one that is never woken.
        let mut left = 300;
        let yields = poll_fn(move |context| {
            left -= 1;
            context.waker().wake_by_ref();
            if left == 0 { Poll::Ready(()) } else { Poll::Pending }
        });
        assert_eq!(on_fiber(pool, |cx| cx.block_on(yields)), Ok(()));

        let gate = Event::default();
        let handle = pool.spawn({
            let gate = gate.clone();
            move |cx| gate.wait(cx).map(|()| 3)
        });
        let outer = pool.spawn_async(async move { handle.await.unwrap() });
        gate.set();
        assert_eq!(block_on(outer).unwrap(), Ok(3));

        let tally = Tally::default();
        let value = tally.make();
        let never = pool.spawn_async(async move {
            let _value = value;
            std::future::pending::<()>().await;
        });
        never.cancel();
        assert!(matches!(pool.run(|cx| never.join(cx)), Err(anabranch::JoinError::Aborted)));
        tally.assert_all_dropped();

        let late = on_fiber(pool, |cx| {
            cx.timeout(Duration::from_millis(1), |cx| Ok(cx.block_on(std::future::pending::<()>())?))
        });
        assert_eq!(late, Err(WaitError::TimedOut));
    });
}

#[test]
fn waker_may_outlive_wait() {
    watchdog(LONG, || {
        // By hand: a deadline that has passed before the first poll ends the wait without one.
        let manual = ManualClock::new();
        let pool = Pool::builder().threads(1).clock(manual.clock()).build().unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let handle = pool.spawn(move |cx| {
            let future = poll_fn(|context| {
                send.send(context.waker().clone()).unwrap();
                Poll::<()>::Pending
            });
            let late = cx.timeout(Duration::from_millis(1), |cx| Ok(cx.block_on(future)?));
            assert_eq!(late, Err(WaitError::TimedOut));
            cx.sleep(FOREVER)
        });
        let waker: Waker = receive.recv().unwrap();
        manual.advance(Duration::from_millis(1));
        until(|| pool.fibers().iter().any(|fiber| fiber.waits_for() == Some("sleep")));
        waker.wake_by_ref();
        assert!(!handle.is_finished());
        handle.cancel();
        block_on(handle).unwrap().unwrap_err();
        waker.wake();
    });
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

/// On one worker the last fiber runs when the one that joins waits.
#[test]
fn polled_handle_can_be_joined_by_fiber() {
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
fn panicking_waker_does_not_unwind_worker() {
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
        let mut wait = pin!(trigger.waiting().into_future());
        assert!(poll_once(&mut wait, &waker).is_pending());
        signal.send();
        assert!(poll_once(&mut wait, &waker).is_ready());
    });
}
