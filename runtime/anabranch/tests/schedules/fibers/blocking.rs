//! Blocking calls: each runs once or is withdrawn, wherever its fiber is cancelled and whichever threads there are.

use super::{SHORT, Stage, run_program_in};
use crate::{
    common::Counted,
    explore::{Event::*, any, explore, pause_randomly},
    tree,
};
use anabranch::{Cancelled, Cx};
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes a call that borrows, and forks now and then. Returns the value that the call made.
fn call(cx: &Cx<'_>, stage: &Stage<'_>, calls: &AtomicU64) -> Result<Counted, Cancelled> {
    let _kept = stage.trap.step();
    let before = stage.make();
    let result = cx.blocking(|| {
        calls.fetch_add(1, Ordering::Relaxed);
        drop(before);
        if any(0, 2) == 0 {
            assert_eq!(tree(&stage.trap, 1), 2);
        }
        pause_randomly();
        stage.trap.step()
    });
    if result.is_ok() {
        stage.seen.add(Sent, 1);
    }
    result
}

#[test]
fn blocking_calls_run_once_or_are_withdrawn() {
    let seen = explore(8_000, |seen| {
        let keep_alive = SHORT * any(0, 8) as u32;
        let most = any(0, 2);
        let with = |builder: anabranch::Builder| builder.max_blocking_threads(most).blocking_keep_alive(keep_alive);
        run_program_in(seen, 16, with, |cx, stage| {
            let calls = AtomicU64::new(0);
            let results = stage.with_random_cancellation(cx, |cx| {
                cx.scope(|s| {
                    let fibers: Vec<_> = (0..any(1, 4)).map(|_| s.spawn(|cx| call(cx, stage, &calls))).collect();
                    fibers.into_iter().map(|fiber| fiber.join(s).and_then(|result| result)).collect::<Vec<_>>()
                })
            });
            let ended = results.iter().filter(|result| result.is_ok()).count() as u64;
            // The result of a call is lost if the wait for its fiber was cancelled.
            assert!(ended <= calls.into_inner());
            results.into_iter().for_each(|result| _ = stage.note(result, CutShort, Received));
        });
    });
    seen.assert(&[Stolen, Panic, Fiber, Switch, CutShort, Sent, Received]);
    seen.assert_panics_at(8);
}
