//! A bias: a thread that is the only user of an object needs no read-modify-writes.
//!
//! The idea, from biased locking: often only one thread uses an object that threads share by atomic updates, since all
//! fibers that use it run there. Such a thread becomes the *owner*. It may then replace an update by a load and a
//! store, in a fraction of the time. It sets a flag while it does so ([`enter`](Bias::enter)). Another thread first
//! revokes the bias ([`revoke`](Bias::revoke)), and waits until the owner has cleared the flag.
//!
//! The user of the bias decides when a thread becomes the owner, and ensures that no other thread is in the middle of
//! an update then: see [`pair`](crate::bias::pair), where two sides share an object. It claims a bias late, since to
//! revoke it costs as much as hundreds of updates. A bias is revoked for good: one that comes and goes costs each time
//! what it may never save.
//!
//! | owner    | meaning                                                  | left by                                        |
//! |----------|----------------------------------------------------------|------------------------------------------------|
//! | NONE     | atomic updates                                           | `claim` -> a thread; `end` -> ENDED            |
//! | a thread | it loads and stores; others revoke the bias first        | `revoke` -> ENDING; `end`, by the owner -> ENDED |
//! | ENDING   | the owner may be inside                                  | a thread that finds it outside -> ENDED        |
//! | ENDED    | atomic updates, for good                                 |                                                |
//!
//! Orderings. To enter is Dekker's pattern: the owner writes `is_inside` and reads `owner`; the revoking thread writes
//! `owner` and reads `is_inside`. The owner enters often and its fence is free; the revoking thread pays for both, see
//! [`barrier`](crate::sys::asymmetric_fence). Where there is no such barrier, no thread becomes an owner. To leave
//! releases what the owner has done, and the revoking thread acquires it. A thread that has seen the owner outside
//! releases ENDED, and every thread that sees ENDED acquires it.
//!
//! A thread is identified by the address of a thread-local. If a later thread gets the same address, it continues as
//! the owner; the ended thread was not inside.
//!
//! Source: Kawachiya, Koseki, Onodera: Lock Reservation (2002); Dice, Huang, Yang: Asymmetric Dekker Synchronization
//! (2001).

use crate::sys::{
    asymmetric_fence,
    sync::{AtomicBool, AtomicPtr, Ordering, spin_while},
    thread::identity,
};
use std::ptr;

/// The identity of a thread.
pub(crate) type Thread = *mut ();

const NONE: Thread = ptr::null_mut();
const ENDING: Thread = ptr::without_provenance_mut(1);
const ENDED: Thread = ptr::without_provenance_mut(2);

/// See the [module](self).
pub(crate) struct Bias {
    owner: AtomicPtr<()>,
    /// Written by the owner.
    is_inside: AtomicBool,
}

/// The calling thread is inside: no other thread makes atomic updates until this is dropped.
pub(crate) struct Inside<'a>(&'a Bias);

/// The owner of a bias, as the calling thread sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    None,
    Me,
    Another,
    /// There will never be an owner again.
    Ended,
}

impl Bias {
    pub(crate) fn new() -> Self {
        Self { owner: AtomicPtr::new(NONE), is_inside: AtomicBool::new(false) }
    }

    /// Returns `Some` if this thread is the owner: no other makes an update while it is inside.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Inside<'_>> {
        let me = identity();
        if self.owner.load(Ordering::Relaxed) != me {
            return None;
        }
        self.is_inside.store(true, Ordering::Relaxed);
        let inside = Inside(self);
        asymmetric_fence::light();
        // If another thread has revoked the bias meanwhile, dropping the guard clears the mark.
        (self.owner.load(Ordering::Relaxed) == me).then_some(inside)
    }

    /// Returns whether this thread is the owner. Then no other makes changes until this thread does something else.
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

    /// Makes this thread the owner, if there can be owners. The caller ensures that there is no owner, and that no
    /// other thread claims the bias now.
    pub(crate) fn claim(&self) {
        if asymmetric_fence::is_available() {
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

    /// Revokes the bias of another thread. Afterwards all threads make atomic updates.
    #[cold]
    pub(crate) fn revoke(&self) {
        self.set_owner(ENDING, Ordering::Relaxed);
        asymmetric_fence::heavy();
        spin_while(|| self.is_inside.load(Ordering::Acquire));
        self.end();
    }

    /// Ends the bias for good. Only the owner calls this, or any thread where there is no owner.
    pub(crate) fn end(&self) {
        self.set_owner(ENDED, Ordering::Release);
    }
}

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.is_inside.store(false, Ordering::Release);
    }
}
