//! The fork stack: the forks that a thread has open, oldest first, with a private end and a published one (the shelf).
//!
//! The idea. A fork pushes a pointer to its frame, a join pops it; both are plain stores by the owner, without a fence.
//! Slots below `head` are the *shelf*: their frames are published, and any thread may take one with a CAS on the slot
//! itself. `head` moves up by one when the owner publishes its oldest private frame, the biggest piece of work it has,
//! and it does that only when asked: the fork compares `top` with `limit`, which is the end of the stack as a rule and
//! null when the shelf wants work, so that one comparison serves both for the demand and for the overflow.
//! Split deques (Lace: van Dijk, van de Pol 2014) and private deques (Acar, Chargueraud, Rainey 2013) are the ancestors;
//! unlike theirs the state of a published job is in its slot alone, so thieves need no index that is exact.
//!
//! ```text
//!   slots   [ A|1 ][  0  ][ C|1 ][  D  ][  E  ][ .... ]
//!             ^published   ^      ^head          ^top          ^limit (or null: the shelf wants work)
//!                   taken by a thief
//! ```
//!
//! | slot      | meaning                        | next                                                              |
//! |-----------|--------------------------------|-------------------------------------------------------------------|
//! | even      | private, or left over          | owner: push overwrites it; owner or raider publish it -> `frame|1` |
//! | `frame|1` | published, nobody has it       | thief CAS -> 0 (taken), owner CAS -> 0 (reclaimed)                |
//! | 0         | taken, or never used           | `put_back` -> `frame|1`; after its join the owner pushes again    |
//!
//! Raids. An owner in a long piece of work that does not fork cannot be asked, so a thread that finds no other work may
//! publish for it. The raider moves `head` up over the slots that it wants, *then* makes every thread go through a full
//! barrier, *then* reads `top`. The owner's pop moves `top` down and *then* reads `head`. So for each slot either the raider
//! sees that it was popped, or the owner sees that somebody has a claim on it, and goes to the gate, a lock that the raider
//! holds for as long as it has not made up its mind. This is the protocol of Cilk's THE deque (Frigo, Leiserson, Randall
//! 1998) with the fence on the thief's side alone.
//!
//! Invariants: (1) A slot holds an odd value only while the frame it names is published, taken by nobody, and not over:
//! the owner does not leave a join before it has itself made the slot 0 or seen the frame done. So whoever swings an odd
//! value to 0 holds a live frame, however old the reading was that made it try (an ABA is harmless: the frame of the
//! second A is as live). (2) Joins are nested, so the published frames are those at the bottom, `[start, head)`; a join
//! that finds `head` above its slot looks again under the gate. (3) `head` changes, and frames are published, under the
//! gate alone. (4) The list of what runs on this thread changes under the gate too, so a raider can follow it.
//!
//! Orderings: publish (release) -> win the slot (acquire) carries the frame to the thief; `put_back` (release) -> the
//! owner's reclaim (acquire) carries it back. `top` (release, acquire by the raider) carries the slot and the frame to a
//! raider. `limit` carries nothing and is relaxed: a demand seen late is served late. `head` carries nothing: thieves read
//! it as a hint where to look, the owner under the barrier's guarantee.

use crate::{
    pool::frame::{Frame, Lineage, Published, Running},
    sys::{
        barrier,
        parker::Parker,
        sync::{AtomicPtr, Mutex, Ordering, lock},
    },
};
use crossbeam_utils::CachePadded;
use std::ptr;

/// One entry, see the state table of the [module](self).
pub(crate) type Slot = AtomicPtr<Frame>;

fn tagged(frame: *mut Frame) -> *mut Frame {
    frame.map_addr(|address| address | 1)
}

fn is_tagged(entry: *mut Frame) -> bool {
    entry.addr() & 1 == 1
}

fn untagged(entry: *mut Frame) -> *mut Frame {
    entry.map_addr(|address| address & !1)
}

/// What the lock of publication guards: `head`, the publications, and what runs on this thread, the innermost first.
struct Gate {
    running: *const Running,
}

/// What the owner reads at each fork and join and others write now and then.
struct Demand {
    limit: AtomicPtr<Slot>,
    head: AtomicPtr<Slot>,
}

