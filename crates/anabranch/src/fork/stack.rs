//! The fork stack: the forks that a thread has open, and how the oldest of them come onto the shelf.
//!
//! The idea. A fork links its frame, which lies on the thread's own stack, to a list, and a join unlinks it: three
//! plain stores and two loads by the owner, no fence. Nothing that is loaded there is ever needed as an address, so the
//! processor never waits for one fork in order to do the next. Only when somebody asks is the oldest private frame, the
//! biggest piece of work there is, published on the [`Shelf`]. Lists of frames on the stack come from Spice (Holk's
//! heartbeat scheduler in Zig, 2024) and from Lace's and Wool's task stacks; publication on demand from private deques
//! (Acar, Chargueraud, Rainey 2013).
//!
//! ```text
//!   tail -> F -> E -> D" -> C" -> B' -> A'       ' = is_published: always the oldest ones, the end of the list
//!                     D" <- C"    |     |        " = is_traced: private, with a way back to the newer one
//!                           ^    [1]   [0] shelf
//!                       oldest
//! ```
//!
//! The list leads from new to old, and publication goes from old to new. So the publisher *traces* the private frames:
//! it walks from `tail` to the first frame that is traced or published, and writes into each frame on its way which one
//! followed it and what it belongs to. `gate.oldest` is where the next publication begins, and the traces lead on from
//! there. A frame is walked past once and published once at most, so publication costs a fork O(1), however many are
//! open.
//!
//! | a frame is | known by                    | left by                                                              |
//! |------------|-----------------------------|----------------------------------------------------------------------|
//! | new        | neither mark                | the publisher -> traced; the owner pops it                           |
//! | traced     | `is_traced`                 | the publisher -> published; the owner pops it                        |
//! | published  | `is_published`              | see [`Shelf`], [`Offer`]                                             |
//!
//! A pop does not tell the publisher. It need not: if the walk meets a traced frame, all that are older are still there
//! and as they were, `oldest` among them, and only what followed the frame that was met may have changed, which the
//! walk notes anew. If it meets none, then all that had been traced is gone, and what `oldest` says too: the last
//! private frame on the walk is the oldest. A frame that is made at the place of one that was traced begins without the
//! mark.
//!
//! Raids. An owner in a long piece of work that does not fork cannot be asked, so a thread that finds no other work may
//! publish for it. The raider *closes* the stack, *then* makes every thread go through a full barrier, *then* reads
//! `tail`. The owner's pop moves `tail` down and *then* looks whether the stack is closed. So for each frame either the
//! raider sees that it was popped, or the owner sees that the stack is closed, and goes to the gate, a lock that the
//! raider holds until it is done. While the stack is closed no pop ends, so all that the raider reaches from `tail`
//! stays where it is. This is the protocol of Cilk's THE deque (Frigo, Leiserson, Randall 1998) with the fence on the
//! thief's side alone. Where the system has no such barrier, the stack is closed for good, and every pop goes through
//! the gate.
//!
//! A raid costs a barrier, so it is skipped where it can find nothing. A raid that leaves no private frame, of an owner
//! that is asked, leaves the stack *swept*, up to the newest frame that it has seen. The next fork of this owner finds
//! the demand and serves it, which ends that state under the gate. A guest that takes the seat withdraws the demand,
//! and begins a root of another number, so the state counts for one root. A stack that is swept, whose owner is asked,
//! and whose newest frame is the same has no private frame:
//!
//! | step of the owner   | reads or writes                               | what a raid does with the gate held                     |
//! |---------------------|-----------------------------------------------|---------------------------------------------------------|
//! | fork                | 1. `is_asked`; 2. links the frame; 3. serves if asked | a. reads `is_asked` and the number of the root  |
//! | serve               | clears `is_asked`; gate: not swept            | b. barrier                                              |
//! | new guest           | next number of the root; clears `is_asked`    | c. reads `tail`, publishes; notes a and the tail if nothing is left |
//!
//! A fork whose step 1 comes after b finds the demand. Of those whose step 1 comes before b, all have linked their
//! frame by then but one: the owner may be between its steps 1 and 2. That frame is none of those that are open, so
//! while it is linked the newest frame is another one than at c, and the raid is not skipped. A demand that is cleared
//! after a is cleared by one who comes to the gate after c, or by one that changes the number.
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
//! `is_asked` carries nothing: a demand seen late is served late.
//!
//! Without a barrier pools at first published more of their own accord. Then a branch that blocked for its other half
//! in a later join stood still, since no thread could publish that half.

