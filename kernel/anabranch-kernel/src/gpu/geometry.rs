//! Where an operation runs: how many blocks, and how many lanes each.
//!
//! The plan of the device decides, within the limits of a dispatch and of the memory of a block. Lanes stride, so any
//! number of blocks is enough. The lanes of a block are rounded down to a power of two. If an operation needs more
//! dispatches for several blocks than for one, a small number of elements gets one block. One driver ends the loops of
//! a lane after some rounds, which are counted over all its loops. With that driver more lanes are launched, so that a
//! lane takes few elements, and only one if a kernel has loops of its own. A map of many elements on a GPU launches
//! several times as many blocks as the plan has. On a GPU a lane of a map or reduction loads four elements before it
//! uses them.

use super::opened::Opened;
use super::pipeline::Skeleton;
use crate::Error;
use crate::plan::waves;
use crate::tree::{Node, Operator};

/// Blocks, and lanes of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) blocks: u32,
    pub(super) lanes: u32,
    /// Whether a lane loads four elements before it uses them.
    pub(super) loads_four: bool,
}

/// The requirements of an operation.
pub(super) struct Request<'a> {
    pub(super) skeleton: &'a Skeleton,
    /// The trees that it computes.
    pub(super) roots: &'a [Node],
    pub(super) operator: Option<Operator>,
    /// The number of elements.
    pub(super) len: u32,
    /// The bytes of an item in the memory of a block.
    pub(super) item_bytes: u32,
}

impl Geometry {
    /// Returns the geometry of an operation. There is at least one block.
    pub(super) fn new(opened: &Opened, request: &Request<'_>) -> Result<Self, Error> {
        let Request { skeleton, len, .. } = *request;
        let has_loops = has_loops(opened, request)?;
        let one_block = len <= most_of_one_block(opened, skeleton) && !has_loops;
        // A block of the plan for any number of elements is the largest.
        let plan = opened.description.plan(if one_block { u64::MAX } else { u64::from(len) });
        let most = most_lanes(opened, request)?;
        let lanes = u32::try_from(plan.lanes_per_block()).unwrap_or(u32::MAX).clamp(1, most);
        // An operation is compiled for each number of lanes, and the plan has many.
        let lanes = 1 << lanes.ilog2();
        // Fewer lanes in a block make more blocks, up to the most of a dispatch.
        let all = match one_block {
            true => u64::from(lanes),
            false => u64::try_from(plan.lanes()).unwrap_or(u64::MAX).min(len.into()).max(1),
        };
        let most_blocks = u64::from(opened.limits.blocks);
        let blocks = all.div_ceil(u64::from(lanes)).min(most_blocks);
        let (blocks, lanes) = match opened.rounds {
            None => (blocks, lanes),
            Some(rounds) => {
                let most_elements = if has_loops { 1 } else { rounds / 2 / skeleton.rounds.max(1) };
                let needed = u64::from(len.div_ceil(most_elements.max(1)));
                let lanes = u64::from(lanes).max(needed.div_ceil(most_blocks)).min(u64::from(most));
                let blocks = blocks.max(needed.div_ceil(lanes));
                if blocks > most_blocks {
                    return Err(too_many(opened, len));
                }
                (blocks, lanes as u32)
            }
        };
        // The number of all lanes is a word of the skeleton.
        let blocks = blocks.min(u64::from(u32::MAX / lanes));
        Ok(Self { blocks: blocks as u32, lanes, loads_four: !has_loops && !opened.limits.is_cpu })
    }

    /// Returns a geometry of more blocks than the plan's for a map whose lanes take many elements: see
    /// [`Plan::waves`](crate::Plan::waves).
    pub(super) fn in_waves(self, opened: &Opened, len: u32) -> Self {
        // On a processor a wave has a cost, and its blocks are not resident.
        if opened.limits.is_cpu {
            return self;
        }
        let waves = waves(u64::from(len / self.all_lanes().max(1))) as u32;
        let most = opened.limits.blocks.min(u32::MAX / self.lanes) / self.blocks;
        Self { blocks: self.blocks * waves.min(most).max(1), ..self }
    }

