//! The index of a thread that works: unique among the threads that work in the pool, and constant during a job.
//!
//! A thread takes an [index](crate::pool::indices) when a job first asks for it. The index belongs to the worker entry
//! until the outermost work there ends: until a worker is back in its main loop, or a guest leaves. A thread that waits
//! or yields gives its index back, and takes the same index again before the wait returns. So a thread that waits for
//! an index waits for one that works. The job that waits must not rely on its index meanwhile. In rayon it must not
//! either, because a waiting thread runs other jobs under the same index.
//!
//! A part of a broadcast gets the index of its worker, but like a job only when it asks for it: a guest may have that
//! index and be blocked for long. If the interrupted work had another index, the worker gives that index back for the
//! time.

use crate::pool::{indices::Wanted, registry::Registry, worker::Worker};

impl Worker {
    pub(super) fn thread_index(&self, registry: &Registry) -> usize {
        self.compute.lease.get().unwrap_or_else(|| {
            let own = self.index % registry.threads();
            // In a broadcast the index is that of the part.
            let wanted = if self.compute.answering.get() > 0 { Wanted::Exactly(own) } else { Wanted::Any(own) };
            self.take_index(registry, wanted)
        })
    }

    /// Takes this worker's own index, for a thread that keeps it.
    pub(super) fn keep_own_index(&self) {
        self.restore_lease(Some(self.index));
    }

    /// Takes an index when it has none. A thread that waits for it lends its slot.
    fn take_index(&self, registry: &Registry, wanted: Wanted) -> usize {
        let mut is_long = false;
        let index = registry.slots.indices.take(wanted, &self.parking.parker, || self.park(&mut is_long));
        self.compute.lease.set(Some(index));
        index
    }

    /// Gives the index back, if this thread has one.
    #[inline]
    pub(super) fn end_lease(&self) {
        if self.compute.lease.get().is_some() {
            self.end_lease_slow();
        }
    }

    #[cold]
    fn end_lease_slow(&self) {
        if let (Some(index), Some(registry)) = (self.compute.lease.take(), self.registry()) {
            registry.slots.indices.give_back(index);
        }
    }

    /// Takes the index again that this thread had before a wait, if it had one. What has run during the wait may have
    /// taken another one.
    #[inline]
    pub(super) fn restore_lease(&self, before: Option<usize>) {
        if before.is_some() && before != self.compute.lease.get() {
            self.restore_lease_slow(before);
        }
    }

    #[cold]
    fn restore_lease_slow(&self, before: Option<usize>) {
        self.end_lease();
        if let (Some(index), Some(registry)) = (before, self.registry()) {
            self.take_index(registry, Wanted::Exactly(index));
        }
    }

    /// Runs a part of a broadcast, which gets this worker's own index if it asks for one. Gives another index back that
    /// interrupted work had; the wait of that work restores it.
    pub(super) fn with_own_index(&self, part: impl FnOnce()) {
        let has_own = self.compute.lease.get() == Some(self.index);
        if !has_own {
            self.end_lease();
        }
        part();
        if !has_own {
            self.end_lease();
        }
    }
}

/// The wait of a thread that is inside another pool: it releases its slot and its index until this is dropped.
pub(super) struct Away<'a> {
    worker: &'a Worker,
    index: Option<usize>,
}

impl<'a> Away<'a> {
    pub(super) fn new(worker: &'a Worker) -> Self {
        let index = worker.compute.lease.get();
        worker.end_lease();
        worker.release_slot();
        Self { worker, index }
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.worker.take_slot_again();
        self.worker.restore_lease(self.index);
    }
}

/// Returns the index of the calling thread among those that work in its pool, or `None` outside of any pool.
///
/// The index is below [`current_num_threads`](crate::pool::current_num_threads), and no other thread of the pool has it
/// at the same time. It stays the same until the task, root or part of a broadcast that asks for it ends. So a job may
/// use it to access a slot of its own. The pool's own thread with the number i, as
/// [`on_start`](crate::Builder::on_start) counts, usually has the index i, and always has it in a
/// [`broadcast`](crate::Pool::broadcast). The number that `op` of a broadcast gets does not reserve that index: an `op`
/// that shares slots with jobs has to call this.
///
/// While a job waits or yields, in a [`join`](crate::join) for example, other jobs may have its index. It has the same
/// index again when the wait returns. The index of a fiber may change when the fiber waits.
///
/// A pool of T threads has T indices, and guests are among the threads that need an index. So the call waits while T
/// other threads hold an index without waiting or ending their jobs, even if they are blocked in foreign calls. Only
/// the first call of a job takes an index. That call costs a read-modify-write, and later calls cost a load.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(2).build().unwrap();
/// let index = pool.install(anabranch::pool::current_thread_index);
/// assert!(index.is_some_and(|index| index < 2));
/// assert_eq!(anabranch::pool::current_thread_index(), None);
/// ```
pub fn current_thread_index() -> Option<usize> {
    let me = Worker::current();
    me.registry().map(|registry| me.thread_index(registry))
}
