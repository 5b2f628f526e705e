//! Cancellation at every point at which a program may wait, before the wait and during it, from inside and from
//! outside. The program ends, leaks nothing, and completes what is shielded.

use crate::common::{
    self, LONG, Tally,
    fibers::{Event, FOREVER, Meeting, in_all_pools, sleep_for_ever, trigger, until_waiting, with_every_cx},
    pool, watchdog,
};
use anabranch::{Cancelled, Cx, JoinError, Pool, WaitError, fiber::CancelHandle, pool::FiberState};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

const HOUR: Duration = Duration::from_secs(3600);

/// Counts the points at which a program is about to wait, and cancels it at one of them.
#[derive(Clone)]
struct Steps(Arc<Inner>);

struct Inner {
    taken: AtomicUsize,
    fatal: usize,
    how: How,
    target: OnceLock<CancelHandle>,
    shielded: AtomicBool,
    tally: Tally,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// Before the wait.
    Before,
    /// By a fiber that begins when this one waits, if there is one worker.
    ByAFiber,
    /// By another thread, at some later time.
    ByAThread,
}

impl Steps {
    fn new(fatal: usize, how: How) -> Self {
        Self(Arc::new(Inner {
            taken: AtomicUsize::new(0),
            fatal,
            how,
            target: OnceLock::new(),
            shielded: AtomicBool::new(false),
            tally: Tally::default(),
        }))
    }

    /// Before each wait.
    fn step(&self) -> common::Counted {
        if self.0.taken.fetch_add(1, Ordering::Relaxed) + 1 == self.0.fatal {
            let target = self.0.target.get().expect("set before the program begins").clone();
            match self.0.how {
                How::Before => target.cancel(),
                How::ByAFiber => drop(anabranch::spawn(move |_| target.cancel())),
                How::ByAThread => drop(thread::spawn(move || target.cancel())),
            }
        }
        self.0.tally.make()
    }
}

/// Runs every waiting operation. Counts 1 for each part that completed.
fn program(cx: &Cx<'_>, steps: &Steps) -> Result<u64, Cancelled> {
    let _value = steps.step();
    cx.yield_now();
    let mut sum = 0;

    let (one, two) = Meeting::pair(3);
    let (a, b) = cx.join(
        |cx| {
            let _value = steps.step();
            one.attend(cx)
        },
        |cx| {
            let _value = steps.step();
            cx.sleep(Duration::from_micros(20))?;
            let _value = steps.step();
            two.attend(cx)
        },
    );
    sum += (a? + b?) as u64 / 6;

    sum += cx.scope(|s| {
        let handles: Vec<_> = (0..3)
            .map(|i| {
                s.spawn(move |cx| {
                    let _value = steps.step();
                    cx.sleep(Duration::from_micros(10 * i))?;
                    let (a, b) = cx.join(
                        |cx| {
                            let _value = steps.step();
                            cx.yield_now();
                            cx.check()
                        },
                        |cx| {
                            let _value = steps.step();
                            cx.sleep(Duration::ZERO)
                        },
                    );
                    a.and(b).map(|()| steps.0.tally.make())
                })
            })
            .collect();
        for handle in handles {
            let _value = steps.step();
            handle.join(s)??;
        }
        Ok::<_, Cancelled>(1)
    })?;

    let handle = anabranch::spawn({
        let steps = steps.clone();
        move |cx| {
            let _value = steps.step();
            cx.sleep(Duration::from_micros(30)).map(|()| steps.0.tally.make())
        }
    });
    let _value = steps.step();
    match handle.join(cx) {
        Ok(result) => drop(result?),
        Err(JoinError::Cancelled) => return Err(Cancelled),
        Err(error) => panic!("{error}"),
    }
    sum += 1;

    let _value = steps.step();
    match cx.timeout(Duration::from_micros(50), sleep_for_ever) {
        Err(WaitError::TimedOut) => sum += 1,
        Ok(()) => unreachable!("it sleeps for ever"),
        Err(WaitError::Cancelled) => return Err(Cancelled),
    }

    cx.shield(|cx| {
        let _value = steps.step();
        steps.0.shielded.store(true, Ordering::Relaxed);
        cx.sleep(Duration::from_micros(20)).expect("shielded");
        cx.scope(|s| {
            let child = s.spawn(|cx| {
                let _value = steps.step();
                cx.sleep(Duration::from_micros(20)).expect("shielded");
                7
            });
            assert_eq!(child.join(s), Ok(7));
        });
        steps.0.shielded.store(false, Ordering::Relaxed);
    });
    sum += 1;

    sum += cx.race((
        |cx: &Cx<'_>| {
            let _value = steps.step();
            cx.sleep(FOREVER).map(|()| 0)
        },
        |cx: &Cx<'_>| {
            let _value = steps.step();
            cx.sleep(Duration::from_micros(20)).map(|()| 1)
        },
    ))?;

    sum += cx
        .map_concurrent(2, 0..5u64, |cx, i| {
            let _value = steps.step();
            cx.sleep(Duration::from_micros(5 * i)).map(|()| steps.0.tally.make())
        })?
        .len() as u64
        / 5;

    let mut ticks = cx.interval(Duration::from_micros(20));
    for _ in 0..2 {
        let _value = steps.step();
        ticks.tick(cx)?;
    }
    let mut polls = 0;
    let _value = steps.step();
    cx.block_on(std::future::poll_fn(|context| {
        polls += 1;
        context.waker().wake_by_ref();
        if polls < 3 { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    }))?;
    cx.check()?;
    Ok(sum + 1)
}

