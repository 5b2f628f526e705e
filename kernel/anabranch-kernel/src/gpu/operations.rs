//! All operations except sorting.

use anabranch::Cx;

use super::Reply;
use super::driver::{Command, Use};
use super::geometry::{Geometry, Request};
use super::launch::{Commands, Dispatch, Operation};
use super::layout::SKELETON_WORDS;
use super::memory::Block;
use super::pipeline::{ONE_BLOCK, Skeleton};
use super::queue::{Buffer, GpuQueue, Written};
use super::slots::TrapSet;
use crate::Error;
use crate::graph::Inputs;
use crate::tree::{Node, Operator};

pub(super) static MAP: Skeleton = Skeleton {
    name: "map",
    text: include_str!("skeletons/map.wgsl"),
    entries: &["map"],
    outputs: 1,
    shared: (0, 0),
    shared_items: 0,
    most_lanes: u32::MAX,
    can_trap: false,
    rounds: 1,
    one_block: 0,
};

/// For kernels without loops, on GPUs. A kernel with loops would be five times as long, and takes its time for
/// arithmetic. By llvmpipe saxpy of 10^7 elements takes twice as long as with `MAP`.
pub(super) static MAP_FOUR: Skeleton =
    Skeleton { name: "map_four", text: include_str!("skeletons/map_four.wgsl"), entries: &["map_four"], ..MAP };

pub(super) static REDUCE: Skeleton = Skeleton {
    name: "reduce",
    text: concat!(include_str!("skeletons/reduce.wgsl"), include_str!("skeletons/reduce_blocks.wgsl")),
    entries: &["reduce", "finish"],
    shared_items: 1,
    one_block: ONE_BLOCK,
    ..MAP
};

/// For kernels without loops, on GPUs.
pub(super) static REDUCE_FOUR: Skeleton = Skeleton {
    name: "reduce_four",
    text: concat!(include_str!("skeletons/reduce_four.wgsl"), include_str!("skeletons/reduce_blocks.wgsl")),
    ..REDUCE
};

pub(super) static SCAN: Skeleton = Skeleton {
    name: "scan",
    text: include_str!("skeletons/scan.wgsl"),
    entries: &["sums", "carries", "scan"],
    outputs: 2,
    shared_items: 1,
    rounds: 8,
    one_block: ONE_BLOCK,
    ..MAP
};

/// The items of a tile of `scan.wgsl` for each lane.
const SCAN_ITEMS: u32 = 4;

pub(super) static COMPACT: Skeleton = Skeleton {
    name: "compact",
    text: concat!(include_str!("skeletons/sums.wgsl"), include_str!("skeletons/compact.wgsl")),
    entries: &["count", "offsets", "store"],
    outputs: 2,
    shared: (0, 4),
    rounds: 16,
    ..MAP
};

pub(super) static SCATTER: Skeleton = Skeleton {
    name: "scatter",
    text: include_str!("skeletons/scatter.wgsl"),
    entries: &["scatter"],
    can_trap: true,
    ..MAP
};

pub(super) static HISTOGRAM: Skeleton = Skeleton {
    name: "histogram",
    text: include_str!("skeletons/histogram.wgsl"),
    entries: &["histogram"],
    shared: (4096, 0),
    can_trap: true,
    ..MAP
};

/// Returns the words of the skeleton, the rest of which are 0.
pub(super) fn words<const N: usize>(first: [u32; N]) -> [u32; SKELETON_WORDS] {
    let mut words = [0; SKELETON_WORDS];
    words[..N].copy_from_slice(&first);
    words
}

/// Returns the trees of inputs, each with the words of its elements.
pub(super) fn roots<const N: usize>(roots: &[Node; N], words: [usize; N]) -> Vec<(Node, usize)> {
    roots.iter().cloned().zip(words).collect()
}

impl GpuQueue {
    /// Takes memory for `len` elements of `words` words. There is room for one at least.
    pub(super) fn take(&self, len: u32, words: usize) -> Result<Block, Error> {
        Block::take(&self.opened, Use::Storage, 4 * words as u64 * u64::from(len.max(1)))
    }

    /// Returns words that are 0.
    pub(crate) fn zeroed(&self, words: usize) -> Result<Buffer, Error> {
        let block = Block::take(&self.opened, Use::Storage, 4u64.saturating_mul(words as u64))?;
        if words == 0 {
            return Ok(self.buffer(block, words, Written::default()));
        }
        let list = vec![Command::Clear { memory: block.memory(), bytes: 4 * words as u64 }];
        let written = self.submit(Commands { list, traps: TrapSet::default(), held: Vec::new() })?;
        Ok(self.buffer(block, words, written))
    }