/// See the [module](self).
pub(crate) struct ForkStack {
    /// The first free slot. Alone on its line: the owner writes it at each fork, and only a raider looks at it.
    top: CachePadded<AtomicPtr<Slot>>,
    demand: CachePadded<Demand>,
    gate: Mutex<Gate>,
    start: *mut Slot,
    end: *mut Slot,
}

// SAFETY: all that is shared is atomic or behind the gate, where the records of what runs live as long as they are linked;
// `start` and `end` point to an array that the stack owns and frees in `drop`.
unsafe impl Send for ForkStack {}
// SAFETY: as above. Methods that only the owner may call say so and are unsafe.
unsafe impl Sync for ForkStack {}

/// What became of a published fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The owner has it back and must run it.
    Reclaimed,
    /// A thief has run it.
    Done,
}

/// A published frame that this thread has won. It must be run or put back.
#[must_use]
pub(crate) struct Claim {
    pub(crate) frame: *const Frame,
    slot: *const Slot,
}

impl ForkStack {
    /// A stack without room: every fork on it takes the slow path. It stands for "this thread is in no pool".
    #[cfg(not(loom))]
    pub(crate) const fn closed() -> Self {
        Self {
            top: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
            demand: CachePadded::new(Demand {
                limit: AtomicPtr::new(ptr::null_mut()),
                head: AtomicPtr::new(ptr::null_mut()),
            }),
            gate: Mutex::new(Gate { running: ptr::null() }),
            start: ptr::null_mut(),
            end: ptr::null_mut(),
        }
    }

    pub(crate) fn new(capacity: usize) -> Self {
        let slots = allocate(capacity);
        let start = slots.cast::<Slot>();
        // SAFETY: one past the end of the array that was just made.
        let end = unsafe { start.add(capacity) };
        Self {
            top: CachePadded::new(AtomicPtr::new(start)),
            demand: CachePadded::new(Demand { limit: AtomicPtr::new(end), head: AtomicPtr::new(start) }),
            gate: Mutex::new(Gate { running: ptr::null() }),
            start,
            end,
        }
    }

    // ---- the owner ----

