//! An object with two sides, each used by one thread at a time, and with a [bias](crate::bias::bias) while one thread
//! uses both.
//!
//! The idea. Each side stores its thread in `homes`, before its first update there. So a thread that has found itself
//! in both for some time may become the owner. A side that moves to another thread revokes the bias first.
//!
//! Orderings: Dekker's pattern. A thread that claims the bias writes `owner` and reads the other side's home; a side
//! that moves writes its home and reads `owner`. Both make a full fence in between, since both are rare.

use crate::{
    bias::bias::{Bias, Inside, Owner, Thread},
    sys::{
        sync::{AtomicPtr, Ordering, full_fence},
        thread::identity,
    },
};
use std::{cell::Cell, ptr};

/// How often a side finds both on its thread before that becomes the owner. To revoke a bias costs as much as some 500
/// updates by exchange. Most pairs that stay on one thread for this long stay there for good.
const STREAK: u32 = if cfg!(any(loom, shuttle, miri)) { 1 } else { 64 };

/// See the [module](self).
pub(crate) struct BiasedPair {
    bias: Bias,
    homes: [AtomicPtr<()>; 2],
}

/// One of the two sides, kept by its user.
pub(crate) struct Side {
    index: usize,
    home: Cell<Thread>,
    /// How often it has found both sides on its thread.
    streak: Cell<u32>,
}

impl Side {
    /// Returns the two sides.
    pub(crate) fn both() -> [Self; 2] {
        [0, 1].map(|index| Self { index, home: Cell::new(ptr::null_mut()), streak: Cell::new(0) })
    }
}

impl BiasedPair {
    pub(crate) fn new() -> Self {
        let home = || AtomicPtr::new(ptr::null_mut());
        Self { bias: Bias::new(), homes: [home(), home()] }
    }

    /// Returns `Some` if this thread owns both sides: no other makes an update meanwhile.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Inside<'_>> {
        self.bias.enter()
    }

    /// Returns whether this thread owns both sides.
    #[inline(always)]
    pub(crate) fn are_mine(&self) -> bool {
        self.bias.is_mine()
    }

    /// Prepares a side for atomic updates: afterwards no other thread is the owner, nor becomes it before this side
    /// moves to it.
    #[inline]
    pub(crate) fn share(&self, side: &Side) {
        if self.are_mine() {
            return;
        }
        let me = identity();
        if side.home.get() != me {
            self.homes[side.index].store(me, Ordering::Relaxed);
            side.home.set(me);
            side.streak.set(0);
            full_fence();
        }
        match self.bias.owner() {
            Owner::None if self.is_at_home(1 - side.index) => self.stay(side),
            Owner::Another => self.bias.revoke(),
            _ => {}
        }
    }

    /// Ends the bias: there are only atomic updates from here on.
    pub(crate) fn end(&self, side: &Side) {
        self.share(side);
        self.bias.end();
    }

    /// Ends the bias if the sides are on different threads.
    #[cold]
    pub(crate) fn end_if_apart(&self, side: &Side) {
        self.share(side);
        // No other thread becomes the owner while this side is here: one that is about to finds the side here
        // afterwards, and ends the bias, too.
        if self.bias.owner() == Owner::None && !self.is_at_home(1 - side.index) {
            self.bias.end();
        }
    }

    /// Returns whether the bias has ended for good.
    #[inline(always)]
    pub(crate) fn have_ended(&self) -> bool {
        self.bias.has_ended()
    }

    #[inline]
    fn is_at_home(&self, index: usize) -> bool {
        self.homes[index].load(Ordering::Relaxed) == identity()
    }

    /// Counts that both sides are on this thread once more. After some time this thread becomes the owner, unless a
    /// side is moving away.
    #[inline]
    fn stay(&self, side: &Side) {
        side.streak.set(side.streak.get() + 1);
        if side.streak.get() >= STREAK {
            self.bias.claim();
            full_fence();
            if !self.is_at_home(1 - side.index) {
                self.bias.end();
            }
        }
    }
}
