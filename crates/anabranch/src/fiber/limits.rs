//! How many fibers may be under way in a pool, and how big their stacks are.
//!
//! A fiber that cannot get a stack stays in the queue until one is free: nothing is lost, but if the fibers under way
//! wait for it, the program hangs. So the pool reports it once, on the standard error stream.

use crate::{
    fiber::stack::pool::{StackConfig, StackError},
    sys::{
        diagnostics,
        sync::{AtomicBool, AtomicU64, Ordering},
    },
};

/// How many fibers may be under way where the program does not say it.
pub(crate) const DEFAULT_MAX_FIBERS: usize = 4 << 20;

/// See the [module](self).
pub(crate) struct Limits {
    pub(crate) stacks: StackConfig,
    max: u64,
    /// Stacks in use. Relaxed: a number to compare with.
    live: AtomicU64,
    /// The system refused a stack; until one is given back there is no use in asking again.
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

    /// Returns whether a new fiber, of which there is one, would get a stack.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        let has_room = self.live.load(Ordering::Relaxed) < self.max;
        if !has_room {
            self.complain();
        }
        has_room && !self.is_refused.load(Ordering::Relaxed)
    }

    /// Returns whether no fiber is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.live.load(Ordering::Relaxed) == 0
    }

    /// Counts a stack that a fiber takes into use. Returns `None` if too many are in use.
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

    /// The system has no memory for another stack. Undoes `enter`.
    pub(crate) fn refuse(&self, error: &StackError) {
        // With no fiber under way none would ever give a stack back: then the next one asks again.
        let others = self.live.fetch_sub(1, Ordering::Relaxed) - 1;
        self.is_refused.store(others > 0, Ordering::Relaxed);
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            diagnostics::warn(format_args!("{error}; fibers that have not started wait until others end"));
        }
    }
}
