//! Sleeps and time limits, by a clock that a hand moves or by that of chance.

use super::{FOREVER, SHORT, run_program};
use crate::explore::{Event::*, any, explore};
use anabranch::{Cancelled, Operation, WaitError, channel::oneshot, sync::Trigger};

/// Nobody wakes too early, and a time limit is kept: what comes in time is there, and what does not has an end.
#[test]
fn timeouts_are_neither_early_nor_missed() {
    let seen = explore(12_000, |seen| {
        run_program(seen, 10, |cx, stage| {
            let mut trigger = Trigger::new();
            let signal = trigger.signal();
            let (sender, mut receiver) = oneshot::channel();
            cx.scope(|s| {
                s.spawn(|cx| {
                    let (start, nap) = (cx.now(), SHORT * any(0, 3) as u32);
                    if stage.note(stage.with_random_cancellation(cx, |cx| cx.sleep(nap)), CutShort, Received).is_some()
                    {
                        assert!(cx.now() >= start + nap);
                    }
                    drop(stage.trap.step());
                    signal.send();
                });
                s.spawn(|cx| {
                    let start = cx.now();
                    let mut ticks = cx.interval(SHORT);
                    for n in 1..=2 {
                        let tick = stage.note(ticks.tick(cx), CutShort, Received);
                        assert!(tick.is_none_or(|tick| tick >= start + SHORT * n && tick <= cx.now()));
                    }
                    _ = sender.send((stage.trap.step(), stage.make()));
                });
                s.spawn(|cx| {
                    let (start, limit, inner) = (cx.now(), SHORT * any(0, 3) as u32, SHORT * any(0, 4) as u32);
                    let result = cx.timeout(limit, |cx| {
                        assert!(cx.time_left().unwrap() <= limit);
                        // The inner limit has an end of its own, or that of the outer one.
                        match cx.timeout(inner, |cx| Ok(receiver.recv(cx).map_err(|_| Cancelled)?)) {
                            Err(WaitError::TimedOut) => {
                                assert!(cx.now() >= start + inner);
                                cx.sleep(FOREVER)?;
                            }
                            result => drop(result?),
                        }
                        Ok::<_, WaitError>(())
                    });
                    if stage.note(result, Late, Received).is_none() && !cx.is_cancelled() {
                        assert!(result == Err(WaitError::Cancelled) || cx.now() >= start + limit);
                    }
                });
                let waited = trigger.waiting().timeout(s, SHORT * any(0, 3) as u32);
                stage.note(waited, Late, Received);
                drop(stage.trap.step());
                // What must be done to the end is.
                s.cancel();
                assert_eq!(s.shield(|cx| cx.sleep(SHORT)), Ok(()));
            });
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Late, Received]);
    seen.assert_panics_at(3);
}
