//! Construction of rows from edges, in parallel.
//!
//! 1. **Partition.** The vertices are cut into at most 2^11 *bands*. The edges are cut into groups. Each group counts
//!    its arcs per band; prefix sums give it a region in each band; it writes its arcs there.
//! 2. **Rows.** Each band distributes its arcs to the rows of their sources, sorts each row by target and weight, and
//!    drops duplicates. A band usually fits into a cache.
//! 3. **Copy.** The rows of all bands are copied to the arrays of the graph, without the gaps of duplicates.
//!
//! The regions of groups are disjoint. They are not contiguous, so the arcs are atomics with relaxed accesses, which
//! are plain moves on today's machines. Sorted rows do not depend on the order of the arcs, so the result does not
//! depend on the number of threads. Memory besides the edges and the result: 8 bytes an arc, 12 with weights of 32
//! bits, 16 with those of 64. This is the construction of the crate `graph500`, without its order by degree.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anabranch::prelude::*;

use super::Rows;
use crate::Weight;
use crate::weight::sealed::Key;

/// Edges that a group is made of.
const SLICE: usize = 1 << 16;
/// More groups would have more counters than arcs.
const MOST_GROUPS: usize = 256;
/// Arcs of a row that is worth a parallel sort.
const LARGE_ROW: usize = 1 << 16;

/// The arcs that an edge stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arcs {
    Forward,
    Backward,
    Both,
}

/// Arcs, grouped by the band of their source. `K` is the type of the keys of their weights.
pub(crate) struct Partition<K: Key> {
    num_vertices: usize,
    /// Binary logarithm of the vertices in a band.
    shift: u32,
    /// The first arc of each band, and the number of arcs.
    bands: Vec<usize>,
    /// Source and target.
    keys: Vec<AtomicU64>,
    /// The keys of the weights; empty if arcs have none.
    weights: Vec<K::Slot>,
}

impl<K: Key> Partition<K> {
    /// Partitions the arcs of the edges in `pieces`, without self-loops. All ends are below `num_vertices`. The weights
    /// are kept if `V` has weights.
    pub(crate) fn new<W: Weight, V: Weight<Key = K>>(
        num_vertices: usize,
        pieces: &[Vec<(u32, u32, W)>],
        arcs: Arcs,
        weight: impl Fn(W) -> V + Sync,
    ) -> Partition<K> {
        let bits = usize::BITS - num_vertices.saturating_sub(1).leading_zeros();
        let shift = bits.saturating_sub(11);
        let num_bands = num_vertices.div_ceil(1 << shift);
        let slices: Vec<&[(u32, u32, W)]> = pieces.iter().flat_map(|piece| piece.chunks(SLICE)).collect();
        let group = slices.len().div_ceil(MOST_GROUPS).max(1);

        let count = |slices: &[&[(u32, u32, W)]]| {
            let mut counts = vec![0usize; num_bands];
            visit(slices, arcs, |from, _, _| counts[from as usize >> shift] += 1);
            counts
        };
        let mut cursors: Vec<Vec<usize>> = slices.par_chunks(group).map(count).collect();
        let bands = starts(&mut cursors, num_bands);

        let total = bands[num_bands];
        let keys: Vec<AtomicU64> = (0..total).into_par_iter().map(|_| AtomicU64::new(0)).collect();
        let num_weights = if V::IS_WEIGHTED { total } else { 0 };
        let weights: Vec<K::Slot> = (0..num_weights).into_par_iter().map(|_| K::Slot::default()).collect();
        slices.par_chunks(group).zip(cursors.par_iter_mut()).for_each(|(slices, cursors)| {
            visit(slices, arcs, |from, to, edge| {
                let cursor = &mut cursors[from as usize >> shift];
                keys[*cursor].store(u64::from(from) << 32 | u64::from(to), Relaxed);
                if V::IS_WEIGHTED {
                    weight(edge).to_key().store(&weights[*cursor]);
                }
                *cursor += 1;
            });
        });
        Partition { num_vertices, shift, bands, keys, weights }
    }

