//! The frame of a fork: what a thief needs to run the second half of a `join`, kept on the stack of the thread that
//! forked.
//!
//! | state     | who may touch it                            | how it leaves                                            |
//! |-----------|---------------------------------------------|----------------------------------------------------------|
//! | private   | the owner; its trace, the publisher         | the owner pops it, or it is published                    |
//! | published | who takes it off the shelf                  | reclaimed by the owner, or taken by a thief              |
//! | taken     | the thief, and `done` by the owner          | the thief sets `done`, its last touch of the frame       |
//! | done      | the owner                                   | the owner takes the result out; the stack frame ends     |
//!
//! A fork of `Cx::join` differs in two things: it is published as an [`Offer`], and its owner does not wait for it
//! here.
//!
//! A fork that nobody steals pays for what it links, `execute`, and the closure. Everything else is written later, by
//! the thread that publishes frames of this stack: first the [`Trace`], when it walks past the private frame, and over
//! it what a published frame has. Both are written under the gate of the fork stack, while the owner cannot pop the
//! frame.
//!
//! Orderings: the lock of the shelf carries the frame to the thief. The thief stores `done` with release, and the owner
//! loads it with acquire, so the owner sees the result. After `done` is set the owner may return from the `join` at
//! once and the frame is gone: whatever the thief needs afterwards it reads before.
//!
//! Provenance: a pointer to a frame is used to run the fork that the frame is the head of, so it is made from a
//! reference to the whole fork (`Fork::frame` in `join`), and never from one to the frame alone.

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

/// Where a piece of work comes from: the work inside which it was forked or spawned. Null stands for the root.
///
/// A thread that waits for a piece of work may run the descendants of that work and nothing else. Whether something is
/// a descendant is read off the chain of parents, and each link of it is alive while the one below is: a fork ends
/// before the work that forked it does.
#[derive(Debug)]
pub(crate) struct Lineage {
    parent: *const Lineage,
    /// How many broadcasts it is inside of, one in the other.
    broadcasts: u32,
}

impl Lineage {
    /// # Safety
    /// `parent` is null or has not ended.
    pub(crate) unsafe fn below(parent: *const Lineage) -> Self {
        // SAFETY: the caller's word.
        let broadcasts = unsafe { parent.as_ref() }.map_or(0, |parent| parent.broadcasts);
        Self { parent, broadcasts }
    }

    /// The lineage of what a broadcast runs.
    ///
    /// # Safety
    /// As for [`below`](Self::below).
    pub(crate) unsafe fn of_broadcast(parent: *const Lineage) -> Self {
        // SAFETY: the caller's word.
        let Self { parent, broadcasts } = unsafe { Self::below(parent) };
        Self { parent, broadcasts: broadcasts + 1 }
    }

    /// How many broadcasts it is inside of, one in the other.
    pub(crate) fn broadcasts(&self) -> u32 {
        self.broadcasts
    }

    /// Whether `self` is `ancestor` or was forked, at any depth, inside it.
    ///
    /// # Safety
    /// `self` must not have ended: then all above it are alive too.
    pub(crate) unsafe fn descends_from(&self, ancestor: *const Lineage) -> bool {
        let mut link: *const Lineage = self;
        while !link.is_null() {
            if ptr::eq(link, ancestor) {
                return true;
            }
            // SAFETY: `link` has not ended, by the caller's word for the first and because a parent ends after its
            // child for the rest.
            link = unsafe { (*link).parent };
        }
        false
    }
}

/// A piece of work in execution on a thread, kept on the stack of that thread while it runs.
pub(crate) struct Running {
    pub(crate) lineage: *const Lineage,
    /// The newest fork that was open when it began: that one and those below are not its own.
    pub(crate) base: Cell<*const Frame>,
    /// What it interrupts: work that waits.
    pub(crate) outer: Cell<*const Running>,
}

impl Running {
    pub(crate) fn new(lineage: *const Lineage) -> Self {
        Self { lineage, base: Cell::new(ptr::null()), outer: Cell::new(ptr::null()) }
    }
}

