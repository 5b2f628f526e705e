//! A bias: a thread that is alone with something uses it without read-modify-writes.
//!
//! The idea, from biased locking: what threads share by atomic updates is often used by one of them alone, on which all
//! the fibers run that have to do with it. Such a thread becomes the *owner*, and may then do by a load and a store
//! what otherwise has to be one update, in a fraction of the time. It says when it is in the middle of that
//! ([`enter`](Bias::enter)). Whoever comes from another thread takes the bias away first ([`revoke`](Bias::revoke)),
//! and waits for the owner to come out.
//!
//! How a thread comes to be the owner, and that no other is in the middle of something then, is for the room that has
//! the bias to see to: [`sides`](crate::bias::pair), where two sides share something, and
//! [`biased_lock`](crate::bias::lock). Both are in no hurry: to take a bias away costs as much as thousands of updates.
//! And it is taken away for good, because one that comes and goes costs each time what it may never save.
//!
//! | owner    | meaning                                                  | left by                                        |
//! |----------|----------------------------------------------------------|------------------------------------------------|
//! | NONE     | atomic updates                                           | `claim` -> a thread; `end` -> ENDED            |
//! | a thread | it loads and stores; others take the bias away first     | `revoke` -> ENDING; `end`, by the owner -> ENDED |
//! | ENDING   | the owner may be inside                                  | whoever finds it outside -> ENDED              |
//! | ENDED    | atomic updates, for good                                 |                                                |
//!
//! Orderings. To go in is Dekker's pattern: the owner writes `is_inside` and reads `owner`; who takes the bias away
//! writes `owner` and reads `is_inside`. The owner comes often and its fence is free, the other pays for both, see
//! [`barrier`](crate::sys::asymmetric_fence); where there is no such barrier nobody becomes an owner. To come out
//! releases what the owner has done, and the other acquires it. ENDED is released by one who has seen the owner
//! outside, and acquired by all who see it.
//!
//! A thread is known by the address of something that is local to it. The next thread at that address goes on for one
//! that has ended, which was in the middle of nothing.
//!
//! Source: Kawachiya, Koseki, Onodera: Lock Reservation (2002); Dice, Huang, Yang: Asymmetric Dekker Synchronization
//! (2001).

use crate::{
    bias::policy,
    sys::{
        asymmetric_fence,
        sync::{AtomicBool, AtomicPtr, Ordering, spin_while},
        thread::identity,
    },
};
use std::{mem::ManuallyDrop, ptr};

/// By what a thread is known.
pub(crate) type Thread = *mut ();

const NONE: Thread = ptr::null_mut();
const ENDING: Thread = ptr::without_provenance_mut(1);
const ENDED: Thread = ptr::without_provenance_mut(2);

/// See the [module](self).
pub(crate) struct Bias {
    owner: AtomicPtr<()>,
    /// The owner's.
    is_inside: AtomicBool,
}

/// The calling thread is inside: nobody makes atomic updates until this is dropped.
pub(crate) struct Inside<'a>(&'a Bias);

/// Who has a bias, as the calling thread sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    None,
    Me,
    Another,
    /// Nobody ever again.
    Ended,
}

impl Bias {
    pub(crate) fn new() -> Self {
        Self { owner: AtomicPtr::new(NONE), is_inside: AtomicBool::new(false) }
    }

    /// `Some` if this thread is the owner: no other makes an update while it is inside.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Inside<'_>> {
        self.enter_by(|mark| mark.store(true, Ordering::Relaxed))
    }

    /// As [`enter`](Self::enter), by a read-modify-write if this thread is the owner.
    #[inline]
    pub(crate) fn enter_by_update(&self) -> Option<Inside<'_>> {
        self.enter_by(|mark| _ = mark.swap(true, Ordering::Relaxed))
    }

    #[inline(always)]
    fn enter_by(&self, set: impl FnOnce(&AtomicBool)) -> Option<Inside<'_>> {
        let me = identity();
        if self.owner.load(Ordering::Relaxed) != me {
            return None;
        }
        set(&self.is_inside);
        let inside = Inside(self);
        asymmetric_fence::light();
        // If another has taken the bias away meanwhile the mark goes with the guard.
        (self.owner.load(Ordering::Relaxed) == me).then_some(inside)
    }

    /// Whether this thread is the owner. Then no other makes changes before it does something else.
    #[inline(always)]
    pub(crate) fn is_mine(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == identity()
    }

    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.owner.load(Ordering::Acquire) == ENDED
    }

    #[inline]
    pub(crate) fn owner(&self) -> Owner {
        match self.owner.load(Ordering::Acquire) {
            NONE => Owner::None,
            ENDED => Owner::Ended,
            owner if owner == identity() => Owner::Me,
            _ => Owner::Another,
        }
    }

    /// Makes this thread the owner, if there can be owners. There is none, and no other thread claims the bias now.
    pub(crate) fn claim(&self) {
        if asymmetric_fence::is_available() {
            policy::note_claim();
            self.set_owner(identity(), Ordering::Relaxed);
        } else {
            self.end();
        }
    }

    fn set_owner(&self, owner: Thread, ordering: Ordering) {
        // loom lets a thread see an older store of its own again if another stored in between.
        if cfg!(loom) {
            self.owner.swap(owner, ordering);
        } else {
            self.owner.store(owner, ordering);
        }
    }

    /// Takes the bias away from another thread. Afterwards all make atomic updates.
    #[cold]
    pub(crate) fn revoke(&self) {
        policy::note_theft();
        self.set_owner(ENDING, Ordering::Relaxed);
        asymmetric_fence::heavy();
        spin_while(|| self.is_inside.load(Ordering::Acquire));
        self.end();
    }

    /// There is no owner from here on. By the owner, or where there is none.
    pub(crate) fn end(&self) {
        self.set_owner(ENDED, Ordering::Release);
    }
}

impl<'a> Inside<'a> {
    /// The mark that says so, and that whoever takes it unsets, with release.
    #[inline(always)]
    pub(crate) fn into_mark(self) -> &'a AtomicBool {
        &ManuallyDrop::new(self).0.is_inside
    }
}

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.is_inside.store(false, Ordering::Release);
    }
}
