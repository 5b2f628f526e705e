//! How long a wait may take.

use crate::cx::cx::Cx;
use std::time::{Duration, Instant};

/// How long a wait may take.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    Until(Instant),
    For(Duration),
}

impl Limit {
    /// Returns the end of the wait as a tick of the clock of the pool.
    pub(crate) fn tick(self, cx: &Cx<'_>) -> u64 {
        match self {
            Self::Until(instant) => cx.owner.clock().tick_at(instant),
            Self::For(duration) => cx.after(duration),
        }
    }
}
