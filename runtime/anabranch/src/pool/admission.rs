//! The admission of guests: at most as many threads compute in a pool as it has slots, guests included.
//!
//! A guest that finds all slots taken by threads that compute waits for one in a queue. It does not
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
//! the slots. A full fence between the two steps on both sides (asymmetric) ensures that either the thread finds the
//! guest, or the guest finds the slot. The other guests do not look: a guest that is admitted wakes the next one.
//! A guest that begins to wait frees a slot too, since it has marked its entry as active before it counted.
//!
//! A thread that finds guests counts the slots itself, and wakes nobody if there is no room: a worker that runs fibers
//! parks for each request of a server, and the guest that it woke would find all slots taken. Of several threads that
//! free their slots at the same time, at least one sees those of all others free, by a full fence before it counts.
//! Without that count a worker woke 12 guests in vain for each loop that an HTTP server computed on two cores. With it,
//! medians of six interleaved runs: 3.4 -> 2.8 threads of that server run at a time, and it computes 5% more loops.
//!
//! A thread that frees its slot usually sleeps next. If the guest that it wakes ran on another core before, Linux often
//! queues that guest behind a thread which computes there, and leaves the freed core idle. So a guest that ran on the
//! freed core last goes first. A guest is passed over [`MAX_PASSED`] times at most. Measured on two cores with Linux
//! 6.18, medians of three interleaved runs: 16 fibers that hand loops of 2 ms over make 900 calls a second, where they
//! made 650 (`compute_and_serve callers-16`), and an HTTP server of which one request in twenty is such a loop answers
//! 538 of these a second, where it answered 497.
//!
//! A guest that frees its slot is often preempted by the guest that it wakes, before it has parked. With 16 such fibers
//! 3.8 threads could run at a time on average, though two compute. A guest that waits with the policy `SCHED_BATCH`
//! does not preempt: 3.4 threads could run then, but the calls and requests a second did not change. So it was left
//! out.
//!
//! If all threads that hold slots are blocked, `pool/standstill` releases one. Where it cannot, the limit of the time
//! ends such a wait. A guest that waits for a holder which spins until the guest has begun waits for ever.

use crate::sys::{
    asymmetric_fence::Fence,
    sync::{AtomicUsize, Mutex, Ordering, full_fence, lock},
};
use crossbeam_utils::CachePadded;
use std::{collections::VecDeque, time::Duration};

/// The time after which a guest begins without a slot, if no other guest was admitted meanwhile, and nothing finds out
/// that the holders of slots are blocked: on systems other than Linux, and without a heartbeat worker.
pub(super) const MAX_SLOT_WAIT: Duration = Duration::from_millis(if cfg!(shuttle) { 2 } else { 1000 });

/// How many guests may be admitted before the first one because they were on the core that becomes free.
const MAX_PASSED: u32 = 8;

/// See the [module](self).
pub(crate) struct Admission {
    /// A copy of the length of the queue. On a cache line of its own: each guest and each worker reads it.
    waiting: CachePadded<AtomicUsize>,
    queue: Mutex<Queue>,
    fence: Fence,
}

struct Queue {
    guests: VecDeque<Waiting>,
    /// The number of guests that were admitted from the queue.
    admitted: u64,
}

/// A guest that waits.
struct Waiting {
    guest: usize,
    /// The core on which it began to wait.
    core: usize,
    /// How many guests behind it went first.
    passed: u32,
}

impl Queue {
    fn first(&self) -> Option<usize> {
        self.guests.front().map(|first| first.guest)
    }

    /// Lets a guest that was on this core go first.
    fn prefer(&mut self, core: usize) {
        let may_pass = self.guests.front().is_some_and(|first| first.core != core && first.passed < MAX_PASSED);
        if may_pass && let Some(index) = self.guests.iter().position(|guest| guest.core == core) {
            self.guests[0].passed += 1;
            let preferred = self.guests.remove(index).expect("the guest was found");
            self.guests.push_front(preferred);
        }
    }
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

    /// Adds a guest, which runs on this core, to the queue. The guest has released its slot before.
    pub(crate) fn enqueue(&self, guest: usize, core: usize) {
        let mut queue = lock(&self.queue);
        queue.guests.push_back(Waiting { guest, core, passed: 0 });
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
        if queue.first() != Some(guest) || !may_begin(queue.admitted) {
            return Err(queue.admitted);
        }
        queue.guests.pop_front();
        queue.admitted += 1;
        self.waiting.store(queue.guests.len(), Ordering::Relaxed);
        begin();
        Ok(())
    }

    /// Returns the guest that the caller must wake, after it has freed its slot on the core that `core` returns, if
    /// `has_room` finds a free slot.
    #[inline]
    pub(crate) fn next(&self, has_room: impl FnOnce() -> bool, core: impl FnOnce() -> usize) -> Option<usize> {
        self.fence.frequent();
        if self.has_waiting() { self.choose(has_room, core) } else { None }
    }

    #[cold]
    fn choose(&self, has_room: impl FnOnce() -> bool, core: impl FnOnce() -> usize) -> Option<usize> {
        full_fence();
        if !has_room() {
            return None;
        }
        let mut queue = lock(&self.queue);
        queue.prefer(core());
        queue.first()
    }

    /// Returns whether a guest is the first one in the queue.
    pub(crate) fn is_first(&self, guest: usize) -> bool {
        lock(&self.queue).first() == Some(guest)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{Admission, MAX_PASSED};
    use crate::sys::asymmetric_fence::Fence;

    fn admit(admission: &Admission, core: usize) -> usize {
        let next = admission.next(|| true, || core).expect("a guest waits");
        assert!(admission.is_first(next));
        admission.try_admit(next, |_| true, || {}).unwrap();
        next
    }

    #[test]
    fn guest_of_freed_core_goes_first() {
        let admission = Admission::new(Fence::Symmetric);
        for (guest, core) in [(1, 0), (2, 1), (3, 0), (4, 1)] {
            admission.enqueue(guest, core);
        }
        assert_eq!([1, 0, 7, 7].map(|core| admit(&admission, core)), [2, 1, 3, 4]);
        assert_eq!(admission.next(|| true, || 0), None);
    }

    #[test]
    fn no_guest_is_woken_without_room() {
        let admission = Admission::new(Fence::Symmetric);
        admission.enqueue(1, 0);
        assert_eq!(admission.next(|| false, || 0), None);
        assert_eq!(admission.next(|| true, || 0), Some(1));
    }

    #[test]
    fn guest_is_passed_over_a_limited_number_of_times() {
        let admission = Admission::new(Fence::Symmetric);
        admission.enqueue(0, 0);
        (1..=MAX_PASSED as usize + 1).for_each(|guest| admission.enqueue(guest, 1));
        let admitted: Vec<_> = (0..MAX_PASSED + 2).map(|_| admit(&admission, 1)).collect();
        assert_eq!(admitted.iter().position(|guest| *guest == 0), Some(MAX_PASSED as usize));
    }
}
