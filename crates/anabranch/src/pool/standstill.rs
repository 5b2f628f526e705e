//! Releases the slot of a thread that waits inside compute code, when the pool would stand still otherwise.
//!
//! Such a thread [keeps its slot](super::status), so that a loop whose items wait does not open one item after the
//! other. But what it waits for may be an item that no thread has begun. So the heartbeat worker looks, while no slot
//! is free and there is work to take, whether all of this is true for some milliseconds: no thread of the pool works,
//! no fiber has run, and nothing waits for an event from outside, such as a timer, a socket or a blocking call. Then it
//! releases one slot. If the pool cannot tell, because some fiber waits for such an event or always runs, it releases a
//! slot after all slots have been held by the same waits for a second.

use crate::{
    fiber::status::State,
    pool::{registry::Registry, worker::Worker},
    sys::clock::Instant,
};
use std::time::Duration;

/// The time for which nothing may happen before a slot is released.
const STILL: Duration = Duration::from_millis(if cfg!(shuttle) { 1 } else { 5 });

/// The time for which the same waits may hold slots while other things happen.
const HELD: Duration = Duration::from_millis(if cfg!(shuttle) { 4 } else { 1000 });

/// What the heartbeat worker remembers from one look to the next.
#[derive(Default)]
pub(super) struct Standstill(Option<Waits>);

/// The waits that hold slots.
struct Waits {
    /// A number that changes when one of them ends.
    signature: u64,
    since: Instant,
    /// The [steps](Registry::count_steps) of the pool, and since when nothing has happened.
    steps: u64,
    still_since: Instant,
}

impl Standstill {
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }

    /// Releases a slot if the pool stands still, and returns whether it did. Called while no slot is free.
    pub(super) fn check(&mut self, registry: &Registry) -> bool {
        let held = || registry.workers().filter(|worker| worker.status.is_held());
        if held().next().is_none() || !registry.has_published_work() {
            self.forget();
            return false;
        }
        let now = Instant::now();
        let signature = held().fold(0u64, |sum, worker| {
            sum.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add((worker.index as u64) << 32 | u64::from(worker.card.since()))
        });
        let steps = registry.count_steps();
        let waits = self.0.get_or_insert(Waits { signature, since: now, steps, still_since: now });
        if waits.signature != signature {
            *waits = Waits { signature, since: now, steps, still_since: now };
        }
        if waits.steps != steps || registry.count_active(1) > 0 || may_be_woken(registry) {
            (waits.steps, waits.still_since) = (steps, now);
        }
        let is_overdue = now - waits.still_since >= STILL || now - waits.since >= HELD;
        is_overdue && {
            self.forget();
            held().any(|worker| worker.status.release_held())
        }
    }
}

/// Returns whether an event from outside may wake a fiber or thread of the pool: a deadline, a socket, or the end of a
/// blocking call.
fn may_be_woken(registry: &Registry) -> bool {
    let has_deadline = |worker: &Worker| {
        let mut has_deadline = worker.card.state() == State::SuspendedUntil || worker.reactor.has_sources();
        worker.fibers.blocks.for_each(|fiber| has_deadline |= fiber.state() == State::SuspendedUntil);
        has_deadline
    };
    registry.blocking.idle().is_none() || registry.workers().any(has_deadline)
}
