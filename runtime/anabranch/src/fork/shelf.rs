//! The shelf: the published forks of one thread, which any other thread may take.
//!
//! | a fork is | it is kept in                | leaves by                                                                |
//! |-----------|------------------------------|--------------------------------------------------------------------------|
//! | available | `available`, the oldest first | a thief takes it -> taken; its owner reclaims it -> over                 |
//! | taken     | `taken`                      | the thief has run it and calls `settle` -> run                           |
//! | run       | nothing, it counts as open   | the thief notifies the owner, which calls `withdraw` -> over             |
//!
//! All of that changes under one lock. So an available fork is alive for as long as a thread holds the lock: its owner
//! needs the lock to take it off. That is why a waiting thread can check what a fork descends from before it takes it,
//! and why the record of a theft is exact. The two counts beside the lock are hints for threads that search. A thief
//! that finds the lock taken moves on to the next shelf.
//!
//! A fork's position is the number of published forks that were open below it. The owner's joins end from above, so
//! positions grow along `available`, and the one that is on top is always the newest fork that the owner published.
//! Their number has no limit. A fork that was taken leaves behind only a record of its theft, and there are no more of
//! these than pieces of work that are being run.
//!
//! Orderings: the lock carries a frame from the publisher to the thief and back. The counts carry nothing.
//!
//! The shelf was an array of 4,096 slots, each taken by a CAS. Slots were free again only when the owner ended their
//! forks, so what was open above them could not be stolen: a receive below 4,200 forks, fed by one of them, hung.

use crate::{
    fork::frame::{Frame, Lineage},
    sys::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, lock},
};
use std::{collections::VecDeque, ptr};

/// The most entries for which an empty list keeps memory.
const KEPT: usize = 256;

/// See the [module](self).
pub(crate) struct Shelf {
    /// The number of published forks that the owner has not ended. Changed under the lock.
    open: AtomicUsize,
    /// A copy of the length of `lists.available`, and of that of `lists.taken`.
    available: AtomicUsize,
    taken: AtomicUsize,
    lists: Mutex<Lists>,
}

struct Lists {
    available: VecDeque<Entry>,
    taken: Vec<(usize, Theft)>,
}

struct Entry {
    position: usize,
    frame: *const Frame,
}

/// A record of the thief of a fork: the index of its worker, and a position on the thief's own shelf. The thief's forks
/// from that position on are inside of the work that it has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theft {
    pub(crate) thief: usize,
    pub(crate) base: usize,
}

/// A published frame that this thread has taken. It must be run.
#[must_use]
pub(crate) struct Claim {
    frame: *const Frame,
    position: usize,
    shelf: *const Shelf,
}

// SAFETY: a thread accesses a frame only while it holds the lock, or after it has taken the frame. The owner keeps a
// published frame alive until it has ended it under the lock.
unsafe impl Send for Shelf {}
// SAFETY: the counts are atomic, and a thread accesses a frame only while it holds the lock, or after it has taken the
// frame.
unsafe impl Sync for Shelf {}

