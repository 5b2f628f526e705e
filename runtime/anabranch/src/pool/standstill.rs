//! Releases a slot when all threads that compute are blocked, because the pool would stall otherwise.
//!
//! A thread that is blocked inside compute code keeps its slot, in an [explicit wait](super::status) as well as in a
//! foreign call. Otherwise another thread would begin the next item of the loop, which blocks too, and a pool of N
//! threads would have more than N items open, with their files and connections. But what the items wait for may be an
//! item that no thread has begun. So while no slot is free, the heartbeat worker checks whether every thread that holds
//! a slot is blocked, and then releases a slot, one at a time:
//!
//! | all threads wait | a slot is released |
//! |---|---|
//! | in foreign calls for other threads: for a lock, or in a channel of std; some perhaps explicitly | at once |
//! | explicitly, while no fiber runs and nothing waits for a timer, a socket or a blocking call | after 5 ms ([`MIN_STANDSTILL`]) |
//! | otherwise, for example in a sleep, or for a fiber that waits for a socket | after a second ([`MAX_HOLD`]) in the same waits |

use crate::{
    fiber::status::State,
    pool::{
        registry::Registry,
        sysmon::{self, Blocked},
        worker::Worker,
    },
    sys::clock::Instant,
};
use std::time::Duration;

/// The time for which nothing may happen before a slot is released.
const MIN_STANDSTILL: Duration = Duration::from_millis(if cfg!(shuttle) { 1 } else { 5 });

/// The time for which the same waits may hold all slots in any case.
const MAX_HOLD: Duration = Duration::from_millis(if cfg!(shuttle) { 4 } else { 1000 });

/// The data that the heartbeat worker keeps from one check to the next.
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

    /// Releases a slot if all are taken and every thread that holds one is blocked, and returns whether it did.
    /// `blocked` are the threads that are blocked in foreign calls in compute code.
    pub(super) fn check(&mut self, registry: &Registry, blocked: &[Blocked]) -> bool {
        let is_blocked = |worker: &Worker| blocked.iter().any(|blocked| blocked.worker == worker.index);
        let may_compute = |worker: &&Worker| worker.status.holds_slot() && worker.is_inside_compute_or_guest();
        let computing = || registry.workers().filter(may_compute);
        let held = || registry.workers().filter(|worker| worker.status.is_held());
        // The forks of a thread in a foreign call may be private, those of the others are published.
        let has_work = || registry.has_published_work() || registry.slots.admission.has_waiting();
        let has_use = !blocked.is_empty() || held().next().is_some() && has_work();
        let is_full = registry.count_slots(registry.threads()) == registry.threads();
        if !has_use || !is_full || computing().any(|worker| !worker.status.is_held() && !is_blocked(worker)) {
            self.forget();
            return false;
        }
        let now = Instant::now();
        let waits = held().map(|worker| (worker.index, u64::from(worker.wait.status.since())));
        let calls = blocked.iter().map(|blocked| (blocked.worker, registry.time.micros_at(blocked.since)));
        let signature = waits.chain(calls).fold(0u64, |sum, (worker, since)| {
            sum.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add((worker as u64) << 48 ^ since)
        });
        let steps = registry.count_steps();
        let waits = self.0.get_or_insert(Waits { signature, since: now, steps, still_since: now });
        if waits.signature != signature {
            *waits = Waits { signature, since: now, steps, still_since: now };
        }
        let may_go_on = || registry.count_active(1) > 0 || may_be_woken(registry);
        if waits.steps != steps || may_go_on() {
            (waits.steps, waits.still_since) = (steps, now);
        }
        let wait_for_threads = !blocked.is_empty() && blocked.iter().all(|blocked| blocked.waits_for_thread);
        let is_overdue = wait_for_threads || now - waits.still_since >= MIN_STANDSTILL || now - waits.since >= MAX_HOLD;
        is_overdue && {
            self.forget();
            held().any(|worker| worker.status.release_held())
                || blocked.iter().any(|blocked| sysmon::lend(registry.worker(blocked.worker)))
        }
    }
}

/// Returns whether an event from outside may wake a fiber or thread of the pool: a deadline, a socket, or the end of a
/// blocking call.
fn may_be_woken(registry: &Registry) -> bool {
    let has_deadline = |worker: &Worker| {
        let mut has_deadline =
            worker.wait.status.state() == State::SuspendedUntil || worker.parking.reactor.has_sources();
        worker.fibers.blocks.for_each(|fiber| has_deadline |= fiber.state() == State::SuspendedUntil);
        has_deadline
    };
    registry.blocking.idle().is_none() || registry.workers().any(has_deadline)
}
