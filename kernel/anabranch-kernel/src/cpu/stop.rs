//! How the pieces of an operation stop early.
//!
//! A piece checks before each block of its loop. The blocks are the blocks of the parallel iterators: they begin with
//! one element, and in a long loop they take about 10 us each. So a block of a quick kernel has many vectors. Unless a
//! scope can cancel the operation, a check is one load.
//!
//! | what the piece finds | what it does |
//! |---|---|
//! | another piece unwinds | it runs no further block: its blocks are empty |
//! | the scope of the caller is cancelled, or its deadline has passed | it unwinds with [`Cancelled`] as the payload |
//!
//! A flag says that a piece unwinds. Only a piece that unwinds sets it, so a loop with an empty block returns no
//! result: it waits until all of its pieces have ended, drops what they have, and unwinds too. Pieces that end quietly
//! let the caller get the payload of the trap, because only one of two panics is passed on.

use std::mem;
use std::panic;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use anabranch::iter::{self, CancelledBy, Once};
use anabranch::prelude::*;
use anabranch::{Cancelled, Cx};

/// Nothing can stop the operation so far.
const RUNS: u8 = 0;
/// A scope can cancel the operation.
const IS_SCOPED: u8 = 1;
/// A piece unwinds.
const UNWINDS: u8 = 2;

/// Tells the pieces of an operation when to stop.
pub(super) struct Stop<'cx> {
    /// [`IS_SCOPED`] and [`UNWINDS`]. It guards no data, so accesses are relaxed.
    state: AtomicU8,
    /// Whether the caller's thread unwinds, and runs the operation in a destructor.
    was_panicking: bool,
    /// Yields an error once the scope of the caller is cancelled. The pieces cannot share the `Cx` itself.
    scope: Option<CancelledBy<'cx, Once<()>>>,
}

impl<'cx> Stop<'cx> {
    /// Returns what stops an operation that the scope of `cx` cancels, or that no scope cancels.
    #[inline]
    pub(super) fn new(cx: Option<&'cx Cx<'_>>) -> Self {
        Self {
            state: AtomicU8::new(if cx.is_some() { IS_SCOPED } else { RUNS }),
            was_panicking: thread::panicking(),
            scope: cx.map(|cx| iter::once(()).cancelled_by(cx)),
        }
    }

    /// Returns whether another piece unwinds, so that the next block is to be empty.
    ///
    /// # Panics
    /// Unwinds if the scope is cancelled, in one of the pieces.
    #[inline(always)]
    pub(super) fn is_stopped(&self) -> bool {
        self.state.load(Ordering::Relaxed) != RUNS && self.look()
    }

    /// Out of line, so that an operation that nothing stops does not save registers for it.
    #[cold]
    #[inline(never)]
    fn look(&self) -> bool {
        if !self.unwinds() && self.is_cancelled() && !self.stop() {
            unwind();
        }
        self.unwinds()
    }

    /// Returns whether a scope can cancel the operation.
    pub(super) fn is_scoped(&self) -> bool {
        self.scope.is_some()
    }

    /// Checks whether to stop inside a sort, which has no blocks that could be empty.
    ///
    /// # Panics
    /// Unwinds if the scope is cancelled, in each of the pieces.
    #[inline(never)]
    pub(super) fn check_in_sort(&self) {
        if self.unwinds() || self.is_cancelled() {
            self.stop();
            unwind();
        }
    }

    /// Watches for a panic until the result is dropped. For code that cannot be called by [`guard`](Self::guard).
    #[inline(always)]
    pub(super) fn watch(&self) -> Watch<'_> {
        Watch(self)
    }

    /// Runs a part of a piece. If it panics, tells the other pieces to stop. Costs nothing otherwise.
    #[inline(always)]
    pub(super) fn guard<R>(&self, run: impl FnOnce() -> R) -> R {
        let on_unwind = OnUnwind(self);
        let result = run();
        mem::forget(on_unwind);
        result
    }

    /// Returns whether a piece unwinds.
    #[inline]
    pub(super) fn unwinds(&self) -> bool {
        self.state.load(Ordering::Relaxed) & UNWINDS != 0
    }

    fn is_cancelled(&self) -> bool {
        self.scope.as_ref().is_some_and(|scope| scope.clone().any(|item| item.is_err()))
    }

    /// Tells the other pieces that one unwinds. Returns whether an earlier call has.
    #[cold]
    #[inline(never)]
    fn stop(&self) -> bool {
        self.state.fetch_or(UNWINDS, Ordering::Relaxed) & UNWINDS != 0
    }
}

/// Ends a piece because the scope is cancelled. No panic hook runs.
#[cold]
#[inline(never)]
fn unwind() -> ! {
    panic::resume_unwind(Box::new(Cancelled))
}

/// Tells the other pieces to stop when it is dropped by a panic.
pub(super) struct Watch<'a>(&'a Stop<'a>);

impl Drop for Watch<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // A thread that unwinds takes no pieces of other threads, so only the caller may have unwound before.
        if thread::panicking() && !self.0.was_panicking {
            self.0.stop();
        }
    }
}

/// Tells the other pieces to stop when it is dropped.
struct OnUnwind<'a>(&'a Stop<'a>);

impl Drop for OnUnwind<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
