//! Scopes whose fibers may fail: the first error wins and cancels the rest, panics win over errors.

use crate::common::{
    Tally,
    fibers::{FOREVER, with_every_cx},
    panic_text,
};
use anabranch::{Cancelled, Cx, WaitError, channel};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An error that tells who failed.
#[derive(Debug, PartialEq)]
enum Failure {
    Own(usize),
    Cancelled,
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

fn sleep(cx: &Cx<'_>) -> Result<(), Failure> {
    Ok(cx.sleep(FOREVER)?)
}

#[test]
fn try_scope_returns_results_of_body_and_fibers() {
    with_every_cx(|cx| {
        let words = ["ana", "branch"];
        let sum = cx.try_scope(|s| {
            let handles: Vec<_> = words.iter().map(|word| s.spawn(move |_| Ok::<_, Failure>(word.len()))).collect();
            let mut sum = 0;
            for handle in handles {
                sum += handle.join(s)?;
            }
            Ok(sum)
        });
        assert_eq!(sum, Ok(9));
    });
}

#[test]
fn first_error_cancels_the_rest() {
    with_every_cx(|cx| {
        let ended = AtomicUsize::new(0);
        let result = cx.try_scope(|s| {
            for _ in 0..10 {
                s.spawn(|cx| {
                    let result = sleep(cx);
                    ended.fetch_add(1, Ordering::Relaxed);
                    result
                });
            }
            let failing = s.spawn_named("failing", |cx| {
                cx.yield_now();
                Err::<(), _>(Failure::Own(7))
            });
            // As after a panic, there is no result.
            assert_eq!(failing.join(s), Err(Cancelled));
            sleep(s)
        });
        assert_eq!(result, Err(Failure::Own(7)));
        assert_eq!(ended.into_inner(), 10);
        // The outer scope continues.
        assert_eq!(cx.check(), Ok(()));
    });
}

#[test]
fn error_of_body_cancels_fibers() {
    with_every_cx(|cx| {
        let result = cx.try_scope(|s| {
            s.spawn(sleep);
            Err::<(), _>(Failure::Own(1))
        });
        assert_eq!(result, Err(Failure::Own(1)));
    });
}

#[test]
fn error_of_fiber_discards_result_of_body() {
    with_every_cx(|cx| {
        let tally = Tally::default();
        let result = cx.try_scope(|s| {
            s.spawn(|cx| {
                cx.yield_now();
                Err::<(), _>(Failure::Own(2))
            });
            Ok(tally.make())
        });
        assert_eq!(result.map(drop), Err(Failure::Own(2)));
        tally.assert_all_dropped();
    });
}

#[test]
fn later_errors_and_results_are_dropped() {
    with_every_cx(|cx| {
        let tally = Tally::default();
        let result: Result<(), _> = cx.try_scope(|s| {
            for n in 0..20 {
                let value = tally.make();
                s.spawn(move |cx| {
                    cx.yield_now();
                    if n % 2 == 0 { Err(value) } else { Ok(value) }
                });
            }
            Ok(())
        });
        drop(result.unwrap_err());
        tally.assert_all_dropped();
    });
}

/// An error that panics when it is dropped.
#[derive(Debug)]
struct Fragile(bool);

impl Drop for Fragile {
    fn drop(&mut self) {
        if self.0 && !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[test]
fn panic_in_drop_of_late_error_waits_for_the_fibers() {
    with_every_cx(|cx| {
        let ended = AtomicUsize::new(0);
        let text = panic_text(|| {
            let result: Result<(), _> = cx.try_scope(|s| {
                s.spawn(|cx| {
                    _ = cx.sleep(FOREVER);
                    // It borrows, and ends after the body.
                    cx.shield(|cx| cx.sleep(std::time::Duration::from_micros(200))).unwrap();
                    ended.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                });
                s.spawn(|_| Err::<(), _>(Fragile(false)));
                _ = s.sleep(FOREVER);
                Err(Fragile(true))
            });
            drop(result);
        });
        assert_eq!((text.as_str(), ended.into_inner()), ("dropped", 1));
    });
}

#[test]
fn panic_wins_over_error() {
    with_every_cx(|cx| {
        let text = panic_text(|| {
            _ = cx.try_scope(|s| {
                s.spawn(|cx| match cx.sleep(FOREVER) {
                    Err(Cancelled) => panic!("after the error"),
                    Ok(()) => Ok(()),
                });
                s.spawn(|_| Err::<(), _>(Failure::Own(3)));
                Ok(())
            });
        });
        assert_eq!(text, "after the error");
        let text = panic_text(|| {
            _ = cx.try_scope(|s| {
                s.spawn(|_| Err::<(), _>(Failure::Own(4)));
                let _: Result<(), Failure> = sleep(s);
                if s.is_cancelled() {
                    panic!("of the body");
                }
                Ok(())
            });
        });
        assert_eq!(text, "of the body");
    });
}

#[test]
fn spawners_and_nested_scopes_pass_errors_up() {
    with_every_cx(|cx| {
        let result = cx.try_scope(|s| {
            let spawner = s.spawner();
            s.spawn(move |_| {
                spawner.spawn_named("below", move |cx| {
                    cx.try_scope(|inner| {
                        inner.spawn(sleep);
                        inner.spawn(|_| Err::<(), _>(Failure::Own(5)));
                        Ok(())
                    })
                });
                Ok(())
            });
            sleep(s)
        });
        assert_eq!(result, Err(Failure::Own(5)));
    });
}

#[test]
fn cancelled_scope_and_deadline_reach_the_fibers() {
    with_every_cx(|cx| {
        let late = cx.timeout(std::time::Duration::from_millis(1), |cx| {
            cx.try_scope(|s| {
                s.spawn(|cx| Ok::<_, WaitError>(cx.sleep(FOREVER)?));
                Ok(())
            })
        });
        assert_eq!(late, Err(WaitError::TimedOut));
        let cancelled = cx.cancellable(|cx, handle| {
            cx.try_scope(|s| {
                s.spawn(sleep);
                handle.cancel();
                Ok(())
            })
        });
        assert_eq!(cancelled, Err(Failure::Cancelled));
    });
}

#[test]
fn plain_fibers_of_a_try_scope_do_not_fail() {
    with_every_cx(|cx| {
        let (sender, receiver) = channel::unbounded();
        let result = cx.try_scope(|s| {
            // Through the `FiberScope`: its result is a value like any other.
            (**s).spawn(move |_| sender.try_send(Err::<(), _>("a value")));
            Ok::<_, Failure>(receiver.recv(s))
        });
        assert_eq!(result, Ok(Ok(Err("a value"))));
    });
}
