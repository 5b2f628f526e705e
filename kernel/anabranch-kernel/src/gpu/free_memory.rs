//! The memory of dropped vectors, kept for later vectors.

use std::collections::HashMap;

use super::driver::{Memory, Use};

/// Free blocks of each use are kept up to this many bytes, or up to the bytes of all blocks in use if these are more.
const KEPT: u64 = 256 << 20;

/// The free blocks of a device, by their uses and sizes.
#[derive(Default)]
pub(super) struct FreeMemory {
    free: HashMap<(Use, u64), Vec<Memory>>,
    free_bytes: HashMap<Use, u64>,
    used_bytes: u64,
}

impl FreeMemory {
    /// Counts a block as used, and returns a free one.
    pub(super) fn take(&mut self, kind: Use, size: u64) -> Option<Memory> {
        self.used_bytes += size;
        let kept = self.free.get_mut(&(kind, size)).and_then(Vec::pop);
        if kept.is_some() {
            *self.free_bytes_of(kind) -= size;
        }
        kept
    }

    /// Counts a block as used no more, and keeps its memory unless too much is free.
    pub(super) fn give(&mut self, kind: Use, size: u64, memory: Option<Memory>) {
        self.used_bytes -= size;
        let most = KEPT.max(self.used_bytes);
        let free_bytes = self.free_bytes_of(kind);
        if let Some(memory) = memory.filter(|_| *free_bytes + size <= most) {
            *free_bytes += size;
            self.free.entry((kind, size)).or_default().push(memory);
        }
    }

    fn free_bytes_of(&mut self, kind: Use) -> &mut u64 {
        self.free_bytes.entry(kind).or_default()
    }

    /// Removes all free blocks.
    pub(super) fn empty(&mut self) -> Vec<Memory> {
        self.free_bytes.clear();
        self.free.drain().flat_map(|(_, blocks)| blocks).collect()
    }
}
