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

    /// # Safety
    /// `parent` is null or has not ended.
    pub(crate) unsafe fn below(parent: *const Lineage) -> Self {
        // SAFETY: the caller passes a parent that is null or has not ended.
        let broadcasts = unsafe { parent.as_ref() }.map_or(0, |parent| parent.broadcasts);
        Self { parent, broadcasts }
    }

    /// Creates the lineage of what a thread runs of `parent` on top of work that is inside of so many broadcasts.
    ///
    /// # Safety
    /// `parent` is null or has not ended, as for [`below`](Self::below).
    pub(crate) unsafe fn on_top(parent: *const Lineage, broadcasts: u32) -> Self {
        // SAFETY: the caller passes a parent that is null or has not ended.
        let below = unsafe { Self::below(parent) };
        Self { broadcasts: below.broadcasts.max(broadcasts), ..below }
    }

    /// Creates the lineage of what a broadcast runs.
    ///
    /// # Safety
    /// `parent` is null or has not ended, as for [`below`](Self::below).
    pub(crate) unsafe fn of_broadcast(parent: *const Lineage) -> Self {
        // SAFETY: the caller passes a parent that is null or has not ended.
        let below = unsafe { Self::below(parent) };
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
    lineage: Lineage,
    /// The parker of the thread that waits for it. It belongs to a worker, which outlives every frame of its thread.
    owner: *const Parker,
    done: AtomicBool,
}

/// What the publisher writes into a private frame when it walks past it.
#[derive(Clone, Copy)]
struct Trace {
    /// The fork that came after this one; null if this was the newest.
    newer: *const Frame,
    /// The work inside which it was forked.
    parent: *const Lineage,
}

/// What is written into a frame after it was linked. The flags of the frame show which of the three it is.
union Late {
    trace: Trace,
    shelved: ManuallyDrop<Shelved>,
    offer: ManuallyDrop<Arc<Offer>>,
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
    execute: unsafe fn(*const Frame),
    /// The fork that was the newest before this one.
    previous: *const Frame,
    is_published: AtomicBool,
    kind: Cell<Kind>,
    /// Whether a publisher has walked past it. Accessed only under the gate.
    is_traced: Cell<bool>,
    /// Fills up four bytes with the flags above, so that a fork writes them with one store.
    _fourth: u8,
    late: UnsafeCell<MaybeUninit<Late>>,
}

