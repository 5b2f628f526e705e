//! The roots that the guests of a worker entry have begun.

use crate::pool::counter::Counter;
use std::cell::Cell;

/// See the [module](self).
pub(crate) struct Roots {
    /// The number of roots.
    pub(crate) begun: Counter,
    /// How many of them the heartbeat worker knows of.
    known: Counter,
    /// Whether the guest measures the work and the span of its root.
    pub(super) is_measured: Cell<bool>,
}

impl Roots {
    pub(crate) const fn new() -> Self {
        Self { begun: Counter::new(), known: Counter::new(), is_measured: Cell::new(false) }
    }

    /// Returns whether no root has begun since the heartbeat worker last called this.
    pub(super) fn is_known(&self) -> bool {
        let begun = self.begun.get();
        let is_known = begun == self.known.get();
        if !is_known {
            self.known.set(begun);
        }
        is_known
    }
}
