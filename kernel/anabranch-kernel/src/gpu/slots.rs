//! The slots of launches, where traps are reported.
//!
//! A launch that can trap has a *slot*, a word on the device that is 0 or the largest code of its traps. A vector has
//! the slots of the launches that its words depend on. A download copies these slots behind the words, and reports a
//! trap instead of the words.
//!
//! A slot that was read as 0 is *clean* forever, and vectors forget it. A vector with more than [`MOST`] slots gets one
//! slot for all of them, which a small kernel computes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::driver::Command;
use super::memory::Block;

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
