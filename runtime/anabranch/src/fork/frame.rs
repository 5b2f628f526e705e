//! The frame of a fork: what a thief needs to run the second half of a `join`. It is on the stack of the thread that
//! forked.
//!
//! | state     | accessed by                                 | how it leaves                                            |
//! |-----------|---------------------------------------------|----------------------------------------------------------|
//! | private   | the owner; its trace, the publisher         | the owner pops it, or it is published                    |
//! | published | the thread that takes it off the shelf      | reclaimed by the owner, or taken by a thief              |
//! | taken     | the thief, and `done` by the owner          | the thief sets `done`, its last touch of the frame       |
//! | done      | the owner                                   | the owner takes the result out; the stack frame ends     |
//!
//! A fork of `Cx::join` differs in two things: it is published as an [`Offer`], and its owner does not wait for it
//! here.
//!
//! A fork that no thread steals pays for its links, `execute`, and the closure. The thread that publishes frames of
//! this stack writes everything else later. It first writes the [`Trace`], when it walks past the private frame, and
//! then overwrites it with the data of a published frame. It writes both under the gate of the fork stack, while the
//! owner cannot pop the frame.
//!
//! Orderings: the lock of the shelf carries the frame to the thief. The thief stores `done` with release, and the owner
//! loads it with acquire, so the owner sees the result. After `done` is set the owner may return from the `join` at
//! once, and the frame is gone. So the thief reads whatever it needs afterwards before it sets `done`.
//!
//! Provenance: a pointer to a frame is used to run the fork that the frame is the head of. So it is made from a
//! reference to the whole fork (`Fork::frame` in `join`), never from one to the frame alone.

use crate::{
    fork::offer::Offer,
    sys::{
        parker::Parker,
        sync::{AtomicBool, Ordering},
    },
};
use std::{
    cell::{Cell, UnsafeCell},
    mem::{ManuallyDrop, MaybeUninit},
    ptr,
    sync::Arc,
};

/// The origin of a piece of work: the work inside which it was forked or spawned. Null stands for the root.
///
/// A thread that waits for a piece of work may run the descendants of that work and nothing else. The chain of parents
/// shows whether work is a descendant. Each link of the chain is alive while the one below it is: a fork ends before
/// the work that forked it.
#[derive(Debug)]
pub(crate) struct Lineage {
    parent: *const Lineage,
    /// The number of nested broadcasts that it is inside of. Work that a thread answers on top of other work counts as
    /// inside of all that is below it on the stack.
    broadcasts: u32,
}

// SAFETY: a lineage does not change. Its pointer is followed only in `descends_from`, whose caller guarantees that the
// ancestors are alive.
unsafe impl Send for Lineage {}
// SAFETY: a lineage does not change. Its pointer is followed only in `descends_from`, whose caller guarantees that the
// ancestors are alive.
unsafe impl Sync for Lineage {}

impl Lineage {
    /// Creates the lineage of work that no other work waits for, inside of so many nested broadcasts.
    pub(crate) const fn detached(broadcasts: u32) -> Self {
        Self { parent: ptr::null(), broadcasts }
    }

    /// Creates the lineage of work that `parent` forks or spawns. The parent ends after that work.
    pub(crate) fn below(parent: Option<&Lineage>) -> Self {
        let broadcasts = parent.map_or(0, |parent| parent.broadcasts);
        Self { parent: parent.map_or(ptr::null(), ptr::from_ref), broadcasts }
    }

    /// Creates the lineage of what a thread runs of `parent` on top of work that is inside of so many broadcasts.
    pub(crate) fn on_top(parent: Option<&Lineage>, broadcasts: u32) -> Self {
        let below = Self::below(parent);
        Self { broadcasts: below.broadcasts.max(broadcasts), ..below }
    }

    /// Creates the lineage of what a broadcast runs.
    pub(crate) fn of_broadcast(parent: Option<&Lineage>) -> Self {
        let below = Self::below(parent);
        Self { broadcasts: below.broadcasts + 1, ..below }
    }

    /// Returns the number of nested broadcasts that it is inside of.
    pub(crate) fn broadcasts(&self) -> u32 {
        self.broadcasts
    }

    /// Returns whether `self` is `ancestor` or was forked, at any depth, inside it.
    ///
    /// # Safety
    /// `self` must not have ended: then all its ancestors are alive too.
    pub(crate) unsafe fn descends_from(&self, ancestor: *const Lineage) -> bool {
        let mut link: *const Lineage = self;
        while !link.is_null() {
            if ptr::eq(link, ancestor) {
                return true;
            }
            // SAFETY: `link` has not ended. The caller keeps `self`, the first link, alive, and a parent ends after its
            // child.
            link = unsafe { (*link).parent };
        }
        false
    }
}

/// A piece of work in execution on a thread, kept on the stack of that thread while it runs.
pub(crate) struct Running {
    pub(crate) lineage: *const Lineage,
    /// The newest fork that was open when it began. That fork and those below it belong to the work it interrupts.
    pub(crate) base: Cell<*const Frame>,
    /// The work that it interrupts, which waits.
    pub(crate) outer: Cell<*const Running>,
}

