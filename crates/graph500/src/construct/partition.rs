//! Arcs brought together by the high bits of their source.
//!
//! The tuples are cut into chunks. Each chunk counts its arcs per band; prefix sums over (band, chunk) give each chunk a
//! region of its own in each band; each chunk then writes its arcs there. No two chunks share a place, and an arc's place
//! depends on the chunks alone, not on who runs them.

use std::sync::atomic::Ordering::Relaxed;

use anabranch::{chunks, chunks_mut, par_for_each};

use crate::memory::{Shared, zeroed};
use crate::watch::Watch;
use crate::{Edge, RunError};

/// How vertices are cut into bands, and tuples into chunks.
pub(crate) struct Layout {
    pub(crate) num_vertices: usize,
    /// Binary logarithm of the vertices in a band.
    pub(crate) shift: u32,
    pub(crate) bands: usize,
    /// Tuples in a chunk.
    pub(crate) chunk: usize,
}

impl Layout {
    /// A band has 2^10 vertices, with the benchmark's edge factor some 2^15 arcs, which leaves its sorting in the second-level
    /// cache. From 2^21 vertices on it has more, as about 2^11 places can be written to at once before the translation buffers
    /// run over; and never more than 2^16, so that a source within its band has 16 bits.
    pub(crate) fn new(num_vertices: usize, num_edges: usize) -> Layout {
        let bits = usize::BITS - num_vertices.saturating_sub(1).leading_zeros();
        let shift = bits.saturating_sub(11).clamp(10, 16);
        // Chunks enough for any machine, few enough that their counters are small beside the tuples, and none so large that
        // a cancellation has to wait for it.
        let chunk = (num_edges / 128).clamp(1 << 14, 1 << 22);
        Layout { num_vertices, shift, bands: num_vertices.div_ceil(1 << shift), chunk }
    }
}

/// The arcs of all bands, one band after the other.
pub(crate) struct Arcs {
    /// Where each band begins, and at the end the number of arcs.
    pub(crate) bands: Vec<u64>,
    pub(crate) targets: Vec<u32>,
    /// The sources, as places within the band.
    pub(crate) sources: Vec<u16>,
}

pub(super) fn partition(edges: &[Edge], layout: &Layout, watch: &Watch<'_>) -> Result<Arcs, RunError> {
    let chunk_count = edges.len().div_ceil(layout.chunk);
    // With no band there is no tuple, but a chunk of counters must not be empty.
    let width = layout.bands.max(1);
    let mut counters = zeroed::<u32>("the partition's counters", chunk_count * width)?;
    par_for_each((chunks(edges, layout.chunk), chunks_mut(&mut counters, width)), |(edges, counters)| {
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
    let mut targets = zeroed::<u32>("the adjacency lists", total)?;
    let mut sources = zeroed::<u16>("the arcs' sources", total)?;
    let (shared_targets, shared_sources) = (targets.shared(), sources.shared());
    par_for_each((chunks(edges, layout.chunk), chunks(&counters, width)), |(edges, starts)| {
        if watch.is_cancelled() {
            return;
        }
        let mut cursors: Vec<u64> = bands.iter().zip(starts).map(|(band, &start)| band + u64::from(start)).collect();
        let (cursors, shift, mask) = (&mut cursors[..], layout.shift, (1 << layout.shift) - 1);
        let mut place = |source: u32, target: u32| {
            let cursor = &mut cursors[(source >> shift) as usize];
            let at = *cursor as usize;
            *cursor += 1;
            shared_targets[at].store(target, Relaxed);
            shared_sources[at].store((source & mask) as u16, Relaxed);
        };
        for edge in edges {
            let (a, b) = edge.low_ends();
            if a != b {
                place(a, b);
                place(b, a);
            }
        }
        watch.advance(edges.len() as u64);
    });
    watch.check()?;
    Ok(Arcs { bands, targets, sources })
}

/// Turns the counts of each chunk into where its region starts within each band; gives where the bands begin.
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