/// Runs the program and cancels it at a step. Returns whether it reached that step.
fn run_with(pool: &Pool, fatal: usize, how: How) -> bool {
    let steps = Steps::new(fatal, how);
    let go = Event::default();
    let handle = pool.spawn({
        let (steps, go) = (steps.clone(), go.clone());
        move |cx| {
            go.wait(cx).unwrap();
            let result = program(cx, &steps);
            (result, cx.is_cancelled())
        }
    });
    steps.0.target.set(handle.cancel_handle()).ok().unwrap();
    go.set();
    let (result, is_cancelled) = pool.run(|cx| handle.join(cx)).unwrap();
    let was_reached = steps.0.taken.load(Ordering::Relaxed) >= fatal;
    match result {
        Ok(sum) => assert_eq!(sum, 8),
        Err(Cancelled) => assert!(is_cancelled && was_reached, "step {fatal}, {how:?}"),
    }
    if how == How::Before && was_reached {
        // But for what the detached fiber did alone.
        assert!(is_cancelled);
    }
    assert!(!steps.0.shielded.load(Ordering::Relaxed), "what is shielded is finished");
    // What was detached may still be on its way.
    common::fibers::until(|| steps.0.tally.made() == steps.0.tally.dropped());
    was_reached
}

#[test]
fn cancellation_at_every_step_ends_program() {
    in_all_pools(|pool| {
        for how in [How::Before, How::ByAFiber, How::ByAThread] {
            let mut fatal = 1;
            while run_with(pool, fatal, how) {
                fatal += 1;
            }
            assert!(fatal > 25, "only {fatal} steps");
        }
        assert_eq!(pool.install(|| common::sum_to(100)), 5050);
    });
}

#[test]
fn wait_is_cancelled_only_with_its_own_scope() {
    with_every_cx(|cx| {
        // Two scopes of one fiber or thread, neither inside the other. One of them is cancelled during a wait in the
        // other.
        let slept = cx.cancellable(|inner, canceller| {
            inner.sleep(Duration::from_micros(1)).unwrap();
            let beside = cx.timeout(FOREVER, |cx| {
                let cancels = thread::spawn(move || canceller.cancel());
                let slept = cx.sleep(Duration::from_millis(5));
                cancels.join().unwrap();
                slept?;
                Ok::<_, WaitError>(cx.check()?)
            });
            (beside, inner.check())
        });
        assert_eq!(slept, (Ok(()), Err(Cancelled)));
    });
}

#[test]
fn wait_by_outer_cx_ignores_inner_cancellation() {
    with_every_cx(|cx| {
        let slept = cx.cancellable(|inner, canceller| {
            inner.sleep(Duration::from_micros(1)).unwrap();
            let cancels = thread::spawn(move || canceller.cancel());
            let slept = cx.sleep(Duration::from_millis(2));
            cancels.join().unwrap();
            (slept, inner.sleep(Duration::ZERO))
        });
        assert_eq!(slept, (Ok(()), Err(Cancelled)));
        cx.scope(|s| {
            s.cancel();
            assert_eq!((s.sleep(FOREVER), cx.sleep(Duration::ZERO)), (Err(Cancelled), Ok(())));
        });
    });
}

