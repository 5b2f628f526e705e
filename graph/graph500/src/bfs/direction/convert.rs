//! The two forms of a frontier: a part of the queue, and a bitmap.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use anabranch::prelude::*;

use super::WORDS;
use crate::bitmap::{count, ones};
use crate::memory::Shared;

/// Vertices that one task converts to bits.
const VERTICES: usize = 1 << 12;
/// Words that one task converts to vertices.
const PIECE: usize = 1 << 9;

/// The free end of a queue, to which several threads append.
pub(super) struct Tail<'a> {
    queue: &'a [AtomicU32],
    end: AtomicUsize,
}

impl<'a> Tail<'a> {
    pub(super) fn new(queue: &'a mut [u32]) -> Tail<'a> {
        Tail { queue: queue.shared(), end: AtomicUsize::new(0) }
    }

    /// Appends the vertices at once.
    pub(super) fn append(&self, vertices: &[u32]) {
        let places = self.reserve(vertices.len());
        for (place, &vertex) in places.iter().zip(vertices) {
            place.store(vertex, Relaxed);
        }
    }

    fn reserve(&self, count: usize) -> &[AtomicU32] {
        let start = self.end.fetch_add(count, Relaxed);
        &self.queue[start..start + count]
    }

    /// Returns the number of appended vertices.
    pub(super) fn len(self) -> usize {
        self.end.into_inner()
    }
}

/// Makes `bits` the set of the vertices.
pub(crate) fn set_bits(vertices: &[u32], bits: &mut [u64]) {
    bits.par_chunks_mut(WORDS).for_each(|words| words.fill(0));
    let bits = bits.shared();
    vertices.par_chunks(VERTICES).for_each(|vertices| {
        for vertex in vertices {
            bits[(vertex / 64) as usize].fetch_or(1 << (vertex % 64), Relaxed);
        }
    });
}

/// Lists the vertices of the set in the queue from `start` on. Returns their places.
pub(crate) fn list_bits(bits: &[u64], queue: &mut [u32], start: usize) -> Range<usize> {
    let tail = Tail::new(&mut queue[start..]);
    bits.par_chunks(PIECE).enumerate().for_each(|(piece, words)| {
        let mut places = tail.reserve(count(words) as usize).iter();
        for (word, &bits) in (piece * PIECE..).zip(words) {
            for (bit, place) in ones(bits).zip(&mut places) {
                place.store(word as u32 * 64 + bit, Relaxed);
            }
        }
    });
    start..start + tail.len()
}