    /// Pushes a frame unless the slow path has to be asked first: the shelf wants work, or the stack is full.
    ///
    /// # Safety
    /// Only the owner calls this, and it pops the slot before `frame` ends.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, frame: *const Frame) -> Option<*const Slot> {
        let top = self.top.load(Ordering::Relaxed);
        if top >= self.demand.limit.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: `limit` is never above `end`, so `top` is a slot.
        unsafe { self.push_at(top, frame) };
        Some(top)
    }

    /// As [`push`](Self::push), whatever the demand; `None` when the stack is full.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn push_unasked(&self, frame: *const Frame) -> Option<*const Slot> {
        let top = self.top.load(Ordering::Relaxed);
        if top >= self.end {
            return None;
        }
        // SAFETY: below `end`.
        unsafe { self.push_at(top, frame) };
        Some(top)
    }

    #[inline(always)]
    unsafe fn push_at(&self, top: *mut Slot, frame: *const Frame) {
        // SAFETY: the caller says that `top` is a slot, so one past it is in the array or its end.
        unsafe {
            (*top).store(frame.cast_mut(), Ordering::Relaxed);
            self.top.store(top.add(1), Ordering::Release);
        }
    }

    /// Pops down to `slot`. Whether its frame is private beyond doubt: then it is the owner's, and nobody has seen it.
    /// Otherwise [`finish`](Self::finish) has to follow.
    ///
    /// # Safety
    /// Only the owner calls this, with a slot that it pushed and has not popped.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, slot: *const Slot) -> bool {
        self.top.store(slot.cast_mut(), Ordering::Relaxed);
        barrier::light();
        self.demand.head.load(Ordering::Relaxed).cast_const() <= slot
    }

    /// Ends a fork that was popped and may be published: takes it back, or waits until a thief has run it. `pause` is called
    /// between two looks; it may return at any time, and must do so when this thread is unparked.
    ///
    /// # Safety
    /// Only the owner of `frame` calls this, with the slot that it pushed it to and has just popped.
    pub(crate) unsafe fn finish(&self, slot: *const Slot, frame: *const Frame, mut pause: impl FnMut()) -> Outcome {
        // SAFETY: a slot of this stack, by the caller's word.
        let entry = unsafe { &*slot };
        {
            let _gate = lock(&self.gate);
            if self.demand.head.load(Ordering::Relaxed).cast_const() <= slot {
                // A raider had a claim on the slot and found it popped.
                return Outcome::Reclaimed;
            }
            if self.reclaim(entry, frame) {
                self.demand.head.store(slot.cast_mut(), Ordering::Relaxed);
                return Outcome::Reclaimed;
            }
            // SAFETY: the slot was pushed, so one past it is in the array or its end. It is kept during the wait, and forks
            // go above it, because whoever took the frame may put it back.
            self.top.store(unsafe { slot.add(1) }.cast_mut(), Ordering::Relaxed);
        }
        let outcome = loop {
            // SAFETY: this thread is the owner, and has not ended the frame.
            if unsafe { Frame::is_done(frame) } {
                break Outcome::Done;
            }
            if self.reclaim(entry, frame) {
                break Outcome::Reclaimed;
            }
            pause();
        };
        let _gate = lock(&self.gate);
        self.top.store(slot.cast_mut(), Ordering::Relaxed);
        self.demand.head.store(slot.cast_mut(), Ordering::Relaxed);
        outcome
    }

    fn reclaim(&self, slot: &Slot, frame: *const Frame) -> bool {
        let published = tagged(frame.cast_mut());
        // Looking first: a waiting owner asks again and again, and should not take the line from a thief each time.
        slot.load(Ordering::Relaxed) == published
            && slot.compare_exchange(published, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Publishes the oldest private frame, for which `owner` will wait. `false`: there is none.
    ///
    /// # Safety
    /// Only the owner calls this.
    pub(crate) unsafe fn publish_oldest(&self, owner: *const Parker) -> bool {
        let gate = lock(&self.gate);
        let head = self.demand.head.load(Ordering::Relaxed);
        if head >= self.top.load(Ordering::Relaxed) {
            return false;
        }
        // SAFETY: a slot between `head` and `top` holds a private frame, which the owner does not pop meanwhile, and nobody
        // else publishes, under the gate.
        unsafe {
            self.demand.head.store(head.add(1), Ordering::Relaxed);
            self.publish(&gate, head, owner);
        }
        true
    }

    /// # Safety
    /// The slot holds a private frame that stays open, and `head` is above it already.
    unsafe fn publish(&self, gate: &Gate, slot: *mut Slot, owner: *const Parker) {
        // SAFETY: the caller's word; the records are linked, since that changes under the gate alone.
        unsafe {
            let frame = (*slot).load(Ordering::Relaxed);
            let parent = Running::lineage_at(gate.running, self.depth_of(slot));
            Frame::prepare(frame, Published::new(parent, owner));
            (*slot).store(tagged(frame), Ordering::Release);
        }
    }

    /// Links a piece of work that begins on this thread. The record stays where it is until `end`.
    pub(crate) fn begin(&self, record: &Running) {
        let mut gate = lock(&self.gate);
        record.outer.set(gate.running);
        record.base.set(self.depth());
        gate.running = record;
    }

    /// Unlinks the piece of work that began last.
    pub(crate) fn end(&self, record: &Running) {
        lock(&self.gate).running = record.outer.get();
    }

    /// What this thread runs now; null for the root.
    pub(crate) fn lineage(&self) -> *const Lineage {
        // SAFETY: linked under the gate.
        unsafe { Running::lineage_at(lock(&self.gate).running, usize::MAX) }
    }

    /// Whether somebody asked for work, or the stack is closed. A loop asks this between two blocks.
    #[inline(always)]
    pub(crate) fn is_asked(&self) -> bool {
        self.demand.limit.load(Ordering::Relaxed).is_null()
    }

    /// Withdraws the demand.
    pub(crate) fn serve(&self) {
        self.demand.limit.store(self.end, Ordering::Relaxed);
    }

    /// How many forks are open.
    pub(crate) fn depth(&self) -> usize {
        self.depth_of(self.top.load(Ordering::Relaxed))
    }

    pub(crate) fn depth_of(&self, slot: *const Slot) -> usize {
        (slot.addr() - self.start.addr()) / size_of::<Slot>()
    }

    // ---- everybody ----

    /// Asks the owner to publish at its next fork.
    pub(crate) fn ask(&self) {
        // Looking first keeps the line shared with the owner when others have asked already.
        if !self.is_asked() {
            self.demand.limit.store(ptr::null_mut(), Ordering::Relaxed);
        }
    }

    /// Publishes up to `most` frames, the oldest, for an owner that does not answer. How many there were.
    ///
    /// To be called only where [`barrier::heavy`] works, which costs some microseconds; without private frames it is not
    /// paid.
    pub(crate) fn raid(&self, owner: *const Parker, most: usize) -> usize {
        let gate = lock(&self.gate);
        let head = self.demand.head.load(Ordering::Relaxed);
        if head >= self.top.load(Ordering::Relaxed) {
            return 0;
        }
        let most = most.min((self.end.addr() - head.addr()) / size_of::<Slot>());
        // SAFETY: at most `end`.
        let claimed = unsafe { head.add(most) };
        self.demand.head.store(claimed, Ordering::Relaxed);
        barrier::heavy();
        let open = self.top.load(Ordering::Acquire).min(claimed);
        let mut next = head;
        while next < open {
            // SAFETY: the slot was not popped when `top` was read, and the owner that pops it now finds `head` above it and
            // waits at the gate. Its frame came with `top`.
            unsafe {
                self.publish(&gate, next, owner);
                next = next.add(1);
            }
        }
        self.demand.head.store(next, Ordering::Relaxed);
        (next.addr() - head.addr()) / size_of::<Slot>()
    }

    /// Takes the oldest published frame that lies at `from` or above. Its index comes with it.
    pub(crate) fn take_oldest(&self, from: usize) -> Option<(usize, Claim)> {
        let shelf = self.shelf();
        for (index, slot) in shelf.iter().enumerate().skip(from) {
            let entry = slot.load(Ordering::Relaxed);
            if is_tagged(entry)
                && slot.compare_exchange(entry, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return Some((index, Claim { frame: untagged(entry), slot }));
            }
        }
        None
    }

    /// The lowest slot at `from` or above whose frame somebody has taken.
    pub(crate) fn first_taken(&self, from: usize) -> Option<usize> {
        self.shelf()
            .iter()
            .enumerate()
            .skip(from)
            .find(|(_, slot)| slot.load(Ordering::Relaxed).is_null())
            .map(|(i, _)| i)
    }

    /// Whether a look at the shelf is worth while.
    pub(crate) fn has_published(&self) -> bool {
        self.shelf().iter().any(|slot| is_tagged(slot.load(Ordering::Relaxed)))
    }

    /// The slots that held published frames a moment ago.
    fn shelf(&self) -> &[Slot] {
        let head = self.demand.head.load(Ordering::Relaxed);
        if head.is_null() {
            return &[];
        }
        // SAFETY: `head` always lies within the array.
        unsafe { std::slice::from_raw_parts(self.start, self.depth_of(head)) }
    }
}

impl Claim {
    /// Gives the frame back to the shelf and tells its owner, who may be waiting for it.
    pub(crate) fn put_back(self) {
        // SAFETY: the frame is taken, so its owner waits in its join, and the slot is not used for another. Both the slot
        // and the parker belong to a worker of the pool and outlive the frame, which may be gone after the store.
        unsafe {
            let owner = Frame::owner(self.frame);
            (*self.slot).store(tagged(self.frame.cast_mut()), Ordering::Release);
            (*owner).unpark();
        }
    }

    /// Runs the frame and tells its owner.
    pub(crate) fn run(self) {
        // SAFETY: this claim is the proof that the slot was won, and it is used up here.
        unsafe { Frame::run(self.frame) }
    }
}

/// An array of empty slots that takes no memory before it is used.
#[cfg(not(loom))]
fn allocate(capacity: usize) -> *mut [Slot] {
    // SAFETY: all bits zero are a null `AtomicPtr`.
    Box::into_raw(unsafe { Box::<[Slot]>::new_zeroed_slice(capacity).assume_init() })
}

#[cfg(loom)]
fn allocate(capacity: usize) -> *mut [Slot] {
    Box::into_raw((0..capacity).map(|_| Slot::default()).collect())
}

impl Drop for ForkStack {
    fn drop(&mut self) {
        if !self.start.is_null() {
            let slots = ptr::slice_from_raw_parts_mut(self.start, self.depth_of(self.end));
            // SAFETY: made by `allocate` with this length, and freed only here.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}