/// What a frame on the shelf has from its publication on.
pub(crate) struct Shelved {
    lineage: Lineage,
    /// The thread that waits for it. The parker belongs to a worker, which outlives every frame of its thread.
    owner: *const Parker,
    done: AtomicBool,
}

/// What the publisher notes in a private frame when it walks past it.
#[derive(Clone, Copy)]
struct Trace {
    /// The fork that came after this one; null if this was the newest.
    newer: *const Frame,
    /// The work inside which it was forked.
    parent: *const Lineage,
}

/// What is written into a frame after it was linked: which of the three, its flags tell.
union Late {
    trace: Trace,
    shelved: ManuallyDrop<Shelved>,
    offer: ManuallyDrop<Arc<Offer>>,
}

/// Whose fork it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Of compute code. It is shelved, and while it is open its stack is not left.
    Compute,
    /// Of [`Cx::join`](crate::Cx::join). It needs a fiber to run on, and is offered rather than shelved.
    MayWait,
    /// The same, with one of compute code open below it.
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
    /// A publisher has walked past it. Touched under the gate alone.
    is_traced: Cell<bool>,
    /// Fills four bytes up with the flags above, so that a fork writes them by one store.
    _fourth: u8,
    late: UnsafeCell<MaybeUninit<Late>>,
}

