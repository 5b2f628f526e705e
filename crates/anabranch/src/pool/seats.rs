//! The seats of a pool: a list of workers that only grows, readable without a lock.
//!
//! Segments of doubling size, each made when it is first needed, so that a seat never moves and a reader needs no more
//! than two acquire loads. The first segment holds the pool's own threads. As seats are added one at a time, nobody ever
//! waits at a cell; so the cells are those of std also where `sys::sync` is not.

use crate::{
    pool::worker::Worker,
    sys::sync::{AtomicUsize, Ordering},
};
use std::sync::OnceLock;

type Segment = Box<[OnceLock<Worker>]>;

/// Segment `s` holds `FIRST << s` seats.
const FIRST: usize = 8;

/// See the [module](self).
pub(crate) struct Seats {
    segments: [OnceLock<Segment>; 32],
    count: AtomicUsize,
}

impl Seats {
    pub(crate) fn new() -> Self {
        Self { segments: [const { OnceLock::new() }; 32], count: AtomicUsize::new(0) }
    }

    fn locate(index: usize) -> (usize, usize) {
        let segment = ((index / FIRST) + 1).ilog2() as usize;
        (segment, index - FIRST * ((1 << segment) - 1))
    }

    /// `None`: there is no such seat yet.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Worker> {
        let (segment, offset) = Self::locate(index);
        self.segments.get(segment)?.get()?[offset].get()
    }

    /// Adds a seat. The caller sees to it that this is not called by two threads at a time.
    pub(crate) fn add(&self, make: impl FnOnce(usize) -> Worker) -> usize {
        let index = self.count.load(Ordering::Relaxed);
        let (segment, offset) = Self::locate(index);
        let seats = self.segments[segment].get_or_init(|| (0..FIRST << segment).map(|_| OnceLock::new()).collect());
        assert!(seats[offset].set(make(index)).is_ok(), "two threads added a seat at the same time");
        self.count.store(index + 1, Ordering::Release);
        index
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Worker> + Clone {
        (0..self.count.load(Ordering::Acquire)).filter_map(|index| self.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_numbered_without_gaps() {
        let places: Vec<_> = (0..8 + 16 + 32).map(Seats::locate).collect();
        let expected: Vec<_> = (0..3).flat_map(|s| (0..FIRST << s).map(move |offset| (s, offset))).collect();
        assert_eq!(places, expected);
    }
}
