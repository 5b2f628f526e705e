//! How the stacks of fibers are made and kept.

/// The size of a guard where the program does not say it. Address space is plentiful on 64-bit systems, and page tables
/// are not: guards of 1 MiB would take 2 KiB more of them for each stack, and make a new stack three times as
/// expensive.
pub(crate) const DEFAULT_GUARD_SIZE: usize = if usize::BITS >= 64 { 256 << 10 } else { 64 << 10 };

/// How a pool of stacks makes and keeps them.
#[derive(Debug, Clone)]
#[cfg_attr(not(unix), allow(dead_code, reason = "elsewhere the system makes guards and keeps memory"))]
pub(crate) struct StackConfig {
    /// The bytes that a fiber can use; rounded up to whole pages.
    pub(crate) stack_size: usize,
    /// The bytes below a stack that cannot be touched; rounded up to whole pages.
    pub(crate) guard_size: usize,
    /// How many free stacks keep their memory, and up to a batch more.
    pub(crate) warm: usize,
    /// How many free stacks beyond those keep their topmost page, and up to a batch more.
    pub(crate) cool: usize,
    /// Makes guards by protection, as where the system has no markers.
    pub(crate) without_guard_markers: bool,
}

impl Default for StackConfig {
    fn default() -> Self {
        // The frames of debug builds are several times larger.
        let stack_size = if cfg!(debug_assertions) { 1 << 20 } else { 256 << 10 };
        Self { stack_size, guard_size: DEFAULT_GUARD_SIZE, warm: 64, cool: 1024, without_guard_markers: false }
    }
}