impl Running {
    pub(crate) fn new(lineage: *const Lineage) -> Self {
        Self { lineage, base: Cell::new(ptr::null()), outer: Cell::new(ptr::null()) }
    }
}

/// The data of a frame on the shelf, from its publication on.
pub(crate) struct Shelved {
    pub(crate) lineage: Lineage,
    /// The parker of the thread that waits for it. It belongs to a worker, which outlives every frame of its thread.
    pub(super) owner: *const Parker,
    pub(super) done: AtomicBool,
}

impl Shelved {
    /// Prepares the data of a frame that `owner` will wait for.
    pub(super) fn new(lineage: Lineage, owner: *const Parker) -> Self {
        Self { lineage, owner, done: AtomicBool::new(false) }
    }

    /// Returns whether a thief has run the frame.
    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

/// What the publisher writes into a private frame when it walks past it.
#[derive(Clone, Copy)]
pub(super) struct Trace {
    /// The fork that came after this one; null if this was the newest.
    pub(super) newer: *const Frame,
    /// The work inside which it was forked.
    pub(super) parent: *const Lineage,
}

/// What is written into a frame after it was linked. The flags of the frame show which of the three it is.
pub(super) union Late {
    pub(super) trace: Trace,
    pub(super) shelved: ManuallyDrop<Shelved>,
    pub(super) offer: ManuallyDrop<Arc<Offer>>,
}

/// Which code made the fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Made by compute code. It is published on the shelf, and no switch leaves its stack while it is open.
    Compute,
    /// Made by [`Cx::join`](crate::Cx::join). It needs a fiber to run on, and is published as an offer, not on the
    /// shelf.
    MayWait,
    /// Made by [`Cx::join`](crate::Cx::join), with a fork of compute code open below it.
    OnCompute,
}

/// The head of every frame.
#[repr(C)]
pub(crate) struct Frame {
    pub(super) execute: unsafe fn(*const ()),
    /// The fork that was the newest before this one.
    previous: *const Frame,
    is_published: AtomicBool,
    kind: Cell<Kind>,
    /// Whether a publisher has walked past it. Accessed only under the gate.
    pub(super) is_traced: Cell<bool>,
    /// Fills up four bytes with the flags above, so that a fork writes them with one store.
    _fourth: u8,
    late: UnsafeCell<MaybeUninit<Late>>,
}

impl Frame {
    /// Creates a private frame. `execute` gets the address of the frame, runs the work, catches its panic and stores
    /// the result. The thief calls it, at most once. `previous` is the newest fork of this thread so far.
    #[inline(always)]
    pub(crate) fn new(execute: unsafe fn(*const ()), previous: *const Frame, may_wait: bool) -> Self {
        Self {
            execute,
            previous,
            is_published: AtomicBool::new(false),
            kind: Cell::new(if may_wait { Kind::MayWait } else { Kind::Compute }),
            is_traced: Cell::new(false),
            _fourth: 0,
            late: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns the fork that was the newest before this one.
    #[inline(always)]
    pub(crate) fn previous(&self) -> *const Frame {
        self.previous
    }

    #[inline(always)]
    pub(crate) fn is_published(&self) -> bool {
        self.is_published.load(Ordering::Relaxed)
    }

    /// Marks the frame as published. The data of that state is written before.
    pub(super) fn set_published(&self) {
        self.is_published.store(true, Ordering::Relaxed);
    }

    /// Returns whether it is a fork of [`Cx::join`](crate::Cx::join).
    pub(crate) fn may_wait(&self) -> bool {
        self.kind.get() != Kind::Compute
    }

    /// Returns whether no switch may leave the stack while this is open: it, or one below it, is a fork of compute
    /// code.
    #[inline]
    pub(crate) fn pins_its_stack(&self) -> bool {
        self.kind.get() != Kind::MayWait
    }

    /// Marks that a frame below it pins their stack. Called for a frame that may wait, before it is linked.
    #[cold]
    pub(crate) fn pin(&self) {
        self.kind.set(Kind::OnCompute);
    }

    /// Returns the address of what is written after the frame was linked.
    pub(super) fn late(&self) -> *mut Late {
        self.late.get().cast()
    }

    /// Runs the work of a frame that was taken. The caller notifies the owner afterwards.
    ///
    /// # Safety
    /// The caller has taken the frame, and runs it once.
    pub(crate) unsafe fn execute(this: *const Frame) {
        // SAFETY: the caller has taken the frame, so it is alive until the owner is notified. `new` was given the
        // `execute` of this frame.
        unsafe { ((*this).execute)(this.cast()) }
    }

    /// Returns the data that a frame has from its publication on the shelf until it is over.
    ///
    /// # Safety
    /// The frame was put on the shelf.
    pub(crate) unsafe fn shelved(&self) -> &Shelved {
        // SAFETY: the publication wrote this. Since then it is only read, and `done` is atomic.
        unsafe { &(*self.late()).shelved }
    }
}
