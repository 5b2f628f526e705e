//! A bias: while both sides of something are used by one thread, that thread uses it without read-modify-writes.
//!
//! The idea, from biased locking: what two sides share by atomic updates is often used by one thread alone, on which the
//! fibers of both run. Such a thread becomes the *owner*, and may then do by a load and a store what otherwise has to be one
//! update, in a fraction of the time. It says when it is in the middle of that ([`enter`](Bias::enter)). A side that comes to another
//! thread takes the bias away first, for good, and waits for the owner to come out ([`share`](Bias::share)); from then on all
//! make atomic updates. For good, because a bias that comes and goes costs each time what it may never save.
//!
//! Each side leaves word where it is used, in `homes`, before its first update there; so a thread that finds both at home may
//! become the owner.
//!
//! | owner    | meaning                                                  | left by                                        |
//! |----------|----------------------------------------------------------|------------------------------------------------|
//! | NONE     | atomic updates                                           | a thread that finds both sides at home -> that thread; `end` -> ENDED |
//! | a thread | it loads and stores; all others come to an end with that first | a side on another thread -> ENDING; the owner -> ENDED |
//! | ENDING   | the owner may be inside                                  | whoever finds it outside -> ENDED              |
//! | ENDED    | atomic updates, for good                                 |                                                |
//!
//! Orderings. Twice Dekker's pattern. A thread that would be the owner writes `owner` and reads the other's home; a side that
//! comes elsewhere writes its home and reads `owner`; both with full fences, for both are rare. The owner that goes in writes
//! `is_inside` and reads `owner`; the other side writes `owner` and reads `is_inside`. Here the owner comes often and its
//! fence is free, the other pays for both, see [`barrier`](super::barrier); where there is no such barrier nobody becomes an owner.
//! To come out releases what the owner has done, and the other acquires it. ENDED is released by one who has seen the owner
//! outside, and acquired by all who see it.
//!
//! A thread is known by the address of something that is local to it. The next thread at that address goes on for one that
//! has ended, which was in the middle of nothing.
//!
//! Source: Kawachiya, Koseki, Onodera: Lock Reservation (2002); Dice, Huang, Yang: Asymmetric Dekker Synchronization (2001).

use crate::sys::{
    barrier,
    sync::{AtomicBool, AtomicPtr, Ordering, full_fence, spin_while},
    thread::identity,
};
use std::{cell::Cell, ptr};

/// By what a thread is known.
type Thread = *mut ();

const NONE: Thread = ptr::null_mut();
const ENDING: Thread = ptr::without_provenance_mut(1);
const ENDED: Thread = ptr::without_provenance_mut(2);

/// See the [module](self).
pub(crate) struct Bias {
    owner: AtomicPtr<()>,
    /// The owner's.
    is_inside: AtomicBool,
    homes: [AtomicPtr<()>; 2],
}

/// One of the two sides. For whoever uses it, one thread at a time.
pub(crate) struct Side {
    index: usize,
    home: Cell<Thread>,
}

/// The calling thread is inside: nobody makes atomic updates until this is dropped.
pub(crate) struct Inside<'a>(&'a Bias);

impl Side {
    /// The two sides.
    pub(crate) fn both() -> [Self; 2] {
        [0, 1].map(|index| Self { index, home: Cell::new(NONE) })
    }
}

impl Bias {
    pub(crate) fn new() -> Self {
        Self {
            owner: AtomicPtr::new(NONE),
            is_inside: AtomicBool::new(false),
            homes: [AtomicPtr::new(NONE), AtomicPtr::new(NONE)],
        }
    }

    /// `Some` if this thread is the owner: no other makes an update while it is inside.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Inside<'_>> {
        let me = identity();
        if self.owner.load(Ordering::Relaxed) != me {
            return None;
        }
        self.is_inside.store(true, Ordering::Relaxed);
        let inside = Inside(self);
        barrier::light();
        (self.owner.load(Ordering::Relaxed) == me).then_some(inside)
    }

    /// Whether this thread is the owner. Then only it makes changes, until it does something else.
    #[inline(always)]
    pub(crate) fn is_mine(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == identity()
    }

    /// Before atomic updates by a side: no other thread is the owner afterwards, nor becomes it before this side comes to it.
    #[inline]
    pub(crate) fn share(&self, side: &Side) {
        let me = identity();
        if side.home.get() != me {
            self.homes[side.index].store(me, Ordering::Relaxed);
            side.home.set(me);
            full_fence();
        }
        let owner = self.owner.load(Ordering::Acquire);
        if owner == NONE {
            if self.homes[1 - side.index].load(Ordering::Relaxed) == me {
                self.own(side);
            }
        } else if owner != ENDED && owner != me {
            self.take_away();
        }
    }

    /// There are atomic updates alone from here on.
    pub(crate) fn end(&self, side: &Side) {
        self.share(side);
        self.owner.store(ENDED, Ordering::Release);
    }

    #[cold]
    fn take_away(&self) {
        self.owner.store(ENDING, Ordering::Relaxed);
        barrier::heavy();
        spin_while(|| self.is_inside.load(Ordering::Acquire));
        self.owner.store(ENDED, Ordering::Release);
    }

    /// Both sides are here: this thread becomes the owner, unless one of them is just going.
    #[cold]
    fn own(&self, side: &Side) {
        if !barrier::is_available() {
            return;
        }
        note_owner();
        let me = identity();
        self.owner.store(me, Ordering::Relaxed);
        full_fence();
        if self.homes[1 - side.index].load(Ordering::Relaxed) != me {
            self.owner.store(ENDED, Ordering::Release);
        }
    }
}

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.is_inside.store(false, Ordering::Release);
    }
}

/// Whether there ever was an owner in this process.
#[cfg(not(any(loom, shuttle)))]
static IS_USED: AtomicBool = AtomicBool::new(false);

fn note_owner() {
    #[cfg(not(any(loom, shuttle)))]
    if !IS_USED.load(Ordering::Relaxed) && !IS_USED.swap(true, Ordering::Relaxed) {
        full_fence();
    }
}

/// A full fence, also for threads that own something and therefore make none between a store and a load: the rare side of a
/// pattern of Dekker's whose other side makes a read-modify-write, or is an owner.
///
/// Whoever finds that there never was one comes before the fence of the first, by the order of the two fences.
pub(crate) fn fence_owners() {
    full_fence();
    #[cfg(not(any(loom, shuttle)))]
    if IS_USED.load(Ordering::Relaxed) {
        barrier::heavy();
    }
}
