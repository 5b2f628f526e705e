//! The admission of guests: at most as many threads compute in a pool as it has slots, guests included.
//!
//! A guest that finds all slots taken by threads that compute waits for one, first come, first served. It does not
//! leave its root to another thread, so the values of the root need not be `Send`. Workers that run fibers do not
//! count: they seldom need their cores for long, and a server that is never idle would admit no guest.
//!
//! | a guest is | left by                                                                                          |
//! |------------|--------------------------------------------------------------------------------------------------|
//! | new        | all slots taken, or a guest waits -> waiting; otherwise -> admitted                              |
//! | waiting    | the first one finds a slot free, or none was admitted for [`MAX_SLOT_WAIT`] -> admitted               |
//! | admitted   | leaves                                                                                           |
//!
//! A thread that frees its slot stores that and *then* reads `waiting`. A guest increments `waiting` and *then* counts
//! the slots. A full fence between the two steps on both sides (asymmetric) ensures that either the thread wakes the
//! first guest, or the guest finds the slot. The other guests do not look: a guest that is admitted wakes the next one.
//! A guest that begins to wait frees a slot too, since it has marked its entry as active before it counted.
//!
//! If all threads that hold slots are blocked, `pool/standstill` releases one. Where it cannot, the limit of the time
//! ends such a wait. A guest that waits for a holder which spins until the guest has begun waits for ever.

use crate::sys::{
    asymmetric_fence::Fence,
    sync::{AtomicUsize, Mutex, Ordering, lock},
};
use crossbeam_utils::CachePadded;
use std::{collections::VecDeque, time::Duration};

/// The time after which a guest begins without a slot, if no other guest was admitted meanwhile, and nothing finds out
/// that the holders of slots are blocked: on systems other than Linux, and without a heartbeat worker.
pub(super) const MAX_SLOT_WAIT: Duration = Duration::from_millis(if cfg!(shuttle) { 2 } else { 1000 });

/// See the [module](self).
pub(crate) struct Admission {
    /// A copy of the length of the queue. On a cache line of its own: each guest and each worker reads it.
    waiting: CachePadded<AtomicUsize>,
    queue: Mutex<Queue>,
    fence: Fence,
}

struct Queue {
    guests: VecDeque<usize>,
    /// The number of guests that were admitted from the queue.
    admitted: u64,
}

impl Admission {
    pub(crate) fn new(fence: Fence) -> Self {
        Self {
            waiting: CachePadded::new(AtomicUsize::new(0)),
            queue: Mutex::new(Queue { guests: VecDeque::new(), admitted: 0 }),
            fence,
        }
    }

    /// Returns whether a guest waits, as of a moment ago.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// Adds a guest to the queue. The guest has released its slot before.
    pub(crate) fn enqueue(&self, guest: usize) {
        let mut queue = lock(&self.queue);
        queue.guests.push_back(guest);
        self.waiting.store(queue.guests.len(), Ordering::Relaxed);
        drop(queue);
        self.fence.rare();
    }

    /// Takes a guest out of the queue if it is the first one, and `may_begin` returns `true` for the number of guests
    /// that have been admitted so far. Calls `begin`, by which the guest takes a slot, before the next one can count
    /// the slots.
    ///
    /// # Errors
    /// Returns the number of admitted guests if this one has to wait.
    pub(crate) fn try_admit(
        &self,
        guest: usize,
        may_begin: impl FnOnce(u64) -> bool,
        begin: impl FnOnce(),
    ) -> Result<(), u64> {
        let mut queue = lock(&self.queue);
        if queue.guests.front() != Some(&guest) || !may_begin(queue.admitted) {
            return Err(queue.admitted);
        }
        queue.guests.pop_front();
        queue.admitted += 1;
        self.waiting.store(queue.guests.len(), Ordering::Relaxed);
        begin();
        Ok(())
    }

    /// Returns the guest that the caller must wake, after a slot has become free.
    #[inline]
    pub(crate) fn next(&self) -> Option<usize> {
        self.fence.frequent();
        if self.has_waiting() { self.first() } else { None }
    }

    #[cold]
    fn first(&self) -> Option<usize> {
        lock(&self.queue).guests.front().copied()
    }
}
