//! The frame of a fork: what a thief needs to run the second half of a `join`, kept on the stack of the thread that
//! forked.
//!
//! | state     | who may touch it                            | how it leaves                                            |
//! |-----------|---------------------------------------------|----------------------------------------------------------|
//! | private   | the owner                                   | the owner pops it, or publishes it                       |
//! | published | whoever wins the CAS on its slot            | reclaimed by the owner, or taken by a thief              |
//! | taken     | the thief, and `done` by the owner          | the thief sets `done`, its last touch of the frame       |
//! | done      | the owner                                   | the owner takes the result out; the stack frame ends     |
//!
//! A fork of `Cx::join` differs in two things: it is published as an [`Offer`], and its owner does not wait for it here.
//!
//! A fork that nobody steals pays for what it links, `execute`, and the closure. Everything else is written when the frame
//! is published, by whoever publishes it.
//!
//! Orderings: publishing stores the slot with release, and winning the slot's CAS acquires it, so the thief sees the
//! frame as the owner wrote it. The thief stores `done` with release, and the owner loads it with acquire, so the owner
//! sees the result. After `done` is set the owner may return from the `join` at once and the frame is gone: whatever the
//! thief needs afterwards it reads before.

use crate::{
    pool::offer::Offer,
    sys::{
        parker::Parker,
        sync::{AtomicBool, Ordering},
    },
};
use std::{
    cell::{Cell, UnsafeCell},
    mem::MaybeUninit,
    ptr,
    sync::Arc,
};

/// Where a piece of work comes from: the work inside which it was forked or spawned. Null stands for the root.
///
/// A thread that waits for a piece of work may run the descendants of that work and nothing else. Whether something is a
/// descendant is read off the chain of parents, and each link of it is alive while the one below is: a fork ends before
/// the work that forked it does.
#[derive(Debug)]
pub(crate) struct Lineage {
    parent: *const Lineage,
}

impl Lineage {
    pub(crate) fn new(parent: *const Lineage) -> Self {
        Self { parent }
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
            // SAFETY: `link` has not ended, by the caller's word for the first and because a parent ends after its child
            // for the rest.
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

impl Shelved {
    pub(crate) fn new(parent: *const Lineage, owner: *const Parker) -> Self {
        Self { lineage: Lineage::new(parent), owner, done: AtomicBool::new(false) }
    }
}

/// What a frame has from its publication on.
pub(crate) enum Published {
    Shelved(Shelved),
    Offered(Arc<Offer>),
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

/// The head of every frame. Aligned so that the lowest bit of its address is free for the tag of its slot.
#[repr(C, align(8))]
pub(crate) struct Frame {
    execute: unsafe fn(*const Frame),
    /// The fork that was the newest before this one.
    previous: *const Frame,
    is_published: AtomicBool,
    kind: Cell<Kind>,
    published: UnsafeCell<MaybeUninit<Published>>,
}

impl Frame {
    /// `execute` runs the work, catches its panic and keeps what came out; it is called once at most, by the thief. `previous`
    /// is the newest fork of this thread so far.
    #[inline(always)]
    pub(crate) fn new(execute: unsafe fn(*const Frame), previous: *const Frame, may_wait: bool) -> Self {
        Self {
            execute,
            previous,
            is_published: AtomicBool::new(false),
            kind: Cell::new(if may_wait { Kind::MayWait } else { Kind::Compute }),
            published: UnsafeCell::new(MaybeUninit::uninit()),
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

    /// Takes the offer out of a frame that may wait.
    ///
    /// # Safety
    /// The frame was published, it is popped, and this is called once.
    pub(crate) unsafe fn take_offer(this: *const Frame) -> Arc<Offer> {
        // SAFETY: `prepare` wrote it before the publication, and nobody else reads it; see there.
        match unsafe { (*(*this).published.get()).assume_init_read() } {
            Published::Offered(offer) => offer,
            Published::Shelved(_) => unreachable!("a fork that may wait is offered"),
        }
    }

    /// Runs the work of a frame that was offered and taken. The owner is told by whoever took it.
    ///
    /// # Safety
    /// The caller has taken the offer, and runs it once.
    pub(crate) unsafe fn execute(this: *const Frame) {
        // SAFETY: `execute` fits the frame that it was stored in.
        unsafe { ((*this).execute)(this) }
    }

    /// # Safety
    /// The frame is private and the caller is the one who publishes it, under the gate of its stack.
    pub(crate) unsafe fn prepare(this: *const Frame, published: Published) {
        // SAFETY: what a private frame keeps for its publication is touched by the publisher alone (state table), so nobody
        // holds a reference into the cell.
        unsafe {
            (*(*this).published.get()).write(published);
            (*this).is_published.store(true, Ordering::Relaxed);
        }
    }

    /// # Safety
    /// The frame was put on the shelf and is not over.
    unsafe fn published<'a>(this: *const Frame) -> &'a Shelved {
        // SAFETY: `prepare` wrote it before the publication; since then it is only read, and `done` is atomic.
        match unsafe { (*(*this).published.get()).assume_init_ref() } {
            Published::Shelved(shelved) => shelved,
            Published::Offered(_) => unreachable!("a frame on the shelf was put there"),
        }
    }

    /// # Safety
    /// The frame was published and is not over.
    pub(crate) unsafe fn lineage<'a>(this: *const Frame) -> &'a Lineage {
        // SAFETY: the caller's word.
        unsafe { &Self::published(this).lineage }
    }

    /// # Safety
    /// As for [`lineage`](Self::lineage), and the caller owns the frame: it alone decides when the frame is over.
    pub(crate) unsafe fn is_done(this: *const Frame) -> bool {
        // SAFETY: the caller's word.
        unsafe { Self::published(this).done.load(Ordering::Acquire) }
    }

    /// Wakes the thread that waits for this frame, which may now take it back.
    ///
    /// # Safety
    /// The caller has just won the frame's slot.
    pub(crate) unsafe fn owner(this: *const Frame) -> *const Parker {
        // SAFETY: a taken frame is not over until `done` is set.
        unsafe { Self::published(this).owner }
    }

    /// Runs a taken frame and tells its owner. The frame may be gone when this returns.
    ///
    /// # Safety
    /// The caller won the frame's slot, and runs it once.
    pub(crate) unsafe fn run(this: *const Frame) {
        // SAFETY: a taken frame is the thief's (state table) until `done` is set; `execute` fits the frame that it was
        // stored in.
        unsafe {
            ((*this).execute)(this);
            let owner = Self::owner(this);
            Self::published(this).done.store(true, Ordering::Release);
            // The frame may be gone from here on; the parker belongs to a worker and stays.
            (*owner).unpark();
        }
    }
}
