//! The fork stack: the open forks of a thread, and how the oldest of them are published on the shelf.
//!
//! The idea. A fork links its frame, which is on the thread's own stack, to a list, and a join unlinks it. That is
//! three plain stores and two loads by the owner, and no fence. No loaded value is needed as an address, so the
//! processor never waits for one fork in order to do the next. Only when a thief asks does the owner publish the oldest
//! private frame, the biggest piece of work there is, on the [`Shelf`]. Lists of frames on the stack come from Spice
//! (Holk's heartbeat scheduler in Zig, 2024) and from Lace's and Wool's task stacks; publication on demand from private
//! deques (Acar, Chargueraud, Rainey 2013).
//!
//! ```text
//!   tail -> F -> E -> D" -> C" -> B' -> A'       ' = is_published: always the oldest ones, the end of the list
//!                     D" <- C"    |     |        " = is_traced: private, with a way back to the newer one
//!                           ^    [1]   [0] shelf
//!                       oldest
//! ```
//!
//! The list leads from new to old, and publication goes from old to new. So the publisher *traces* the private frames:
//! it walks from `tail` to the first frame that is traced or published. It writes into each frame on the way its newer
//! neighbour and the work that forked it. `gate.oldest` is where the next publication begins, and the traces lead on
//! from there. A frame is walked past once and published once at most, so publication costs a fork O(1), however many
//! are open.
//!
//! | a frame is | known by                    | left by                                                              |
//! |------------|-----------------------------|----------------------------------------------------------------------|
//! | new        | neither mark                | the publisher -> traced; the owner pops it                           |
//! | traced     | `is_traced`                 | the publisher -> published; the owner pops it                        |
//! | published  | `is_published`              | see [`Shelf`], [`Offer`]                                             |
//!
//! A pop does not inform the publisher, and need not. If the walk meets a traced frame, all older frames are still
//! linked and unchanged, `oldest` among them. Only the newer neighbour of that frame may have changed, and the walk
//! writes it again. If the walk meets no traced frame, all traced frames are gone, and the frame that `oldest` names
//! with them: the last private frame on the walk is the oldest. A frame that is made at the address of a traced one
//! begins without the mark.
//!
//! Raids. An owner in a long piece of work that does not fork does not serve a request. So a thread that finds no other
//! work may publish for it. The raider *closes* the stack, *then* makes every thread go through a full barrier, *then*
//! takes the gate, a lock, and reads `tail`. The owner's pop moves `tail` down and *then* looks whether the stack is
//! closed. So for each frame either the raider sees that it was popped, or the owner sees that the stack is closed. In
//! that case the owner takes the gate too: before the raider, which then sees the pop, or after it has opened the
//! stack. So while a raider has the gate no pop ends, and all frames that it reaches from `tail` stay where they are.
//! A raider does not hold the gate during the barrier, which takes until the system gives a core to each thread that it
//! has interrupted. One raider at a time closes a stack, so none opens it for another. This is the protocol of Cilk's
//! THE deque (Frigo, Leiserson, Randall 1998) with the fence on the thief's side alone. Where the system has no such
//! barrier, the stack is always closed, and every pop goes through the gate.
//!
//! [`Raid`](super::raid::Raid) does so for several stacks with one barrier, and skips those where it can find nothing.
//! A raid that leaves no private frame, of an owner that is asked, leaves the stack *swept*, up to the newest frame
//! that it has seen. The next fork of this owner finds the demand and serves it, which ends that state under the gate.
//! A guest that takes the worker entry withdraws the demand, and begins a root of another number, so the state counts
//! for one root. A stack that is swept, whose owner is asked, and whose newest frame is the same has no private frame:
//!
//! | step of the owner | reads or writes                                           | what a raid does, a and c with the gate |
//! |-------------------|-----------------------------------------------------------|------------|
//! | fork              | 1. `is_requested`; 2. links the frame; 3. serves if asked | a. reads `is_requested`, the number of the root, and how often the owner has served; closes, if it is open |
//! | serve             | clears `is_requested`; gate: not swept                    | b. barrier |
//! | new guest         | next number of the root; clears `is_requested`            | c. reads `tail`, publishes, opens; notes a and the tail if nothing is left and the owner has not served since a |
//!
//! A fork whose step 1 comes after b finds the demand. Of those whose step 1 comes before b, all have linked their
//! frame by then but one: the owner may be between its steps 1 and 2. That frame is none of those that are open, so
//! while it is linked the newest frame is another one than at c, and the raid is not skipped. A demand that is cleared
//! after a is cleared by an owner that takes the gate next, or by a guest that changes the number. An owner that takes
//! it before c has served one more demand, so c notes nothing. One that takes it after c ends the state.
//!
//! Invariants: (1) The published frames are the oldest, in the order of the shelf. Joins are nested, so a published
//! frame that is popped is the one on top of the shelf. (2) Frames are traced and published under the gate alone; a
//! frame that its owner pops from an open stack and finds private stays private. (3) The list of what runs on this
//! thread changes under the gate too, so a raider can follow it.
//!
//! Orderings: `tail` (release, acquire by the raider) carries the frames to a raider. Each store of a frame releases,
//! also those of a pop and of `attach`: in C++20 a relaxed store does not continue the release sequence of the store
//! before it. And the gate carries what a raider did to the owner. The owner reads `is_closed` under the barrier's
//! guarantee; if it finds the stack open again (release, acquire) it sees in `is_published` what the raider did, and
//! what the raider wrote into a frame comes before all that the owner does with the memory of that frame later.
//! `is_requested` orders nothing: a demand seen late is served late.
//!
//! Tried and dropped: without a barrier, owners published more frames unasked, and there were no raids. Then a branch
//! that blocked for its other half in a later join waited forever, since no thread could publish that half.

