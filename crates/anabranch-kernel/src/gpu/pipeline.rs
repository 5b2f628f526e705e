//! Compiled operations, kept by their descriptions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType, ComputePipeline,
    ComputePipelineDescriptor, PipelineCompilationOptions, PipelineLayoutDescriptor, ShaderModuleDescriptor,
    ShaderSource, ShaderStages,
};

use super::launch::{FIRST_OUTPUT, TRAPS_BINDING, VALUES_BINDING};
use super::lower::{Input, Lowering};
use super::opened::{IMMEDIATES, Opened};
use super::skeleton;
use crate::Error;
use crate::graph::{BufferId, Node, Operator};

/// A file of skeletons.
#[derive(Debug)]
pub(super) struct Skeleton {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    /// The names of the entry points.
    pub(super) entries: &'static [&'static str],
    /// The number of bindings that it writes.
    pub(super) outputs: u32,
    /// The bytes of workgroup memory, beside those of its items: fixed ones, and those of a lane.
    pub(super) shared: (u32, u32),
    /// The items in workgroup memory for each lane.
    pub(super) shared_items: u32,
    /// The most lanes of a block.
    pub(super) most_lanes: u32,
    /// Whether the skeleton itself can trap.
    pub(super) can_trap: bool,
    /// The most rounds of its loops for an element.
    pub(super) rounds: u32,
    /// The most elements for which one block is used, because more blocks need more dispatches.
    pub(super) one_block: u32,
}

/// The elements that a block takes in about the time of a dispatch.
///
/// A core of a GPU reads some 50 bytes in a nanosecond, and a dispatch takes some microseconds. llvmpipe reads fewer
/// than 4 bytes, and needs 150 microseconds and more.
pub(super) const ONE_BLOCK: u32 = 1 << 14;

/// What the compiled form of an operation depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) skeleton: &'static str,
    pub(super) lanes: u32,
    pub(super) roots: Vec<(Node, usize)>,
    pub(super) operator: Option<Operator>,
    /// The words of the graph's values, and of the operation's.
    pub(super) values: (usize, usize),
}

/// A compiled operation.
pub(super) struct Compiled {
    /// One for each entry point of the skeleton.
    pub(super) pipelines: Vec<ComputePipeline>,
    pub(super) layout: BindGroupLayout,
    pub(super) inputs: Vec<Input>,
    pub(super) lengths: Vec<(BufferId, usize)>,
    pub(super) spilled: bool,
    pub(super) can_trap: bool,
}

/// The compiled operations of a device.
#[derive(Default)]
pub(super) struct Pipelines {
    known: Mutex<HashMap<Key, Arc<Compiled>>>,
}

impl Pipelines {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Compiled>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of compiled operations.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns an operation. Compiles it if it is new, without the lock: two threads may compile the same one.
    pub(super) fn get(&self, opened: &Opened, skeleton: &Skeleton, key: Key) -> Result<Arc<Compiled>, Error> {
        if let Some(known) = self.lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let compiled = Arc::new(compile(opened, skeleton, &key)?);
        self.lock().insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }
}

fn compile(opened: &Opened, skeleton: &Skeleton, key: &Key) -> Result<Compiled, Error> {
    let (module, lowered) = link(opened, skeleton, key)?;
    let storage = |binding, read_only| BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let mut entries = Vec::new();
    if lowered.can_trap {
        entries.push(storage(TRAPS_BINDING, false));
    }
    if lowered.spilled {
        entries.push(storage(VALUES_BINDING, true));
    }
    entries.extend((0..skeleton.outputs).map(|output| storage(FIRST_OUTPUT + output, false)));
    let first_input = FIRST_OUTPUT + skeleton.outputs;
    entries.extend((0..).zip(&lowered.inputs).map(|(number, _)| storage(first_input + number, true)));
    let most = opened.limits.max_storage_buffers_per_shader_stage as usize;
    if entries.len() > most {
        let reason = format!(
            "an operation reads and writes {} vectors at once, and {} allows {most}: store a part by `collect`",
            entries.len(),
            opened.description.name()
        );
        return Err(Error::Unsupported { reason });
    }
    let Lowered { inputs, lengths, spilled, can_trap } = lowered;
    let (pipelines, layout) = opened.checked(0, || {
        let source = ShaderSource::Naga(std::borrow::Cow::Owned(module));
        let module = opened.device.create_shader_module(ShaderModuleDescriptor { label: None, source });
        let layout =
            opened.device.create_bind_group_layout(&BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline_layout = opened.device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: IMMEDIATES,
        });
        let pipelines = skeleton.entries.iter().map(|entry| {
            opened.device.create_compute_pipeline(&ComputePipelineDescriptor {
                label: None,
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(entry),
                compilation_options: PipelineCompilationOptions::default(),
                cache: None,
            })
        });
        (pipelines.collect(), layout)
    })?;
    Ok(Compiled { pipelines, layout, inputs, lengths, spilled, can_trap })
}

/// What a launch needs of [`Lowering`].
struct Lowered {
    inputs: Vec<Input>,
    lengths: Vec<(BufferId, usize)>,
    spilled: bool,
    can_trap: bool,
}

/// Puts the kernels into the skeleton.
fn link(opened: &Opened, skeleton: &Skeleton, key: &Key) -> Result<(naga::Module, Lowered), Error> {
    let roots: Vec<Node> = key.roots.iter().map(|(root, _)| root.clone()).collect();
    let (graph_values, own_values) = key.values;
    let first_input = FIRST_OUTPUT + skeleton.outputs;
    let mut lowering = Lowering::new(opened, &roots, graph_values + own_values, first_input);
    // The type of the items: what the operator takes, or what the tree has.
    let item = match (key.operator, key.roots.first()) {
        (Some(operator), _) => lowering.operand_type(operator)?,
        (None, Some((root, words))) => lowering.root_type(root, *words)?,
        (None, None) => lowering.words_type(1),
    };
    let value = match key.roots.get(1) {
        Some((root, words)) => lowering.root_type(root, *words)?,
        None => item,
    };
    let parsed = skeleton::parse(skeleton.text, key.lanes);
    skeleton::add(&mut lowering, parsed, key.lanes, &[("Item", item), ("Value", value)], |lowering, name| {
        Ok(Some(match (name, key.operator) {
            ("load", _) => lowering.load(&roots[0], item)?,
            ("number" | "load_key", _) => lowering.load_word(&roots[0])?,
            ("place", _) => lowering.load_word(&roots[1])?,
            ("load_value", _) => lowering.load(&roots[1], value)?,
            ("combine" | "keep", Some(operator)) => lowering.operator(operator, item)?,
            ("identity", _) => lowering.constant(graph_values, item),
            _ => return Ok::<_, Error>(None),
        }))
    })?;
    lowering.copy_values();
    let Lowering { module, inputs, lengths, spilled, can_trap, .. } = lowering;
    Ok((module, Lowered { inputs, lengths, spilled, can_trap: can_trap || skeleton.can_trap }))
}
