//! Groups the arcs by the band of their source.
//!
//! The degrees give the start of each band. A worker collects the arcs of each band in a buffer of one cache line. It
//! reserves a place in the band for a full buffer with an atomic addition, and writes the buffer there. So the arcs
//! within a band are in no particular order. The sort that follows removes this freedom: equal arcs are equal words.
//!
//! **Encoding.** Within a band, an arc is the source's index in the band and the target. If both fit, they are one word
//! of 32 bits, source above target. Otherwise the word is the target, and the source is in a separate array of 16-bit
//! words.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use anabranch::prelude::*;

use super::BLOCK;
use super::bands::Bands;
use crate::RunError;
use crate::edge::Tuple;
use crate::memory::{Shared, zeroed};
use crate::watch::Watch;

/// Tuples whose ranks are read together.
const BATCH: usize = 256;
/// Arcs in a buffer; with its length, they fill a cache line.
const BUFFER: usize = 15;

/// The arcs of all bands, one band after the other.
pub(super) struct Arcs {
    /// The start of each band, and finally the number of arcs.
    pub(super) starts: Vec<u64>,
    /// The targets, below the sources if those fit.
    pub(super) words: Vec<u32>,
    /// The sources, as indices within the band, if they do not fit into the words; else empty.
    pub(super) sources: Vec<u16>,
}

pub(super) fn partition(
    edges: &[impl Tuple],
    ranks: &[u32],
    bands: &Bands,
    starts: Vec<u64>,
    watch: &Watch<'_>,
) -> Result<Arcs, RunError> {
    let total = starts.last().copied().unwrap_or_default() as usize;
    let mut words = zeroed::<u32>("the adjacency lists", total)?;
    let mut sources = zeroed::<u16>("the arcs' sources", if bands.is_packed() { 0 } else { total })?;
    let mut cursors = starts.clone();
    let target = Places { cursors: cursors.shared(), words: words.shared(), sources: sources.shared(), bands };
    if bands.is_packed() {
        distribute::<u32, _>(edges, ranks, &target, watch);
    } else {
        distribute::<u64, _>(edges, ranks, &target, watch);
    }
    watch.check()?;
    Ok(Arcs { starts, words, sources })
}

/// The bands that all workers fill.
struct Places<'a> {
    /// The next free place of each band.
    cursors: &'a [AtomicU64],
    words: &'a [AtomicU32],
    sources: &'a [AtomicU16],
    bands: &'a Bands,
}

/// The arcs of one band that are not written yet.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Buffer<W> {
    len: u32,
    arcs: [W; BUFFER],
}

/// An arc in a buffer: the source within the band above the target.
trait Arc: Copy + Default + Send {
    fn new(source: u32, target: u32, bits: u32) -> Self;
    /// Writes the arcs at `start`.
    fn write(arcs: &[Self], start: usize, places: &Places<'_>);
}

impl Arc for u32 {
    #[inline]
    fn new(source: u32, target: u32, bits: u32) -> u32 {
        source << bits | target
    }
    #[inline]
    fn write(arcs: &[u32], start: usize, places: &Places<'_>) {
        for (place, &arc) in places.words[start..start + arcs.len()].iter().zip(arcs) {
            place.store(arc, Relaxed);
        }
    }
}

impl Arc for u64 {
    #[inline]
    fn new(source: u32, target: u32, _: u32) -> u64 {
        u64::from(source) << 32 | u64::from(target)
    }
    #[inline]
    fn write(arcs: &[u64], start: usize, places: &Places<'_>) {
        let targets = &places.words[start..start + arcs.len()];
        let sources = &places.sources[start..start + arcs.len()];
        for ((target, source), &arc) in targets.iter().zip(sources).zip(arcs) {
            target.store(arc as u32, Relaxed);
            source.store((arc >> 32) as u16, Relaxed);
        }
    }
}

fn distribute<A: Arc, E: Tuple>(edges: &[E], ranks: &[u32], places: &Places<'_>, watch: &Watch<'_>) {
    let buffers = || vec![Buffer { len: 0, arcs: [A::default(); BUFFER] }; places.bands.count()];
    let fill = |mut buffers: Vec<Buffer<A>>, edges: &[E]| {
        if watch.is_cancelled() {
            return buffers;
        }
        let mut ends = [(0, 0); BATCH];
        for edges in edges.chunks(BATCH) {
            // The reads of a batch do not wait for each other. Those between two writes would wait for their branches.
            for (ends, edge) in ends.iter_mut().zip(edges) {
                let (a, b) = edge.low_ends();
                *ends = (ranks[a as usize], ranks[b as usize]);
            }
            // Only a self-loop has two equal ranks, or two that stand for isolated vertices.
            for &(a, b) in ends[..edges.len()].iter().filter(|(a, b)| a != b) {
                push(&mut buffers, a, b, places);
                push(&mut buffers, b, a, places);
            }
        }
        watch.advance(edges.len() as u64);
        buffers
    };
    edges.par_chunks(BLOCK).fold(buffers, fill).for_each(|mut buffers| {
        for (band, buffer) in buffers.iter_mut().enumerate() {
            flush(buffer, band, places);
        }
    });
}

#[inline]
fn push<A: Arc>(buffers: &mut [Buffer<A>], source: u32, target: u32, places: &Places<'_>) {
    let (band, source) = places.bands.split(source);
    let buffer = &mut buffers[band];
    buffer.arcs[buffer.len as usize] = A::new(source, target, places.bands.bits);
    buffer.len += 1;
    if buffer.len as usize == BUFFER {
        flush(buffer, band, places);
    }
}

#[inline]
fn flush<A: Arc>(buffer: &mut Buffer<A>, band: usize, places: &Places<'_>) {
    let start = places.cursors[band].fetch_add(buffer.len.into(), Relaxed) as usize;
    A::write(&buffer.arcs[..buffer.len as usize], start, places);
    buffer.len = 0;
}
