//! Helpers: sleepers that are woken for published forks. See [`sleep`](super::sleep).
//!
//! Tried and dropped: each worker that was woken wakes two others when it finds work, and a fork that is published for
//! any thief wakes the heartbeat worker. That gained only half as much. Two helpers for each published fork: on 16
//! virtual cores a loop of 64 x 20 us after a gap of 1 ms took 0.95 times as long, and a tree of 2 ms of work 1.10
//! times.

use crate::{
    pool::{registry::Registry, sleep::Call, worker::ForkJoin},
    trace::Event,
};

impl ForkJoin<'_> {
    /// Wakes a helper for a fork that this worker has just published, if one should be woken. Then the next fork is
    /// published too.
    pub(super) fn wake_helper(self, registry: &Registry) {
        if wants_helpers(registry)
            && let Some(index) = registry.sleep.helper(|worker| registry.worker(worker).takes_pieces())
        {
            registry.trace.record(|| Event::Unpark { worker: index as u32 });
            let helper = registry.worker(index);
            // It has a slot from now on. It wakes some 50 us later, and this thread may publish many forks until then.
            helper.status.activate();
            helper.parking.call(Call::Help);
            self.worker.compute.stack.request_work();
        }
    }
}

/// Returns whether forks are worth taking, a worker sleeps, and a slot and a core are free besides those that the
/// heartbeat worker will take.
fn wants_helpers(registry: &Registry) -> bool {
    let max = registry.threads().min(registry.slots.cores).saturating_sub(1);
    registry.demand.expects_forks() && registry.sleep.has_sleepers() && registry.count_active(max) < max
}
