//! Numbers the labels that occur in edges, in ascending order.
//!
//! If the labels are dense enough, a bitmap marks those that occur, and the number of a label is the number of marks
//! before it. Otherwise the labels are sorted, and found by binary search.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anabranch::prelude::*;

use super::edge_list::Block;

/// The numbers of labels.
pub(crate) enum Numbering {
    /// The marks of 64 labels, and the number of marks before.
    Marks(Vec<(u64, u32)>),
    /// The labels, ascending.
    Sorted(Vec<u64>),
}

impl Numbering {
    /// Numbers the labels of all edges.
    pub(crate) fn new<W: Sync>(blocks: &[Block<u64, W>]) -> Numbering {
        let num_labels = 2 * blocks.iter().map(|block| block.edges.len() as u64).sum::<u64>();
        let largest = blocks.iter().map(|block| block.largest).max().unwrap_or(0);
        // A word of the bitmap takes 16 bytes with its count, a label to sort takes 8.
        if largest / 64 <= num_labels / 2 + 1024 && largest < u64::from(u32::MAX) {
            return Numbering::marked(blocks, largest);
        }
        let labels = |block: &Block<u64, W>| block.edges.iter().flat_map(|edge| [edge.0, edge.1]).collect::<Vec<_>>();
        let mut sorted: Vec<u64> = blocks.iter().flat_map(labels).collect();
        sorted.par_sort_unstable();
        sorted.dedup();
        Numbering::Sorted(sorted)
    }

    fn marked<W: Sync>(blocks: &[Block<u64, W>], largest: u64) -> Numbering {
        let marks: Vec<AtomicU64> = (0..=largest / 64).map(|_| AtomicU64::new(0)).collect();
        let mark = |label: u64| {
            let (word, bit) = (&marks[label as usize / 64], 1 << (label % 64));
            // Most labels occur often. A load does not take the cache line away from other threads.
            if word.load(Relaxed) & bit == 0 {
                word.fetch_or(bit, Relaxed);
            }
        };
        blocks.par_iter().for_each(|block| {
            block.edges.iter().for_each(|edge| {
                mark(edge.0);
                mark(edge.1);
            });
        });
        let mut before = 0u32;
        let count = |mark: AtomicU64| {
            let mark = mark.into_inner();
            before += mark.count_ones();
            (mark, before - mark.count_ones())
        };
        Numbering::Marks(marks.into_iter().map(count).collect())
    }

    /// Returns the number of a label that occurs.
    #[inline]
    pub(crate) fn number(&self, label: u64) -> u32 {
        match self {
            Numbering::Marks(marks) => {
                let (mark, before) = marks[label as usize / 64];
                before + (mark & ((1 << (label % 64)) - 1)).count_ones()
            }
            Numbering::Sorted(sorted) => sorted.partition_point(|&other| other < label) as u32,
        }
    }

    /// Returns the labels, ascending.
    pub(crate) fn into_table(self) -> Vec<u64> {
        match self {
            Numbering::Marks(marks) => {
                let labels = |(word, &(mark, _)): (usize, &(u64, u32))| {
                    (0..64).filter(move |bit| mark >> bit & 1 == 1).map(move |bit| word as u64 * 64 + bit)
                };
                marks.iter().enumerate().flat_map(labels).collect()
            }
            Numbering::Sorted(sorted) => sorted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_numberings_agree() {
        for far in [0, 1 << 33] {
            let labels = [5, 5, 64, 0, 63, 128, 5, 70 + far];
            let edges: Vec<_> = labels.chunks(2).map(|pair| (pair[0], pair[1], ())).collect();
            let numbering = Numbering::new(&[Block { edges, largest: 128.max(70 + far) }]);
            assert_eq!(matches!(numbering, Numbering::Marks(_)), far == 0);
            let mut expected = labels.to_vec();
            expected.sort_unstable();
            expected.dedup();
            for (number, &label) in expected.iter().enumerate() {
                assert_eq!(numbering.number(label), number as u32, "{label}");
            }
            assert_eq!(numbering.into_table(), expected);
        }
    }
}