    /// Computes all elements.
    pub(crate) fn collect(&self, inputs: Inputs<'_, 1>) -> Result<Buffer, Error> {
        let Inputs { graph, roots: trees, words: [item], len } = inputs;
        if len == 0 || item == 0 {
            return self.zeroed(0);
        }
        let request = Request { skeleton: &MAP, roots: &trees, operator: None, len, item_bytes: 0 };
        let geometry = Geometry::new(&self.opened, &request)?;
        let result = self.take(len, item)?;
        let operation = Operation {
            skeleton: if geometry.loads_four { &MAP_FOUR } else { &MAP },
            lanes: geometry.lanes,
            graph: &graph,
            roots: roots(&trees, [item]),
            operator: None,
            values: &[],
        };
        let total = item * len as usize;
        let geometry = geometry.in_waves(&self.opened, len);
        let dispatch = Dispatch { entry: 0, blocks: geometry.blocks, words: words([len, geometry.all_lanes()]) };
        let commands = self.encode(operation, &[(&result, 4 * total as u64)], &[dispatch])?;
        let written = self.submit(commands)?;
        Ok(self.buffer(result, total, written))
    }

    /// Combines all elements by `operator`. `identity` has the words of an element.
    pub(crate) fn reduce(&self, inputs: Inputs<'_, 1>, operator: Operator, identity: &[u32]) -> Result<Reply, Error> {
        let Inputs { graph, roots: trees, words: [item], len } = inputs;
        let request =
            Request { skeleton: &REDUCE, roots: &trees, operator: Some(operator), len, item_bytes: 4 * item as u32 };
        let geometry = Geometry::new(&self.opened, &request)?;
        let blocks = self.take(geometry.blocks, item)?;
        let operation = Operation {
            skeleton: if geometry.loads_four { &REDUCE_FOUR } else { &REDUCE },
            lanes: geometry.lanes,
            graph: &graph,
            roots: roots(&trees, [item]),
            operator: Some(operator),
            values: identity,
        };
        let of_skeleton = words([len, geometry.all_lanes(), geometry.blocks]);
        let first = Dispatch { entry: 0, blocks: geometry.blocks, words: of_skeleton };
        let second = Dispatch { entry: 1, blocks: 1, words: of_skeleton };
        let dispatches = [first, second];
        let needed = if geometry.blocks == 1 { &dispatches[..1] } else { &dispatches };
        let bytes = 4 * item as u64 * u64::from(geometry.blocks);
        let commands = self.encode(operation, &[(&blocks, bytes)], needed)?;
        self.reply(commands, &blocks, 0, item)
    }

    /// Combines each element with those before it. `inclusive`: element `i` is included in result `i`.
    pub(crate) fn scan(
        &self,
        inputs: Inputs<'_, 1>,
        operator: Operator,
        identity: &[u32],
        inclusive: bool,
    ) -> Result<Buffer, Error> {
        let Inputs { graph, roots: trees, words: [item], len } = inputs;
        if len == 0 || item == 0 {
            return self.zeroed(0);
        }
        let request =
            Request { skeleton: &SCAN, roots: &trees, operator: Some(operator), len, item_bytes: 4 * item as u32 };
        let geometry = Geometry::new(&self.opened, &request)?;
        let (blocks, chunk) = geometry.chunks(&self.opened, len, SCAN_ITEMS, 1)?;
        let (chunks, result) = (self.take(blocks, item)?, self.take(len, item)?);
        let operation = Operation {
            skeleton: &SCAN,
            lanes: geometry.lanes,
            graph: &graph,
            roots: roots(&trees, [item]),
            operator: Some(operator),
            values: identity,
        };
        let total = item * len as usize;
        let of_skeleton = words([len, chunk, blocks, inclusive.into()]);
        let dispatch = |entry, blocks| Dispatch { entry, blocks, words: of_skeleton };
        let dispatches = [dispatch(0, blocks), dispatch(1, 1), dispatch(2, blocks)];
        let needed = if blocks == 1 { &dispatches[2..] } else { &dispatches };
        let outputs = [(&chunks, 4 * item as u64 * u64::from(blocks)), (&result, 4 * total as u64)];
        let commands = self.encode(operation, &outputs, needed)?;
        let written = self.submit(commands)?;
        Ok(self.buffer(result, total, written))
    }

