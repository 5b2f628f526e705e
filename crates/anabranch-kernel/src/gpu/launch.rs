//! Runs operations: geometry, bindings, values, and the commands of a dispatch.

use std::sync::Arc;

use wgpu::{
    BindGroupDescriptor, BindGroupEntry, BindingResource, BufferBinding, BufferSize, CommandEncoder,
    CommandEncoderDescriptor, ComputePassDescriptor, SubmissionIndex,
};

use super::GpuQueue;
use super::memory::{Block, Buffer, Use};
use super::pipeline::{Compiled, Key, Skeleton};
use super::traps::{MOST, Slot, TrapSet};
use crate::Error;
use crate::graph::{Graph, Node, Operator};

/// The words of the immediates that belong to the skeleton.
pub(super) const SKELETON_WORDS: usize = 8;

/// The binding of the slot.
pub(super) const TRAPS_BINDING: u32 = 0;
/// The binding of values that have no room in the immediates.
pub(super) const VALUES_BINDING: u32 = 1;
/// The binding of the first vector that a skeleton writes. Inputs follow.
pub(super) const FIRST_OUTPUT: u32 = 2;

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
    pub(super) encoder: CommandEncoder,
    pub(super) traps: TrapSet,
}

/// What the words of a vector depend on.
#[derive(Clone, Default)]
pub(super) struct Written {
    /// The launches whose traps make the words invalid.
    pub(super) traps: TrapSet,
    /// The last submission that writes the words. `None` if there are no words.
    pub(super) submission: Option<SubmissionIndex>,
}

impl GpuQueue {
    pub(super) fn encoder(&self) -> CommandEncoder {
        self.opened.device.create_command_encoder(&CommandEncoderDescriptor { label: None })
    }

    /// Submits commands. Returns what their results depend on.
    pub(super) fn submit(&self, commands: Commands) -> Result<Written, Error> {
        let submission = Some(self.opened.submit(Some(commands.encoder), || ())?);
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
        let compiled = opened.pipelines.get(opened, skeleton, key)?;
        let mut traps = TrapSet::default();
        for input in &compiled.inputs {
            traps.extend(&graph.buffers()[input.buffer.0].written.traps);
        }
        let mut encoder = self.encoder();
        let slot = if compiled.can_trap { Some(self.slot(&mut encoder)?) } else { None };
        let all_values = all_values(&compiled, graph, values);
        let spilled = if compiled.spilled { Some(self.upload(&all_values)?) } else { None };
        // An empty vector has no element to bind, and a kernel reads none.
        let stand_ins = compiled.inputs.iter().map(|input| match graph.buffers()[input.buffer.0].words {
            0 => Block::take(opened, Use::Storage, input.stride.into()).map(Some),
            _ => Ok(None),
        });
        let stand_ins = stand_ins.collect::<Result<Vec<_>, Error>>()?;
        let mut entries = Vec::with_capacity(compiled.inputs.len() + outputs.len() + 2);
        if let Some(slot) = &slot {
            entries.push(entry(TRAPS_BINDING, &slot.block, 4));
        }
        if let Some(values) = &spilled {
            entries.push(entry(VALUES_BINDING, &values.block, values.bytes()));
        }
        for (number, (block, bytes)) in (0..).zip(outputs) {
            entries.push(entry(FIRST_OUTPUT + number, block, *bytes));
        }
        let first_input = FIRST_OUTPUT + skeleton.outputs;
        for ((number, input), stand_in) in (0..).zip(&compiled.inputs).zip(&stand_ins) {
            let buffer = graph.buffers()[input.buffer.0];
            entries.push(match stand_in {
                Some(block) => entry(first_input + number, block, input.stride.into()),
                None => entry(first_input + number, &buffer.block, buffer.bytes()),
            });
        }
        opened.checked(0, || {
            let group = opened.device.create_bind_group(&BindGroupDescriptor {
                label: None,
                layout: &compiled.layout,
                entries: &entries,
            });
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            pass.set_bind_group(0, &group, &[]);
            for Dispatch { entry, blocks, words } in dispatches {
                pass.set_pipeline(&compiled.pipelines[*entry]);
                let mut immediates = [0; super::opened::IMMEDIATES as usize / 4];
                immediates[..SKELETON_WORDS].copy_from_slice(words);
                if !compiled.spilled {
                    immediates[SKELETON_WORDS..][..all_values.len()].copy_from_slice(&all_values);
                }
                pass.set_immediates(0, bytemuck::cast_slice(&immediates));
                pass.dispatch_workgroups(*blocks, 1, 1);
            }
        })?;
        if let Some(slot) = slot {
            traps.push(slot);
        }
        Ok(Commands { encoder, traps })
    }

    /// Returns [`Error::Queues`] if a vector is not of this queue.
    pub(crate) fn check_owner(&self, buffer: &Buffer) -> Result<(), Error> {
        if buffer.queue == *self {
            return Ok(());
        }
        let other = buffer.queue.device().name();
        Err(Error::queues(format!("another queue, of {other}"), self.device().name()))
    }

    /// Takes a slot, and sets it to 0.
    fn slot(&self, encoder: &mut CommandEncoder) -> Result<Arc<Slot>, Error> {
        let block = Block::take(&self.opened, Use::Storage, 4)?;
        encoder.clear_buffer(block.buffer(), 0, Some(4));
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
        let mut encoder = self.encoder();
        for (number, slot) in (0..).zip(traps.slots()) {
            encoder.copy_buffer_to_buffer(slot.block.buffer(), 0, words.buffer(), 4 * number, Some(4));
        }
        self.opened.submit(Some(encoder), || ())?;
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
        graph.buffers()[buffer.0].words.checked_div(*words).unwrap_or(0) as u32
    });
    graph.uniforms().iter().chain(own).copied().chain(lengths).collect()
}

fn entry(binding: u32, block: &Block, bytes: u64) -> BindGroupEntry<'_> {
    let size = BufferSize::new(bytes);
    let resource = BindingResource::Buffer(BufferBinding { buffer: block.buffer(), offset: 0, size });
    BindGroupEntry { binding, resource }
}

impl Buffer {
    /// Returns the number of bytes.
    pub(super) fn bytes(&self) -> u64 {
        4 * self.words as u64
    }
}
