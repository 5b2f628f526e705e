//! Something that has two sides, each used by one thread at a time, and a [bias](crate::bias::bias) while that is the
//! same one for both.
//!
//! The idea. Each side leaves word where it is used, in `homes`, before its first update there; so a thread that finds
//! both at home, and has for some time, may become the owner. A side that comes to another thread takes the bias away,
//! before it does anything else.
//!
//! Orderings: Dekker's pattern once more. A thread that claims the bias writes `owner` and reads the other side's home;
//! a side that comes elsewhere writes its home and reads `owner`. Both make full fences between, since both are rare.

use crate::{
    bias::{
        bias::{Bias, Inside, Owner, Thread},
        policy::should_bias,
    },
    sys::{
        sync::{AtomicPtr, Ordering, full_fence},
        thread::identity,
    },
};
use std::{cell::Cell, ptr};

/// How often a side finds both at home before its thread becomes the owner, at most: about what it costs to take the
/// bias away. See [`record`](crate::bias::policy).
const STREAK: u32 = if cfg!(any(loom, shuttle, miri)) { 1 } else { 500 };

/// See the [module](self).
pub(crate) struct BiasedPair {
    bias: Bias,
    homes: [AtomicPtr<()>; 2],
}

/// One of the two. For whoever uses it.
pub(crate) struct Side {
    index: usize,
    home: Cell<Thread>,
    /// How often it has found both at home.
    streak: Cell<u32>,
}

impl Side {
    /// The two sides.
    pub(crate) fn both() -> [Self; 2] {
        [0, 1].map(|index| Self { index, home: Cell::new(ptr::null_mut()), streak: Cell::new(0) })
    }
}

impl BiasedPair {
    pub(crate) fn new() -> Self {
        let home = || AtomicPtr::new(ptr::null_mut());
        Self { bias: Bias::new(), homes: [home(), home()] }
    }

    /// `Some` if both sides are this thread's: no other makes an update meanwhile.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Inside<'_>> {
        self.bias.enter()
    }

    /// Whether both sides are this thread's.
    #[inline(always)]
    pub(crate) fn are_mine(&self) -> bool {
        self.bias.is_mine()
    }

    /// Before atomic updates by a side: no other thread is the owner afterwards, nor becomes it before this side comes
    /// to it.
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

    /// There are atomic updates alone from here on.
    pub(crate) fn end(&self, side: &Side) {
        self.share(side);
        self.bias.end();
    }

    /// If the sides are apart there will never be an owner.
    #[cold]
    pub(crate) fn end_if_apart(&self, side: &Side) {
        self.share(side);
        // Nobody becomes the owner while this side is here: who is about to finds it here after that, and ends the
        // bias, too.
        if self.bias.owner() == Owner::None && !self.is_at_home(1 - side.index) {
            self.bias.end();
        }
    }

    /// Whether there are atomic updates alone, for good.
    #[inline(always)]
    pub(crate) fn have_ended(&self) -> bool {
        self.bias.has_ended()
    }

    #[inline]
    fn is_at_home(&self, index: usize) -> bool {
        self.homes[index].load(Ordering::Relaxed) == identity()
    }

    /// Both sides are here, once more. This thread becomes the owner in time, unless one of them is just going.
    #[inline]
    fn stay(&self, side: &Side) {
        side.streak.set(side.streak.get() + 1);
        if should_bias(side.streak.get(), STREAK) {
            self.bias.claim();
            full_fence();
            if !self.is_at_home(1 - side.index) {
                self.bias.end();
            }
        }
    }
}
