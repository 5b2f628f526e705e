//! Blocks of memory of a device.
//!
//! New memory takes long: wgpu clears it before a kernel may write it, and a driver maps it page by page. So a vector
//! that is dropped leaves its memory to the next one of about the same size. The commands of the next owner run after
//! the commands of the previous owner.

use std::sync::Arc;

use super::driver::{Memory, Use};
use super::opened::Opened;
use crate::Error;

/// The smallest block, in bytes.
const SMALLEST: u64 = 256;

/// A block of memory. Dropped, it is free for others.
pub(super) struct Block {
    memory: Memory,
    /// The bytes of the memory.
    size: u64,
    kind: Use,
    /// A block that the driver may still map is not used again.
    reusable: bool,
    opened: Arc<Opened>,
}

impl Block {
    /// Takes a block of at least `bytes`.
    pub(super) fn take(opened: &Arc<Opened>, kind: Use, bytes: u64) -> Result<Self, Error> {
        let largest = opened.limits.buffer_bytes;
        if bytes > largest {
            let reason = format!(
                "a vector of {bytes} bytes is too large for {}: its largest have {largest} bytes; work on parts",
                opened.description.name()
            );
            return Err(Error::Unsupported { reason });
        }
        let size = rounded(bytes).min(largest / 4 * 4);
        // The next owner may use it otherwise.
        let list = if kind == Use::Upload { Use::Storage } else { kind };
        let block = |memory| Self { memory, size, kind: list, reusable: true, opened: Arc::clone(opened) };
        let kept = opened.memory().take(list, size);
        if let Some(memory) = kept {
            return Ok(block(memory));
        }
        let created = match opened.driver.allocate(kind, size) {
            Err(Error::OutOfMemory { .. }) => {
                let free = opened.memory().empty();
                drop(free);
                // What was free is free in the order of the kernels. Memory for an upload may be allocated before that.
                opened.driver.allocate(list, size)
            }
            created => created,
        };
        if created.is_err() {
            opened.memory().give(list, size, None);
        }
        Ok(block(created?))
    }

    /// Returns the memory, which others may use after the block is dropped.
    pub(super) fn memory(&self) -> Memory {
        self.memory.clone()
    }

    /// Says whether the block may be used again once it is dropped.
    pub(super) fn set_reusable(&mut self, reusable: bool) {
        self.reusable = reusable;
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let is_free = self.reusable && self.opened.driver.release(&self.memory);
        let memory = is_free.then(|| self.memory.clone());
        self.opened.memory().give(self.kind, self.size, memory);
    }
}

/// Rounds a size up to one with four leading bits, so that at most an eighth is unused.
fn rounded(bytes: u64) -> u64 {
    let bytes = bytes.max(SMALLEST);
    let step = 1 << (bytes.ilog2() - 3);
    bytes.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_by_at_most_an_eighth() {
        for bytes in (0..5000).chain([1 << 20, (1 << 20) + 4, 400_000_000, u64::from(u32::MAX)]) {
            let size = rounded(bytes);
            assert!(size >= bytes && size.is_multiple_of(4), "{bytes} {size}");
            assert!(size == SMALLEST || size - bytes <= bytes / 8, "{bytes} {size}");
            assert_eq!(rounded(size), size);
        }
    }
}
