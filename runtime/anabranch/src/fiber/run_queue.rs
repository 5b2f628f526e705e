//! A worker's queue of fibers that have not started. Its owner takes the newest fiber, so that a recursion runs depth
//! first. From time to time it takes the oldest fiber, so that no fiber starves. Thieves take the oldest fibers,
//! several at a time.
//!
//! The idea comes from Cilk's THE deque (Frigo, Leiserson, Randall 1998), with the fence on the thief's side (see
//! `sys::asymmetric_fence`) and with thieves that take many entries. The entries of the queue have the numbers
//! `head..tail`. The owner pushes and pops at the tail, without a lock and without a read-modify-write. A thread that
//! takes at the head holds the lock. Owner and thief first announce what they take, and then read what the other has
//! announced, with a fence between the two:
//!
//! | the owner takes `tail - 1`                                                                                       | a thief, with the lock, takes some at the head |
//! |------------------------------------------------------------------------------------------------------------------|------------|
//! | 1. `tail` down by one                                                                                            | a. `claim` up, from `head` to where it wants to stop |
//! | 2. fence                                                                                                         | b. fence |
//! | 3. reads `claim`; if that is above `tail`, a thief may want the same entry: waits for the lock, and reads `head` | c. reads `tail`, and stops there if that is less; `head` and `claim` are there now |
//!
//! Since both execute a fence, at least one sees the other. Either the thief leaves the entry that the owner has
//! announced, or the owner waits until `head` shows what the thief has taken. While no thief takes, `claim` equals
//! `head`. The two are separate so that claimed entries still count in the check for an empty queue. A thief reads the
//! entries that it takes only after (c), so it never reads a slot that the owner may write. A thread that lists the
//! queue claims all of its entries while it reads them, and takes none.
//!
//! Threads other than the owner push onto a second list, under the lock.
//!
//! Fibers that were spawned one after the other often exchange messages, and a message from one worker to another takes
//! ten times as long as a message on one worker. So a worker should run fibers that were pushed one after the other. A
//! thief runs the stolen fibers oldest first. The fibers that it leaves for other thieves are then next to the fibers
//! that stayed with the victim. The owner itself takes the oldest fiber only if no thief has stolen for a while. This
//! cuts a ring of 503 fibers in two places, instead of 6 to 14.
//!
//! For the same reason a thief first checks whether the entries [lie for long](RunQueue::lies_for_long). While the
//! owner starts its fibers in turn, they stay together. A thief may at once take entries that the owner has pushed on
//! request, or that other threads have injected. The results of these checks are hints.
//!
//! | word     | written by                   | means                                              |
//! |----------|------------------------------|----------------------------------------------------|
//! | `tail`   | the owner                    | where the next entry goes                            |
//! | `claim`  | the holder of the lock       | below it the owner takes nothing without the lock  |
//! | `head`   | the holder of the lock       | below it all is taken                              |
//! | `slots`  | the owner, with the lock     | a ring; the owner reads it without the lock        |
//!
//! Orderings: every write of `tail` releases and a thief acquires it, so it sees what the owner pushed. A thief's write
//! of `head` releases, and the owner acquires it before it uses the slots below again. The two fences are sequentially
//! consistent, or equivalent to that. The lock orders the rest.

use crate::{
    fiber::queue_age::QueueAge,
    sys::{
        asymmetric_fence::Fence,
        spin::Brief,
        sync::{AtomicBool, AtomicU64, Cell, Ordering, const_unless_loom},
    },
};
use crossbeam_utils::CachePadded;
use std::{collections::VecDeque, mem::MaybeUninit, ptr};

/// The most entries that a thief takes at a time: half of the entries, up to this.
const STEAL_BATCH: usize = if cfg!(shuttle) { 2 } else { 32 };

/// After taking this many of the newest entries, the worker takes the oldest.
#[cfg(not(loom))]
pub(crate) const OLDEST_EVERY: u32 = if cfg!(shuttle) { 5 } else { 61 };

/// The first capacity of the ring.
const FIRST: usize = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// A claim of all entries: no entry has a number this high.
const ALL: u64 = u64::MAX;

type Slot<T> = Cell<MaybeUninit<T>>;

/// See the [module](self).
pub(crate) struct RunQueue<T> {
    owner: CachePadded<Owner<T>>,
    claim: AtomicU64,
    head: AtomicU64,
    /// The number of injected entries.
    injected: AtomicU64,
    /// Whether the owner has pushed an entry that another thread asked for. A hint.
    is_requested: AtomicBool,
    overdue: QueueAge,
    lock: Brief<VecDeque<T>>,
    fence: Fence,
}

/// The fields that the owner writes.
struct Owner<T> {
    tail: AtomicU64,
    /// Null, or a power of two of slots. The slot of an entry is its number modulo the capacity.
    slots: Cell<*mut Slot<T>>,
    capacity: Cell<usize>,
    /// The value of `head` when the owner last took the oldest.
    seen: Cell<u64>,
}

