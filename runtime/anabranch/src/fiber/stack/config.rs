//! The configuration of the stacks of fibers.

/// The default size of a guard. 64-bit systems have plenty of address space, but page tables are expensive. Guards of 1
/// MiB would take 2 KiB more page tables per stack, and make a new stack three times as expensive.
pub(crate) const DEFAULT_GUARD_SIZE: usize = if usize::BITS >= 64 { 256 << 10 } else { 64 << 10 };

/// The configuration of a pool of stacks.
#[derive(Debug, Clone)]
#[cfg_attr(not(unix), allow(dead_code, reason = "elsewhere the system makes guards and keeps memory"))]
pub(crate) struct StackConfig {
    /// The bytes that a fiber can use, rounded up to whole pages.
    pub(crate) stack_size: usize,
    /// The inaccessible bytes below a stack, rounded up to whole pages.
    pub(crate) guard_size: usize,
    /// How many free stacks keep their memory; up to a batch more may keep it.
    pub(crate) warm: usize,
    /// How many more free stacks keep their topmost page; up to a batch more may keep it.
    pub(crate) cool: usize,
    /// Makes guards by page protection, as on systems without guard markers.
    pub(crate) without_guard_markers: bool,
}

impl Default for StackConfig {
    fn default() -> Self {
        // The frames of debug builds are several times larger.
        let stack_size = if cfg!(debug_assertions) { 1 << 20 } else { 256 << 10 };
        Self { stack_size, guard_size: DEFAULT_GUARD_SIZE, warm: 64, cool: 1024, without_guard_markers: false }
    }
}