    /// Sorts the arcs into rows. `V` is the type for which the partition was made.
    pub(crate) fn into_rows<V: Weight<Key = K>>(mut self) -> Rows<V> {
        let mut starts = vec![0u64; self.num_vertices + 1];
        let (mut keys, mut weights) = (&mut self.keys[..], &mut self.weights[..]);
        let ends = starts[1..].chunks_mut(1 << self.shift);
        let mut bands: Vec<Band<'_, K>> = Vec::with_capacity(self.bands.len());
        for ((index, limits), ends) in self.bands.windows(2).enumerate().zip(ends) {
            let len = limits[1] - limits[0];
            let keys = keys.split_off_mut(..len).unwrap_or_default();
            let weights = weights.split_off_mut(..len).unwrap_or_default();
            bands.push(Band { first: (index << self.shift) as u32, keys, weights, ends });
        }
        let lens: Vec<usize> =
            bands.par_iter_mut().map_init(Scratch::default, |scratch, band| scratch.sort(band)).collect();

        let total = lens.iter().sum();
        let mut neighbours = vec![0; total];
        let mut weights = vec![V::from_key(K::default()); total];
        let (mut neighbours_left, mut weights_left) = (&mut neighbours[..], &mut weights[..]);
        let mut base = 0;
        let mut copies = Vec::with_capacity(bands.len());
        for (band, &len) in bands.into_iter().zip(&lens) {
            let neighbours = neighbours_left.split_off_mut(..len).unwrap_or_default();
            let weights = weights_left.split_off_mut(..len).unwrap_or_default();
            copies.push((band, base, neighbours, weights));
            base += len as u64;
        }
        copies.into_par_iter().for_each(|(band, base, neighbours, weights)| {
            band.ends.iter_mut().for_each(|end| *end += base);
            for (target, neighbour) in band.keys.iter_mut().zip(neighbours) {
                *neighbour = *target.get_mut() as u32;
            }
            for (key, weight) in band.weights.iter_mut().zip(weights) {
                *weight = V::from_key(*K::get(key));
            }
        });
        Rows { starts: starts.into(), neighbours: neighbours.into(), weights: weights.into() }
    }
}

/// Calls `visit` with the source, the target and the weight of each arc.
#[inline]
fn visit<W: Copy>(slices: &[&[(u32, u32, W)]], arcs: Arcs, mut visit: impl FnMut(u32, u32, W)) {
    for &(from, to, weight) in slices.iter().copied().flatten() {
        if from == to {
            continue;
        }
        if arcs != Arcs::Backward {
            visit(from, to, weight);
        }
        if arcs != Arcs::Forward {
            visit(to, from, weight);
        }
    }
}

/// Turns the counts of each group into the start of its region in each band. Returns the start of each band, and the
/// end of the last one.
fn starts(counts: &mut [Vec<usize>], num_bands: usize) -> Vec<usize> {
    let mut next = 0;
    let mut bands = Vec::with_capacity(num_bands + 1);
    for band in 0..num_bands {
        bands.push(next);
        for counts in &mut *counts {
            let start = next;
            next += counts[band];
            counts[band] = start;
        }
    }
    bands.push(next);
    bands
}

/// A band and its parts of the arrays.
struct Band<'a, K: Key> {
    first: u32,
    /// The arcs on entry. Afterwards the targets of the rows.
    keys: &'a mut [AtomicU64],
    weights: &'a mut [K::Slot],
    /// The end of each row, relative to the band.
    ends: &'a mut [u64],
}

/// The memory of a thread that sorts bands.
#[derive(Default)]
struct Scratch<K: Key> {
    /// The target of each arc, above the key of its weight.
    words: Vec<K::Word>,
    /// The next position in each row, and finally its end.
    cursors: Vec<usize>,
}

impl<K: Key> Scratch<K> {
    /// Sorts the rows of a band. Returns the number of arcs that are no duplicates.
    fn sort(&mut self, band: &mut Band<'_, K>) -> usize {
        let source = |key: u64| ((key >> 32) as u32 - band.first) as usize;
        self.cursors.clear();
        self.cursors.resize(band.ends.len(), 0);
        for key in band.keys.iter_mut() {
            self.cursors[source(*key.get_mut())] += 1;
        }
        let mut next = 0;
        for cursor in &mut self.cursors {
            let len = std::mem::replace(cursor, next);
            next += len;
        }
        self.words.clear();
        self.words.resize(band.keys.len(), K::Word::default());
        for (index, key) in band.keys.iter_mut().enumerate() {
            let key = *key.get_mut();
            let weight = band.weights.get_mut(index).map_or(K::default(), |weight| *K::get(weight));
            let cursor = &mut self.cursors[source(key)];
            self.words[*cursor] = weight.below(key as u32);
            *cursor += 1;
        }
        let (mut start, mut len) = (0, 0);
        for (&end, row_end) in self.cursors.iter().zip(&mut *band.ends) {
            let row = &mut self.words[start..end];
            if row.len() < LARGE_ROW {
                row.sort_unstable();
            } else {
                row.par_sort_unstable();
            }
            let mut last = None;
            for &mut word in row {
                let (target, weight) = K::split_below(word);
                if last != Some(target) {
                    *band.keys[len].get_mut() = target.into();
                    if let Some(slot) = band.weights.get_mut(len) {
                        *K::get(slot) = weight;
                    }
                    len += 1;
                    last = Some(target);
                }
            }
            *row_end = len as u64;
            start = end;
        }
        len
    }
}
