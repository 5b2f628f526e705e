//! Waiting in compute code: for a fork that was stolen, or for the tasks of a scope.
//!
//! A thread that waits runs only descendants of what it waits for: a sequential run would have met the same locks in the
//! same place, so a lock held across a `join` cannot deadlock with it. When there are none it spins a little, then parks
//! and lends its slot to another thread. Who waits, waits for work that some thread is running; followed downwards these
//! waits end at a thread that does not wait, so there is always one that goes on.

use crate::{
    pool::{
        fork_stack::Slot,
        frame::{Frame, Lineage},
        worker::{Work, Worker},
    },
    sys::sync::hint,
};

/// How often a waiting thread looks around before it parks: about 20 us, the price of parking and being woken.
const LOOKS: u32 = 400;

/// What became of a published fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The owner has it back and must run it.
    Reclaimed,
    /// A thief has run it.
    Done,
}

impl Worker {
    /// Ends a fork that was published: takes it back, or waits for the thief.
    ///
    /// # Safety
    /// The owner calls this, for the fork that it popped from `slot` and found published.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn finish(&self, slot: *const Slot, frame: *const Frame) -> Outcome {
        // SAFETY: the caller's word.
        unsafe {
            self.stack.hold(slot);
            let index = self.stack.depth_of(slot);
            let mut outcome = Outcome::Done;
            if self.stack.reclaim(slot, frame) {
                outcome = Outcome::Reclaimed;
            } else {
                let awaited: *const Lineage = Frame::lineage(frame);
                self.wait(
                    || {
                        if Frame::is_done(frame) {
                            return true;
                        }
                        // A thread that leapfrogged and found a stranger has put it back.
                        let back = self.stack.reclaim(slot, frame);
                        if back {
                            outcome = Outcome::Reclaimed;
                        }
                        back
                    },
                    || {
                        // While unwinding this thread runs nothing: user code must not find itself in a panicking thread.
                        if std::thread::panicking() {
                            return None;
                        }
                        let task = self.inbox.take_descendant(awaited).map(Work::Task);
                        task.or_else(|| self.registry()?.find_descendant(self, index, awaited))
                    },
                );
            }
            self.stack.settle(slot);
            outcome
        }
    }

    /// Waits until `is_over`, which whoever ends the wait makes true before it unparks this worker. Meanwhile runs what
    /// `find` finds.
    pub(crate) fn wait(&self, mut is_over: impl FnMut() -> bool, mut find: impl FnMut() -> Option<Work>) {
        let mut looks = 0;
        while !is_over() {
            if let Some(work) = find() {
                self.run(work);
                looks = 0;
            } else if looks < LOOKS {
                looks += 1;
                hint::spin_loop();
            } else {
                self.park_lending_slot();
                looks = 0;
            }
        }
    }

    fn park_lending_slot(&self) {
        let registry = self.registry().expect("only a thread in a pool waits in one");
        registry.wake(registry.sleep.block());
        self.parker.park();
        registry.sleep.unblock();
    }

    /// Waits for the tasks of a scope, whose lineage is `awaited`.
    pub(crate) fn wait_for_tasks(&self, awaited: *const Lineage, is_over: impl FnMut() -> bool) {
        self.wait(is_over, || {
            let registry = self.registry()?;
            self.inbox.take_descendant(awaited).map(Work::Task).or_else(|| registry.find_task(self, awaited))
        });
    }

    /// Waits for the answers to a broadcast. Whatever is in this worker's inbox is run meanwhile: two workers that
    /// broadcast to each other would wait for ever otherwise.
    pub(crate) fn wait_for_broadcast(&self, is_over: impl FnMut() -> bool) {
        self.wait(is_over, || self.inbox.take_oldest().map(Work::Task));
    }
}