use crate::{
    fork::{
        frame::{Frame, Lineage, Running},
        offer::Offer,
        shelf::Shelf,
    },
    sys::{
        asymmetric_fence::{self, Fence},
        parker::Parker,
        sync::{AtomicBool, AtomicPtr, Mutex, Ordering, lock},
    },
};
use crossbeam_utils::CachePadded;
use std::{ptr, sync::Arc};

/// How often a raid publishes twice as many frames as the one before.
const MOST_DOUBLINGS: u32 = 16;

/// What the lock of publication guards.
struct Gate {
    /// The oldest private frame, as the last publication left it; null if it left none.
    oldest: *const Frame,
    /// How many raids there have been since the owner published something itself.
    raids: u32,
    /// The root in which a raid has published everything, and the newest frame that it has seen; see the module.
    swept: Option<(u64, *const Frame)>,
    /// What runs on this thread, the innermost first.
    running: *const Running,
}

impl Gate {
    const fn new() -> Self {
        Self { oldest: ptr::null(), raids: 0, swept: None, running: ptr::null() }
    }
}

/// What the owner reads at each fork and join and others write now and then.
struct Signals {
    /// The shelf wants work.
    is_asked: AtomicBool,
    /// A raider is at the list: no pop may end.
    is_closed: AtomicBool,
}

/// See the [module](self).
pub(crate) struct ForkStack {
    /// The newest frame. Alone on its line: the owner writes it at each fork, and only a raider looks at it.
    tail: CachePadded<AtomicPtr<Frame>>,
    signals: CachePadded<Signals>,
    fence: Fence,
    gate: Mutex<Gate>,
    pub(crate) shelf: Shelf,
}

