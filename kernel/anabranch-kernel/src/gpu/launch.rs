//! Runs operations: geometry, bindings, values, and the commands of a dispatch.

use std::sync::Arc;

use super::compile::compile;
use super::driver::{self, Command, Launch, Memory, Use};
use super::layout::{FIRST_OUTPUT, Immediates, SKELETON_WORDS, TRAPS_BINDING, VALUES_BINDING};
use super::memory::Block;
use super::pipeline::{Compiled, Key, Skeleton};
use super::queue::{GpuQueue, Written};
use super::slots::{MOST, Slot, TrapSet};
use crate::Error;
use crate::graph::Graph;
use crate::tree::{Node, Operator};

/// One dispatch: the entry point, the blocks, and the words of the skeleton.
pub(super) struct Dispatch {
    pub(super) entry: usize,
    pub(super) blocks: u32,
    pub(super) words: [u32; SKELETON_WORDS],
}

/// An operation on inputs.
pub(super) struct Operation<'a> {
    pub(super) skeleton: &'static Skeleton,
    pub(super) lanes: u32,
    pub(super) graph: &'a Graph<'a>,
    pub(super) roots: Vec<(Node, usize)>,
    pub(super) operator: Option<Operator>,
    /// Values of the operation itself.
    pub(super) values: &'a [u32],
}

/// Commands that are not submitted yet, and what their results depend on.
pub(super) struct Commands {
    pub(super) list: Vec<Command>,
    pub(super) traps: TrapSet,
    /// Memory that only these commands use. It is free for others once they are submitted.
    pub(super) held: Vec<Block>,
}

impl GpuQueue {
    /// Submits commands. Returns what their results depend on.
    pub(super) fn submit(&self, commands: Commands) -> Result<Written, Error> {
        let submission = Some(self.opened.driver.submit(commands.list)?);
        Ok(Written { traps: self.merge(commands.traps)?, submission })
    }

    /// Encodes dispatches of an operation. `outputs` are the vectors that it writes, and their bytes.
    pub(super) fn encode(
        &self,
        operation: Operation<'_>,
        outputs: &[(&Block, u64)],
        dispatches: &[Dispatch],
    ) -> Result<Commands, Error> {
        let opened = &self.opened;
        let Operation { skeleton, lanes, graph, roots, operator, values } = operation;
        let key =
            Key { skeleton: skeleton.name, lanes, roots, operator, values: (graph.uniforms().len(), values.len()) };
        let compiled = opened.pipelines.get(key, |key| compile(opened, skeleton, key))?;
        let mut traps = TrapSet::default();
        for input in &compiled.inputs {
            traps.extend(&graph.buffer_of(input.buffer).written.traps);
        }
        let mut list = Vec::with_capacity(2);
        let slot = if compiled.can_trap { Some(self.slot(&mut list)?) } else { None };
        let all_values = all_values(&compiled, graph, values);
        let spilled = if compiled.spilled { Some(self.upload(&all_values)?) } else { None };
        // An empty vector has no element to bind, and a kernel reads none.
        let stand_ins = compiled.inputs.iter().map(|input| match graph.buffer_of(input.buffer).words {
            0 => Block::take(opened, Use::Storage, input.stride.into()).map(Some),
            _ => Ok(None),
        });
        let stand_ins = stand_ins.collect::<Result<Vec<_>, Error>>()?;
        let mut bindings: Vec<(u32, Memory, u64)> = Vec::with_capacity(compiled.inputs.len() + outputs.len() + 2);
        if let Some(slot) = &slot {
            bindings.push((TRAPS_BINDING, slot.block.memory(), 4));
        }
        if let Some(values) = &spilled {
            bindings.push((VALUES_BINDING, values.block.memory(), values.bytes()));
        }
        for (number, (block, bytes)) in (0..).zip(outputs) {
            bindings.push((FIRST_OUTPUT + number, block.memory(), *bytes));
        }
        let first_input = FIRST_OUTPUT + skeleton.outputs;
        for ((number, input), stand_in) in (0..).zip(&compiled.inputs).zip(&stand_ins) {
            let buffer = graph.buffer_of(input.buffer);
            bindings.push(match stand_in {
                Some(block) => (first_input + number, block.memory(), input.stride.into()),
                None => (first_input + number, buffer.block.memory(), buffer.bytes()),
            });
        }
        let dispatches = dispatches.iter().map(|Dispatch { entry, blocks, words }| {
            let mut immediates = Immediates::default();
            immediates[..SKELETON_WORDS].copy_from_slice(words);
            if !compiled.spilled {
                immediates[SKELETON_WORDS..][..all_values.len()].copy_from_slice(&all_values);
            }
            driver::Dispatch { entry: *entry, blocks: *blocks, immediates }
        });
        let dispatches = dispatches.collect();
        list.push(Command::Launch(Launch { pipeline: Arc::clone(&compiled.pipeline), bindings, dispatches }));
        if let Some(slot) = slot {
            traps.push(slot);
        }
        let held = spilled.into_iter().map(|values| values.block).chain(stand_ins.into_iter().flatten()).collect();
        Ok(Commands { list, traps, held })
    }

    /// Takes a slot, and sets it to 0.
    fn slot(&self, list: &mut Vec<Command>) -> Result<Arc<Slot>, Error> {
        let block = Block::take(&self.opened, Use::Storage, 4)?;
        list.push(Command::Clear { memory: block.memory(), bytes: 4 });
        Ok(Arc::new(Slot::new(block)))
    }

    /// Returns at most [`MOST`] slots that report what `traps` reports.
    fn merge(&self, traps: TrapSet) -> Result<TrapSet, Error> {
        static MERGE: Skeleton = Skeleton {
            name: "merge",
            text: include_str!("skeletons/merge.wgsl"),
            entries: &["merge"],
            outputs: 1,
            shared: (0, 0),
            shared_items: 0,
            most_lanes: 1,
            can_trap: true,
            rounds: 0,
            one_block: 0,
        };
        let count = traps.slots().len();
        if count <= MOST {
            return Ok(traps);
        }
        let words = Block::take(&self.opened, Use::Storage, 4 * count as u64)?;
        let copy = |(number, slot): (u64, &Arc<Slot>)| slot.copy_to(&words, 4 * number);
        self.opened.driver.submit((0..).zip(traps.slots()).map(copy).collect())?;
        let graph = Graph::default();
        let operation = Operation {
            skeleton: &MERGE,
            lanes: MERGE.most_lanes,
            graph: &graph,
            roots: Vec::new(),
            operator: None,
            values: &[],
        };
        let mut words_of_skeleton = [0; SKELETON_WORDS];
        words_of_skeleton[0] = count as u32;
        let dispatch = Dispatch { entry: 0, blocks: 1, words: words_of_skeleton };
        let commands = self.encode(operation, &[(&words, 4 * count as u64)], &[dispatch])?;
        Ok(self.submit(commands)?.traps)
    }
}

/// Returns the values of a launch: those of the graph, those of the operation, and lengths.
fn all_values(compiled: &Compiled, graph: &Graph<'_>, own: &[u32]) -> Vec<u32> {
    let lengths = compiled.lengths.iter().map(|(buffer, words)| {
        // A device holds fewer than 2^32 elements.
        graph.buffer_of(*buffer).words.checked_div(*words).unwrap_or(0) as u32
    });
    graph.uniforms().iter().chain(own).copied().chain(lengths).collect()
}
