//! Waiting at a stream: for a value, or for room.

use super::{
    inlet::Inlet,
    outlet::Outlet,
    position::Position,
    slab::{EMPTY, FULL},
};
use crate::{
    channel::word::{Content, Sleeper},
    sys::sync::Ordering,
    wait::waiter::Waiter,
};

/// Leaves an address at a slot, unless the stream is closed.
///
/// # Safety
/// As for [`Word::register`].
unsafe fn register<T>(
    at: &Position<T>,
    number: Content,
    sleeper: &Sleeper,
    waiter: *const Waiter,
    ticket: u32,
) -> bool {
    let word = &at.slot().word;
    // SAFETY: the caller's word.
    let is_registered = unsafe { word.register(number, sleeper, waiter, ticket) };
    is_registered && !(at.shared().is_closed.load(Ordering::SeqCst) && word.withdraw(number, sleeper))
}

/// The sender's wait for room, and the receiver's for a value.
///
/// Their owner neither moves the end nor drops it while they are registered.
pub(crate) struct StreamWait {
    sleeper: Sleeper,
}

impl StreamWait {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { sleeper: Sleeper::new() }
    }

    /// # Safety
    /// As for [`Place::register`](crate::wait::place::Place::register).
    #[inline]
    pub(crate) unsafe fn register_inlet<T>(&self, inlet: &Inlet<T>, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word. Only the sender waits for the end of FULL.
        unsafe { register(&inlet.at, FULL, &self.sleeper, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::place::Place::unregister).
    #[inline]
    pub(crate) unsafe fn unregister_inlet<T>(&self, inlet: &Inlet<T>, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { inlet.at.slot().word.unregister(FULL, &self.sleeper, has_decided) }
    }

    /// # Safety
    /// As for [`Place::register`](crate::wait::place::Place::register).
    #[inline]
    pub(crate) unsafe fn register_outlet<T>(&self, outlet: &Outlet<T>, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word. Only the receiver waits for the end of EMPTY.
        unsafe { register(&outlet.at, EMPTY, &self.sleeper, waiter, ticket) }
    }

    /// Takes the receiver's address out again. `false`: it is not where the receiver is now.
    pub(crate) fn withdraw_outlet<T>(&self, outlet: &Outlet<T>) -> bool {
        outlet.at.slot().word.withdraw(EMPTY, &self.sleeper)
    }

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::place::Place::unregister).
    #[inline]
    pub(crate) unsafe fn unregister_outlet<T>(&self, outlet: &Outlet<T>, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { outlet.at.slot().word.unregister(EMPTY, &self.sleeper, has_decided) }
    }
}
