//! Sorts each band's arcs into rows, in cache and in place.
//!
//! An arc is a key: its source within the band, above its target. A radix sort by target moves the keys between two
//! scratch buffers. Its digits have at most eleven bits, least significant first. A last pass distributes the targets
//! to the rows of their sources. Every row receives its targets in ascending order. A target that occurs twice in
//! succession is a duplicate and is left out. Finally the rows close the gaps that duplicates left.
//!
//! Keys have 32 bits if arcs are one word, else 64.

use anabranch::prelude::*;

use super::bands::Bands;
use super::partition::Arcs;
use crate::RunError;
use crate::graph::Row;
use crate::memory::zeroed;
use crate::watch::Watch;

const MAX_DIGIT: u32 = 11;

/// A band and its parts of the arrays.
struct Band<'a> {
    /// The distance of the band from the base of its rows.
    offset: u32,
    /// The arcs on entry, the rows afterwards.
    words: &'a mut [u32],
    sources: &'a [u16],
    /// The lengths of the rows with duplicates on entry; their places afterwards.
    rows: &'a mut [Row],
    first: &'a mut [u32],
}

/// A sort key: the source within the band, above the target, which has `bits` bits.
trait Key: Copy + Default + Send {
    /// Appends the keys of a band's arcs.
    fn of_band(band: &Band<'_>, bits: u32, keys: &mut Vec<Self>);
    fn source(self, bits: u32) -> usize;
    fn target(self, bits: u32) -> u32;
}

impl Key for u32 {
    fn of_band(band: &Band<'_>, _: u32, keys: &mut Vec<u32>) {
        keys.extend_from_slice(band.words);
    }
    #[inline]
    fn source(self, bits: u32) -> usize {
        // A graph of one vertex has no arcs, so that `bits` is below 32.
        (self >> bits) as usize
    }
    #[inline]
    fn target(self, bits: u32) -> u32 {
        self & ((1 << bits) - 1)
    }
}

impl Key for u64 {
    fn of_band(band: &Band<'_>, bits: u32, keys: &mut Vec<u64>) {
        let key = |(&target, &source): (&u32, &u16)| u64::from(source) << bits | u64::from(target);
        keys.extend(band.words.iter().zip(band.sources).map(key));
    }
    #[inline]
    fn source(self, bits: u32) -> usize {
        (self >> bits) as usize
    }
    #[inline]
    fn target(self, bits: u32) -> u32 {
        (self & ((1 << bits) - 1)) as u32
    }
}

/// Writes the rows over the arcs, and their places. Returns the first neighbours.
pub(crate) fn sort(arcs: &mut Arcs, rows: &mut [Row], bands: &Bands, watch: &Watch<'_>) -> Result<Vec<u32>, RunError> {
    let mut first = zeroed::<u32>("the first neighbours", rows.len())?;
    let mut parts = Vec::with_capacity(bands.count());
    let mut rest = (&mut arcs.words[..], rows, &mut first[..]);
    for (band, limits) in arcs.starts.windows(2).enumerate() {
        let start = bands.first_rank(band);
        let ranks = bands.first_rank(band + 1) - start;
        let (words, rows, first);
        (words, rest.0) = rest.0.split_at_mut((limits[1] - limits[0]) as usize);
        (rows, rest.1) = rest.1.split_at_mut(ranks);
        (first, rest.2) = rest.2.split_at_mut(ranks);
        let sources = arcs.sources.get(limits[0] as usize..limits[1] as usize).unwrap_or_default();
        let base = arcs.starts[bands.of(start as u32 & !63)];
        parts.push(Band { offset: (limits[0] - base) as u32, words, sources, rows, first });
    }
    if bands.is_packed() {
        sort_bands::<u32>(&mut parts, bands, watch);
    } else {
        sort_bands::<u64>(&mut parts, bands, watch);
    }
    watch.check()?;
    Ok(first)
}

fn sort_bands<K: Key>(parts: &mut [Band<'_>], bands: &Bands, watch: &Watch<'_>) {
    let sort = |mut scratch: Scratch<K>, bands_of_piece: &mut [Band<'_>]| {
        let mut done = 0;
        for band in bands_of_piece {
            if watch.is_cancelled() {
                break;
            }
            done += band.words.len() as u64;
            scratch.sort_by_target(band, bands.bits);
            scratch.deal(band, bands.bits);
            scratch.close(band);
        }
        watch.advance(done / 2);
        scratch
    };
    // Several bands together, to call the observer less often.
    let piece = parts.len().div_ceil(1024).max(1);
    parts.par_chunks_mut(piece).fold(Scratch::<K>::default, sort).for_each(drop);
}

/// The scratch memory of one worker.
struct Scratch<K> {
    keys: Vec<K>,
    other: Vec<K>,
    counters: Box<[u32; 1 << MAX_DIGIT]>,
    /// The open rows of the current band.
    open: Vec<OpenRow>,
}

/// A row under construction.
#[derive(Clone, Copy)]
struct OpenRow {
    /// The position of its next target.
    next: u32,
    /// Its last target. Initially a number that is none.
    last: u32,
}

impl<K: Key> Default for Scratch<K> {
    fn default() -> Self {
        let counters = Box::new([0; 1 << MAX_DIGIT]);
        Scratch { keys: Vec::new(), other: Vec::new(), counters, open: Vec::new() }
    }
}

impl<K: Key> Scratch<K> {
    /// Sorts the band's keys by target, into `keys`.
    fn sort_by_target(&mut self, band: &Band<'_>, bits: u32) {
        let passes = bits.div_ceil(MAX_DIGIT).max(1);
        let digit = bits.div_ceil(passes);
        self.keys.clear();
        K::of_band(band, bits, &mut self.keys);
        self.other.clear();
        self.other.resize(self.keys.len(), K::default());
        for pass in 0..passes {
            let digit = |key: K| (key.target(bits) >> (pass * digit)) as usize & ((1 << digit) - 1);
            radix_pass(&self.keys, &mut self.other, &mut self.counters, digit);
            std::mem::swap(&mut self.keys, &mut self.other);
        }
    }

    /// Distributes the targets to the rows, at the positions that their lengths with duplicates give.
    fn deal(&mut self, band: &mut Band<'_>, bits: u32) {
        let mut start = 0;
        self.open.clear();
        self.open.extend(band.rows.iter_mut().map(|row| {
            row.offset = start;
            start += row.len;
            OpenRow { next: row.offset, last: u32::MAX }
        }));
        for &key in &self.keys {
            let open = &mut self.open[key.source(bits)];
            let target = key.target(bits);
            // A duplicate is written to the row too, and then not counted.
            band.words[open.next as usize] = target;
            open.next += u32::from(open.last != target);
            open.last = target;
        }
    }

    /// Closes the gaps between the rows.
    fn close(&self, band: &mut Band<'_>) {
        let mut len = 0;
        for ((row, open), first) in band.rows.iter_mut().zip(&self.open).zip(&mut *band.first) {
            // Only connected vertices have ranks, so that no row is empty.
            let (start, end) = (row.offset as usize, open.next as usize);
            *first = band.words[start];
            band.words.copy_within(start..end, len);
            *row = Row { offset: band.offset + len as u32, len: (end - start) as u32 };
            len += end - start;
        }
    }
}

/// Runs one stable pass of a radix sort.
#[inline]
fn radix_pass<K: Key>(keys: &[K], into: &mut [K], counters: &mut [u32; 1 << MAX_DIGIT], digit: impl Fn(K) -> usize) {
    // The remainder does not change the value; it gives the compiler the bound.
    let digit = |key: K| digit(key) % (1 << MAX_DIGIT);
    counters.fill(0);
    for &key in keys {
        counters[digit(key)] += 1;
    }
    let mut next = 0;
    for counter in counters.iter_mut() {
        next += std::mem::replace(counter, next);
    }
    for &key in keys {
        let place = &mut counters[digit(key)];
        into[*place as usize] = key;
        *place += 1;
    }
}
