//! Finds a fiber that keeps its thread, so that other fibers of the same worker cannot run: a fiber that blocks, or a
//! fiber that computes for long, according to the CPU clock of the thread. A fiber blocks, for example, if another
//! fiber holds a std lock across a wait, and it locks the same lock.
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
use std::{
    collections::{HashMap, hash_map::Entry},
    time::Duration,
};

/// The time for which a fiber may keep its thread before the pool reports it.
const MIN_BLOCKED: Duration = Duration::from_secs(1);

/// How often to look.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The state that the heartbeat worker keeps between two looks.
#[derive(Default)]
pub(crate) struct BlockedDetector {
    last: Option<Instant>,
    /// For each worker, the last look at which the number of its switches had changed.
    still: HashMap<usize, Still>,
}

struct Still {
    switches: u64,
    at: Instant,
    /// The CPU clock of the thread at that time, and at the last look, in nanoseconds.
    clock: u64,
    last_clock: u64,
}

impl BlockedDetector {
    /// Looks at all workers, if enough time has passed since the last look.
    pub(crate) fn check<'a>(&mut self, workers: impl Iterator<Item = &'a Worker>) {
        let now = Instant::now();
        if self.last.is_some_and(|last| now - last < CHECK_INTERVAL) {
            return;
        }
        self.last = Some(now);
        for worker in workers.filter(|worker| worker.is_own && worker.status.is_occupied()) {
            let switches = worker.counters.switches.get();
            let Some(clock) = sysmon::cpu_clock(worker.thread()) else { continue };
            let now_still = Still { switches, at: now, clock, last_clock: clock };
            let still = match self.still.entry(worker.index) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    entry.insert(now_still);
                    continue;
                }
            };
            if still.switches != switches {
                *still = now_still;
                continue;
            }
            let (lasted, ran) = (now - still.at, Duration::from_nanos(clock.saturating_sub(still.clock)));
            let has_run = std::mem::replace(&mut still.last_clock, clock) != clock;
            if lasted >= MIN_BLOCKED && report(worker, lasted, ran, has_run) {
                // Reports the worker again only if it switches and then blocks again.
                still.at = now + Duration::from_secs(u32::MAX.into());
            }
        }
    }
}

/// Reports the fiber that has kept the thread of a worker for `lasted`, and has computed for `ran` of that time.
/// `has_run` says whether it has run since the last look. Returns `false` if no other fiber needs the thread, or if it
/// is not known yet what the fiber does: a thread that spins may sleep for a moment, and the system may have run other
/// programs in its place.
fn report(worker: &Worker, lasted: Duration, ran: Duration, has_run: bool) -> bool {
    let Some(registry) = worker.registry() else { return false };
    let (mut others, mut is_needed) = (0, worker.fibers.were_woken());
    let mut running = None;
    worker.fibers.blocks.for_each(|fiber| match fiber.state() {
        State::Ready => (others, is_needed) = (others + 1, true),
        state if state.is_suspended() => others += 1,
        State::Running => running = Some((fiber.card().name(), fiber.card().origin())),
        _ => {}
    });
    let Some((fiber, spawned_at)) = running.filter(|_| others > 0) else { return false };
    let (kind, lasted) = if !has_run && sysmon::is_asleep(worker.thread()) == Some(true) {
        (HazardKind::BlockedThread, lasted)
    } else if ran >= MIN_BLOCKED && is_needed && registry.pool_threads.is_first_long_computation() {
        (HazardKind::LongComputation, ran)
    } else {
        return false;
    };
    let hazard = Hazard { kind, fiber, spawned_at, worker: worker.index, others, waits: None, lasted };
    registry.pool_threads.report_hazard(&hazard);
    true
}
