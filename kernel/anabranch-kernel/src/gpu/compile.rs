//! Compiles operations: puts the kernels into the skeleton.

use std::sync::Arc;

use super::driver::Source;
use super::layout::{FIRST_OUTPUT, TRAPS_BINDING, VALUES_BINDING};
use super::lower::Lowering;
use super::opened::Opened;
use super::pipeline::{Compiled, Input, Key, Skeleton};
use super::skeleton;
use crate::Error;
use crate::tree::{BufferId, Node};

/// Compiles an operation for the device.
pub(super) fn compile(opened: &Opened, skeleton: &Skeleton, key: &Key) -> Result<Compiled, Error> {
    let (module, lowered) = link(opened, skeleton, key)?;
    let mut bindings = Vec::new();
    if lowered.can_trap {
        bindings.push((TRAPS_BINDING, false));
    }
    if lowered.spilled {
        bindings.push((VALUES_BINDING, true));
    }
    bindings.extend((0..skeleton.outputs).map(|output| (FIRST_OUTPUT + output, false)));
    let first_input = FIRST_OUTPUT + skeleton.outputs;
    bindings.extend((0..).zip(&lowered.inputs).map(|(number, _)| (first_input + number, true)));
    let most = opened.limits.buffers;
    if bindings.len() > most {
        let reason = format!(
            "an operation reads and writes {} vectors at once, and {} allows {most}: store a part by `collect`",
            bindings.len(),
            opened.description.name()
        );
        return Err(Error::Unsupported { reason });
    }
    let Lowered { inputs, lengths, spilled, can_trap } = lowered;
    let pipeline = opened.driver.compile(Source { module, entries: skeleton.entries, bindings: &bindings })?;
    Ok(Compiled { pipeline: Arc::new(pipeline), inputs, lengths, spilled, can_trap })
}

/// The part of [`Lowering`] that a launch needs.
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
