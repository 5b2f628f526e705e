//! A thread of a pool that the program starts.

use crate::{
    pool::{id::PoolId, registry::Registry, worker::Worker},
    sys::{channel::Sender, sync::Arc},
};
use std::fmt;

/// A thread of a pool that the program has to start; see [`Builder::build_with`](crate::Builder::build_with).
pub struct ThreadBuilder {
    registry: Arc<Registry>,
    index: usize,
    name: String,
    started: Sender<bool>,
}

impl ThreadBuilder {
    /// Creates the only builder of the thread with this index.
    ///
    /// # Safety
    /// `index` is that of one of the pool's own worker entries, which no thread holds. The caller starts no other
    /// thread for it.
    pub(super) unsafe fn new(registry: &Registry, index: usize, started: Sender<bool>) -> Self {
        let name = registry.pool_threads.name(index, false);
        Self { registry: registry.shared(), index, name, started }
    }

    /// Returns the number of the thread, from zero.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the name that the thread should have; see [`Builder::thread_name`](crate::Builder::thread_name).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size that the stack of the thread should have, if the builder of the pool sets one.
    pub fn stack_size(&self) -> Option<usize> {
        self.registry.pool_threads.stack_size()
    }

    /// Returns the pool of the thread.
    pub fn pool_id(&self) -> PoolId {
        self.registry.id
    }

    /// Makes the calling thread one of the pool's own. Returns when the pool has ended.
    ///
    /// # Panics
    /// Panics if the calling thread is in a pool.
    pub fn run(self) {
        assert!(
            Worker::current().registry().is_none(),
            "ThreadBuilder::run needs a thread of its own, and this one is in a pool"
        );
        self.registry.run_thread(self.index, self.index, Some(self.started));
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("pool", &self.pool_id())
            .field("index", &self.index)
            .field("name", &self.name)
            .field("stack_size", &self.stack_size())
            .finish_non_exhaustive()
    }
}
