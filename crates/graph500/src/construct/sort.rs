//! Sorts each band's arcs into rows, in cache and in place.
//!
//! An arc becomes a key: its source within the band, above the rank of its target. A radix sort by rank moves the keys
//! between two scratch buffers. Its digits have at most eleven bits, least significant first. A last pass distributes
//! the targets to the rows of their sources. Every row receives its targets in the order of rank. A rank that occurs
//! twice in succession is a duplicate and is left out. Finally the rows close the gaps that duplicates left.
//!
//! Keys have 32 bits if arcs are one word, else 64.

use anabranch::prelude::*;

use super::partition::{Arcs, Layout};
use super::rank::Ranks;
use crate::RunError;
use crate::watch::Watch;

const MAX_DIGIT: u32 = 11;

/// A band and its parts of the arrays.
struct Band<'a> {
    start: u32,
    /// The arcs on entry, the rows afterwards.
    words: &'a mut [u32],
    sources: &'a [u16],
    rows: &'a mut [u32],
    first: &'a mut [u32],
    isolated: &'a mut [u64],
}

/// A sort key: the source within the band, above the rank of the target, which has `bits` bits.
trait Key: Copy + Default + Send {
    /// Computes the keys of a band's arcs.
    fn of_band(band: &Band<'_>, ranks: &Ranks, bits: u32, keys: &mut Vec<Self>);
    fn source(self, bits: u32) -> usize;
    fn rank(self, bits: u32) -> u32;
}

impl Key for u32 {
    fn of_band(band: &Band<'_>, ranks: &Ranks, bits: u32, keys: &mut Vec<u32>) {
        let mask = (1 << bits) - 1;
        let key = |&word: &u32| word & !mask | ranks.of[(word & mask) as usize];
        keys.extend(band.words.iter().map(key));
    }
    #[inline]
    fn source(self, bits: u32) -> usize {
        (self >> bits) as usize
    }
    #[inline]
    fn rank(self, bits: u32) -> u32 {
        self & ((1 << bits) - 1)
    }
}

impl Key for u64 {
    fn of_band(band: &Band<'_>, ranks: &Ranks, bits: u32, keys: &mut Vec<u64>) {
        let key = |(&target, &source): (&u32, &u16)| u64::from(source) << bits | u64::from(ranks.of[target as usize]);
        keys.extend(band.words.iter().zip(band.sources).map(key));
    }
    #[inline]
    fn source(self, bits: u32) -> usize {
        (self >> bits) as usize
    }
    #[inline]
    fn rank(self, bits: u32) -> u32 {
        (self & ((1 << bits) - 1)) as u32
    }
}

/// Writes rows, first neighbours and isolated vertices. Returns the number of remaining arcs.
pub(super) fn sort(
    arcs: &mut Arcs,
    ranks: &Ranks,
    rows: &mut [u32],
    first: &mut [u32],
    isolated: &mut [u64],
    layout: &Layout,
    watch: &Watch<'_>,
) -> Result<u64, RunError> {
    let vertices = 1usize << layout.shift;
    let mut bands = Vec::with_capacity(layout.bands);
    let mut words = &mut arcs.words[..];
    let mut rest = (rows.chunks_mut(vertices + 1), first.chunks_mut(vertices), isolated.chunks_mut(vertices / 64));
    for (band, limits) in arcs.bands.windows(2).enumerate() {
        let (own, others) = words.split_at_mut((limits[1] - limits[0]) as usize);
        words = others;
        if let (Some(rows), Some(first), Some(isolated)) = (rest.0.next(), rest.1.next(), rest.2.next()) {
            let sources =
                if layout.is_packed() { &[][..] } else { &arcs.sources[limits[0] as usize..limits[1] as usize] };
            bands.push(Band { start: (band * vertices) as u32, words: own, sources, rows, first, isolated });
        }
    }
    let num_arcs = if layout.is_packed() {
        sort_bands::<u32>(&mut bands, ranks, layout, watch)
    } else {
        sort_bands::<u64>(&mut bands, ranks, layout, watch)
    };
    watch.check()?;
    Ok(num_arcs)
}

fn sort_bands<K: Key>(bands: &mut [Band<'_>], ranks: &Ranks, layout: &Layout, watch: &Watch<'_>) -> u64 {
    // Several bands together, to call the observer less often.
    let batch = bands.len().div_ceil(1024).max(1);
    let scratch = || (0, Scratch::<K>::new(layout));
    let sort = |(mut arcs, mut scratch): (u64, Scratch<K>), bands: &mut [Band<'_>]| {
        let mut done = 0;
        for band in bands {
            if watch.is_cancelled() {
                break;
            }
            done += band.words.len() as u64;
            scratch.sort_by_rank(band, ranks, layout.bits);
            scratch.deal(band, ranks, layout.bits);
            arcs += scratch.close(band);
        }
        watch.advance(done / 2);
        (arcs, scratch)
    };
    bands.par_chunks_mut(batch).fold(scratch, sort).map(|(arcs, _)| arcs).sum()
}

/// The scratch memory of one worker.
struct Scratch<K> {
    keys: Vec<K>,
    other: Vec<K>,
    counters: Box<[u32; 1 << MAX_DIGIT]>,
    /// The rows of the current band.
    rows: Vec<Row>,
}

/// A row under construction.
#[derive(Clone, Copy)]
struct Row {
    /// The position of its next target.
    next: u32,
    /// The rank of its last target. Initially that of its source, which is never a target.
    last: u32,
}

impl<K: Key> Scratch<K> {
    fn new(layout: &Layout) -> Self {
        Scratch {
            keys: Vec::new(),
            other: Vec::new(),
            counters: Box::new([0; 1 << MAX_DIGIT]),
            rows: Vec::with_capacity(1 << layout.shift),
        }
    }

    /// Sorts the band's keys by rank, into `keys`.
    fn sort_by_rank(&mut self, band: &Band<'_>, ranks: &Ranks, bits: u32) {
        let passes = bits.div_ceil(MAX_DIGIT).max(1);
        let digit = bits.div_ceil(passes);
        self.keys.clear();
        K::of_band(band, ranks, bits, &mut self.keys);
        self.other.clear();
        self.other.resize(self.keys.len(), K::default());
        for pass in 0..passes {
            let digit = |key: K| (key.rank(bits) >> (pass * digit)) as usize & ((1 << digit) - 1);
            radix_pass(&self.keys, &mut self.other, &mut self.counters, digit);
            std::mem::swap(&mut self.keys, &mut self.other);
        }
    }

    /// Distributes the targets to the rows. On entry the band's `rows` contains their lengths with duplicates,
    /// afterwards the start of each.
    fn deal(&mut self, band: &mut Band<'_>, ranks: &Ranks, bits: u32) {
        let mut start = 0;
        self.rows.clear();
        let own = &ranks.of[band.start as usize..];
        self.rows.extend(band.rows[..band.first.len()].iter_mut().zip(own).map(|(entry, &last)| {
            let len = std::mem::replace(entry, start);
            let row = Row { next: start, last };
            start += len;
            row
        }));
        for &key in &self.keys {
            let row = &mut self.rows[key.source(bits)];
            let rank = key.rank(bits);
            // A duplicate is written to the row too, and then not counted.
            band.words[row.next as usize] = ranks.at[rank as usize];
            row.next += u32::from(row.last != rank);
            row.last = rank;
        }
    }

    /// Closes the gaps between the rows. Returns the number of remaining arcs.
    fn close(&self, band: &mut Band<'_>) -> u64 {
        let mut len = 0;
        for (local, (row, first)) in self.rows.iter().zip(&mut *band.first).enumerate() {
            let start = std::mem::replace(&mut band.rows[local], len as u32) as usize;
            let end = row.next as usize;
            if start == end {
                *first = band.start + local as u32;
                band.isolated[local / 64] |= 1 << (local % 64);
            } else {
                *first = band.words[start];
                band.words.copy_within(start..end, len);
                len += end - start;
            }
        }
        band.rows[band.first.len()] = len as u32;
        len as u64
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
