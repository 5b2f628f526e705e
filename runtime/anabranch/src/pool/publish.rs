//! Publishing the private forks of a thread.

use crate::{
    fiber::task::Job,
    pool::worker::ForkJoin,
    trace::{Event, Origin},
};

impl ForkJoin<'_> {
    /// Serves the demand for work. Only the thread that holds the worker entry calls this.
    #[cold]
    #[inline(never)]
    pub(crate) fn serve(self, origin: Origin) {
        if self.worker.trace.measures() {
            self.publish(usize::MAX, Some(origin));
            // The next fork takes the slow path too.
            self.worker.compute.stack.request_work();
        } else if self.publish(1, Some(origin)) > 0
            && let Some(registry) = self.worker.registry()
        {
            self.wake_helper(registry);
        }
    }

    /// Publishes the oldest private fork of this thread. Returns whether there was one.
    pub(crate) fn publish_one(self) -> bool {
        self.publish(1, None) > 0
    }

    /// Publishes all open forks of this thread. Returns whether there were private ones.
    pub(crate) fn publish_all(self) -> bool {
        self.publish(usize::MAX, None) > 0
    }

    /// Publishes some of the oldest private forks of this thread. `origin` is the fork that has noticed the request.
    fn publish(self, most: usize, origin: Option<Origin>) -> usize {
        // SAFETY: only the thread that holds the worker entry, the owner of the stack, calls this.
        let serve = || unsafe {
            self.worker.compute.stack.serve(&self.worker.parking.parker, most, |offer| {
                self.worker.fibers.jobs.push_requested(Job::offer(offer))
            })
        };
        let event = |&published: &usize, took| {
            let count = u8::try_from(published).unwrap_or(u8::MAX);
            (published > 0).then(|| Event::Publish { count, site: self.worker.trace.origin(origin), took })
        };
        // If every fork is recorded, its publication says nothing new.
        let published = if self.worker.trace.records() { serve() } else { self.worker.trace.timed(serve, event) };
        self.worker.counters.published.add(published as u64);
        if published > 0
            && let Some(registry) = self.worker.registry()
        {
            registry.wake_heartbeat_for_work();
        }
        published
    }
}
