//! Traps: what a kernel did for which there is no result, and where.
//!
//! A launch that can trap has a *slot*, a word on the device that is 0 or the largest code of its traps. A code stands
//! for an operation of a kernel; [`Traps`] gives each program a range of codes. A vector has the slots of the launches
//! that its words depend on. A download copies these slots to behind the words, and reports a trap instead of the
//! words.
//!
//! A slot that was read as 0 is *clean* for ever, and vectors forget it. A vector with more than [`MOST`] slots gets
//! one slot for all of them, which a small kernel computes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anabranch_kernel_ir::{Linker, Param, Program};
use naga::{Block as Statements, Module, ResourceBinding, Statement};

use super::driver::Command;
use super::memory::Block;
use crate::error::Trap;

/// The most slots that a vector has.
pub(super) const MOST: usize = 8;

/// The word of a launch.
pub(super) struct Slot {
    pub(super) block: Block,
    clean: AtomicBool,
}

impl Slot {
    pub(super) fn new(block: Block) -> Self {
        Self { block, clean: AtomicBool::new(false) }
    }

    /// Returns the command that copies the word to an offset in a block.
    pub(super) fn copy_to(&self, to: &Block, offset: u64) -> Command {
        Command::Copy { from: (self.block.memory(), 0), to: (to.memory(), offset), bytes: 4 }
    }

    /// Remembers that the launch has ended without a trap.
    pub(super) fn set_clean(&self) {
        // No other data is read because of the flag.
        self.clean.store(true, Ordering::Relaxed);
    }
}

/// The slots that a value depends on.
#[derive(Clone, Default)]
pub(super) struct TrapSet(Vec<Arc<Slot>>);

impl TrapSet {
    /// Adds the slots of `other`, except clean ones.
    pub(super) fn extend(&mut self, other: &Self) {
        for slot in &other.0 {
            if !slot.clean.load(Ordering::Relaxed) {
                self.push(Arc::clone(slot));
            }
        }
    }

    /// Adds a slot.
    pub(super) fn push(&mut self, slot: Arc<Slot>) {
        if !self.0.iter().any(|known| Arc::ptr_eq(known, &slot)) {
            self.0.push(slot);
        }
    }

    pub(super) fn slots(&self) -> &[Arc<Slot>] {
        &self.0
    }
}

/// What a code means.
#[derive(Clone)]
struct Range {
    first: u32,
    name: &'static str,
    meaning: Meaning,
}

#[derive(Clone)]
enum Meaning {
    /// The sites of a program.
    Program(Arc<Program>),
    /// One code of an operation.
    Operation(&'static str),
}

/// A program that was read.
#[derive(Clone)]
pub(super) struct Known {
    /// The code of site `s` is `base + s + 1`.
    pub(super) base: u32,
    pub(super) program: Arc<Program>,
    pub(super) has_loops: bool,
}

/// The codes of a device. Code 0 is no trap.
#[derive(Default)]
pub(super) struct Traps {
    /// In the order of their first codes.
    ranges: Vec<Range>,
    next: u32,
    programs: HashMap<(usize, usize), Known>,
    operations: HashMap<&'static str, u32>,
}

impl Traps {
    /// Returns the program of serialised `bytes`.
    ///
    /// # Errors
    /// Returns the text of an error if the bytes are not a program.
    pub(super) fn program(&mut self, name: &'static str, bytes: &'static [u8]) -> Result<Known, String> {
        // Static data is never freed, so an address has the same bytes for ever.
        let key = (bytes.as_ptr() as usize, bytes.len());
        if let Some(known) = self.programs.get(&key) {
            return Ok(known.clone());
        }
        let program = Arc::new(Program::from_bytes(bytes).map_err(|error| error.to_string())?);
        let base = self.next;
        self.ranges.push(Range { first: base + 1, name, meaning: Meaning::Program(Arc::clone(&program)) });
        self.next += u32::try_from(program.sites.len()).expect("a program has fewer sites than bytes");
        let known = Known { base, has_loops: has_loops(&program), program };
        self.programs.insert(key, known.clone());
        Ok(known)
    }

    /// Returns the code of an operation of this crate.
    pub(super) fn operation(&mut self, name: &'static str, what: &'static str) -> u32 {
        if let Some(code) = self.operations.get(name) {
            return *code;
        }
        self.next += 1;
        self.ranges.push(Range { first: self.next, name, meaning: Meaning::Operation(what) });
        self.operations.insert(name, self.next);
        self.next
    }

    /// Returns what a code means.
    pub(super) fn explain(&self, code: u32) -> Trap {
        let after = self.ranges.partition_point(|range| range.first <= code);
        let Some(range) = after.checked_sub(1).map(|range| &self.ranges[range]) else {
            return Trap::new("unknown", format!("the device reports the code {code}"));
        };
        match &range.meaning {
            Meaning::Operation(what) => Trap::new(range.name, *what),
            Meaning::Program(program) => match program.sites.get((code - range.first) as usize) {
                Some(site) => Trap::new(range.name, site.kind.to_string()).at_line(site.line),
                None => Trap::new(range.name, format!("the device reports the code {code}")),
            },
        }
    }
}

/// Returns whether the functions of a program have loops on a device.
fn has_loops(program: &Program) -> bool {
    let mut module = Module::default();
    let mut linker = Linker::new(&mut module);
    let binding = ResourceBinding { group: 0, binding: 0 };
    let params = &program.kernel().params;
    let slices = params.iter().filter_map(|param| match param {
        Param::Slice { item, .. } => Some(linker.slice(program, item, binding)),
        Param::Value(_) => None,
    });
    let slices: Vec<_> = slices.collect();
    let traps = linker.traps(binding);
    linker.function(program, &slices, traps, 0);
    module.functions.iter().any(|(_, function)| loops_in(&function.body))
}

fn loops_in(block: &Statements) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Loop { .. } => true,
        Statement::Block(block) => loops_in(block),
        Statement::If { accept, reject, .. } => loops_in(accept) || loops_in(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| loops_in(&case.body)),
        _ => false,
    })
}
