//! The owner of each vertex, and the three numbers that a vertex has.
//!
//! - Its *label* is the number in the input. Label l belongs to process l mod P: of P processes, each owns an even
//!   share of every degree class, as the labels of the benchmark are random. Its index among the owner's labels is
//!   l / P.
//! - Its *rank* is its place in the owner's order by descending degree, without isolated vertices.
//! - Its *order* is rank * P + owner. So orders ascend with about descending degree over all processes, and rows are
//!   sorted by them.
//! - Its *number* is owner * stride + rank. Rows and bitmaps have numbers: the bits of one owner are adjacent. So a
//!   gathered bitmap consists of the bitmaps of the processes. The stride is the same for all, a multiple of 64.

/// The division of the vertices among the processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) processes: u32,
    pub(crate) process: u32,
    /// The numbers of each process. 0 as long as it is not known.
    pub(crate) stride: u32,
}

impl Layout {
    /// Returns the owner of a label and its index there, or the owner of an order and its rank.
    #[inline]
    pub(crate) fn split(self, label: u32) -> (u32, u32) {
        if self.processes.is_power_of_two() {
            // A division takes ten times as long.
            (label & (self.processes - 1), label >> self.processes.trailing_zeros())
        } else {
            (label % self.processes, label / self.processes)
        }
    }

    /// Returns the index of a label or the rank of an order, if it belongs to this process.
    #[inline]
    pub(crate) fn own(self, label: u32) -> Option<u32> {
        let (owner, index) = self.split(label);
        (owner == self.process).then_some(index)
    }

    /// Returns the label at an index of a process, or the order of a rank.
    #[inline]
    pub(crate) fn join(self, process: u32, index: u32) -> u32 {
        index * self.processes + process
    }

    /// Returns the number of the vertex with this order. Any other value gives an arbitrary number.
    #[inline]
    pub(crate) fn number(self, order: u32) -> u32 {
        let (owner, rank) = self.split(order);
        owner.wrapping_mul(self.stride).wrapping_add(rank)
    }

    /// Returns how many of `num_vertices` labels a process owns.
    pub(crate) fn owned(self, process: u32, num_vertices: u64) -> usize {
        (num_vertices + u64::from(self.processes - 1 - process)) as usize / self.processes as usize
    }

    /// Returns the words of a bitmap of one process's vertices.
    pub(crate) fn words(self) -> usize {
        self.stride as usize / 64
    }

    /// Returns the number of numbers.
    pub(crate) fn numbers(self) -> usize {
        self.stride as usize * self.processes as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_and_each_order_has_one_owner() {
        for processes in [1, 2, 3, 4, 7, 8] {
            for num_vertices in [0, 1, 5, 64, 1000u32] {
                let layouts: Vec<Layout> =
                    (0..processes).map(|process| Layout { processes, process, stride: 1024 }).collect();
                let owned: usize = layouts.iter().map(|all| all.owned(all.process, num_vertices.into())).sum();
                assert_eq!(owned, num_vertices as usize);
                for label in 0..num_vertices {
                    let (owner, index) = layouts[0].split(label);
                    assert_eq!(layouts[0].join(owner, index), label);
                    assert!((index as usize) < layouts[0].owned(owner, num_vertices.into()));
                    assert_eq!(layouts[0].number(label), owner * 1024 + index);
                    for layout in &layouts {
                        assert_eq!(layout.own(label), (layout.process == owner).then_some(index));
                    }
                }
            }
        }
    }
}
