//! Counts the neighbours of every label, duplicates included and self-loops not.
//!
//! A counter per label is incremented at random. Each thread has counters of its own, because atomic increments of a
//! hub's counter would wait for each other. The tuples are cut into as many pieces as there are threads, but no more
//! than the arcs take as much memory as all counters. Finally the pieces' counters are added.

use anabranch::prelude::*;

use super::BLOCK;
use crate::RunError;
use crate::memory::zeroed;
use crate::watch::Watch;

/// Counters that one task adds.
const SUMS: usize = 1 << 14;

/// Returns the number of tuples at each of `num_vertices` vertices. `add` counts one tuple, at most once a vertex.
pub(crate) fn count<T: Sync>(
    edges: &[T],
    num_vertices: usize,
    add: impl Fn(&mut [u32], &T) + Sync,
    watch: &Watch<'_>,
) -> Result<Vec<u32>, RunError> {
    let what = "the degree counters";
    let pieces = anabranch::pool::current_num_threads().min(2 * edges.len() / num_vertices.max(1));
    // A tuple increments a label's counter once, so that a piece of 2^32 - 1 tuples cannot overflow it.
    let pieces = pieces.max(edges.len().div_ceil(u32::MAX as usize)).max(1);
    let mut total = zeroed::<u32>(what, num_vertices)?;
    let mut others = (1..pieces).map(|_| zeroed::<u32>(what, num_vertices)).collect::<Result<Vec<_>, _>>()?;
    let mut counters: Vec<&mut [u32]> = others.iter_mut().map(|counters| &mut counters[..]).collect();
    counters.push(&mut total);
    let piece = edges.len().div_ceil(pieces).max(1);
    counters.par_iter_mut().zip(edges.par_chunks(piece)).for_each(|(degrees, edges)| {
        for edges in edges.chunks(BLOCK) {
            if watch.is_cancelled() {
                return;
            }
            edges.iter().for_each(|edge| add(degrees, edge));
            watch.advance(edges.len() as u64);
        }
    });
    drop(counters);
    watch.check()?;
    others.iter().try_for_each(|counters| add_counters(&mut total, counters))?;
    Ok(total)
}

/// Adds `counters` to `total`.
pub(crate) fn add_counters(total: &mut [u32], counters: &[u32]) -> Result<(), RunError> {
    let sums = total.par_chunks_mut(SUMS).zip(counters.par_chunks(SUMS));
    let fits = sums.map(|(total, counters)| {
        total.iter_mut().zip(counters).all(|(total, count)| {
            let sum = total.checked_add(*count);
            *total = sum.unwrap_or(u32::MAX);
            sum.is_some()
        })
    });
    if fits.reduce(|| true, |a, b| a && b) { Ok(()) } else { Err(RunError::TooDense) }
}
