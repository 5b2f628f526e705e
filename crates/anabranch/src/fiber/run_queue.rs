//! A worker's queue of fibers that have not started. Its owner takes the newest, so that a recursion goes deep before
//! it goes wide, and every now and then the oldest, so that none is forgotten; thieves take the oldest, several at a
//! time.
//!
//! The idea is that of Cilk's THE deque (Frigo, Leiserson, Randall 1998), with the fence on the thief's side (see
//! `sys::asymmetric_fence`) and with thieves that take many. What lies in the queue has numbers, `head..tail`. The
//! owner puts in and takes out at the tail, without a lock and without a read-modify-write. Whoever takes at the head
//! holds the lock. Both announce first what they want and look then at what the other wants, with a fence between the
//! two:
//!
//! | the owner takes `tail - 1`              | a thief, with the lock, takes some at the head       |
//! |-----------------------------------------|------------------------------------------------------|
//! | 1. `tail` down by one                   | a. `claim` up, from `head` to where it wants to stop |
//! | 2. fence                                | b. fence                                             |
//! | 3. reads `claim`; if that is above `tail`, there is a thief who may want the same: waits for the lock, and looks at `head` | c. reads `tail`, and stops there if that is less; `head` and `claim` are there now |
//!
//! If both fence, one sees the other: the thief leaves what the owner has announced, or the owner waits until `head`
//! says what the thief has taken. Without a thief under way `claim` is `head`, and the two differ only so that whoever
//! asks whether the queue is empty is not told of what is merely claimed. A thief reads what it takes only after (c),
//! so nothing is read that the owner might write just now. Who lists the queue claims all of it for as long as it
//! looks, and takes nothing.
//!
//! Others than the owner put into a second list, under the lock.
//!
//! What was spawned one after the other often talks to each other, and a message from one worker to another takes ten
//! times as long as on one worker. So what a worker runs shall be a piece of the order in which all were put in. A
//! thief goes through its loot from the old end: what it leaves to be stolen from in turn lies next to what it was
//! stolen from of. And the owner takes the oldest itself only where no thief has come for a while. A ring of 503 fibers
//! is so cut in two places, instead of 6 to 14.
//!
//! For the same reason a thief asks first whether what is there [lies for long](RunQueue::lies_for_long): where the
//! owner is at work, and begins its fibers as it comes to them, they stay together. What the owner has put in because
//! somebody asked for it, or others have put in, is there to be taken. All that a thief learns by asking, and leaves
//! for the next, are hints.
//!
//! | word     | written by                   | means                                              |
//! |----------|------------------------------|----------------------------------------------------|
//! | `tail`   | the owner                    | where the next one goes                            |
//! | `claim`  | who holds the lock           | below it the owner takes nothing without the lock  |
//! | `head`   | who holds the lock           | below it all is taken                              |
//! | `slots`  | the owner, with the lock     | a ring; the owner reads it without the lock        |
//!
//! Orderings: every write of `tail` releases and a thief acquires it, so what was put in is seen. A thief's write of
//! `head` releases, and the owner acquires it before it uses the slots below again. The two fences are sequentially
//! consistent or amount to it. The rest is the lock's.

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

/// The most that a thief takes at a time: half of what there is, up to this.
const STEAL_BATCH: usize = if cfg!(shuttle) { 2 } else { 32 };

/// After so many of the newest the worker takes the oldest.
#[cfg(not(loom))]
pub(crate) const OLDEST_EVERY: u32 = if cfg!(shuttle) { 5 } else { 61 };

/// How many the ring has room for at first.
const FIRST: usize = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// No number is as high: all are claimed.
const ALL: u64 = u64::MAX;

type Slot<T> = Cell<MaybeUninit<T>>;

/// See the [module](self).
pub(crate) struct RunQueue<T> {
    owner: CachePadded<Owner<T>>,
    claim: AtomicU64,
    head: AtomicU64,
    /// How many were posted.
    posted: AtomicU64,
    /// Whether the owner has put in what somebody has asked for. A hint.
    is_asked_for: AtomicBool,
    overdue: QueueAge,
    lock: Brief<VecDeque<T>>,
    fence: Fence,
}

/// What the owner writes.
struct Owner<T> {
    tail: AtomicU64,
    /// Nothing, or a power of two of slots; the number of an entry is its place but for a multiple of that.
    slots: Cell<*mut Slot<T>>,
    capacity: Cell<usize>,
    /// Where `head` was when the owner last wanted the oldest.
    seen: Cell<u64>,
}