    /// Returns the elements for which `predicate` holds, in order. Waits for their number.
    pub(crate) fn compact(&self, cx: &Cx<'_>, inputs: Inputs<'_, 1>, predicate: Operator) -> Result<Buffer, Error> {
        let Inputs { graph, roots: trees, words: [item], len } = inputs;
        if len == 0 || item == 0 {
            return self.zeroed(0);
        }
        let request = Request { skeleton: &COMPACT, roots: &trees, operator: Some(predicate), len, item_bytes: 0 };
        let geometry = Geometry::new(&self.opened, &request)?;
        let (blocks, chunk) = geometry.chunks(&self.opened, len, 1, 1)?;
        let counts = self.take(blocks + 1, 1)?;
        let of_counts = (&counts, 4 * (u64::from(blocks) + 1));
        let operation = || Operation {
            skeleton: &COMPACT,
            lanes: geometry.lanes,
            graph: &graph,
            roots: roots(&trees, [item]),
            operator: Some(predicate),
            values: &[],
        };
        let dispatch = |entry, blocks_now| Dispatch { entry, blocks: blocks_now, words: words([len, chunk, blocks]) };
        // The first two parts write no elements.
        let none = self.take(1, item)?;
        let outputs = [of_counts, (&none, 4 * item as u64)];
        let commands = self.encode(operation(), &outputs, &[dispatch(0, blocks), dispatch(1, 1)])?;
        let kept = self.reply(commands, &counts, blocks as usize, 1)?.wait(cx)?[0];
        if kept == 0 {
            return self.zeroed(0);
        }
        let result = self.take(kept, item)?;
        let total = item * kept as usize;
        let outputs = [of_counts, (&result, 4 * total as u64)];
        let commands = self.encode(operation(), &outputs, &[dispatch(2, blocks)])?;
        let written = self.submit(commands)?;
        Ok(self.buffer(result, total, written))
    }

    /// Writes each element of the first input to the element of `target` that the second one, `u32`, says. A number
    /// that is not less than the number of elements of `target` traps.
    pub(crate) fn scatter(&self, inputs: Inputs<'_, 2>, target: &mut Buffer) -> Result<(), Error> {
        let Inputs { graph, roots: trees, words: [item, index], len } = inputs;
        self.check_owner(target)?;
        if len == 0 || item == 0 {
            return Ok(());
        }
        let request = Request { skeleton: &SCATTER, roots: &trees, operator: None, len, item_bytes: 0 };
        let geometry = Geometry::new(&self.opened, &request)?;
        let operation = Operation {
            skeleton: &SCATTER,
            lanes: geometry.lanes,
            graph: &graph,
            roots: roots(&trees, [item, index]),
            operator: None,
            values: &[],
        };
        // A device holds fewer than 2^32 elements.
        let length = (target.words / item) as u32;
        let code = self.opened.traps().operation("scatter", "index out of range");
        let dispatch =
            Dispatch { entry: 0, blocks: geometry.blocks, words: words([len, geometry.all_lanes(), length, code]) };
        // An empty target has no element to bind, and each index traps.
        let bytes = target.bytes().max(4 * item as u64);
        let stand_in = if length == 0 { Some(self.take(1, item)?) } else { None };
        let block = stand_in.as_ref().unwrap_or(&target.block);
        let commands = self.encode(operation, &[(block, bytes)], &[dispatch])?;
        let mut traps = target.written.traps.clone();
        traps.extend(&commands.traps);
        target.written = self.submit(Commands { traps, ..commands })?;
        Ok(())
    }

    /// Counts how often each number less than `bins` is among the elements, `u32`. Another number traps.
    pub(crate) fn histogram(&self, inputs: Inputs<'_, 1>, bins: usize) -> Result<Buffer, Error> {
        let Inputs { graph, roots: trees, words: [item], len } = inputs;
        if len == 0 {
            return self.zeroed(bins);
        }
        let request = Request { skeleton: &HISTOGRAM, roots: &trees, operator: None, len, item_bytes: 0 };
        let geometry = Geometry::new(&self.opened, &request)?;
        let mut counts = self.zeroed(bins)?;
        let operation = Operation {
            skeleton: &HISTOGRAM,
            lanes: geometry.lanes,
            graph: &graph,
            roots: roots(&trees, [item]),
            operator: None,
            values: &[],
        };
        let code = self.opened.traps().operation("histogram", "number of a bin out of range");
        let dispatch = Dispatch {
            entry: 0,
            blocks: geometry.blocks,
            // A device holds fewer than 2^32 words.
            words: words([len, geometry.all_lanes(), bins as u32, code]),
        };
        let commands = self.encode(operation, &[(&counts.block, counts.bytes().max(4))], &[dispatch])?;
        counts.written = self.submit(commands)?;
        Ok(counts)
    }
}
