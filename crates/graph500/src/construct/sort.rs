//! Each band's arcs sorted into rows, in cache and in place.
//!
//! An arc becomes a key, its source within the band above the rank of its target. A radix sort with digits of at most eleven
//! bits, least significant first, passes the keys back and forth between two scratch buffers. Equal keys are duplicates, and
//! a key's rank leads back to its target. Keys have 32 bits where that is enough, which halves what the passes move.

use anabranch::{chunks_mut, par_reduce};

use super::partition::{Arcs, Layout};
use super::rank::Ranks;
use crate::RunError;
use crate::watch::Watch;

const MAX_DIGIT: u32 = 11;

/// A band and everything that belongs to it.
struct Band<'a> {
    start: u32,
    targets: &'a mut [u32],
    sources: &'a [u16],
    rows: &'a mut [u32],
    first: &'a mut [u32],
    isolated: &'a mut [u64],
}

/// A sort key of 32 or 64 bits.
trait Key: Copy + Default + PartialEq + Send {
    fn new(source: u16, rank: u32, rank_bits: u32) -> Self;
    fn digit(self, from: u32, mask: usize) -> usize;
    fn rank(self, rank_bits: u32) -> usize;
}

macro_rules! key {
    ($($t:ty),*) => {$(
        impl Key for $t {
            #[inline]
            fn new(source: u16, rank: u32, rank_bits: u32) -> $t {
                <$t>::from(source) << rank_bits | <$t>::from(rank)
            }
            #[inline]
            fn digit(self, from: u32, mask: usize) -> usize {
                (self >> from) as usize & mask
            }
            #[inline]
            fn rank(self, rank_bits: u32) -> usize {
                (self & ((1 << rank_bits) - 1)) as usize
            }
        }
    )*};
}
key!(u32, u64);

/// Writes rows, first neighbours and isolated vertices; gives the number of arcs that are left.
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
    let mut targets = &mut arcs.targets[..];
    let mut rest = (
        rows.chunks_mut(vertices + 1),
        first.chunks_mut(vertices),
        isolated.chunks_mut(vertices / 64),
    );
    for (band, limits) in arcs.bands.windows(2).enumerate() {
        let (own, others) = targets.split_at_mut((limits[1] - limits[0]) as usize);
        targets = others;
        if let (Some(rows), Some(first), Some(isolated)) =
            (rest.0.next(), rest.1.next(), rest.2.next())
        {
            let sources = &arcs.sources[limits[0] as usize..limits[1] as usize];
            bands.push(Band {
                start: (band * vertices) as u32,
                targets: own,
                sources,
                rows,
                first,
                isolated,
            });
        }
    }
    let rank_bits = usize::BITS - layout.num_vertices.saturating_sub(1).leading_zeros();
    let num_arcs = if rank_bits + layout.shift < 32 {
        sort_bands::<u32>(&mut bands, ranks, rank_bits, layout, watch)
    } else {
        sort_bands::<u64>(&mut bands, ranks, rank_bits, layout, watch)
    };
    watch.check()?;
    Ok(num_arcs)
}

fn sort_bands<K: Key>(
    bands: &mut [Band<'_>],
    ranks: &Ranks,
    rank_bits: u32,
    layout: &Layout,
    watch: &Watch<'_>,
) -> u64 {
    let bits = rank_bits + layout.shift;
    let passes = bits.div_ceil(MAX_DIGIT);
    let digit = bits.div_ceil(passes);
    // Of all bands together, so that the observer is not called for each.
    let batch = bands.len().div_ceil(1024).max(1);
    let scratch = || (0, Scratch::<K>::default());
    let (num_arcs, _) = par_reduce(
        chunks_mut(bands, batch),
        scratch,
        |(mut arcs, mut scratch), bands| {
            let mut done = 0;
            for band in bands {
                if watch.is_cancelled() {
                    break;
                }
                done += band.targets.len() as u64;
                scratch.sort(band, ranks, rank_bits, digit, passes);
                arcs += scratch.emit(band, ranks, rank_bits);
            }
            watch.advance(done / 2);
            (arcs, scratch)
        },
        |(a, scratch), (b, _)| (a + b, scratch),
    );
    num_arcs
}

/// The buffers of one worker.
#[derive(Default)]
struct Scratch<K> {
    keys: Vec<K>,
    other: Vec<K>,
    /// One table of counters for each digit.
    counters: Vec<u32>,
}

impl<K: Key> Scratch<K> {
    /// Leaves the band's keys in ascending order in `keys`.
    fn sort(&mut self, band: &Band<'_>, ranks: &Ranks, rank_bits: u32, digit: u32, passes: u32) {
        let len = band.targets.len();
        self.keys.clear();
        self.other.resize(len.max(self.other.len()), K::default());
        let buckets = 1usize << digit;
        let mask = buckets - 1;
        self.counters.clear();
        self.counters.resize(buckets * passes as usize, 0);

        let keys = band.targets.iter().zip(band.sources);
        self.keys.extend(
            keys.map(|(&target, &source)| K::new(source, ranks.of[target as usize], rank_bits)),
        );
        for key in &self.keys {
            for (pass, counters) in self.counters.chunks_exact_mut(buckets).enumerate() {
                counters[key.digit(pass as u32 * digit, mask)] += 1;
            }
        }
        for (pass, counters) in self.counters.chunks_exact_mut(buckets).enumerate() {
            let mut next = 0;
            for counter in counters.iter_mut() {
                next += std::mem::replace(counter, next);
            }
            let target = &mut self.other[..len];
            for &key in &self.keys {
                let place = &mut counters[key.digit(pass as u32 * digit, mask)];
                target[*place as usize] = key;
                *place += 1;
            }
            self.other.truncate(len);
            std::mem::swap(&mut self.keys, &mut self.other);
        }
    }

    /// Writes the rows over the band; on entry `rows` holds the degrees with duplicates.
    fn emit(&self, band: &mut Band<'_>, ranks: &Ranks, rank_bits: u32) -> u64 {
        let mut keys = &self.keys[..];
        let mut len = 0;
        for (local, first) in band.first.iter_mut().enumerate() {
            let (row, others) = keys.split_at(band.rows[local] as usize);
            keys = others;
            band.rows[local] = len as u32;
            let start = len;
            let mut previous = None;
            for &key in row {
                band.targets[len] = ranks.at[key.rank(rank_bits)];
                len += usize::from(previous != Some(key));
                previous = Some(key);
            }
            if start == len {
                *first = band.start + local as u32;
                band.isolated[local / 64] |= 1 << (local % 64);
            } else {
                *first = band.targets[start];
            }
        }
        band.rows[band.first.len()] = len as u32;
        len as u64
    }
}