// SAFETY: the cells of `owner` change only under the lock, and the owner alone writes them. A slot is read only by the
// owner or, once claimed, by the holder of the lock, as the module describes. `T: Send` allows an entry to move to
// another thread.
unsafe impl<T: Send> Send for RunQueue<T> {}
// SAFETY: the protocol of the module orders every access to a slot, and the cells of `owner` change only under the
// lock. Methods that only the owner may call are unsafe.
unsafe impl<T: Send> Sync for RunQueue<T> {}

impl<T: Copy> RunQueue<T> {
    const_unless_loom! {
        pub(crate) fn new(fence: Fence) -> Self {
            Self {
                owner: CachePadded::new(Owner {
                    tail: AtomicU64::new(0),
                    slots: Cell::new(ptr::null_mut()),
                    capacity: Cell::new(0),
                    seen: Cell::new(0),
                }),
                claim: AtomicU64::new(0),
                head: AtomicU64::new(0),
                injected: AtomicU64::new(0),
                is_requested: AtomicBool::new(false),
                overdue: QueueAge::new(),
                lock: Brief::new(VecDeque::new()),
                fence,
            }
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_own() && !self.has_injected()
    }

    /// Returns the number of entries, as of a moment ago.
    #[cfg(not(loom))]
    pub(crate) fn len(&self) -> usize {
        let own = self.owner.tail.load(Ordering::Relaxed).saturating_sub(self.head.load(Ordering::Relaxed));
        (own + self.injected.load(Ordering::Relaxed)) as usize
    }

    #[inline]
    fn has_own(&self) -> bool {
        self.head.load(Ordering::Relaxed) < self.owner.tail.load(Ordering::Relaxed)
    }

    #[inline]
    fn has_injected(&self) -> bool {
        self.injected.load(Ordering::Relaxed) > 0
    }

    // ---- the owner ----

    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn push(&self, item: T) {
        let tail = self.owner.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) >= self.owner.capacity.get() as u64 {
            self.grow();
        }
        // SAFETY: there is room, so no entry of the queue is in this slot. No other thread reads the slot before `tail`
        // is above it.
        unsafe { self.slot(tail).set(MaybeUninit::new(item)) };
        self.owner.tail.store(tail + 1, Ordering::Release);
    }

    /// Pushes, like [`push`](Self::push), an entry that another thread asked for. Then
    /// [`lies_for_long`](Self::lies_for_long) returns true at once, so thieves need not wait for the entry.
    ///
    /// # Safety
    /// The caller is the owner.
    pub(crate) unsafe fn push_requested(&self, item: T) {
        self.is_requested.store(true, Ordering::Relaxed);
        // SAFETY: the caller is the owner, as `push` demands.
        unsafe { self.push(item) };
    }