// SAFETY: who touches what when is said above; what is put in by one thread may be taken by another.
unsafe impl<T: Send> Send for RunQueue<T> {}
// SAFETY: as above.
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
                posted: AtomicU64::new(0),
                is_asked_for: AtomicBool::new(false),
                overdue: QueueAge::new(),
                lock: Brief::new(VecDeque::new()),
                fence,
            }
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_own() && !self.has_posted()
    }

    #[inline]
    fn has_own(&self) -> bool {
        self.head.load(Ordering::Relaxed) < self.owner.tail.load(Ordering::Relaxed)
    }

    #[inline]
    fn has_posted(&self) -> bool {
        self.posted.load(Ordering::Relaxed) > 0
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
        // SAFETY: there is room, so nothing that is in the queue is in this slot, and nobody else reads it before it
        // is.
        unsafe { self.slot(tail).set(MaybeUninit::new(item)) };
        self.owner.tail.store(tail + 1, Ordering::Release);
    }

    /// As [`push`](Self::push), for what somebody has asked for, and need not [lie](Self::lies_for_long).
    ///
    /// # Safety
    /// The caller is the owner.
    pub(crate) unsafe fn push_asked_for(&self, item: T) {
        self.is_asked_for.store(true, Ordering::Relaxed);
        // SAFETY: the caller's word.
        unsafe { self.push(item) };
    }

    /// The newest of the owner's, or else the oldest that others have put in.
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
                // SAFETY: it was in the queue and is the caller's now.
                return Some(unsafe { self.item(tail) });
            }
            if let Some(item) = self.take_contended(tail) {
                return Some(item);
            }
        }
        if self.has_posted() { self.take_posted(&mut self.lock.lock()) } else { None }
    }

    /// The owner wants this entry, and somebody claims it, or did.
    #[cold]
    fn take_contended(&self, tail: u64) -> Option<T> {
        let _lock = self.lock.lock();
        if self.head.load(Ordering::Relaxed) <= tail {
            // SAFETY: nobody has taken it, and nobody who would hold the lock does now.
            return Some(unsafe { self.item(tail) });
        }
        self.owner.tail.store(tail + 1, Ordering::Release);
        None
    }

    /// The oldest that others have put in, or else of the owner's; the newest if since the last time somebody has taken
    /// from the old end, so that none is forgotten there.
    ///
    /// # Safety
    /// The caller is the owner.
    #[cfg_attr(loom, expect(dead_code, reason = "one that takes at the head, as thieves do"))]
    pub(crate) unsafe fn take_oldest(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut posted = self.lock.lock();
        if let Some(item) = self.take_posted(&mut posted) {
            return Some(item);
        }
        let head = self.head.load(Ordering::Relaxed);
        if self.owner.seen.replace(head) != head {
            drop(posted);
            // SAFETY: the caller's word.
            return unsafe { self.take_newest() };
        }
        if head >= self.owner.tail.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: the lock is held, and the owner, who might want it too, is the caller.
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
            // SAFETY: in the queue, whose lock is held.
            unsafe { self.slot(number).get() }
        });
        let entries: Vec<_> = entries.collect();
        let capacity = (old_capacity * 2).max(FIRST);
        let slots = (0..capacity).map(|_| Cell::new(MaybeUninit::<T>::uninit()));
        self.owner.slots.set(Box::into_raw(slots.collect::<Box<[_]>>()).cast());
        self.owner.capacity.set(capacity);
        for (number, entry) in numbers.zip(entries) {
            // SAFETY: the ring is new and large enough.
            unsafe { self.slot(number).set(entry) };
        }
        // SAFETY: made below, or by an earlier call, and given up just now.
        unsafe { free(old, old_capacity) };
    }

    // ---- others ----

    /// For those who are not the owner.
    pub(crate) fn post(&self, item: T) {
        let mut posted = self.lock.lock();
        posted.push_back(item);
        self.posted.store(posted.len() as u64, Ordering::Relaxed);
    }

    /// Whether there is something that the owner does not come to by itself before long. To be asked again and again,
    /// with the time in microseconds since whenever.
    pub(crate) fn lies_for_long(&self, now: u64) -> bool {
        if self.is_empty() {
            self.overdue.forget();
            return false;
        }
        self.has_posted()
            || self.is_asked_for.load(Ordering::Relaxed)
            || self.overdue.is_overdue(self.head.load(Ordering::Relaxed), now)
    }

    fn take_posted(&self, posted: &mut VecDeque<T>) -> Option<T> {
        let item = posted.pop_front()?;
        self.posted.store(posted.len() as u64, Ordering::Relaxed);
        Some(item)
    }

    /// Takes the older half, up to a limit: one to be used, the rest into the thief's own queue, the oldest on top.
    ///
    /// # Safety
    /// The caller is the owner of `own`.
    pub(crate) unsafe fn steal(&self, own: &Self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.is_asked_for.store(false, Ordering::Relaxed);
        let mut loot = [MaybeUninit::uninit(); STEAL_BATCH];
        let count = self.take_half(&mut loot);
        // SAFETY: as many were taken, and the caller's word.
        unsafe {
            for item in loot.get(1..count)?.iter().rev() {
                own.push(item.assume_init());
            }
            Some(loot[0].assume_init())
        }
    }

    /// How many it has put there.
    fn take_half(&self, loot: &mut [MaybeUninit<T>; STEAL_BATCH]) -> usize {
        let half = |count: usize| count.div_ceil(2).min(STEAL_BATCH);
        let mut posted = self.lock.lock();
        if !posted.is_empty() {
            let count = half(posted.len());
            loot.iter_mut().zip(posted.drain(..count)).for_each(|(place, item)| *place = MaybeUninit::new(item));
            self.posted.store(posted.len() as u64, Ordering::Relaxed);
            return count;
        }
        let head = self.head.load(Ordering::Relaxed);
        let wanted = half(self.owner.tail.load(Ordering::Relaxed).saturating_sub(head) as usize) as u64;
        if wanted == 0 {
            return 0;
        }
        // Whoever waits for the lock meanwhile waits for some microseconds.
        let tail = self.claim(head + wanted);
        let end = tail.clamp(head, head + wanted);
        for (place, number) in loot.iter_mut().zip(head..end) {
            // SAFETY: claimed, and below what the owner has announced.
            *place = unsafe { self.slot(number).get() };
        }
        self.head.store(end, Ordering::Release);
        self.claim.store(end, Ordering::Relaxed);
        (end - head) as usize
    }

    /// With the lock held, claims what is below this number; where the tail is then.
    fn claim(&self, end: u64) -> u64 {
        self.claim.store(end, Ordering::Relaxed);
        self.fence.rare();
        self.owner.tail.load(Ordering::Acquire)
    }

    /// Looks at all that is in the queue; nothing that is looked at is taken meanwhile.
    #[cfg_attr(loom, expect(dead_code, reason = "claims as a thief does"))]
    pub(crate) fn for_each(&self, mut look: impl FnMut(T)) {
        if self.is_empty() {
            return;
        }
        let posted = self.lock.lock();
        let head = self.head.load(Ordering::Relaxed);
        for number in head..self.claim(ALL) {
            // SAFETY: claimed, and below what the owner has announced.
            look(unsafe { self.item(number) });
        }
        self.claim.store(head, Ordering::Relaxed);
        posted.iter().for_each(|item| look(*item));
    }

    /// # Safety
    /// The number is that of an entry, or of the next one with room for it, and the ring does not change meanwhile.
    #[inline]
    unsafe fn slot(&self, number: u64) -> &Slot<T> {
        let index = number as usize & (self.owner.capacity.get() - 1);
        // SAFETY: the caller's word.
        unsafe { &*self.owner.slots.get().add(index) }
    }

    /// # Safety
    /// As for `slot`; it is the number of an entry, which the caller may read.
    #[inline]
    unsafe fn item(&self, number: u64) -> T {
        // SAFETY: the caller's word.
        unsafe { self.slot(number).get().assume_init() }
    }
}

