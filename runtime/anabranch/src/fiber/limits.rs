//! The limit on started fibers in a pool, and the configuration of their stacks.
//!
//! A fiber that cannot get a stack stays in the queue until one is free. No fiber is lost, but if the started fibers
//! wait for it, the program hangs. So the pool reports the first such case, on the standard error stream.

use crate::{
    fiber::stack::pool::{StackConfig, StackError},
    sys::{
        diagnostics,
        sync::{AtomicBool, AtomicU64, Ordering},
    },
};

/// The default limit on started fibers.
pub(crate) const DEFAULT_MAX_FIBERS: usize = 4 << 20;

/// See the [module](self).
pub(crate) struct Limits {
    pub(crate) stacks: StackConfig,
    max: u64,
    /// Stacks in use. Relaxed, because the number is only compared with a limit.
    live: AtomicU64,
    /// Whether the system refused a stack. If so, the pool asks again only after a stack was returned.
    is_refused: AtomicBool,
    has_complained: AtomicBool,
}

impl Limits {
    pub(crate) fn new(max: usize, stacks: StackConfig) -> Self {
        Self {
            stacks,
            max: max as u64,
            live: AtomicU64::new(0),
            is_refused: AtomicBool::new(false),
            has_complained: AtomicBool::new(false),
        }
    }

    /// Returns whether a waiting new fiber would get a stack.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        let has_room = self.live.load(Ordering::Relaxed) < self.max;
        if !has_room {
            self.complain();
        }
        has_room && !self.is_refused.load(Ordering::Relaxed)
    }

    /// Returns whether no fiber has a stack.
    pub(crate) fn is_empty(&self) -> bool {
        self.live.load(Ordering::Relaxed) == 0
    }

    /// Counts a stack that a fiber starts to use. Returns `None` if too many are in use.
    pub(crate) fn enter(&self) -> Option<()> {
        if self.live.fetch_add(1, Ordering::Relaxed) < self.max {
            return Some(());
        }
        self.live.fetch_sub(1, Ordering::Relaxed);
        self.complain();
        None
    }

    #[cold]
    fn complain(&self) {
        if !self.has_complained.load(Ordering::Relaxed) && !self.has_complained.swap(true, Ordering::Relaxed) {
            diagnostics::warn(format_args!(
                "{} fibers are under way, and more want to start; they wait until others end. If the program stands still, \
                 raise Builder::max_fibers",
                self.max
            ));
        }
    }

    /// Counts a fiber's stack as free again. Returns whether other fibers may have been waiting for it.
    pub(crate) fn leave(&self) -> bool {
        let was_refused = self.is_refused.load(Ordering::Relaxed);
        if was_refused {
            self.is_refused.store(false, Ordering::Relaxed);
        }
        self.live.fetch_sub(1, Ordering::Relaxed) >= self.max || was_refused
    }

    /// Records that the system has no memory for another stack. Undoes `enter`.
    pub(crate) fn refuse(&self, error: &StackError) {
        // If no other fiber has a stack, no stack will ever be returned. So the next fiber asks again.
        let others = self.live.fetch_sub(1, Ordering::Relaxed) - 1;
        self.is_refused.store(others > 0, Ordering::Relaxed);
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            diagnostics::warn(format_args!("{error}; fibers that have not started wait until others end"));
        }
    }
}