impl Shelf {
    crate::sys::sync::const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                open: AtomicUsize::new(0),
                available: AtomicUsize::new(0),
                taken: AtomicUsize::new(0),
                lists: Mutex::new(Lists { available: VecDeque::new(), taken: Vec::new() }),
            }
        }
    }

    /// Updates the copies of the lengths, and frees the memory of a long list that has become empty.
    fn note(&self, lists: &mut Lists) {
        if lists.available.is_empty() && lists.available.capacity() > KEPT {
            lists.available = VecDeque::new();
        }
        self.available.store(lists.available.len(), Ordering::Relaxed);
        self.taken.store(lists.taken.len(), Ordering::Relaxed);
    }

    /// Returns `None` if another thread holds the lock: a thief then searches elsewhere.
    fn try_lock(&self) -> Option<MutexGuard<'_, Lists>> {
        #[cfg(any(loom, shuttle))]
        return Some(lock(&self.lists));
        #[cfg(not(any(loom, shuttle)))]
        match self.lists.try_lock() {
            Ok(lists) => Some(lists),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }

    // ---- the owner, or a thread that acts for it under its gate ----

    /// Puts the oldest of the private frames on top.
    ///
    /// # Safety
    /// It is marked as published and has its [`Shelved`](super::frame::Shelved) data. It is alive until its owner has
    /// ended it by `reclaim` or `withdraw`.
    pub(crate) unsafe fn publish(&self, frame: *const Frame) {
        let mut lists = lock(&self.lists);
        let position = self.open.load(Ordering::Relaxed);
        self.open.store(position + 1, Ordering::Relaxed);
        lists.available.push_back(Entry { position, frame });
        self.note(&mut lists);
    }

    /// Takes back the frame that was published last of those that are open; it is over then.
    ///
    /// # Errors
    /// Returns the position of the frame if a thief has taken it.
    pub(crate) fn reclaim(&self, frame: *const Frame) -> Result<(), usize> {
        let mut lists = lock(&self.lists);
        let position = self.open.load(Ordering::Relaxed) - 1;
        if lists.available.back().is_none_or(|newest| !ptr::eq(newest.frame, frame)) {
            return Err(position);
        }
        lists.available.pop_back();
        self.open.store(position, Ordering::Relaxed);
        self.note(&mut lists);
        Ok(())
    }

    /// Ends the newest open fork on the shelf, which a thief has run.
    pub(crate) fn withdraw(&self) {
        let _lists = lock(&self.lists);
        self.open.store(self.open.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    // ---- any thread ----

    /// Returns how many published forks the owner has open, in whatever state. Exact for the owner while no raider
    /// publishes for it.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Takes the oldest available frame, for the thief that `theft` names.
    pub(crate) fn take(&self, theft: Theft) -> Option<Claim> {
        self.take_if(0, theft, |_| true)
    }

    /// Takes the oldest available frame that is at `from` or above, if it descends from `ancestor`.
    pub(crate) fn take_descendant(&self, from: usize, ancestor: *const Lineage, theft: Theft) -> Option<Claim> {
        // SAFETY: `take_if` calls this under the lock with an available frame. Its owner needs the lock to end it, so
        // it is alive.
        self.take_if(from, theft, |frame| unsafe { (*frame).shelved().lineage.descends_from(ancestor) })
    }

    fn take_if(&self, from: usize, theft: Theft, suits: impl FnOnce(*const Frame) -> bool) -> Option<Claim> {
        if !self.has_available() {
            return None;
        }
        let mut lists = self.try_lock()?;
        let index = if from == 0 { 0 } else { lists.available.partition_point(|entry| entry.position < from) };
        let oldest = lists.available.get(index)?;
        if !suits(oldest.frame) {
            return None;
        }
        let Entry { position, frame } = lists.available.remove(index)?;
        lists.taken.push((position, theft));
        self.note(&mut lists);
        Some(Claim { frame, position, shelf: self })
    }

    /// Returns the thief that runs the fork at this position, or `None`.
    pub(crate) fn theft_at(&self, position: usize) -> Option<Theft> {
        self.find_theft(|taken| taken.iter().find(|(at, _)| *at == position))
    }

    /// Returns the thief that runs the oldest taken fork at `from` or above.
    pub(crate) fn oldest_theft(&self, from: usize) -> Option<Theft> {
        self.find_theft(|taken| taken.iter().filter(|(at, _)| *at >= from).min_by_key(|(at, _)| *at))
    }

    fn find_theft(&self, find: impl FnOnce(&[(usize, Theft)]) -> Option<&(usize, Theft)>) -> Option<Theft> {
        if self.taken.load(Ordering::Relaxed) == 0 {
            return None;
        }
        find(&self.try_lock()?.taken).map(|(_, theft)| *theft)
    }

    /// Returns whether there is something to take. A hint.
    pub(crate) fn has_available(&self) -> bool {
        self.available.load(Ordering::Relaxed) > 0
    }

    /// Removes the record of the theft at this position, once the thief has run the fork.
    fn settle(&self, position: usize) {
        let mut lists = lock(&self.lists);
        let index = lists.taken.iter().position(|(at, _)| *at == position);
        lists.taken.swap_remove(index.expect("a fork that was taken is open until it was run"));
        self.note(&mut lists);
    }
}

impl Claim {
    /// Returns the lineage of the frame, which has not been run.
    pub(crate) fn lineage(&self) -> &Lineage {
        // SAFETY: this thread has taken the frame off the shelf and has not run it, so it is alive.
        unsafe { &(*self.frame).shelved().lineage }
    }

    /// Runs the frame and notifies its owner.
    pub(crate) fn run(self) {
        // SAFETY: this claim proves that the frame was taken, and is consumed here, so the frame is run once. It
        // belongs to this thread until `done` is set, and may be gone from then on. The shelf and the parker belong to
        // a worker, which outlives the frames.
        unsafe {
            Frame::execute(self.frame);
            (*self.shelf).settle(self.position);
            let owner = (*self.frame).shelved().owner;
            (*self.frame).shelved().done.store(true, Ordering::Release);
            (*owner).unpark();
        }
    }
}
