//! Each band's arcs sorted into rows, in cache and in place.
//!
//! An arc becomes a key, its source within the band above the rank of its target. A radix sort by rank,
//! with digits of at most eleven bits, least significant first, passes the keys back and forth between
//! two scratch buffers. A last pass then deals them out to their sources: every row receives its targets
//! in the order of rank, and a rank that comes twice in succession is a duplicate and left out. In the
//! end the rows move together over the gaps that duplicates left.
//!
//! Keys have 32 bits where that is enough, which halves what the passes move.

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
trait Key: Copy + Default + Send {
    fn new(source: u16, rank: u32, rank_bits: u32) -> Self;
    fn source(self, rank_bits: u32) -> usize;
    fn rank(self, rank_bits: u32) -> u32;
}

macro_rules! key {
    ($($t:ty),*) => {$(
        impl Key for $t {
            #[inline]
            fn new(source: u16, rank: u32, rank_bits: u32) -> $t {
                <$t>::from(source) << rank_bits | <$t>::from(rank)
            }
            #[inline]
            fn source(self, rank_bits: u32) -> usize {
                (self >> rank_bits) as usize
            }
            #[inline]
            fn rank(self, rank_bits: u32) -> u32 {
                (self & ((1 << rank_bits) - 1)) as u32
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
    let mut rest = (rows.chunks_mut(vertices + 1), first.chunks_mut(vertices), isolated.chunks_mut(vertices / 64));
    for (band, limits) in arcs.bands.windows(2).enumerate() {
        let (own, others) = targets.split_at_mut((limits[1] - limits[0]) as usize);
        targets = others;
        if let (Some(rows), Some(first), Some(isolated)) = (rest.0.next(), rest.1.next(), rest.2.next()) {
            let sources = &arcs.sources[limits[0] as usize..limits[1] as usize];
            bands.push(Band { start: (band * vertices) as u32, targets: own, sources, rows, first, isolated });
        }
    }
    let rank_bits = usize::BITS - layout.num_vertices.saturating_sub(1).leading_zeros();
    let num_arcs = if rank_bits + layout.shift <= 32 {
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
    // Of all bands together, so that the observer is not called for each.
    let batch = bands.len().div_ceil(1024).max(1);
    let scratch = || (0, Scratch::<K>::new(layout));
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
                scratch.sort_by_rank(band, ranks, rank_bits);
                scratch.deal(band, ranks, rank_bits);
                arcs += scratch.close(band);
            }
            watch.advance(done / 2);
            (arcs, scratch)
        },
        |(a, scratch), (b, _)| (a + b, scratch),
    );
    num_arcs
}

/// The memory of one worker.
struct Scratch<K> {
    keys: Vec<K>,
    other: Vec<K>,
    counters: Box<[u32; 1 << MAX_DIGIT]>,
    /// The rows of the band that is being dealt.
    rows: Vec<Row>,
}

/// A row that is growing.
#[derive(Clone, Copy)]
struct Row {
    /// Where its next target goes.
    next: u32,
    /// The rank of its last one; at first of its source, which is never among them.
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

    /// Leaves the band's keys in `keys`, in the order of rank.
    fn sort_by_rank(&mut self, band: &Band<'_>, ranks: &Ranks, rank_bits: u32) {
        let passes = rank_bits.div_ceil(MAX_DIGIT).max(1);
        let digit = rank_bits.div_ceil(passes);
        let arcs = band.targets.iter().zip(band.sources);
        self.keys.clear();
        self.keys.extend(arcs.map(|(&target, &source)| K::new(source, ranks.of[target as usize], rank_bits)));
        self.other.clear();
        self.other.resize(self.keys.len(), K::default());
        for pass in 0..passes {
            let digit = |key: K| (key.rank(rank_bits) >> (pass * digit)) as usize & ((1 << digit) - 1);
            radix_pass(&self.keys, &mut self.other, &mut self.counters, digit);
            std::mem::swap(&mut self.keys, &mut self.other);
        }
    }

    /// Deals the targets out to the rows; on entry the band's `rows` holds their lengths with duplicates, afterwards
    /// where each begins.
    fn deal(&mut self, band: &mut Band<'_>, ranks: &Ranks, rank_bits: u32) {
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
            let row = &mut self.rows[key.source(rank_bits)];
            let rank = key.rank(rank_bits);
            // A duplicate is written too, to a place that is the row's own, and then not counted.
            band.targets[row.next as usize] = ranks.at[rank as usize];
            row.next += u32::from(row.last != rank);
            row.last = rank;
        }
    }

    /// Moves the rows together; gives the number of arcs that are left.
    fn close(&self, band: &mut Band<'_>) -> u64 {
        let mut len = 0;
        for (local, (row, first)) in self.rows.iter().zip(&mut *band.first).enumerate() {
            let start = std::mem::replace(&mut band.rows[local], len as u32) as usize;
            let end = row.next as usize;
            if start == end {
                *first = band.start + local as u32;
                band.isolated[local / 64] |= 1 << (local % 64);
            } else {
                *first = band.targets[start];
                band.targets.copy_within(start..end, len);
                len += end - start;
            }
        }
        band.rows[band.first.len()] = len as u32;
        len as u64
    }
}

/// One stable pass of a radix sort.
#[inline]
fn radix_pass<K: Key>(keys: &[K], into: &mut [K], counters: &mut [u32; 1 << MAX_DIGIT], digit: impl Fn(K) -> usize) {
    // The remainder changes nothing but what the compiler knows.
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
