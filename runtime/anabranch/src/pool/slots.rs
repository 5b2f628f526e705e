//! The slots of a pool: how many threads work at a time, which guests wait for a slot, and the indices of the threads
//! that work.

use crate::{
    pool::{admission::Admission, counter::Counter, indices::Indices},
    sys::{
        asymmetric_fence::Fence,
        sync::{AtomicUsize, Ordering},
        thread,
    },
};

/// See the [module](self).
pub(crate) struct Slots {
    /// Set once more, by `limit`, before any other thread has the pool.
    threads: AtomicUsize,
    /// How many threads the machine runs at a time for this process.
    pub(super) cores: usize,
    pub(super) admission: Admission,
    /// The indices of the threads that work.
    pub(super) indices: Indices,
    /// The number of times that a slot of a blocked thread was lent. Only the heartbeat worker adds to it.
    pub(super) lent: Counter,
}

impl Slots {
    pub(super) fn new(threads: usize, fence: Fence) -> Self {
        Self {
            threads: AtomicUsize::new(threads),
            cores: thread::cores(),
            admission: Admission::new(fence),
            indices: Indices::new(threads),
            lent: Counter::new(),
        }
    }

    /// Returns how many threads work at a time.
    pub(super) fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    /// Reduces the number of slots, before any other thread has the pool.
    pub(super) fn limit(&self, threads: usize) {
        self.threads.store(threads, Ordering::Relaxed);
        self.indices.limit(threads);
    }
}