use crate::{
    fork::{
        frame::{Frame, Lineage, Running},
        offer::Offer,
        publication::{Gate, Publication},
        shelf::Shelf,
    },
    sys::{
        asymmetric_fence::{self, Fence},
        parker::Parker,
        sync::{AtomicBool, AtomicPtr, Mutex, Ordering, lock},
    },
    wait::latch::Latch,
};
use crossbeam_utils::CachePadded;
use std::{mem::ManuallyDrop, ptr, sync::Arc};

/// The flags that the owner reads at each fork and join, and that other threads write rarely.
pub(super) struct Signals {
    /// A thief asks for work.
    is_requested: AtomicBool,
    /// A raider will walk the list: no pop ends without the gate.
    pub(super) is_closed: AtomicBool,
}

/// See the [module](self).
pub(crate) struct ForkStack {
    /// The newest frame. Alone on its line: the owner writes it at each fork, and only a raider looks at it.
    pub(super) tail: CachePadded<AtomicPtr<Frame>>,
    pub(super) signals: CachePadded<Signals>,
    pub(super) fence: Fence,
    pub(super) gate: Mutex<Gate>,
    pub(crate) shelf: Shelf,
}

// SAFETY: all shared data is atomic or behind the gate. `end` unlinks a record of running work under the gate before
// the record dies.
unsafe impl Send for ForkStack {}
// SAFETY: all shared data is atomic or behind the gate. The methods that only the owner may call on the frames are
// unsafe, and their callers are the owner.
unsafe impl Sync for ForkStack {}

/// A frame that its owner has popped, and that may be published. It is finished before it dies.
#[must_use]
pub(crate) struct Popped<'a> {
    stack: &'a ForkStack,
    frame: *const Frame,
}

/// What became of a fork that may have been published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was not. The owner must run it.
    Private,
    /// The owner has it back and must run it.
    Reclaimed,
    /// A thief has run it.
    Done,
}