impl Frame {
    /// `execute` runs the work, catches its panic and keeps what came out; it is called once at most, by the thief.
    /// `previous` is the newest fork of this thread so far.
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
        // SAFETY: alive while it is linked.
        unsafe { (*this).previous }
    }

    /// # Safety
    /// As for [`previous`](Self::previous), or the caller is the owner and has just popped it.
    #[inline(always)]
    pub(crate) unsafe fn is_published(this: *const Frame) -> bool {
        // SAFETY: the caller's word.
        unsafe { (*this).is_published.load(Ordering::Relaxed) }
    }

    /// # Safety
    /// As for [`previous`](Self::previous).
    pub(crate) unsafe fn may_wait(this: *const Frame) -> bool {
        // SAFETY: the caller's word.
        unsafe { (*this).kind.get() != Kind::Compute }
    }

    /// Whether the stack must not be left while this is open: it, or one below it, is a fork of compute code.
    ///
    /// # Safety
    /// As for [`previous`](Self::previous), and the caller is the owner.
    #[inline]
    pub(crate) unsafe fn pins_its_stack(this: *const Frame) -> bool {
        // SAFETY: the caller's word.
        unsafe { (*this).kind.get() != Kind::MayWait }
    }

    /// One below it pins their stack. For a frame that may wait, before it is linked.
    #[cold]
    pub(crate) fn pin(&self) {
        self.kind.set(Kind::OnCompute);
    }

    /// # Safety
    /// As for [`previous`](Self::previous), under the gate of its stack.
    pub(crate) unsafe fn is_traced(this: *const Frame) -> bool {
        // SAFETY: the caller's word.
        unsafe { (*this).is_traced.get() }
    }

    /// Notes what follows it in the list, and the work inside which it was forked.
    ///
    /// # Safety
    /// The frame is private and linked, and the caller is at the list, under the gate of its stack.
    pub(crate) unsafe fn trace(this: *const Frame, newer: *const Frame, parent: *const Lineage) {
        // SAFETY: the publisher alone touches `late` of a private frame (state table), so there is no reference into
        // it.
        unsafe {
            Self::late(this).write(Late { trace: Trace { newer, parent } });
            (*this).is_traced.set(true);
        }
    }

    /// Notes anew what follows it in the list.
    ///
    /// # Safety
    /// As for [`trace`](Self::trace), and it is traced.
    pub(crate) unsafe fn set_newer(this: *const Frame, newer: *const Frame) {
        // SAFETY: as in `trace`, which wrote it.
        unsafe { (*Self::late(this)).trace.newer = newer }
    }

    /// What follows it in the list.
    ///
    /// # Safety
    /// As for [`set_newer`](Self::set_newer).
    pub(crate) unsafe fn newer(this: *const Frame) -> *const Frame {
        // SAFETY: as in `trace`, which wrote it.
        unsafe { (*Self::late(this)).trace.newer }
    }

    /// Gives the frame what it has on the shelf, where the caller then puts it. `owner` will wait for it.
    ///
    /// # Safety
    /// As for [`set_newer`](Self::set_newer). What forked it has not ended.
    pub(crate) unsafe fn shelve(this: *const Frame, owner: *const Parker) {
        // SAFETY: as in `trace`, which wrote the trace; the parent has not ended, by the caller's word.
        unsafe {
            let lineage = Lineage::below((*Self::late(this)).trace.parent);
            let shelved = Shelved { lineage, owner, done: AtomicBool::new(false) };
            Self::late(this).write(Late { shelved: ManuallyDrop::new(shelved) });
            (*this).is_published.store(true, Ordering::Relaxed);
        }
    }

    /// Makes the offer as which the frame is published.
    ///
    /// # Safety
    /// As for [`set_newer`](Self::set_newer), of a frame that may wait. It is alive until the offer is taken.
    pub(crate) unsafe fn offer(this: *const Frame) -> Arc<Offer> {
        /// # Safety
        /// As for [`Frame::execute`].
        unsafe fn execute(this: *const ()) {
            // SAFETY: the caller has taken the frame.
            unsafe { Frame::execute(this.cast()) };
        }
        // SAFETY: the frame is alive until the offer is taken, and to take the offer is to take the frame; else as in
        // `trace`.
        unsafe {
            let offer = Arc::new(Offer::new(execute, this.cast()));
            Self::late(this).write(Late { offer: ManuallyDrop::new(Arc::clone(&offer)) });
            (*this).is_published.store(true, Ordering::Relaxed);
            offer
        }
    }

    /// Takes the offer out of a frame that may wait.
    ///
    /// # Safety
    /// The frame was published, it is popped, and this is called once.
    pub(crate) unsafe fn take_offer(this: *const Frame) -> Arc<Offer> {
        // SAFETY: `offer` wrote it at the publication, and nobody else reads it.
        unsafe { ManuallyDrop::take(&mut (*Self::late(this)).offer) }
    }

    /// Runs the work of a frame that was taken. The owner is told by the caller.
    ///
    /// # Safety
    /// The caller has taken the frame, and runs it once.
    pub(crate) unsafe fn execute(this: *const Frame) {
        // SAFETY: `execute` fits the frame that it was stored in.
        unsafe { ((*this).execute)(this) }
    }

    /// # Safety
    /// The frame is alive.
    unsafe fn late(this: *const Frame) -> *mut Late {
        // SAFETY: the caller's word; no reference is made.
        UnsafeCell::raw_get(unsafe { &raw const (*this).late }).cast()
    }

    /// # Safety
    /// The frame was put on the shelf and is not over.
    unsafe fn shelved<'a>(this: *const Frame) -> &'a Shelved {
        // SAFETY: `shelve` wrote it before the publication; since then it is only read, and `done` is atomic.
        unsafe { &(*Self::late(this)).shelved }
    }

    /// # Safety
    /// The frame was put on the shelf and is not over.
    pub(crate) unsafe fn lineage<'a>(this: *const Frame) -> &'a Lineage {
        // SAFETY: the caller's word.
        unsafe { &Self::shelved(this).lineage }
    }

    /// # Safety
    /// As for [`lineage`](Self::lineage), and the caller owns the frame: it alone decides when the frame is over.
    pub(crate) unsafe fn is_done(this: *const Frame) -> bool {
        // SAFETY: the caller's word.
        unsafe { Self::shelved(this).done.load(Ordering::Acquire) }
    }

    /// Tells the owner that a frame of the shelf was run. The frame may be gone when this returns.
    ///
    /// # Safety
    /// The caller took the frame and has run it.
    pub(crate) unsafe fn finish(this: *const Frame) {
        // SAFETY: a taken frame is the thief's (state table) until `done` is set.
        unsafe {
            let owner = Self::shelved(this).owner;
            Self::shelved(this).done.store(true, Ordering::Release);
            // The frame may be gone from here on; the parker belongs to a worker and stays.
            (*owner).unpark();
        }
    }
}
