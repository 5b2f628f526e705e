//! A number of permits, and a queue of those who want some: what is in a semaphore, a lock for readers and writers, and a cell
//! that is initialised once.
//!
//! The idea. One word counts the permits that are free, and says whether anybody waits. While nobody does, taking and giving
//! back is one CAS on it. Who finds too few joins a queue, and from then on all changes are made under the lock of that
//! queue: whatever is given back goes to the first in the queue, as soon as there is enough for it, then to the second. Nobody
//! overtakes, so who wants many is not starved by those who want few.
//!
//! | word                | meaning                        | who changes it                                                |
//! |---------------------|--------------------------------|---------------------------------------------------------------|
//! | free << 1           | nobody waits                   | anybody, by CAS; who joins the queue -> WAITERS, under its lock |
//! | free << 1 \| WAITERS | somebody waits, who wants more than there are free | who has the lock of the queue             |
//!
//! An entry is decided once what it wants has been set aside; if its wait had ended otherwise, the permits were not received
//! and go to the next. A wait that is left may have been the one for which all others waited, so whoever leaves the queue looks
//! whether the next can go.
//!
//! Orderings: giving back releases and taking acquires the word. Under the lock it is read with acquire and stored with release,
//! so what others had released into it is carried on; who is given permits acquires by its own waiter's word.

use crate::{
    sys::sync::{AtomicU64, Mutex, Ordering, const_unless_loom, lock},
    wait::{
        attempt::Attempt,
        place::Place,
        queue::{Entry, Queue, Wakes},
        waiter::Waiter,
    },
};
use std::cell::Cell;

const WAITERS: u64 = 1;
const ONE: u64 = 2;

/// How many permits can be free at most.
pub(crate) const MAX_PERMITS: u64 = u64::MAX / ONE / 4;

/// See the [module](self).
pub(crate) struct RawSemaphore {
    word: AtomicU64,
    /// Of how many each wants.
    queue: Mutex<Queue<u64>>,
}

impl RawSemaphore {
    const_unless_loom! {
        /// With so many free, [`MAX_PERMITS`] at most.
        pub(crate) fn new(permits: u64) -> Self {
            Self { word: AtomicU64::new(permits * ONE), queue: Mutex::new(Queue::new()) }
        }
    }

    /// How many are free.
    pub(crate) fn free(&self) -> u64 {
        self.word.load(Ordering::Relaxed) / ONE
    }

    /// Takes so many, if they are free and nobody has been waiting.
    #[inline]
    pub(crate) fn try_acquire(&self, permits: u64) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if permits == 0 {
                return true;
            }
            if word & WAITERS != 0 || word / ONE < permits {
                return false;
            }
            let next = word - permits * ONE;
            match self.word.compare_exchange_weak(word, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => word = found,
            }
        }
    }

    /// Takes away what is free, but no more than so many. How many it were.
    pub(crate) fn forget(&self, permits: u64) -> u64 {
        let _queue = lock(&self.queue);
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let fewer = permits.min(word / ONE);
            match self.word.compare_exchange_weak(word, word - fewer * ONE, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return fewer,
                Err(found) => word = found,
            }
        }
    }

    /// Gives back so many.
    ///
    /// # Panics
    /// When more than [`MAX_PERMITS`] would be free.
    #[inline]
    pub(crate) fn release(&self, permits: u64) {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & WAITERS == 0 {
            let next = with_more(word, permits);
            match self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
        self.grant(permits);
    }

    /// Gives back so many while somebody waits, or did.
    #[cold]
    fn grant(&self, mut permits: u64) {
        loop {
            let mut wakes = Wakes::new();
            {
                let mut queue = lock(&self.queue);
                self.grant_some(&mut queue, permits, &mut wakes);
            }
            permits = 0;
            let is_full = wakes.is_full();
            wakes.wake_all();
            if !is_full {
                return;
            }
        }
    }

    /// Adds so many and decides those who can have what they want, as long as there is room in `wakes`.
    fn grant_some(&self, queue: &mut Queue<u64>, permits: u64, wakes: &mut Wakes) {
        let mut word = self.word.load(Ordering::Acquire);
        // With nobody in the queue the word is anybody's.
        while word & WAITERS == 0 {
            let next = with_more(word, permits);
            match self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
        let mut free = with_more(word, permits) / ONE;
        while !wakes.is_full()
            && let Some(&mut wanted) = queue.first()
            && wanted <= free
        {
            let decided = queue.decide_head(|_| ());
            if decided.is_some() {
                free -= wanted;
            }
            wakes.push(decided);
        }
        let rest = if queue.is_empty() { 0 } else { WAITERS };
        self.word.store((free * ONE) | rest, Ordering::Release);
    }
}

/// The word with more permits.
#[inline]
fn with_more(word: u64, permits: u64) -> u64 {
    let free = (word / ONE).checked_add(permits).filter(|&free| free <= MAX_PERMITS);
    (free.expect("more permits than a semaphore can count") * ONE) | (word & WAITERS)
}

/// One strand's wish for permits.
pub(crate) struct AcquireWait<'a> {
    semaphore: &'a RawSemaphore,
    entry: Entry<u64>,
    wanted: u64,
    has_been_granted: Cell<bool>,
}

impl<'a> AcquireWait<'a> {
    pub(crate) fn new(semaphore: &'a RawSemaphore, permits: u64) -> Self {
        Self { semaphore, entry: Entry::new(permits), wanted: permits, has_been_granted: Cell::new(false) }
    }
}

impl Attempt for AcquireWait<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        (self.has_been_granted.take() || self.semaphore.try_acquire(self.wanted)).then_some(())
    }

    fn pass_on(&self) {
        if self.has_been_granted.take() {
            self.semaphore.release(self.wanted);
        }
    }
}

// SAFETY: an address leaves the queue by `unregister`, or by `decide_head`, under the lock of the queue.
unsafe impl Place for AcquireWait<'_> {
    fn is_lock(&self) -> bool {
        true
    }

    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        let mut queue = lock(&self.semaphore.queue);
        let word = &self.semaphore.word;
        let mut now = word.load(Ordering::Relaxed);
        while now & WAITERS == 0 {
            if now / ONE >= self.wanted {
                return false;
            }
            match word.compare_exchange_weak(now, now | WAITERS, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(found) => now = found,
            }
        }
        // SAFETY: the entry is this strand's, and not in the queue, by the contract of `Place`. It stays where it is, and the
        // waiter armed, until `unregister`.
        unsafe { queue.push_back(&self.entry, waiter, ticket) };
        true
    }

    unsafe fn unregister(&self, has_decided: bool) {
        if has_decided {
            self.has_been_granted.set(true);
            return;
        }
        // SAFETY: pushed to this queue by `register`.
        let has_left = unsafe { lock(&self.semaphore.queue).remove(&self.entry) };
        if has_left {
            self.semaphore.grant(0);
        }
    }
}

impl Drop for AcquireWait<'_> {
    fn drop(&mut self) {
        self.pass_on();
    }
}