/// # Safety
/// These are the slots of a ring that nobody uses.
unsafe fn free<T>(slots: *mut Slot<T>, capacity: usize) {
    if !slots.is_null() {
        // SAFETY: made from a box of this length, and the caller's word.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(slots, capacity)) });
    }
}

impl<T> Drop for RunQueue<T> {
    fn drop(&mut self) {
        // SAFETY: the ring of this queue, of which there is nobody else left.
        unsafe { free(self.owner.slots.get(), self.owner.capacity.get()) };
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn filled(count: u32) -> RunQueue<u32> {
        let jobs = RunQueue::new(Fence::Symmetric);
        // SAFETY: nobody else has it.
        (0..count).for_each(|number| unsafe { jobs.push(number) });
        jobs
    }

    #[test]
    fn what_was_asked_for_or_posted_is_there_to_be_taken() {
        let (victim, thief) = (RunQueue::new(Fence::Symmetric), RunQueue::new(Fence::Symmetric));
        // SAFETY: this thread is the owner of both.
        unsafe {
            assert!(!victim.lies_for_long(0));
            victim.push(1);
            assert!(!victim.lies_for_long(0));
            victim.push_asked_for(2);
            assert!(victim.lies_for_long(0));
            assert_eq!(victim.steal(&thief), Some(1));
            // Somebody has come.
            assert!(!victim.lies_for_long(0));
        }
        victim.post(3);
        assert!(victim.lies_for_long(0));
    }

    #[test]
    fn a_thief_goes_through_its_loot_in_order() {
        let (victim, thief) = (filled(8), filled(0));
        // SAFETY: one thread has both.
        let taken = unsafe { [victim.steal(&thief), thief.take_newest(), thief.take_newest(), thief.take_newest()] };
        assert_eq!(taken, [0, 1, 2, 3].map(Some));
        assert!(thief.is_empty());
    }

    #[test]
    fn what_is_robbed_back_lies_beside_what_was_left() {
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
    fn the_owner_takes_the_oldest_where_no_thief_does() {
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
