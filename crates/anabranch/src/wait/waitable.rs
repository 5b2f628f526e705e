//! Places: where a waiter leaves its address, and who may take it.

use crate::wait::waiter::{Outcome, Waiter, Wake};

/// Something that a strand can wait for.
///
/// Waiting is a loop: try what is wanted; if it cannot be had, `register`, and suspend; when woken, `unregister` and
/// see. A place may also hand over what is wanted when it decides the wait; its owner then finds it in the entry, and
/// passes it on if it ends with it untaken.
///
/// # Safety
/// A place that has accepted an address decides that wait before it lets go of the address by itself, and does so with
/// the ticket it was given; after `unregister` it does not have the address any more.
///
/// `register` makes a read-modify-write, of whatever, before it returns `true`: see
/// [`fence_after_update`](crate::sys::sync::fence_after_update), which follows.
pub(crate) unsafe trait Place {
    /// Leaves the address of a waiter. `false`: there is no need to wait, try again. Nothing is consumed by this.
    ///
    /// # Safety
    /// The waiter is armed, and stays alive until `unregister`, which follows if this returned `true`. The place does
    /// not move in between.
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool;

    /// As [`register`](Self::register), but without any read-modify-write, if nobody but this thread uses the place:
    /// for a waiter that is armed to wait [here](crate::wait::waiter). `false`: the place is not such a one, or there
    /// is no need to wait.
    ///
    /// # Safety
    /// As for `register`, and this is the waiter's thread.
    #[inline(always)]
    unsafe fn register_here(&self, _waiter: *const Waiter) -> bool {
        false
    }

    /// Takes the address out. `has_decided`: it was this place that ended the wait. May wait for somebody who is just
    /// deciding.
    ///
    /// # Safety
    /// Follows a `register` that returned `true`, once the wait has ended.
    unsafe fn unregister(&self, has_decided: bool);

    /// Whether a fiber that unwinds waits here, and blocks its thread: what is locked is soon unlocked, and a
    /// destructor that cannot lock has no way to go on. Elsewhere its waits are cancelled, as its scope is about to be.
    fn is_lock(&self) -> bool {
        false
    }

    /// As `register`, for a standing waiter, which is in no scope that could be cancelled meanwhile: so it need not
    /// make a read-modify-write.
    ///
    /// # Safety
    /// As there.
    #[inline]
    unsafe fn listen(&self, waiter: *const Waiter) -> bool {
        // SAFETY: the caller's word.
        unsafe { self.register(waiter, 0) }
    }
}

/// What a place keeps of a waiter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Address {
    pub(crate) waiter: *const Waiter,
    pub(crate) ticket: u32,
}

impl Address {
    /// Ends the wait for the place that holds this address.
    ///
    /// # Safety
    /// As for [`Waiter::decide`].
    #[inline]
    pub(crate) unsafe fn decide(self) -> Option<Wake> {
        // SAFETY: the caller's word.
        unsafe { Waiter::decide(self.waiter, Outcome::Ready(self.ticket)) }
    }
}
