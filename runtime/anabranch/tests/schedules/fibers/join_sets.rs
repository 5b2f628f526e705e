//! Join sets: each result is taken once or dropped, also after cancellations and panics.

use super::{FOREVER, Stage, run_program, wait_randomly};
use crate::explore::{Event::*, any, explore};
use anabranch::{Cancelled, Cx, JoinError};

/// Joins what a set has, and returns how many results there were. In between it cancels, detaches or shuts down.
fn join_some(cx: &Cx<'_>, stage: &Stage<'_>) -> Result<usize, Cancelled> {
    cx.scope(|s| {
        let mut set = s.join_set();
        let count = any(1, 4);
        for n in 0..count {
            let handle = set.spawn(move |cx| {
                let kept = stage.trap.step();
                if n == 3 { cx.sleep(FOREVER).map(|()| kept) } else { wait_randomly(cx).map(|()| kept) }
            });
            if n == 3 {
                // It waits until it is cancelled.
                s.spawn(move |cx| {
                    _ = wait_randomly(cx);
                    handle.cancel();
                });
            } else if any(0, 5) == 0 {
                stage.cancel_at_random(handle);
            }
        }
        let mut results = 0;
        for _ in 0..any(0, count) {
            match set.join_next(s) {
                Ok(Some(result)) => {
                    results += 1;
                    drop(result);
                }
                Ok(None) => break,
                Err(JoinError::Panicked(payload)) => _ = stage.trap.receive(payload),
                Err(_) => return Err(Cancelled),
            }
        }
        match any(0, 3) {
            0 => set.cancel_all(),
            1 => set.shutdown(s),
            2 => set.detach_all(),
            _ => {}
        }
        Ok(results)
    })
}

#[test]
fn members_of_join_sets_end_once() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 10, |cx, stage| {
            let results = stage.with_random_cancellation(cx, |cx| join_some(cx, stage));
            if let Some(results) = stage.note(results, CutShort, Received) {
                seen.add(Sent, results as u64);
            }
        });
    });
    seen.assert(&[Panic, Fiber, Switch, CutShort, Sent, Received]);
    seen.assert_panics_at(3);
}
