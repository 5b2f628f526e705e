//! The entries of a pool: a list of workers that only grows, readable without a lock.
//!
//! Segments of doubling size, each made when it is first needed, so that an entry never moves and a reader needs no
//! more than two acquire loads. The first segment holds the pool's own threads. As entries are added one at a time, no
//! thread ever waits at a cell. So the cells come from std even where `sys::sync` uses other types.
//!
//! Threads that search for work check all entries that are *listed*; each entry has a bit for that. After many guests
//! have left, a thread takes their entries off the list, and holds each entry meanwhile. A guest that takes such an
//! entry lists it again before it begins its root. So an entry is listed while a thread holds it, or has left something
//! in it.

use crate::sys::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, lock};
use std::sync::OnceLock;

struct Segment<W> {
    entries: Box<[OnceLock<W>]>,
    /// One bit for each entry.
    listed: Box<[AtomicU64]>,
}

/// Segment `s` holds `FIRST << s` entries.
const FIRST: usize = 8;

/// See the [module](self).
pub(crate) struct WorkerList<W> {
    segments: [OnceLock<Segment<W>>; 32],
    count: AtomicUsize,
    /// Entries are added one at a time.
    adding: Mutex<()>,
}

impl<W> WorkerList<W> {
    pub(crate) fn new() -> Self {
        Self { segments: [const { OnceLock::new() }; 32], count: AtomicUsize::new(0), adding: Mutex::new(()) }
    }

    fn locate(index: usize) -> (usize, usize) {
        let segment = ((index / FIRST) + 1).ilog2() as usize;
        (segment, index - FIRST * ((1 << segment) - 1))
    }

    /// Returns the entry, or `None` if there is no such entry yet.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&W> {
        let (segment, offset) = Self::locate(index);
        self.segments.get(segment)?.get()?.entries[offset].get()
    }

    /// Adds an entry, and returns its index.
    pub(crate) fn add(&self, make: impl FnOnce(usize) -> W) -> usize {
        let _adding = lock(&self.adding);
        let index = self.count.load(Ordering::Relaxed);
        let (segment, offset) = Self::locate(index);
        let entries = &self.segments[segment].get_or_init(|| Segment::new(FIRST << segment)).entries;
        assert!(entries[offset].set(make(index)).is_ok(), "two threads added an entry at the same time");
        self.list(index);
        self.count.store(index + 1, Ordering::Release);
        index
    }

    /// Returns all entries, listed or not.
    pub(crate) fn all(&self) -> impl Iterator<Item = &W> {
        (0..self.count.load(Ordering::Acquire)).filter_map(|index| self.get(index))
    }

    /// Returns all entries that are listed.
    pub(crate) fn iter(&self) -> Listed<'_, W> {
        Listed { entries: self, next: 0 }
    }

    /// Puts an entry on the list.
    pub(crate) fn list(&self, index: usize) {
        self.mark(index, |word, bit| word.fetch_or(bit, Ordering::Release));
    }

    /// Takes an entry off the list. The caller holds it.
    pub(crate) fn unlist(&self, index: usize) {
        self.mark(index, |word, bit| word.fetch_and(!bit, Ordering::Relaxed));
    }

    fn mark(&self, index: usize, mark: impl FnOnce(&AtomicU64, u64) -> u64) {
        let (segment, offset) = Self::locate(index);
        if let Some(segment) = self.segments[segment].get() {
            mark(&segment.listed[offset / 64], 1 << (offset % 64));
        }
    }
}

impl<W> Segment<W> {
    fn new(len: usize) -> Self {
        Self {
            entries: (0..len).map(|_| OnceLock::new()).collect(),
            listed: (0..len.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

/// See [`WorkerList::iter`].
pub(crate) struct Listed<'a, W> {
    entries: &'a WorkerList<W>,
    next: usize,
}

impl<W> Clone for Listed<'_, W> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, W> Iterator for Listed<'a, W> {
    type Item = &'a W;

    #[inline]
    fn next(&mut self) -> Option<&'a W> {
        loop {
            let (segment, offset) = WorkerList::<W>::locate(self.next);
            let found = self.entries.segments.get(segment)?.get()?;
            let left = found.listed[offset / 64].load(Ordering::Acquire) >> (offset % 64);
            if left != 0 {
                let skipped = left.trailing_zeros() as usize;
                self.next += skipped + 1;
                return found.entries[offset + skipped].get();
            }
            // To the next word, or segment.
            self.next += (64 - offset % 64).min(found.entries.len() - offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_numbered_without_gaps() {
        let places: Vec<_> = (0..8 + 16 + 32).map(WorkerList::<usize>::locate).collect();
        let expected: Vec<_> = (0..3).flat_map(|s| (0..FIRST << s).map(move |offset| (s, offset))).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn unlisted_entries_are_skipped() {
        let entries = WorkerList::new();
        for _ in 0..300 {
            entries.add(|index| index);
        }
        let listed = || entries.iter().copied().collect::<Vec<_>>();
        assert_eq!(listed(), (0..300).collect::<Vec<_>>());
        (10..298).for_each(|index| entries.unlist(index));
        assert_eq!(listed(), (0..10).chain(298..300).collect::<Vec<_>>());
        assert_eq!(entries.all().count(), 300);
        [71, 72, 200].into_iter().for_each(|index| entries.list(index));
        assert_eq!(listed(), (0..10).chain([71, 72, 200]).chain(298..300).collect::<Vec<_>>());
    }
}