    /// Takes the newest of the owner's entries, or else the oldest that another thread has injected.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn take_newest(&self) -> Option<T> {
        if self.has_own() {
            let tail = self.owner.tail.load(Ordering::Relaxed) - 1;
            self.owner.tail.store(tail, Ordering::Release);
            self.fence.frequent();
            if self.claim.load(Ordering::Relaxed) <= tail {
                // SAFETY: the entry was in the queue, and no thief claims it, so it belongs to the caller, the owner.
                return Some(unsafe { self.item(tail) });
            }
            if let Some(item) = self.take_contended(tail) {
                return Some(item);
            }
        }
        if self.has_injected() { self.take_injected(&mut self.lock.lock()) } else { None }
    }

    /// Takes the owner's entry `tail` after a thief has claimed it, if the thief has left it.
    #[cold]
    fn take_contended(&self, tail: u64) -> Option<T> {
        let _lock = self.lock.lock();
        if self.head.load(Ordering::Relaxed) <= tail {
            // SAFETY: `head` shows that no thief has taken the entry, and none can now, since the owner holds the lock.
            return Some(unsafe { self.item(tail) });
        }
        self.owner.tail.store(tail + 1, Ordering::Release);
        None
    }

    /// Takes the oldest entry that another thread has injected, or else the owner's oldest, so that none starves. If a
    /// thief has taken from the old end since the last call, takes the newest instead.
    ///
    /// # Safety
    /// The caller is the owner.
    #[cfg_attr(loom, expect(dead_code, reason = "one that takes at the head, as thieves do"))]
    pub(crate) unsafe fn take_oldest(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut injected = self.lock.lock();
        if let Some(item) = self.take_injected(&mut injected) {
            return Some(item);
        }
        let head = self.head.load(Ordering::Relaxed);
        if self.owner.seen.replace(head) != head {
            drop(injected);
            // SAFETY: the caller is the owner, as `take_newest` demands.
            return unsafe { self.take_newest() };
        }
        if head >= self.owner.tail.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: the entry is in the queue. This holds the lock, so no thief takes it, and the owner is the caller.
        let item = unsafe { self.item(head) };
        self.claim.store(head + 1, Ordering::Relaxed);
        self.head.store(head + 1, Ordering::Release);
        self.owner.seen.set(head + 1);
        Some(item)
    }

    #[cold]
    fn grow(&self) {
        let _lock = self.lock.lock();
        let (old, old_capacity) = (self.owner.slots.get(), self.owner.capacity.get());
        let numbers = self.head.load(Ordering::Relaxed)..self.owner.tail.load(Ordering::Relaxed);
        let entries = numbers.clone().map(|number| {
            // SAFETY: the number is that of an entry in the queue, and this holds the lock.
            unsafe { self.slot(number).get() }
        });
        let entries: Vec<_> = entries.collect();
        let capacity = (old_capacity * 2).max(FIRST);
        let slots = (0..capacity).map(|_| Cell::new(MaybeUninit::<T>::uninit()));
        self.owner.slots.set(Box::into_raw(slots.collect::<Box<[_]>>()).cast());
        self.owner.capacity.set(capacity);
        for (number, entry) in numbers.zip(entries) {
            // SAFETY: the ring is new and has room for this number. No other thread reads it, since this holds the
            // lock.
            unsafe { self.slot(number).set(entry) };
        }
        // SAFETY: an earlier call made the old ring, and this one has just replaced it. This holds the lock and is the
        // owner, so no thread uses the old ring.
        unsafe { free(old, old_capacity) };
    }

    // ---- others ----

    /// Posts an entry, from a thread that is not the owner.
    pub(crate) fn inject(&self, item: T) {
        let mut injected = self.lock.lock();
        injected.push_back(item);
        self.injected.store(injected.len() as u64, Ordering::Relaxed);
    }

    /// Returns whether the queue has an entry that the owner will not soon take by itself. Thieves call it repeatedly,
    /// with the time in microseconds since any fixed moment.
    pub(crate) fn lies_for_long(&self, now: u64) -> bool {
        if self.is_empty() {
            self.overdue.forget();
            return false;
        }
        self.has_injected()
            || self.is_requested.load(Ordering::Relaxed)
            || self.overdue.is_overdue(self.head.load(Ordering::Relaxed), now)
    }

    fn take_injected(&self, injected: &mut VecDeque<T>) -> Option<T> {
        let item = injected.pop_front()?;
        self.injected.store(injected.len() as u64, Ordering::Relaxed);
        Some(item)
    }

    /// Takes the older half, up to a limit. Returns one entry, and pushes the rest onto the thief's own queue, the
    /// oldest on top.
    ///
    /// # Safety
    /// The caller is the owner of `own`.
    pub(crate) unsafe fn steal(&self, own: &Self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.is_requested.store(false, Ordering::Relaxed);
        let mut stolen = [MaybeUninit::uninit(); STEAL_BATCH];
        let count = self.take_half(&mut stolen);
        // SAFETY: `take_half` has initialised `count` entries. The caller is the owner of `own`, as `push` demands.
        unsafe {
            for item in stolen.get(1..count)?.iter().rev() {
                own.push(item.assume_init());
            }
            Some(stolen[0].assume_init())
        }
    }

    /// Moves the older half into `stolen`, and returns the number of entries.
    fn take_half(&self, stolen: &mut [MaybeUninit<T>; STEAL_BATCH]) -> usize {
        let half = |count: usize| count.div_ceil(2).min(STEAL_BATCH);
        let mut injected = self.lock.lock();
        if !injected.is_empty() {
            let count = half(injected.len());
            stolen.iter_mut().zip(injected.drain(..count)).for_each(|(place, item)| *place = MaybeUninit::new(item));
            self.injected.store(injected.len() as u64, Ordering::Relaxed);
            return count;
        }
        let head = self.head.load(Ordering::Relaxed);
        let wanted = half(self.owner.tail.load(Ordering::Relaxed).saturating_sub(head) as usize) as u64;
        if wanted == 0 {
            return 0;
        }
        // The fence takes some microseconds, for which other threads wait for the lock.
        let tail = self.claim(head + wanted);
        let end = tail.clamp(head, head + wanted);
        for (place, number) in stolen.iter_mut().zip(head..end) {
            // SAFETY: this thread holds the lock and has claimed the entry. The entry is below the `tail` that the
            // owner has announced, so the owner does not write its slot.
            *place = unsafe { self.slot(number).get() };
        }
        self.head.store(end, Ordering::Release);
        self.claim.store(end, Ordering::Relaxed);
        (end - head) as usize
    }

    /// Claims the entries below `end`, with the lock held, and returns the tail after the claim.
    fn claim(&self, end: u64) -> u64 {
        self.claim.store(end, Ordering::Relaxed);
        self.fence.rare();
        self.owner.tail.load(Ordering::Acquire)
    }

    /// Calls `look` with each entry of the queue. No thread takes these entries meanwhile.
    #[cfg_attr(loom, expect(dead_code, reason = "claims as a thief does"))]
    pub(crate) fn for_each(&self, mut look: impl FnMut(T)) {
        if self.is_empty() {
            return;
        }
        let injected = self.lock.lock();
        let head = self.head.load(Ordering::Relaxed);
        for number in head..self.claim(ALL) {
            // SAFETY: this thread holds the lock and has claimed the entry. The entry is below the `tail` that the
            // owner has announced, so the owner does not write its slot.
            look(unsafe { self.item(number) });
        }
        self.claim.store(head, Ordering::Relaxed);
        injected.iter().for_each(|item| look(*item));
    }

    /// # Safety
    /// The number is that of an entry, or of the next entry if the ring has room. The ring does not change meanwhile.
    #[inline]
    unsafe fn slot(&self, number: u64) -> &Slot<T> {
        let index = number as usize & (self.owner.capacity.get() - 1);
        // SAFETY: the caller guarantees a ring that has this slot and does not change. The mask keeps the index below
        // its capacity.
        unsafe { &*self.owner.slots.get().add(index) }
    }

    /// # Safety
    /// The number is that of an entry, which the caller may read. The ring does not change meanwhile.
    #[inline]
    unsafe fn item(&self, number: u64) -> T {
        // SAFETY: the caller passes the number of an entry that it may read, so the slot exists and is initialised.
        unsafe { self.slot(number).get().assume_init() }
    }
}

