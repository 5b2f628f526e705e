//! Finds a fiber that keeps its thread, so that other fibers of the same worker cannot run: one that blocks, or one
//! that computes for long. A fiber blocks, for example, if another one holds a std lock across a wait, and it locks the
//! same.
//!
//! The pool cannot move the fibers, because they are bound to that thread. But it can report which fiber it is.

use crate::{
    fiber::status::State,
    pool::{
        hazard::{Hazard, HazardKind},
        sysmon,
        worker::Worker,
    },
    sys::clock::Instant,
};
use std::{collections::HashMap, time::Duration};

/// The time for which a fiber may keep its thread before the pool reports it.
const SUSPICIOUS: Duration = Duration::from_secs(1);

/// How often to look.
const PERIOD: Duration = Duration::from_millis(100);

/// The state that the heartbeat worker keeps between two looks.
#[derive(Default)]
pub(crate) struct BlockedDetector {
    last: Option<Instant>,
    /// For each worker, the number of its switches, and the time at which it last changed.
    still: HashMap<usize, (u64, Instant)>,
}

impl BlockedDetector {
    /// Looks at all workers, if enough time has passed since the last look.
    pub(crate) fn check<'a>(&mut self, workers: impl Iterator<Item = &'a Worker>) {
        let now = Instant::now();
        if self.last.is_some_and(|last| now - last < PERIOD) {
            return;
        }
        self.last = Some(now);
        for worker in workers.filter(|worker| worker.is_own && worker.status.is_occupied()) {
            let switches = worker.counters.switches.get();
            let still = self.still.entry(worker.index).or_insert((switches, now));
            if still.0 != switches {
                *still = (switches, now);
            } else if now - still.1 >= SUSPICIOUS && report(worker) {
                // Reports the worker again only if it switches and then blocks again.
                still.1 = now + Duration::from_secs(u32::MAX.into());
            }
        }
    }
}

/// Reports the fiber that runs on a worker. Returns `false` if no other fiber needs the thread.
fn report(worker: &Worker) -> bool {
    let Some(registry) = worker.registry() else { return false };
    let (mut others, mut is_needed) = (0, worker.was_woken());
    let mut running = None;
    worker.fibers.blocks.for_each(|fiber| match fiber.state() {
        State::Ready => (others, is_needed) = (others + 1, true),
        state if state.is_suspended() => others += 1,
        State::Running => running = Some(fiber.card().name()),
        _ => {}
    });
    let Some(fiber) = running.filter(|_| others > 0) else { return false };
    let kind = match sysmon::is_asleep(worker.thread()) {
        Some(true) => HazardKind::BlockedThread,
        Some(false) if is_needed && registry.pool_threads.is_first_long_computation() => HazardKind::LongComputation,
        _ => return false,
    };
    let lasted = SUSPICIOUS;
    registry.pool_threads.report_hazard(&Hazard { kind, fiber, worker: worker.index, others, at: None, lasted });
    true
}
