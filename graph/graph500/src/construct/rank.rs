//! Ranks the vertices by descending degree.
//!
//! Degrees count duplicates. The order only makes searches fast, and a hub is a hub either way. It is a stable counting
//! sort over *classes*: one class per degree up to 63, then 32 classes per power of two. So 896 counters suffice for
//! any degree. Within a class, ranks ascend with the labels.

use std::sync::atomic::Ordering::Relaxed;

use anabranch::prelude::*;

use crate::RunError;
use crate::graph::Row;
use crate::memory::{Shared, zeroed};

const CLASSES: usize = 896;

/// The order of the vertices.
pub(crate) struct Order {
    /// The rank of each label; for isolated vertices, the number of ranks.
    pub(crate) ranks: Vec<u32>,
    /// The label at each rank, and a number that is no connected vertex's label.
    pub(crate) labels: Vec<u32>,
    /// The rows, whose lengths are the degrees.
    pub(crate) rows: Vec<Row>,
}

/// Returns the degree rounded down to six significant bits, densely numbered.
#[inline]
fn class(degree: u32) -> usize {
    let extra = (degree | 32).ilog2() - 5;
    ((extra << 5) + (degree >> extra)) as usize
}

/// Computes the order from each label's degree. If it is not `by_degree`, all connected vertices are in one class.
pub(crate) fn rank(mut degrees: Vec<u32>, by_degree: bool) -> Result<Order, RunError> {
    let class = |degree: u32| if by_degree { class(degree) } else { degree.min(1) as usize };
    // At most 64 groups of labels, so that their counters stay few and the prefix sums short.
    let group = degrees.len().div_ceil(64).max(1 << 12);
    let mut counters = vec![0u32; degrees.len().div_ceil(group) * CLASSES];
    degrees.par_chunks(group).zip(counters.par_chunks_mut(CLASSES)).for_each(|(degrees, counters)| {
        for &degree in degrees {
            counters[class(degree)] += 1;
        }
    });
    let connected = |counters: &[u32]| counters[1..].iter().map(|&count| u64::from(count)).sum::<u64>();
    if counters.chunks(CLASSES).map(connected).sum::<u64>() > u32::MAX.into() {
        // The largest rank stands for isolated vertices.
        return Err(RunError::TooManyVertices { label: u32::MAX.into() });
    }
    let mut num_ranks = 0;
    for class in (1..CLASSES).rev() {
        for counters in counters.chunks_mut(CLASSES) {
            num_ranks += std::mem::replace(&mut counters[class], num_ranks);
        }
    }

    let mut labels = zeroed::<u32>("the labels", num_ranks as usize + 1)?;
    let mut rows = zeroed::<Row>("the row index", num_ranks as usize)?;
    let (shared_labels, shared_rows) = (labels.shared(), rows.shared());
    let groups = degrees.par_chunks_mut(group).zip(counters.par_chunks_mut(CLASSES));
    groups.enumerate().for_each(|(index, (degrees, next))| {
        for (label, entry) in (index * group..).zip(degrees) {
            let degree = *entry;
            if degree == 0 {
                *entry = num_ranks;
                continue;
            }
            let next = &mut next[class(degree)];
            *entry = *next;
            shared_labels[*next as usize].store(label as u32, Relaxed);
            shared_rows[*next as usize].len.store(degree, Relaxed);
            *next += 1;
        }
    });
    labels[num_ranks as usize] = no_label(&degrees, num_ranks);
    Ok(Order { ranks: degrees, labels, rows })
}

/// Returns a number that is no connected vertex's label: the number of labels, or that of an isolated vertex.
pub(crate) fn no_label(ranks: &[u32], num_ranks: u32) -> u32 {
    // 2^32 labels have fewer ranks, so that one of them is isolated.
    u32::try_from(ranks.len()).unwrap_or_else(|_| ranks.iter().position(|&rank| rank == num_ranks).unwrap_or(0) as u32)
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
