//! Fibers that have not started: closures on the heap that any worker of the pool may take.
//!
//! Each seat has a queue. Its worker takes the newest, so that a recursion goes deep before it goes wide, and every now and
//! then the oldest, so that none is forgotten; thieves take the oldest, several at a time.

use crate::{
    pool::{fibers::fiber::Fiber, offer::Offer},
    sys::{
        spin::Brief,
        sync::{AtomicU64, Ordering},
    },
};
use std::{collections::VecDeque, sync::Arc};

/// What a fiber runs.
pub(crate) trait Job: Send + Sync {
    /// Runs it on a fiber, to the end, that of the fiber's locals included. Does not unwind.
    fn run(self: Arc<Self>, fiber: &Fiber);

    /// What it is called.
    fn name(&self) -> Option<Arc<str>> {
        None
    }
}

/// A fork that may wait and was taken.
impl Job for Offer {
    fn run(self: Arc<Self>, fiber: &Fiber) {
        Offer::run(&self, || fiber.clear_locals());
    }
}

/// See the [module](self).
pub(crate) struct Jobs {
    count: AtomicU64,
    queue: Brief<VecDeque<Arc<dyn Job>>>,
}

/// The most that a thief takes at a time: half of what there is, up to this.
const LOOT: usize = 32;

/// After so many of the newest the worker takes the oldest.
pub(crate) const OLDEST_EVERY: u32 = 61;

impl Jobs {
    pub(crate) const fn new() -> Self {
        Self { count: AtomicU64::new(0), queue: Brief::new(VecDeque::new()) }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn push(&self, job: Arc<dyn Job>) {
        self.change(|queue| queue.push_back(job));
    }

    pub(crate) fn take_newest(&self) -> Option<Arc<dyn Job>> {
        if self.is_empty() { None } else { self.change(VecDeque::pop_back) }
    }

    pub(crate) fn take_oldest(&self) -> Option<Arc<dyn Job>> {
        if self.is_empty() { None } else { self.change(VecDeque::pop_front) }
    }

    /// Takes the older half, up to a limit: one for the thief to run, the rest into its own queue.
    pub(crate) fn rob(&self, own: &Jobs) -> Option<Arc<dyn Job>> {
        if self.is_empty() {
            return None;
        }
        let mut loot = self.change(|queue| {
            let half = queue.len().div_ceil(2).min(LOOT);
            queue.drain(..half).collect::<VecDeque<_>>()
        });
        let first = loot.pop_front();
        if !loot.is_empty() {
            own.change(|queue| queue.extend(loot));
        }
        first
    }

    /// The names of all that wait here to be started.
    pub(crate) fn names(&self) -> Vec<Option<Arc<str>>> {
        self.queue.lock().iter().map(|job| job.name()).collect()
    }

    fn change<R>(&self, change: impl FnOnce(&mut VecDeque<Arc<dyn Job>>) -> R) -> R {
        let mut queue = self.queue.lock();
        let result = change(&mut queue);
        self.count.store(queue.len() as u64, Ordering::Relaxed);
        result
    }
}