/// # Safety
/// These are the slots of a ring, or null. No thread uses the ring.
unsafe fn free<T>(slots: *mut Slot<T>, capacity: usize) {
    if !slots.is_null() {
        // SAFETY: `grow` made the slots from a box of this length. The caller guarantees that no thread uses the ring.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(slots, capacity)) });
    }
}

impl<T> Drop for RunQueue<T> {
    fn drop(&mut self) {
        // SAFETY: these are the slots of this queue's ring. The queue is dropped, so no other thread uses it.
        unsafe { free(self.owner.slots.get(), self.owner.capacity.get()) };
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn filled(count: u32) -> RunQueue<u32> {
        let jobs = RunQueue::new(Fence::Symmetric);
        // SAFETY: this thread made the queue, so it is the owner.
        (0..count).for_each(|number| unsafe { jobs.push(number) });
        jobs
    }

    #[test]
    fn requested_and_injected_jobs_can_be_stolen() {
        let (victim, thief) = (RunQueue::new(Fence::Symmetric), RunQueue::new(Fence::Symmetric));
        // SAFETY: this thread is the owner of both.
        unsafe {
            assert!(!victim.lies_for_long(0));
            victim.push(1);
            assert!(!victim.lies_for_long(0));
            victim.push_requested(2);
            assert!(victim.lies_for_long(0));
            assert_eq!(victim.steal(&thief), Some(1));
            // A thief has come.
            assert!(!victim.lies_for_long(0));
        }
        victim.inject(3);
        assert!(victim.lies_for_long(0));
    }

    #[test]
    fn thief_takes_stolen_jobs_in_order() {
        let (victim, thief) = (filled(8), filled(0));
        // SAFETY: one thread has both.
        let taken = unsafe { [victim.steal(&thief), thief.take_newest(), thief.take_newest(), thief.take_newest()] };
        assert_eq!(taken, [0, 1, 2, 3].map(Some));
        assert!(thief.is_empty());
    }

    #[test]
    fn stolen_back_jobs_adjoin_remaining_ones() {
        let (victim, thief) = (filled(16), filled(0));
        // SAFETY: one thread has both.
        unsafe {
            assert_eq!(victim.steal(&thief), Some(0));
            while victim.take_newest().is_some() {}
            assert_eq!(thief.steal(&victim), Some(7));
            assert_eq!(victim.take_newest(), Some(6));
            assert_eq!(thief.take_newest(), Some(1));
        }
    }

    #[test]
    fn owner_takes_oldest_unless_thief_has_stolen() {
        let (victim, thief) = (filled(8), filled(0));
        // SAFETY: one thread has both.
        unsafe {
            assert_eq!(victim.take_oldest(), Some(0));
            assert_eq!(victim.take_oldest(), Some(1));
            assert_eq!(victim.steal(&thief), Some(2));
            assert_eq!(victim.take_oldest(), Some(7));
            assert_eq!(victim.take_oldest(), Some(5));
            assert_eq!(victim.take_oldest(), Some(6));
            assert!(victim.is_empty());
        }
    }
}
