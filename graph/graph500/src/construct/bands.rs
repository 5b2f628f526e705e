//! Bands: ranges of neighbouring ranks whose arcs are sorted together.
//!
//! Degrees descend with the rank, so a band of hubs has few vertices and a band of leaves many. The first 2^7 bands
//! have one rank each. From there on each octave of ranks has 2^6 bands, until a band has 2^`max_shift` ranks. All
//! further bands have that size. So with the benchmark's edge factor, a band has some 2^15 arcs, and its sort stays in
//! the second-level cache. The number of a rank's band takes a few instructions and no table.

use anabranch::prelude::*;

use crate::RunError;
use crate::graph::Row;

/// Binary logarithm of the bands per octave.
const OCTAVE: u32 = 6;

/// The division of the ranks into bands.
#[derive(Clone, Copy)]
pub(crate) struct Bands {
    num_ranks: usize,
    /// Bits of a target.
    pub(super) bits: u32,
    /// Binary logarithm of the ranks in the largest band.
    max_shift: u32,
}

impl Bands {
    /// Chooses the bands. A large band has 2^10 ranks. Beyond 2^22 ranks it has more, because only some 2^11 positions
    /// can be written at once before the TLB overflows. It never has more than 2^16 ranks, so that a source within its
    /// band has 16 bits.
    ///
    /// Sources are below `num_ranks`, and targets below `num_targets`.
    pub(crate) fn new(num_ranks: usize, num_targets: usize) -> Bands {
        let bits = |numbers: usize| usize::BITS - numbers.saturating_sub(1).leading_zeros();
        let (targets, bits) = (bits(num_targets), bits(num_ranks));
        let max_shift = if bits <= 22 { 10 } else { (bits - 11).clamp(10, 16) };
        Bands { num_ranks, bits: targets, max_shift }
    }

    /// Returns whether a source within its band and a target fit into 32 bits together.
    pub(crate) fn is_packed(&self) -> bool {
        self.bits + self.max_shift <= 32
    }

    pub(super) fn count(&self) -> usize {
        if self.num_ranks == 0 { 0 } else { self.of(self.num_ranks as u32 - 1) + 1 }
    }

    /// Returns the binary logarithm of the ranks in the band of `rank`.
    #[inline]
    fn shift_at(&self, rank: u32) -> u32 {
        ((rank | 1 << OCTAVE).ilog2() - OCTAVE).min(self.max_shift)
    }

    /// Returns the band of `rank`.
    #[inline]
    pub(super) fn of(&self, rank: u32) -> usize {
        let shift = self.shift_at(rank);
        ((shift << OCTAVE) + (rank >> shift)) as usize
    }

    /// Returns the band of `rank`, and its index within the band.
    #[inline]
    pub(super) fn split(&self, rank: u32) -> (usize, u32) {
        let shift = self.shift_at(rank);
        (((shift << OCTAVE) + (rank >> shift)) as usize, rank & ((1 << shift) - 1))
    }

    /// Returns the first rank of a band, and for the number of bands the number of ranks.
    pub(super) fn first_rank(&self, band: usize) -> usize {
        let shift = ((band >> OCTAVE) as u32).saturating_sub(1).min(self.max_shift);
        ((band - ((shift as usize) << OCTAVE)) << shift).min(self.num_ranks)
    }

    /// Returns the start of each band's arcs, and finally the number of arcs. The rows have their lengths.
    pub(crate) fn arc_starts(&self, rows: &[Row]) -> Result<Vec<u64>, RunError> {
        let arcs = |band: usize| {
            let rows = &rows[self.first_rank(band)..self.first_rank(band + 1)];
            rows.iter().map(|row| u64::from(row.len)).sum::<u64>()
        };
        let counts: Vec<u64> = (0..self.count()).into_par_iter().map(arcs).collect();
        let mut starts = vec![0];
        let mut total = 0;
        starts.extend(counts.iter().map(|count| {
            total += count;
            total
        }));
        // Offsets have 32 bits and count from the band of the word's first rank.
        let word_start = |band: usize| starts[self.of(self.first_rank(band) as u32 & !63)];
        match (0..self.count()).any(|band| starts[band + 1] - word_start(band) > u64::from(u32::MAX)) {
            true => Err(RunError::TooDense),
            false => Ok(starts),
        }
    }

    /// Returns the base from which the rows of each word of 64 ranks count: the start of the first rank's band.
    pub(crate) fn bases(&self, starts: &[u64]) -> Vec<u64> {
        (0..self.num_ranks.div_ceil(64)).into_par_iter().map(|word| starts[self.of(64 * word as u32)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_consecutive_ranges_of_ranks() {
        for num_ranks in [0, 1, 63, 64, 65, 1000, 100_000, (1 << 20) + 1, 5 << 20] {
            let bands = Bands::new(num_ranks, num_ranks);
            assert_eq!(bands.first_rank(bands.count()), num_ranks);
            assert_eq!(bands.first_rank(0), 0);
            for band in 0..bands.count() {
                let range = bands.first_rank(band) as u32..bands.first_rank(band + 1) as u32;
                assert!(!range.is_empty() && range.len() <= 1 << 16, "{band} of {num_ranks}");
                for (local, rank) in range.clone().enumerate() {
                    assert_eq!((bands.of(rank), bands.split(rank)), (band, (band, local as u32)));
                }
                // A band is part of a word, or whole words.
                assert!(range.start % 64 == 0 || (range.end - 1) / 64 == range.start / 64);
            }
        }
    }
}