// SAFETY: all that is shared is atomic or behind the gate, where the records of what runs live as long as they are
// linked.
unsafe impl Send for ForkStack {}
// SAFETY: as above. Methods that only the owner may call say so and are unsafe.
unsafe impl Sync for ForkStack {}

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
    /// A stack that always wants to be asked first. It stands for "this thread is in no pool".
    #[cfg(not(loom))]
    pub(crate) const fn outside() -> Self {
        Self {
            tail: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
            signals: CachePadded::new(Signals { is_asked: AtomicBool::new(true), is_closed: AtomicBool::new(false) }),
            fence: Fence::Symmetric,
            gate: Mutex::new(Gate::new()),
            shelf: Shelf::new(),
        }
    }

    /// Without an asymmetric barrier the stack is always closed: then every pop goes through the gate, which costs as
    /// much as the fence would that it takes the place of, and raids work all the same.
    pub(crate) fn new(fence: Fence) -> Self {
        Self {
            tail: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
            signals: CachePadded::new(Signals {
                is_asked: AtomicBool::new(false),
                is_closed: AtomicBool::new(fence == Fence::Symmetric),
            }),
            fence,
            gate: Mutex::new(Gate::new()),
            shelf: Shelf::new(),
        }
    }

    // ---- the owner ----

    /// Whether somebody asked for work, or the stack is that of a thread outside of every pool.
    #[inline(always)]
    pub(crate) fn is_asked(&self) -> bool {
        self.signals.is_asked.load(Ordering::Relaxed)
    }

    /// The newest frame, to be the one before the next.
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

    /// Unlinks the newest frame. Whether it is private beyond doubt: then it is the owner's, and nobody has seen it.
    /// Otherwise [`finish`](Self::finish) has to follow.
    ///
    /// # Safety
    /// Only the owner calls this, with the frame that it pushed last of those it has not popped.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, frame: *const Frame) -> bool {
        // SAFETY: the owner's, and alive until its join ends.
        unsafe {
            self.tail.store(Frame::previous(frame).cast_mut(), Ordering::Release);
            asymmetric_fence::light();
            // Bitwise: one branch, not two.
            !(self.signals.is_closed.load(Ordering::Acquire) | Frame::is_published(frame))
        }
    }

    /// Ends a fork that was popped and may be published: takes it back, or waits until a thief has run it. `pause` is
    /// called between two looks, with the fork's position on the shelf; it may return at any time, and must do so when
    /// this thread is unparked.
    ///
    /// # Safety
    /// Only the owner of `frame` calls this, when it has just popped it.
    pub(crate) unsafe fn finish(&self, frame: *const Frame, mut pause: impl FnMut(usize)) -> Outcome {
        {
            let _gate = lock(&self.gate);
            // SAFETY: the owner's, and alive until its join ends.
            if !unsafe { Frame::is_published(frame) } {
                // A raider was at the list and did not reach it, or there always may be one.
                return Outcome::Private;
            }
        }
        let position = match self.shelf.reclaim(frame) {
            Ok(()) => return Outcome::Reclaimed,
            Err(position) => position,
        };
        // SAFETY: this thread is the owner, and has not ended the frame.
        while !unsafe { Frame::is_done(frame) } {
            pause(position);
        }
        self.shelf.withdraw();
        Outcome::Done
    }

    /// Serves the demand: publishes the oldest private frames, so many at most. `owner` will wait for them. How many
    /// there were.
    ///
    /// # Safety
    /// Only the owner calls this.
    pub(crate) unsafe fn serve(&self, owner: *const Parker, most: usize, offer: impl FnMut(Arc<Offer>)) -> usize {
        self.signals.is_asked.store(false, Ordering::Relaxed);
        let mut gate = lock(&self.gate);
        gate.raids = 0;
        gate.swept = None;
        let newest = self.tail.load(Ordering::Relaxed);
        // SAFETY: the owner does not pop meanwhile.
        unsafe { self.publish(&mut gate, newest, owner, most, offer) }
    }

    /// Ends a fork that may wait and was popped: its offer, if it was published.
    ///
    /// # Safety
    /// Only the owner of `frame` calls this, once, when it has just popped it and found that it may be published.
    pub(crate) unsafe fn finish_offered(&self, frame: *const Frame) -> Option<Arc<Offer>> {
        let _gate = lock(&self.gate);
        // SAFETY: the owner's, and alive until its join ends.
        unsafe { Frame::is_published(frame).then(|| Frame::take_offer(frame)) }
    }

    /// Takes the list off the stack: the fiber to which it belongs leaves the thread.
    ///
    /// # Safety
    /// Only the owner calls this, when all frames are published and none is on the shelf.
    pub(crate) unsafe fn detach(&self) -> *const Frame {
        debug_assert_eq!(self.shelf.open(), 0, "what compute code has forked does not wait");
        let newest = self.newest();
        self.tail.store(ptr::null_mut(), Ordering::Relaxed);
        newest
    }

    /// Puts back what was detached.
    ///
    /// # Safety
    /// Only the owner calls this, when no frame is linked.
    pub(crate) unsafe fn attach(&self, newest: *const Frame) {
        debug_assert!(self.newest().is_null());
        // The frames came to raiders by the gate, when they were published.
        self.tail.store(newest.cast_mut(), Ordering::Release);
    }

    /// Links a piece of work that begins on this thread. The record stays where it is until `end`.
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

    /// What this thread runs now; null for the root.
    pub(crate) fn lineage(&self) -> *const Lineage {
        let gate = lock(&self.gate);
        // SAFETY: linked under the gate.
        unsafe { gate.running.as_ref() }.map_or(ptr::null(), |record| record.lineage)
    }

    /// How many broadcasts what this thread runs now is inside of, one in the other.
    #[cfg(not(loom))]
    pub(crate) fn broadcasts(&self) -> u32 {
        // SAFETY: what runs has not ended.
        unsafe { self.lineage().as_ref() }.map_or(0, Lineage::broadcasts)
    }

    // ---- everybody ----

    /// Asks the owner to publish at its next fork.
    pub(crate) fn ask(&self) {
        // Looking first keeps the line shared with the owner when others have asked already.
        if !self.is_asked() {
            self.signals.is_asked.store(true, Ordering::Relaxed);
        }
    }

    /// Withdraws a demand, from a seat that is about to be taken.
    pub(crate) fn forget_demand(&self) {
        self.signals.is_asked.store(false, Ordering::Relaxed);
    }

    /// Publishes the oldest frames for an owner that does not answer: `most` of them, and twice as many at each raid
    /// that follows, since an owner that is blocked may wait for all of them. How many there were. `roots` counts the
    /// roots that the owner's seat has had.
    ///
    /// Costs some microseconds where there may be private frames and an asymmetric barrier.
    pub(crate) fn raid(
        &self,
        owner: *const Parker,
        roots: impl FnOnce() -> u64,
        most: usize,
        offer: impl FnMut(Arc<Offer>),
    ) -> usize {
        let mut gate = lock(&self.gate);
        let newest: *const Frame = self.tail.load(Ordering::Relaxed);
        if newest.is_null() {
            return 0;
        }
        let demand = self.is_asked().then(roots);
        if self.fence == Fence::Asymmetric {
            if gate.swept.is_some() && gate.swept == demand.map(|root| (root, newest)) {
                return 0;
            }
            self.signals.is_closed.store(true, Ordering::Relaxed);
            asymmetric_fence::heavy();
        }
        let newest = self.tail.load(Ordering::Acquire);
        let most = most.saturating_mul(1 << gate.raids.min(MOST_DOUBLINGS));
        gate.raids += 1;
        // SAFETY: the stack is closed, so what is linked stays; the frames came with `tail`.
        let published = unsafe { self.publish(&mut gate, newest, owner, most, offer) };
        gate.swept = demand.filter(|_| gate.oldest.is_null()).map(|root| (root, newest.cast_const()));
        if self.fence == Fence::Asymmetric {
            self.signals.is_closed.store(false, Ordering::Release);
        }
        published
    }

    /// Traces what is private from `newest` on, and returns the oldest private frame; null if there is none.
    ///
    /// # Safety
    /// No frame of the list is popped meanwhile.
    unsafe fn trace(gate: &mut Gate, newest: *const Frame) -> *const Frame {
        let (mut frame, mut newer, mut running) = (newest, ptr::null(), gate.running);
        // SAFETY: the frames stay, by the caller's word, and so do the records of what runs, which change under the
        // gate.
        unsafe {
            while !frame.is_null() && !Frame::is_published(frame) {
                if Frame::is_traced(frame) {
                    // From here on all is as it was.
                    Frame::set_newer(frame, newer);
                    return gate.oldest;
                }
                // A frame that was there when a piece of work began is not that one's, but of what it interrupted.
                while let Some(record) = running.as_ref().filter(|record| ptr::eq(record.base.get(), frame)) {
                    running = record.outer.get();
                }
                Frame::trace(frame, newer, running.as_ref().map_or(ptr::null(), |record| record.lineage));
                newer = frame;
                frame = Frame::previous(frame);
            }
        }
        newer
    }

    /// Publishes the oldest of the private frames from `newest` on. How many.
    ///
    /// # Safety
    /// No frame of the list is popped meanwhile.
    unsafe fn publish(
        &self,
        gate: &mut Gate,
        newest: *const Frame,
        owner: *const Parker,
        most: usize,
        mut offer: impl FnMut(Arc<Offer>),
    ) -> usize {
        let mut count = 0;
        // SAFETY: the frames stay, by the caller's word. Private, and traced; what forked them is below them on the
        // stack, and goes on. One on the shelf is taken off again by its owner when it has popped it.
        unsafe {
            let mut frame = Self::trace(gate, newest);
            while count < most && !frame.is_null() {
                let newer = Frame::newer(frame);
                if Frame::may_wait(frame) {
                    offer(Frame::offer(frame));
                } else {
                    Frame::shelve(frame, owner);
                    self.shelf.publish(frame);
                }
                count += 1;
                frame = newer;
            }
            gate.oldest = frame;
        }
        count
    }
}
