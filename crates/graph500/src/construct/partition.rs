//! Partitions the arcs by the high bits of their source.
//!
//! The tuples are cut into chunks. Each chunk counts its arcs per band. Prefix sums over (band, chunk) give each chunk
//! its own region in each band, and each chunk writes its arcs there. No two chunks share a position. An arc's position
//! depends on the chunks alone, not on the threads that run them.
//!
//! **Encoding.** Within a band, an arc is the source's index in the band and the target. Up to 2^22 vertices, both fit
//! into one word of 32 bits, source above target. Beyond that, the word is the target, and the source is in a separate
//! array of 16-bit words. One write per arc instead of two saves a third of this step's time.

use std::sync::atomic::Ordering::Relaxed;

use anabranch::prelude::*;

use crate::memory::{Shared, zeroed};
use crate::watch::Watch;
use crate::{Edge, RunError};

/// The division of vertices into bands, and of tuples into chunks.
pub(crate) struct Layout {
    pub(crate) num_vertices: usize,
    /// Bits of a vertex number.
    pub(crate) bits: u32,
    /// Binary logarithm of the vertices in a band.
    pub(crate) shift: u32,
    pub(crate) bands: usize,
    /// Tuples in a chunk.
    pub(crate) chunk: usize,
}

impl Layout {
    /// Chooses the layout. A band has 2^10 vertices, with the benchmark's edge factor some 2^15 arcs, so that its sort
    /// stays in the second-level cache. Beyond 2^22 vertices a band has more, because only some 2^11 positions can be
    /// written at once before the TLB overflows. For arcs of one word, twice that is still worth it. A band never has
    /// more than 2^16 vertices, so that a source within its band has 16 bits.
    pub(crate) fn new(num_vertices: usize, num_edges: usize) -> Layout {
        let bits = usize::BITS - num_vertices.saturating_sub(1).leading_zeros();
        let shift = if bits <= 22 { 10 } else { (bits - 11).clamp(10, 16) };
        // Enough chunks for any machine, few enough that their counters are small relative to the tuples, and none so
        // large that it delays a cancellation.
        let chunk = (num_edges / 128).clamp(1 << 14, 1 << 22);
        Layout { num_vertices, bits, shift, bands: num_vertices.div_ceil(1 << shift), chunk }
    }

    /// Returns whether an arc is one word.
    pub(crate) fn is_packed(&self) -> bool {
        self.bits + self.shift <= 32
    }
}

/// The arcs of all bands, one band after the other.
pub(crate) struct Arcs {
    /// The start of each band, and finally the number of arcs.
    pub(crate) bands: Vec<u64>,
    /// The targets, below the sources if those fit.
    pub(crate) words: Vec<u32>,
    /// The sources, as indices within the band, if they do not fit into the words; else empty.
    pub(crate) sources: Vec<u16>,
}

pub(super) fn partition(edges: &[Edge], layout: &Layout, watch: &Watch<'_>) -> Result<Arcs, RunError> {
    let chunk_count = edges.len().div_ceil(layout.chunk);
    // Without bands there are no tuples, but a chunk of counters must not be empty.
    let width = layout.bands.max(1);
    let mut counters = zeroed::<u32>("the partition's counters", chunk_count * width)?;
    edges.par_chunks(layout.chunk).zip(counters.par_chunks_mut(width)).for_each(|(edges, counters)| {
        if watch.is_cancelled() {
            return;
        }
        for edge in edges {
            let (a, b) = edge.low_ends();
            let arc = u32::from(a != b);
            counters[(a >> layout.shift) as usize] += arc;
            counters[(b >> layout.shift) as usize] += arc;
        }
        watch.advance(edges.len() as u64);
    });
    watch.check()?;

    let bands = offsets(&mut counters, width, layout.bands)?;
    let total = bands[layout.bands] as usize;
    let packed = layout.is_packed();
    let mut words = zeroed::<u32>("the adjacency lists", total)?;
    let mut sources = zeroed::<u16>("the arcs' sources", if packed { 0 } else { total })?;
    let (shared_words, shared_sources) = (words.shared(), sources.shared());
    edges.par_chunks(layout.chunk).zip(counters.par_chunks(width)).for_each(|(edges, starts)| {
        if watch.is_cancelled() {
            return;
        }
        let starts = bands.iter().zip(starts).map(|(band, &start)| band + u64::from(start));
        let cursors = &mut starts.collect::<Vec<u64>>()[..];
        let (shift, bits, mask) = (layout.shift, layout.bits, (1 << layout.shift) - 1);
        if packed {
            place(edges, cursors, shift, |at, source, target| {
                shared_words[at].store((source & mask) << bits | target, Relaxed);
            });
        } else {
            place(edges, cursors, shift, |at, source, target| {
                shared_words[at].store(target, Relaxed);
                shared_sources[at].store((source & mask) as u16, Relaxed);
            });
        }
        watch.advance(edges.len() as u64);
    });
    watch.check()?;
    Ok(Arcs { bands, words, sources })
}

/// Writes both arcs of every edge except self-loops at the cursor of the band.
#[inline]
fn place(edges: &[Edge], cursors: &mut [u64], shift: u32, put: impl Fn(usize, u32, u32)) {
    let mut arc = |source: u32, target: u32| {
        let cursor = &mut cursors[(source >> shift) as usize];
        let at = *cursor as usize;
        *cursor += 1;
        put(at, source, target);
    };
    for edge in edges {
        let (a, b) = edge.low_ends();
        if a != b {
            arc(a, b);
            arc(b, a);
        }
    }
}

/// Turns the counts of each chunk into the start of its region within each band. Returns the start of the bands.
fn offsets(counters: &mut [u32], width: usize, bands: usize) -> Result<Vec<u64>, RunError> {
    let mut totals = vec![0u64; width];
    for counters in counters.chunks_mut(width) {
        for (counter, total) in counters.iter_mut().zip(&mut totals) {
            let count = *counter;
            *counter = *total as u32;
            *total += u64::from(count);
        }
    }
    // Within a band, offsets have 32 bits.
    if totals.iter().any(|&total| total > u64::from(u32::MAX)) {
        return Err(RunError::TooDense);
    }
    let mut starts = Vec::with_capacity(bands + 1);
    let mut start = 0;
    for total in &totals[..bands] {
        starts.push(start);
        start += total;
    }
    starts.push(start);
    Ok(starts)
}
