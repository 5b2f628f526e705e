//! Waiting in compute code: for a fork that was stolen, or for the tasks of a scope.
//!
//! A thread that waits runs only descendants of what it waits for: a sequential run would have met the same locks in the
//! same place, so a lock held across a `join` cannot deadlock with it. When there are none it spins a little, then parks
//! and lends its slot to another thread. Who waits, waits for work that some thread is running; followed downwards these
//! waits end at a thread that does not wait, so there is always one that goes on.

use crate::{
    pool::{
        fork_stack::{Outcome, Slot},
        frame::{Frame, Lineage},
        stats::Phase,
        worker::{Work, Worker},
    },
    sys::sync::hint,
};

/// How often a waiting thread looks around before it parks: about 20 us, the price of parking and being woken.
const LOOKS: u32 = 400;

/// How long a thread has waited since it last had something to do.
#[derive(Default)]
struct Patience {
    looks: u32,
}

impl Worker {
    /// Ends a fork that was published: takes it back, or waits for the thief.
    ///
    /// # Safety
    /// The owner calls this, for the fork that it popped from `slot` and found published.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn finish(&self, slot: *const Slot, frame: *const Frame) -> Outcome {
        let mut patience = Patience::default();
        let index = self.stack.depth_of(slot);
        // SAFETY: the caller's word. The frame is published, and over only when this returns, so its lineage is there.
        let outcome = unsafe {
            self.stack.finish(slot, frame, || {
                let awaited: *const Lineage = Frame::lineage(frame);
                self.pause(&mut patience, || {
                    if let Some(task) = self.inbox.take_descendant(awaited) {
                        return Some(Work::Task(task));
                    }
                    // A thread that unwinds takes no work that another can do: what runs on it would find itself in a
                    // panicking thread, and a guard that rolls back on panic would do so.
                    if std::thread::panicking() {
                        return None;
                    }
                    self.registry()?.find_descendant(self, index, awaited)
                });
            })
        };
        self.counters.reclaimed.add(u64::from(outcome == Outcome::Reclaimed));
        outcome
    }

    /// Waits for the tasks of a scope, whose lineage is `awaited`. Whoever makes `is_over` true unparks this worker.
    pub(crate) fn wait_for_tasks(&self, awaited: *const Lineage, is_over: impl Fn() -> bool) {
        self.wait(is_over, || {
            let registry = self.registry()?;
            self.inbox.take_descendant(awaited).map(Work::Task).or_else(|| registry.find_task(self, awaited))
        });
    }

    /// Waits for the answers to a broadcast. Whatever is in this worker's inbox is run meanwhile: two workers that
    /// broadcast to each other would wait for ever otherwise.
    pub(crate) fn wait_for_broadcast(&self, is_over: impl Fn() -> bool) {
        self.wait(is_over, || self.inbox.take_oldest().map(Work::Task));
    }

    fn wait(&self, is_over: impl Fn() -> bool, find: impl Fn() -> Option<Work>) {
        let mut patience = Patience::default();
        while !is_over() {
            self.pause(&mut patience, &find);
        }
    }

    /// One step of a wait: runs what `find` finds, or else spins, or else parks and lends the slot.
    fn pause(&self, patience: &mut Patience, find: impl FnOnce() -> Option<Work>) {
        if let Some(work) = find() {
            self.run(work);
            patience.looks = 0;
        } else if patience.looks < LOOKS {
            patience.looks += 1;
            hint::spin_loop();
        } else {
            patience.looks = 0;
            self.counters.parks.add(1);
            let phase = self.counters.phase();
            let enter = |phase| {
                if self.is_own {
                    self.counters.enter(phase)
                }
            };
            enter(Phase::Parked);
            self.status.wait();
            self.parker.park();
            self.status.activate();
            enter(phase.unwrap_or(Phase::Working));
        }
    }
}