#[test]
fn canceller_may_be_used_at_any_time() {
    with_every_cx(|cx| {
        let kept = cx.cancellable(|cx, canceller| {
            let copy = canceller.clone();
            assert!(!copy.is_cancelled());
            canceller.cancel();
            canceller.cancel();
            assert!(copy.is_cancelled());
            assert_eq!(cx.sleep(FOREVER), Err(Cancelled));
            copy
        });
        kept.cancel();
        assert_eq!((kept.is_cancelled(), cx.check()), (true, Ok(())));
        let kept = cx.cancellable(|_, canceller| canceller);
        kept.cancel();
        assert!(!kept.is_cancelled(), "the scope had ended");
        // By what is around it.
        let kept = cx.cancellable(|cx, outer| {
            cx.cancellable(|_, inner| {
                outer.cancel();
                assert!(inner.is_cancelled());
                inner
            })
        });
        assert!(kept.is_cancelled());
        let handle = anabranch::spawn(|cx| cx.sleep(FOREVER));
        let canceller = handle.cancel_handle();
        assert!(!canceller.is_cancelled());
        handle.cancel();
        assert!(canceller.is_cancelled());
        // While the scope ends.
        for _ in 0..20 {
            cx.cancellable(|cx, canceller| {
                let _ = cx.sleep(Duration::from_micros(1));
                thread::spawn(move || canceller.cancel());
            });
        }
    });
}

#[test]
fn concurrent_cancellations_of_one_tree_are_safe() {
    in_all_pools(|pool| {
        for _ in 0..10 {
            let handle = pool.spawn(|cx| {
                let count = AtomicUsize::new(0);
                cx.scope(|outer| {
                    for _ in 0..5 {
                        outer.spawn(|cx| {
                            cx.scope(|inner| {
                                for _ in 0..5 {
                                    inner.spawn(|cx| {
                                        let slept = cx.timeout(FOREVER, sleep_for_ever);
                                        assert_eq!(slept, Err(WaitError::Cancelled));
                                        count.fetch_add(1, Ordering::Relaxed);
                                    });
                                }
                            });
                        });
                    }
                });
                count.into_inner()
            });
            until_waiting(pool, 31);
            thread::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| handle.cancel());
                }
            });
            assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), 25);
        }
    });
}

#[test]
fn deep_tree_is_cancelled_without_recursion() {
    fn nest(cx: &Cx<'_>, left: u32) -> Result<(), Cancelled> {
        if left == 0 {
            return cx.sleep(FOREVER);
        }
        cx.scope(|s| nest(s, left - 1))
    }
    watchdog(LONG, || {
        let pool = Pool::builder().threads(1).fiber_stack_size(64 << 20).build().unwrap();
        let handle = pool.spawn(|cx| nest(cx, 5000));
        until_waiting(&pool, 1);
        handle.cancel();
        assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), Err(Cancelled));
    });
}

#[test]
fn check_reports_cancellation() {
    in_all_pools(|pool| {
        let handle = pool.spawn(|cx| {
            cx.scope(|s| {
                let child = s.spawn(|cx| {
                    while cx.check().is_ok() {
                        std::hint::spin_loop();
                    }
                });
                while !s.is_cancelled() {
                    s.yield_now();
                }
                while !child.is_finished() {
                    s.yield_now();
                }
            });
        });
        common::fibers::until(|| pool.fibers().iter().any(|fiber| fiber.state() == FiberState::Running));
        handle.cancel();
        pool.run(|cx| handle.join(cx)).unwrap();
        let late = pool.run(|cx| {
            cx.timeout(Duration::from_micros(200), |cx| {
                let mut sum = 0u64;
                while !cx.is_cancelled() {
                    sum = sum.wrapping_add(1);
                }
                Err::<(), _>(WaitError::Cancelled)
            })
        });
        assert_eq!(late, Err(WaitError::TimedOut));
    });
}

/// Two scopes of one fiber side by side: that of the body, and one that was made by the `Cx` outside of it. On one
/// worker the fiber of the scope runs when the body waits.
#[test]
fn cancellation_does_not_reach_sibling_scope() {
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
