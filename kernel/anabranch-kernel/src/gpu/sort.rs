//! Sorting by keys of one word: eight passes of four bits.

use super::geometry::{Geometry, Request};
use super::launch::{Dispatch, Operation};
use super::operations::{roots, words};
use super::pipeline::Skeleton;
use super::queue::{Buffer, GpuQueue};
use crate::Error;
use crate::graph::{Graph, Inputs};
use crate::key::KeyOrder;
use crate::tree::Node;

pub(super) static SORT: Skeleton = Skeleton {
    name: "sort",
    text: concat!(include_str!("skeletons/sums.wgsl"), include_str!("skeletons/sort.wgsl")),
    entries: &["count", "offsets", "store"],
    outputs: 3,
    shared: (64, 20),
    shared_items: 0,
    // A rank in a tile has 8 bits.
    most_lanes: 128,
    can_trap: false,
    rounds: 16,
    one_block: 0,
};

/// The bits of a pass, and the digits.
const BITS: u32 = 4;
const DIGITS: u32 = 1 << BITS;

impl GpuQueue {
    /// Sorts both inputs by the first one, stable. The order of the keys is that of [`KeyOrder`].
    pub(crate) fn sort_by_key(&self, inputs: Inputs<'_, 2>, order: KeyOrder) -> Result<(Buffer, Buffer), Error> {
        let Inputs { graph, roots: trees, words: item_words, len } = inputs;
        if len == 0 {
            return Ok((self.zeroed(0)?, self.zeroed(0)?));
        }
        // The first pass reads the trees, and the others what the pass before has stored.
        let mut sorted = self.sort_pass(&graph, &trees, item_words, len, 0, order)?;
        for lowest in (BITS..u32::BITS).step_by(BITS as usize) {
            let mut graph = Graph::default();
            let (keys, values) = &sorted;
            let trees = [(keys, 1), (values, item_words[1])]
                .map(|(buffer, words)| Node::Buffer { buffer: graph.buffer(buffer), words });
            sorted = self.sort_pass(&graph, &trees, item_words, len, lowest, order)?;
        }
        Ok(sorted)
    }

    fn sort_pass(
        &self,
        graph: &Graph<'_>,
        trees: &[Node; 2],
        item_words: [usize; 2],
        len: u32,
        lowest: u32,
        order: KeyOrder,
    ) -> Result<(Buffer, Buffer), Error> {
        let request = Request { skeleton: &SORT, roots: trees, operator: None, len, item_bytes: 0 };
        let geometry = Geometry::new(&self.opened, &request)?;
        let (blocks, chunk) = geometry.chunks(&self.opened, len, 1, DIGITS)?;
        let counts = self.take(blocks * DIGITS, 1)?;
        let (keys, values) = (self.take(len, 1)?, self.take(len, item_words[1])?);
        let operation = Operation {
            skeleton: &SORT,
            lanes: geometry.lanes,
            graph,
            roots: roots(trees, item_words),
            operator: None,
            values: &[],
        };
        let order = match order {
            KeyOrder::Unsigned => 0,
            KeyOrder::Signed => 1,
            KeyOrder::Float => 2,
        };
        let of_skeleton = words([len, chunk, blocks, lowest, order]);
        let dispatch = |entry, blocks| Dispatch { entry, blocks, words: of_skeleton };
        let dispatches = [dispatch(0, blocks), dispatch(1, 1), dispatch(2, blocks)];
        let value_words = item_words[1] * len as usize;
        let outputs = [
            (&counts, 4 * u64::from(blocks * DIGITS)),
            (&keys, 4 * u64::from(len)),
            (&values, (4 * value_words as u64).max(4)),
        ];
        let commands = self.encode(operation, &outputs, &dispatches)?;
        let written = self.submit(commands)?;
        Ok((self.buffer(keys, len as usize, written.clone()), self.buffer(values, value_words, written)))
    }
}