impl ForkStack {
    /// Creates the stack of a thread that is in no pool: it is always asked, so every fork takes the slow path.
    #[cfg(not(loom))]
    pub(crate) const fn outside() -> Self {
        Self {
            tail: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
            signals: CachePadded::new(Signals {
                is_requested: AtomicBool::new(true),
                is_closed: AtomicBool::new(false),
            }),
            fence: Fence::Symmetric,
            gate: Mutex::new(Gate::new()),
            shelf: Shelf::new(),
        }
    }

    /// Creates an empty stack. Without an asymmetric barrier it is always closed. Then every pop goes through the gate,
    /// which costs as much as the fence that it replaces, and raids still work.
    pub(crate) fn new(fence: Fence) -> Self {
        Self {
            tail: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
            signals: CachePadded::new(Signals {
                is_requested: AtomicBool::new(false),
                is_closed: AtomicBool::new(fence == Fence::Symmetric),
            }),
            fence,
            gate: Mutex::new(Gate::new()),
            shelf: Shelf::new(),
        }
    }

    // ---- the owner ----

    /// Returns whether a thief asked for work, or the stack is that of a thread outside of every pool.
    #[inline(always)]
    pub(crate) fn is_requested(&self) -> bool {
        self.signals.is_requested.load(Ordering::Relaxed)
    }

    /// Returns the newest frame, which the next one follows.
    #[inline(always)]
    pub(crate) fn newest(&self) -> *const Frame {
        self.tail.load(Ordering::Relaxed)
    }

    /// Makes a frame the newest.
    ///
    /// # Safety
    /// Only the owner calls this, with a frame that was made to follow [`newest`](Self::newest), and it pops it before
    /// that ends. The stack is not that of a thread outside.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, frame: *const Frame) {
        self.tail.store(frame.cast_mut(), Ordering::Release);
    }

    /// Unlinks the newest frame. Returns `None` if the frame is certainly private: then it belongs to the owner alone.
    ///
    /// # Safety
    /// Only the owner calls this, with the frame that it pushed last of those it has not popped. The frame is alive
    /// until the result was finished.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, frame: *const Frame) -> Option<Popped<'_>> {
        let popped = Popped { stack: self, frame };
        self.tail.store(popped.get().previous().cast_mut(), Ordering::Release);
        asymmetric_fence::light();
        // Bitwise: one branch, not two.
        (self.signals.is_closed.load(Ordering::Acquire) | popped.get().is_published()).then_some(popped)
    }

    /// Serves the demand: publishes the oldest private frames, at most `most`. `owner` will wait for them. Returns
    /// their number.
    ///
    /// # Safety
    /// Only the owner calls this.
    pub(crate) unsafe fn serve(&self, owner: *const Parker, most: usize, offer: impl FnMut(Arc<Offer>)) -> usize {
        self.signals.is_requested.store(false, Ordering::Relaxed);
        let mut gate = lock(&self.gate);
        gate.raids = 0;
        gate.serves += 1;
        gate.swept = None;
        let newest = self.tail.load(Ordering::Relaxed);
        // SAFETY: the caller is the owner, and pops no frame during this call. It ends a published frame as a `Popped`.
        unsafe { Publication::new(&mut gate, newest) }.publish(&self.shelf, owner, most, offer)
    }

    /// Replaces the list of frames, which it returns: by none when the fiber to which it belongs leaves the thread, and
    /// by the list of a fiber that comes back.
    ///
    /// # Safety
    /// Only the owner calls this. One of the two lists is empty. The frames of the other are published, none of them on
    /// the shelf, and no frame of `newest` was popped since it was returned here.
    #[inline]
    pub(crate) unsafe fn replace(&self, newest: *const Frame) -> *const Frame {
        debug_assert_eq!(self.shelf.open(), 0, "what compute code has forked does not wait");
        let former = self.newest();
        debug_assert!(former.is_null() || newest.is_null());
        // Raiders see these frames through the gate, under which they were published.
        self.tail.store(newest.cast_mut(), Ordering::Release);
        former
    }

    /// Links a piece of work that begins on this thread. The record must not move until `end`.
    pub(crate) fn begin(&self, record: &Running) {
        let mut gate = lock(&self.gate);
        record.outer.set(gate.running);
        record.base.set(self.tail.load(Ordering::Relaxed));
        gate.running = record;
    }

    /// Unlinks the piece of work that began last.
    pub(crate) fn end(&self, record: &Running) {
        lock(&self.gate).running = record.outer.get();
    }

    /// Returns the lineage of what this thread runs now; null for the root.
    pub(crate) fn lineage(&self) -> *const Lineage {
        let gate = lock(&self.gate);
        // SAFETY: a record is alive while it is linked, and is unlinked only under the gate, which this holds.
        unsafe { gate.running.as_ref() }.map_or(ptr::null(), |record| record.lineage)
    }

    /// Returns the number of nested broadcasts that the work on this thread is inside of.
    #[cfg(not(loom))]
    pub(crate) fn broadcasts(&self) -> u32 {
        // SAFETY: the work that this thread runs has not ended, so its lineage is alive.
        unsafe { self.lineage().as_ref() }.map_or(0, Lineage::broadcasts)
    }

    // ---- any thread ----

    /// Asks the owner to publish at its next fork.
    pub(crate) fn request_work(&self) {
        // The check keeps the cache line shared with the owner when other threads have asked already.
        if !self.is_requested() {
            self.signals.is_requested.store(true, Ordering::Relaxed);
        }
    }

    /// Replaces the demand on a worker entry that a guest is about to take.
    pub(crate) fn set_demand(&self, is_requested: bool) {
        self.signals.is_requested.store(is_requested, Ordering::Relaxed);
    }
}