    /// Returns the number of all lanes.
    pub(super) fn all_lanes(self) -> u32 {
        self.blocks * self.lanes
    }

    /// Divides `n` elements into chunks of whole tiles, one for each block. Returns the blocks that have a chunk, and
    /// the elements of a chunk. One block of the operation loops over `words` words of each block.
    pub(super) fn chunks(self, opened: &Opened, n: u32, items_per_lane: u32, words: u32) -> Result<(u32, u32), Error> {
        let tile = u64::from(self.lanes) * u64::from(items_per_lane);
        // The loop over a tile of lanes has the logarithm of their number as rounds of an inner loop.
        let rounds_of_tile = u64::from(2 + self.lanes.ilog2());
        let most_blocks = opened.rounds.map_or(u64::MAX, |rounds| {
            (u64::from(rounds) / 2 * u64::from(self.lanes) / u64::from(words) / rounds_of_tile).max(1)
        });
        // A chunk is far from 2^32 elements, so that a lane can count beyond its end.
        let blocks = u64::from(self.blocks).max(u64::from(n >> 30) + 1).min(most_blocks);
        let chunk = u64::from(n).div_ceil(blocks).next_multiple_of(tile).max(tile);
        let rounds_of_chunk = chunk / tile * (rounds_of_tile + 2 * u64::from(items_per_lane));
        if opened.rounds.is_some_and(|rounds| rounds_of_chunk > u64::from(rounds)) {
            return Err(too_many(opened, n));
        }
        let blocks = u64::from(n).div_ceil(chunk).max(1);
        Ok((blocks as u32, chunk as u32))
    }
}

/// Returns the most elements of one block that is as fast as several.
///
/// On a processor a second dispatch takes as long as 2^16 elements on one core. With llvmpipe on two cores a sum of
/// 100,000 elements takes 0.6 to 0.7 of the time in one block, and one of 130,000 as long as in several.
fn most_of_one_block(opened: &Opened, skeleton: &Skeleton) -> u32 {
    let cores = opened.description.shape().cores;
    skeleton.one_block * if opened.limits.is_cpu { 4 * cores / (cores - 1).max(1) } else { 1 }
}

/// Returns the most lanes of a block.
fn most_lanes(opened: &Opened, request: &Request<'_>) -> Result<u32, Error> {
    let Request { skeleton, item_bytes, .. } = *request;
    let limits = &opened.limits;
    let memory = limits.shared_bytes;
    let of_lane = skeleton.shared.1 + skeleton.shared_items * item_bytes;
    let left = memory.checked_sub(skeleton.shared.0);
    let room = left.map_or(0, |left| left.checked_div(of_lane).unwrap_or(u32::MAX));
    if room == 0 {
        let reason = format!(
            "elements of {item_bytes} bytes are too large for `{}` on {}: the memory of a block has {memory} bytes",
            skeleton.name,
            opened.description.name()
        );
        return Err(Error::Unsupported { reason });
    }
    Ok(room.min(limits.lanes).min(skeleton.most_lanes).max(1))
}

/// Returns whether a kernel of an operation has loops.
fn has_loops(opened: &Opened, request: &Request<'_>) -> Result<bool, Error> {
    let of_operator = match request.operator {
        Some(operator) => opened.program(operator.name, operator.program)?.has_loops,
        None => false,
    };
    request.roots.iter().try_fold(of_operator, |found, root| Ok(found || tree_has_loops(opened, root)?))
}

fn tree_has_loops(opened: &Opened, node: &Node) -> Result<bool, Error> {
    match node {
        Node::Call { name, program, args } => {
            let found = opened.program(name, program)?.has_loops;
            args.iter().try_fold(found, |found, arg| Ok(found || tree_has_loops(opened, arg)?))
        }
        Node::Gather { index, .. } => tree_has_loops(opened, index),
        _ => Ok(false),
    }
}

fn too_many(opened: &Opened, n: u32) -> Error {
    let reason = format!(
        "{n} elements are too many for one operation on {}, whose driver ends loops early: work on parts",
        opened.description.name()
    );
    Error::Unsupported { reason }
}
