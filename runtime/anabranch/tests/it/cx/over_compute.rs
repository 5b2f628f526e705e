//! Waits on a fiber with open compute work on its stack block the thread and do not leave the stack. Other fibers of
//! the thread would push forks on top, and the fork list of a thread is in the order of one stack.
//!
//! Where no compute work is open, as in the body of a scope, the fiber is suspended as usual.

use crate::common::{LONG, fibers::on_fiber, one_thread, pool, sum_to, watchdog};
use anabranch::{Cx, Pool, prelude::*};
use send_wrapper::SendWrapper;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

const SHORT: Duration = Duration::from_millis(1);

/// Runs fibers that compute and yield, in turn, until `body` returns, with a counter of their progress.
fn beside_others<R: Send + 'static>(
    pool: &Pool,
    body: impl FnOnce(&Cx<'_>, &AtomicU32) -> R + Send + 'static,
) -> (R, u32) {
    on_fiber(pool, |cx| {
        let (steps, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
        let result = cx.scope(|s| {
            for _ in 0..4 {
                s.spawn(|cx| {
                    while !is_over.load(Ordering::Relaxed) {
                        let (a, b) = anabranch::join(|| sum_to(50), || sum_to(60));
                        assert_eq!((a, b), (1275, 1830));
                        cx.yield_now();
                        let (a, b) = cx.join(
                            |cx| {
                                cx.yield_now();
                                sum_to(10)
                            },
                            |_| sum_to(20),
                        );
                        assert_eq!((a, b), (55, 210));
                        steps.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            while steps.load(Ordering::Relaxed) < 8 {
                s.yield_now();
            }
            let _end = End(&is_over);
            body(s, &steps)
        });
        (result, steps.into_inner())
    })
}

/// Ends the other fibers, also if the test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// On one thread, where the other fibers must not progress, and on several, where the forks are stolen.
fn check(body: impl Fn(&Cx<'_>) + Send + Sync + 'static) {
    let body = Arc::new(body);
    watchdog(LONG, || {
        let here = Arc::clone(&body);
        beside_others(&one_thread().build().unwrap(), move |cx, steps| {
            let before = steps.load(Ordering::Relaxed);
            here(cx);
            assert_eq!(steps.load(Ordering::Relaxed), before, "another fiber ran on top of compute work");
            // Afterwards it waits like any other.
            while steps.load(Ordering::Relaxed) < before + 8 {
                cx.sleep(Duration::from_micros(10)).unwrap();
            }
        });
        for threads in [1, 2, 4] {
            for pool in [pool(threads), Pool::builder().threads(threads).without_membarrier().build().unwrap()] {
                let there = Arc::clone(&body);
                beside_others(&pool, move |cx, _| (0..5).for_each(|_| there(cx)));
                assert_eq!(pool.install(|| sum_to(200)), 20_100);
            }
        }
    });
}

#[test]
fn wait_in_first_half_of_join_blocks() {
    check(|cx| {
        let cx = SendWrapper::new(cx);
        let (slept, sum) = anabranch::join(|| cx.sleep(SHORT), || sum_to(30));
        assert_eq!((slept, sum), (Ok(()), 465));
    });
}

#[test]
fn yield_in_first_half_of_join_blocks() {
    check(|cx| {
        let cx = SendWrapper::new(cx);
        let ((), sum) = anabranch::join(|| (0..20).for_each(|_| cx.yield_now()), || sum_to(30));
        assert_eq!(sum, 465);
    });
}

#[test]
fn wait_deep_in_joins_blocks() {
    fn dive(cx: &SendWrapper<&Cx<'_>>, depth: u32) -> u64 {
        if depth == 0 {
            cx.sleep(SHORT).unwrap();
            return 1;
        }
        let (a, b) = anabranch::join(|| dive(cx, depth - 1), || sum_to(3));
        a + b
    }
    check(|cx| assert_eq!(dive(&SendWrapper::new(cx), 100), 601));
}

#[test]
fn wait_in_cx_join_inside_compute_join_blocks() {
    check(|cx| {
        let outer = SendWrapper::new(cx);
        let (inner, sum) = anabranch::join(
            || {
                outer.join(
                    |cx| {
                        cx.sleep(SHORT).unwrap();
                        cx.yield_now();
                        // A third, which has waiting code right below it.
                        cx.join(|cx| cx.sleep(SHORT), |_| 1)
                    },
                    |_| 2,
                )
            },
            || sum_to(30),
        );
        assert_eq!((inner, sum), (((Ok(()), 1), 2), 465));
    });
}

#[test]
fn wait_in_parallel_loop_blocks() {
    check(|cx| {
        let thread = std::thread::current().id();
        let cx = SendWrapper::new(cx);
        let done = AtomicU32::new(0);
        (0..40u32).into_par_iter().for_each(|n| {
            // What is run elsewhere has no `Cx`; the last piece of a loop is run with nothing open.
            if n < 20 && n % 10 == 0 && std::thread::current().id() == thread {
                cx.sleep(Duration::from_micros(50)).unwrap();
            }
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 40);
    });
}

#[test]
fn wait_in_task_run_by_waiting_scope_blocks() {
    check(|cx| {
        let thread = std::thread::current().id();
        let cx = SendWrapper::new(cx);
        let sum = AtomicU32::new(0);
        anabranch::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    if std::thread::current().id() == thread {
                        cx.sleep(Duration::from_micros(50)).unwrap();
                    }
                    sum.fetch_add(sum_to(5) as u32, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(sum.into_inner(), 60);
    });
}

#[test]
fn wait_in_own_answer_to_broadcast_blocks() {
    watchdog(LONG, || {
        let pool = Arc::new(one_thread().build().unwrap());
        let own = Arc::clone(&pool);
        beside_others(&pool, move |cx, steps| {
            let before = steps.load(Ordering::Relaxed);
            let cx = SendWrapper::new(cx);
            assert_eq!(own.broadcast(|_| cx.sleep(SHORT)), [Ok(())]);
            assert_eq!(steps.load(Ordering::Relaxed), before);
        });
    });
}

#[test]
fn blocking_wait_ends_by_value_cancellation_or_deadline() {
    use anabranch::{Cancelled, WaitError, channel};
    watchdog(LONG, || {
        let pool = pool(2);
        on_fiber(&pool, |cx| {
            let cx = SendWrapper::new(cx);
            let late = || cx.timeout(SHORT, |cx| Ok::<_, WaitError>(cx.sleep(Duration::from_secs(3600))?));
            assert_eq!(anabranch::join(late, || ()).0, Err(WaitError::TimedOut));
            let cancelled = || {
                cx.cancellable(|cx, canceller| {
                    std::thread::spawn(move || canceller.cancel());
                    cx.sleep(Duration::from_secs(3600))
                })
            };
            assert_eq!(anabranch::join(cancelled, || ()).0, Err(Cancelled));
            // A value from the other half, which another thread has to run.
            let (sender, receiver) = channel::unbounded();
            let (received, ()) = anabranch::join(|| receiver.recv(&cx), || sender.try_send(7).unwrap());
            assert_eq!(received, Ok(7));
        });
    });
}

#[test]
fn wait_in_body_of_compute_scope_suspends() {
    // No wrapper: the body of a scope runs here. Nothing of it is in a list of the thread.
    watchdog(LONG, || {
        for pool in [one_thread().build().unwrap(), pool(2)] {
            beside_others(&pool, |cx, steps| {
                let tasks = AtomicU32::new(0);
                anabranch::scope(|s| {
                    s.spawn(|| _ = tasks.fetch_add(sum_to(9) as u32, Ordering::Relaxed));
                    let before = steps.load(Ordering::Relaxed);
                    while steps.load(Ordering::Relaxed) < before + 8 {
                        cx.sleep(Duration::from_micros(10)).unwrap();
                    }
                    s.spawn(|| _ = tasks.fetch_add(sum_to(9) as u32, Ordering::Relaxed));
                });
                assert_eq!(tasks.into_inner(), 90);
            });
        }
    });
}