impl Popped<'_> {
    #[inline(always)]
    fn get(&self) -> &Frame {
        // SAFETY: the caller of `pop` keeps the frame alive until it was finished.
        unsafe { &*self.frame }
    }

    /// Returns the frame.
    pub(crate) fn frame(&self) -> *const Frame {
        self.frame
    }

    /// Finishes a fork of compute code: reclaims it, or waits until a thief has run it. Calls `pause` between two
    /// checks, with the fork's position on the shelf and its lineage. `pause` may return at any time, and must do so
    /// when this thread is unparked.
    pub(crate) fn finish(self, mut pause: impl FnMut(usize, &Lineage)) -> Outcome {
        assert!(!self.get().may_wait(), "`finish_offered` ends this fork");
        {
            let _gate = lock(&self.stack.gate);
            if !self.get().is_published() {
                // A raider has not walked the list yet, or did not publish this frame, or the stack is always closed.
                return Outcome::Private;
            }
        }
        let shelf = &self.stack.shelf;
        let position = match shelf.reclaim(self.frame) {
            Ok(()) => return Outcome::Reclaimed,
            Err(position) => position,
        };
        // SAFETY: the frame is published on the shelf, and this thread, its owner, has not ended it.
        let shelved = unsafe { self.get().shelved() };
        while !shelved.is_done() {
            pause(position, &shelved.lineage);
        }
        shelf.withdraw();
        Outcome::Done
    }

    /// Finishes a fork that may wait: takes it back, or waits until another fiber has run it. Calls `wait` until the
    /// latch is set.
    #[cold]
    #[inline(never)]
    pub(crate) fn finish_offered(self, mut wait: impl FnMut(&Latch)) -> Outcome {
        let Some(offer) = self.into_offer() else { return Outcome::Private };
        if offer.take() {
            return Outcome::Reclaimed;
        }
        while !offer.done.is_notified() {
            wait(&offer.done);
        }
        Outcome::Done
    }

    /// Takes the offer out of the frame, if it was published.
    fn into_offer(self) -> Option<Arc<Offer>> {
        assert!(self.get().may_wait(), "`finish` ends this fork");
        let _gate = lock(&self.stack.gate);
        // SAFETY: the publication wrote the offer. Nobody else reads it, as the frame is popped, and this takes it
        // once.
        self.get().is_published().then(|| unsafe { ManuallyDrop::take(&mut (*self.get().late()).offer) })
    }
}
