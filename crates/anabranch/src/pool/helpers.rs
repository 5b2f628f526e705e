//! Helpers: sleepers that are woken for published forks. See [`sleep`](super::sleep).

use crate::{
    pool::{registry::Registry, sleep::Call, worker::Worker},
    trace::Event,
};

impl Registry {
    /// Wakes a helper for a fork that `worker` has just published, if one should be woken. Then the next fork is
    /// published too.
    pub(super) fn wake_helper(&self, worker: &Worker) {
        if self.wants_helpers()
            && let Some(index) = self.sleep.helper(|worker| self.worker(worker).takes_pieces())
        {
            self.trace.record(|| Event::Unpark { worker: index as u32 });
            let helper = self.worker(index);
            // It has a slot from now on. It wakes some 50 us later, and this thread may publish many forks until then.
            helper.status.activate();
            helper.call(Call::Help);
            worker.stack.request_work();
        }
    }

    /// Returns whether forks are worth taking, a worker sleeps, and a slot and a core are free besides those that the
    /// heartbeat worker will take.
    fn wants_helpers(&self) -> bool {
        let most = self.threads().min(self.cores).saturating_sub(1);
        self.expects_forks() && self.sleep.has_sleepers() && self.count_active(most) < most
    }
}
