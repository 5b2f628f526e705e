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
use crate::memory::{Shared, zeroed};
use crate::watch::Watch;

/// Tuples whose ranks are read together.
const BATCH: usize = 256;
/// Arcs in a buffer; with its length, they fill a cache line.
const BUFFER: usize = 15;

/// The arcs of all bands, one band after the other.
pub(crate) struct Arcs {
    /// The start of each band, and finally the number of arcs.
    pub(crate) starts: Vec<u64>,
    /// The targets, below the sources if those fit.
    pub(crate) words: Vec<u32>,
    /// The sources, as indices within the band, if they do not fit into the words; else empty.
    pub(super) sources: Vec<u16>,
}

/// Bands into which tuples are partitioned.
pub(crate) struct Partition<'a> {
    bands: &'a Bands,
    arcs: Arcs,
    /// The next free place of each band.
    cursors: Vec<u64>,
}

impl<'a> Partition<'a> {
    /// Creates empty bands, which start at `starts`.
    pub(crate) fn new(bands: &'a Bands, starts: Vec<u64>) -> Result<Partition<'a>, RunError> {
        let total = starts.last().copied().unwrap_or_default() as usize;
        let words = zeroed::<u32>("the adjacency lists", total)?;
        let sources = zeroed::<u16>("the arcs' sources", if bands.is_packed() { 0 } else { total })?;
        Ok(Partition { bands, cursors: starts.clone(), arcs: Arcs { starts, words, sources } })
    }

    /// Adds the arcs of the tuples. `ends` returns the numbers of a tuple's ends, and `arcs` the arcs between them.
    pub(crate) fn add<T: Sync>(
        &mut self,
        edges: &[T],
        ends: impl Fn(&T) -> (u32, u32) + Sync,
        arcs: impl Fn(u32, u32) -> [Option<(u32, u32)>; 2] + Sync,
        watch: &Watch<'_>,
    ) -> Result<(), RunError> {
        let Arcs { words, sources, .. } = &mut self.arcs;
        let cursors = self.cursors.shared();
        let places = Places { cursors, words: words.shared(), sources: sources.shared(), bands: self.bands };
        if self.bands.is_packed() {
            distribute::<u32, T>(edges, ends, arcs, &places, watch);
        } else {
            distribute::<u64, T>(edges, ends, arcs, &places, watch);
        }
        watch.check()
    }

    /// Returns the bands, which are full.
    pub(crate) fn finish(self) -> Arcs {
        self.arcs
    }
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

fn distribute<A: Arc, T: Sync>(
    edges: &[T],
    ends_of: impl Fn(&T) -> (u32, u32) + Sync,
    arcs: impl Fn(u32, u32) -> [Option<(u32, u32)>; 2] + Sync,
    places: &Places<'_>,
    watch: &Watch<'_>,
) {
    let buffers = || vec![Buffer { len: 0, arcs: [A::default(); BUFFER] }; places.bands.count()];
    let fill = |mut buffers: Vec<Buffer<A>>, edges: &[T]| {
        if watch.is_cancelled() {
            return buffers;
        }
        let mut ends = [(0, 0); BATCH];
        for edges in edges.chunks(BATCH) {
            // The reads of a batch do not wait for each other. Those between two writes would wait for their branches.
            for (ends, edge) in ends.iter_mut().zip(edges) {
                *ends = ends_of(edge);
            }
            for &(a, b) in &ends[..edges.len()] {
                for (source, target) in arcs(a, b).into_iter().flatten() {
                    push(&mut buffers, source, target, places);
                }
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