impl Frame {
    /// Creates a private frame. `execute` runs the work, catches its panic and stores the result. The thief calls it,
    /// at most once. `previous` is the newest fork of this thread so far.
    #[inline(always)]
    pub(crate) fn new(execute: unsafe fn(*const Frame), previous: *const Frame, may_wait: bool) -> Self {
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

    /// # Safety
    /// The frame is linked, and stays so during the call.
    #[inline(always)]
    pub(crate) unsafe fn previous(this: *const Frame) -> *const Frame {
        // SAFETY: the caller keeps the frame linked, and a linked frame is alive.
        unsafe { (*this).previous }
    }

    /// # Safety
    /// The frame stays linked during the call, or the caller is the owner and has just popped it.
    #[inline(always)]
    pub(crate) unsafe fn is_published(this: *const Frame) -> bool {
        // SAFETY: the frame is linked during the call, or the caller owns it and has not ended its fork. So it is
        // alive.
        unsafe { (*this).is_published.load(Ordering::Relaxed) }
    }

    /// # Safety
    /// The frame is linked, and stays so during the call.
    pub(crate) unsafe fn may_wait(this: *const Frame) -> bool {
        // SAFETY: the caller keeps the frame linked, so it is alive.
        unsafe { (*this).kind.get() != Kind::Compute }
    }

    /// Returns whether no switch may leave the stack while this is open: it, or one below it, is a fork of compute
    /// code.
    ///
    /// # Safety
    /// The frame is linked, and stays so during the call. The caller is the owner.
    #[inline]
    pub(crate) unsafe fn pins_its_stack(this: *const Frame) -> bool {
        // SAFETY: the owner calls this and keeps the frame linked, so it is alive. `kind` changes only before the frame
        // is linked.
        unsafe { (*this).kind.get() != Kind::MayWait }
    }

    /// Marks that a frame below it pins their stack. Called for a frame that may wait, before it is linked.
    #[cold]
    pub(crate) fn pin(&self) {
        self.kind.set(Kind::OnCompute);
    }

    /// # Safety
    /// The frame is linked, and stays so during the call. The caller holds the gate of its stack.
    pub(crate) unsafe fn is_traced(this: *const Frame) -> bool {
        // SAFETY: the caller keeps the frame linked, so it is alive, and holds the gate that guards `is_traced`.
        unsafe { (*this).is_traced.get() }
    }

    /// Writes the trace: the newer neighbour of the frame, and the work inside which it was forked.
    ///
    /// # Safety
    /// The frame is private and stays linked during the call. The caller is the publisher: it holds the gate of its
    /// stack.
    pub(crate) unsafe fn trace(this: *const Frame, newer: *const Frame, parent: *const Lineage) {
        // SAFETY: the caller keeps the frame linked, so it is alive. Only the publisher accesses `late` of a private
        // frame (state table), so there is no reference into it.
        unsafe {
            Self::late(this).write(Late { trace: Trace { newer, parent } });
            (*this).is_traced.set(true);
        }
    }

    /// Replaces the newer neighbour in the trace.
    ///
    /// # Safety
    /// The frame is private, traced, and stays linked during the call. The caller holds the gate of its stack.
    pub(crate) unsafe fn set_newer(this: *const Frame, newer: *const Frame) {
        // SAFETY: the frame is linked, and `trace` wrote this field. Only the publisher, which calls this, accesses
        // `late`.
        unsafe { (*Self::late(this)).trace.newer = newer }
    }

    /// Returns the newer neighbour from the trace.
    ///
    /// # Safety
    /// The frame is private, traced, and stays linked during the call. The caller holds the gate of its stack.
    pub(crate) unsafe fn newer(this: *const Frame) -> *const Frame {
        // SAFETY: the frame is linked, and `trace` wrote this field. Only the publisher, which calls this, accesses
        // `late`.
        unsafe { (*Self::late(this)).trace.newer }
    }

    /// Replaces the trace by the data of a frame on the shelf. The caller then publishes it there; `owner` will wait
    /// for it.
    ///
    /// # Safety
    /// The frame is private, traced, and stays linked during the call. The caller holds the gate of its stack. The work
    /// that forked it has not ended.
    pub(crate) unsafe fn shelve(this: *const Frame, owner: *const Parker) {
        // SAFETY: the frame is linked, and `trace` wrote the trace. Only the publisher, which calls this, accesses
        // `late`. The caller guarantees that the parent has not ended.
        unsafe {
            let lineage = Lineage::below((*Self::late(this)).trace.parent);
            let shelved = Shelved { lineage, owner, done: AtomicBool::new(false) };
            Self::late(this).write(Late { shelved: ManuallyDrop::new(shelved) });
            (*this).is_published.store(true, Ordering::Relaxed);
        }
    }

    /// Publishes the frame as an offer, and returns the offer.
    ///
    /// # Safety
    /// The frame may wait, is private, traced, and stays linked during the call. The caller holds the gate of its
    /// stack. The frame is alive until the offer is taken.
    pub(crate) unsafe fn offer(this: *const Frame) -> Arc<Offer> {
        /// # Safety
        /// The caller has taken the frame, and runs it once, as for [`Frame::execute`].
        unsafe fn execute(this: *const ()) {
            // SAFETY: the caller has taken the frame and runs it once.
            unsafe { Frame::execute(this.cast()) };
        }
        // SAFETY: the frame is alive until the offer is taken, and the thread that takes the offer owns the frame. The
        // frame is linked, and only the publisher, which calls this, accesses `late` of a private frame.
        unsafe {
            let offer = Arc::new(Offer::new(execute, this.cast()));
            Self::late(this).write(Late { offer: ManuallyDrop::new(Arc::clone(&offer)) });
            (*this).is_published.store(true, Ordering::Relaxed);
            offer
        }
    }

    /// Takes the offer out of a popped frame that may wait.
    ///
    /// # Safety
    /// The frame was published, it is popped, and this is called once.
    pub(crate) unsafe fn take_offer(this: *const Frame) -> Arc<Offer> {
        // SAFETY: `offer` wrote it at the publication, and only this call, the only one, reads it.
        unsafe { ManuallyDrop::take(&mut (*Self::late(this)).offer) }
    }

    /// Runs the work of a frame that was taken. The caller notifies the owner afterwards.
    ///
    /// # Safety
    /// The caller has taken the frame, and runs it once.
    pub(crate) unsafe fn execute(this: *const Frame) {
        // SAFETY: the caller has taken the frame, so it is alive until the owner is notified. `new` was given the
        // `execute` of this frame.
        unsafe { ((*this).execute)(this) }
    }

    /// # Safety
    /// The frame is alive.
    unsafe fn late(this: *const Frame) -> *mut Late {
        // SAFETY: the caller keeps the frame alive; no reference is made.
        UnsafeCell::raw_get(unsafe { &raw const (*this).late }).cast()
    }

    /// # Safety
    /// The frame was put on the shelf and is not over.
    unsafe fn shelved<'a>(this: *const Frame) -> &'a Shelved {
        // SAFETY: the frame is not over, so it is alive. `shelve` wrote this before the publication; since then it is
        // only read, and `done` is atomic.
        unsafe { &(*Self::late(this)).shelved }
    }

    /// # Safety
    /// The frame was put on the shelf and is not over.
    pub(crate) unsafe fn lineage<'a>(this: *const Frame) -> &'a Lineage {
        // SAFETY: the caller guarantees that the frame was put on the shelf and is not over.
        unsafe { &Self::shelved(this).lineage }
    }

    /// Returns whether this is the parker of the thread that forked it.
    ///
    /// # Safety
    /// The frame was put on the shelf and is not over.
    pub(crate) unsafe fn is_owned_by(this: *const Frame, parker: *const Parker) -> bool {
        // SAFETY: the caller guarantees that the frame was put on the shelf and is not over.
        ptr::eq(unsafe { Self::shelved(this) }.owner, parker)
    }

    /// # Safety
    /// The frame was put on the shelf and is not over. The caller owns it: only the owner decides when the frame is
    /// over.
    pub(crate) unsafe fn is_done(this: *const Frame) -> bool {
        // SAFETY: the frame was put on the shelf, and its owner, which calls this, has not ended it.
        unsafe { Self::shelved(this).done.load(Ordering::Acquire) }
    }

    /// Notifies the owner that a frame of the shelf was run. The frame may be gone when this returns.
    ///
    /// # Safety
    /// The caller took the frame and has run it.
    pub(crate) unsafe fn finish(this: *const Frame) {
        // SAFETY: the caller took the frame, and a taken frame belongs to the thief (state table) until `done` is set.
        unsafe {
            let owner = Self::shelved(this).owner;
            Self::shelved(this).done.store(true, Ordering::Release);
            // The frame may be gone from here on. The parker belongs to a worker, which outlives it.
            (*owner).unpark();
        }
    }
}
