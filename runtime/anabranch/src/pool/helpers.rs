//! Helpers: sleepers that are woken for published forks, for the items of a loop, or for stolen fibers. See
//! [`sleep`](super::sleep).
//!
//! A fork that is published wakes one helper. A loop knows how many items it has, so it wakes a helper for each, up to
//! the free cores. A thief of fibers wakes one if it has got several: the helper takes half of them and does the same,
//! so the threads awake double with each wake-up latency.
//!
//! Tried and dropped: each worker that was woken wakes two others when it finds work, and a fork that is published for
//! any thief wakes the heartbeat worker. That gained only half as much. All helpers for each published fork: on 16
//! virtual cores quicksort took 1.06 times as long, because one fork is not work for all of them.

use crate::{
    pool::{
        registry::Registry,
        sleep::Call,
        worker::{ForkJoin, Worker},
    },
    trace::Event,
};

impl ForkJoin<'_> {
    /// Wakes a helper for a fork that this worker has just published, if one should be woken. Then the next fork is
    /// published too.
    pub(super) fn wake_helper(self, registry: &Registry) {
        if registry.wake_helpers_for_forks(1) {
            self.worker.compute.stack.request_work();
        }
    }

    /// Wakes helpers for a loop that other threads work on, which has so many items left for them.
    pub(crate) fn wake_helpers_for_loop(self, items: usize) {
        if let Some(registry) = self.worker.registry() {
            registry.wake_helpers_for_forks(items);
        }
    }
}

impl Registry {
    /// Wakes at most so many helpers for forks, and returns whether it woke any. Wakes none unless forks are worth
    /// taking.
    fn wake_helpers_for_forks(&self, most: usize) -> bool {
        let suits = |worker: usize| self.worker(worker).takes_pieces();
        (0..most).take_while(|_| self.demand.expects_forks() && self.wake_helper_that(suits)).count() > 0
    }

    /// Wakes a helper for the fibers that `thief` has stolen, if it has more than it can begin now.
    pub(super) fn wake_helper_for_fibers(&self, thief: &Worker) {
        let suits = |worker: usize| worker < self.threads() && !self.worker(worker).owns_fibers();
        if !thief.fibers.jobs.is_empty() {
            self.wake_helper_that(suits);
        }
    }

    /// Wakes a sleeper that `suits`, if a slot and a core are free besides those that the heartbeat worker will take.
    fn wake_helper_that(&self, suits: impl Fn(usize) -> bool) -> bool {
        let max = self.threads().min(self.slots.cores).saturating_sub(1);
        if !self.sleep.has_sleepers() || self.count_active(max) >= max {
            return false;
        }
        let Some(index) = self.sleep.helper(suits) else { return false };
        self.trace.record(|| Event::Unpark { worker: index as u32 });
        let helper = self.worker(index);
        // It has a slot from now on. It wakes some 50 us later, and this thread may publish many forks until then.
        helper.status.activate();
        helper.parking.call(Call::Help);
        true
    }
}
