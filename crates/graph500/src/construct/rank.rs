//! Ranks the vertices by descending degree.
//!
//! Degrees are counted per band, duplicates included. The order only makes searches fast, and a hub is a hub either
//! way. It is a stable counting sort over *classes*: one class per degree up to 63, then 32 classes per power of two.
//! So 896 counters suffice for any degree.

use std::sync::atomic::Ordering::Relaxed;

use anabranch::prelude::*;

use super::partition::{Arcs, Layout};
use crate::RunError;
use crate::memory::{Shared, zeroed};
use crate::watch::Watch;

const CLASSES: usize = 896;

/// Two permutations, each the other's inverse.
pub(super) struct Ranks {
    /// The rank of each vertex.
    pub(super) of: Vec<u32>,
    /// The vertex at each rank.
    pub(super) at: Vec<u32>,
}

/// Returns the degree rounded down to six significant bits, densely numbered.
#[inline]
fn class(degree: u32) -> usize {
    let extra = (degree | 32).ilog2() - 5;
    ((extra << 5) + (degree >> extra)) as usize
}

/// Computes the ranks. Leaves each vertex's degree in `rows`, where each band has one entry more than vertices.
pub(super) fn rank(arcs: &Arcs, rows: &mut [u32], layout: &Layout, watch: &Watch<'_>) -> Result<Ranks, RunError> {
    let vertices = 1 << layout.shift;
    rows.par_chunks_mut(vertices + 1).take(layout.bands).enumerate().for_each(|(band, degrees)| {
        if watch.is_cancelled() {
            return;
        }
        let limits = arcs.bands[band] as usize..arcs.bands[band + 1] as usize;
        if layout.is_packed() {
            for word in &arcs.words[limits] {
                degrees[(word >> layout.bits) as usize] += 1;
            }
        } else {
            for &source in &arcs.sources[limits] {
                degrees[usize::from(source)] += 1;
            }
        }
    });
    watch.check()?;

    // At most 64 groups of bands, so that their counters stay small and the prefix sums short.
    let group = layout.bands.div_ceil(64).max(1);
    let groups = layout.bands.div_ceil(group);
    let mut counters = vec![0u32; groups * CLASSES];
    rows.par_chunks(group * (vertices + 1)).zip(counters.par_chunks_mut(CLASSES)).for_each(|(rows, counters)| {
        for rows in rows.chunks(vertices + 1) {
            for &degree in &rows[..rows.len() - 1] {
                counters[class(degree)] += 1;
            }
        }
    });
    let mut next = 0;
    for class in (0..CLASSES).rev() {
        for group in 0..groups {
            let counter = &mut counters[group * CLASSES + class];
            next += std::mem::replace(counter, next);
        }
    }
    watch.check()?;

    let mut of = zeroed::<u32>("the degree ranks", layout.num_vertices)?;
    let mut at = zeroed::<u32>("the degree order", layout.num_vertices)?;
    let order = at.shared();
    let ranges = rows.par_chunks(group * (vertices + 1)).zip(of.par_chunks_mut(group * vertices));
    ranges.zip(counters.par_chunks_mut(CLASSES).enumerate()).for_each(|((rows, of), (index, next))| {
        let mut vertex = (index * group * vertices) as u32;
        for (rows, of) in rows.chunks(vertices + 1).zip(of.chunks_mut(vertices)) {
            for (&degree, rank) in rows.iter().zip(of) {
                let next = &mut next[class(degree)];
                *rank = *next;
                order[*next as usize].store(vertex, Relaxed);
                *next = next.wrapping_add(1);
                vertex = vertex.wrapping_add(1);
            }
        }
    });
    Ok(Ranks { of, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_dense_and_ascend() {
        assert_eq!(
            (class(0), class(31), class(32), class(63), class(64), class(65), class(66)),
            (0, 31, 32, 63, 64, 64, 65)
        );
        assert_eq!(class(u32::MAX), CLASSES - 1);
        for degree in 1..100_000 {
            let step = class(degree) - class(degree - 1);
            assert!(step <= 1, "{degree}");
        }
    }
}
