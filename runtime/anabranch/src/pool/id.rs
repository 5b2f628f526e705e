//! Numbers that identify pools.

use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies a pool. No other pool of the process has the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PoolId(u64);

impl PoolId {
    pub(super) fn new() -> Self {
        // Not from `sys`: the number only has to be unique, also across the executions of a model.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns its number, in traces and reports: the first pool of the process has 0.
    pub(crate) fn number(self) -> u32 {
        self.0 as u32
    }
}
