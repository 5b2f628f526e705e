//! Waitables: what a waiter registers its address at, and what a waitable may do with it.

use crate::wait::waiter::{Selected, Waiter, Wake};

/// Something that a fiber, a thread or a future can wait for.
///
/// Waiting is a loop. The waiter attempts the operation. If that fails, it calls `register` and suspends; when woken,
/// it calls `unregister` and attempts again. A waitable may also hand over a value when it ends the wait. The owner
/// then finds the value in the entry, and passes it on if it drops the entry without taking it.
///
/// An attempt comes before each `register`, so an operation that has completed is registered only after another attempt
/// has failed. An operation that completes once either completes again at each attempt or panics there. Its `register`
/// refuses, because the channel may already have freed what it would register at.
///
/// # Safety
/// A waitable that has accepted an address ends that wait before it drops the address by itself, and passes the
/// ticket that it was given. After `unregister` it does not hold the address any more.
///
/// `register` performs an atomic read-modify-write, of any location, before it returns `true`: the caller follows it by
/// [`fence_after_update`](crate::sys::sync::fence_after_update).
pub(crate) unsafe trait Waitable {
    /// Registers the address of a waiter. Returns `false` if there is no need to wait: the caller attempts again.
    /// Consumes nothing.
    ///
    /// # Safety
    /// The waiter is armed, and stays alive until `unregister`, which follows if this returned `true`. The waitable
    /// does not move in between.
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool;

    /// Registers the address of a waiter that is armed for a [local wait](crate::wait::waiter), without any atomic
    /// read-modify-write. Returns `false` if other threads may use the waitable, or if there is no need to wait.
    ///
    /// # Safety
    /// As for `register`, and this is the waiter's thread.
    #[inline(always)]
    unsafe fn register_local(&self, _waiter: *const Waiter) -> bool {
        false
    }

    /// Removes the address. `is_selected` says that this waitable ended the wait. May spin while another thread ends
    /// the wait.
    ///
    /// # Safety
    /// The caller calls this once after a `register` that returned `true`, when the wait has ended.
    unsafe fn unregister(&self, is_selected: bool);

    /// Returns whether a fiber that unwinds may wait for this, which blocks its thread. That holds for locks: they are
    /// soon unlocked, and a destructor that cannot lock has no way to continue. Other waits of such a fiber are
    /// cancelled, as its scope is about to be.
    fn is_lock(&self) -> bool {
        false
    }

    /// Registers a persistent waiter. It is in no scope that could be cancelled meanwhile, so no atomic
    /// read-modify-write is needed.
    ///
    /// # Safety
    /// The waiter stays alive until it has been woken or removed. The waitable does not move in between.
    #[inline]
    unsafe fn register_persistent(&self, waiter: *const Waiter) -> bool {
        // SAFETY: the caller keeps the waiter alive until it is woken or removed. A persistent waiter needs no arming.
        unsafe { self.register(waiter, 0) }
    }
}

/// Implements [`Waitable`] by a field that is one itself: `waits_by!(field: Type<T>, [T])`.
macro_rules! waits_by {
    ($field:tt: $type:ty $(, [$($generics:tt)*])?) => {
        // SAFETY: the field upholds the contract of `Waitable`, and every call is forwarded to it.
        unsafe impl $(<$($generics)*>)? $crate::wait::waitable::Waitable for $type {
            unsafe fn register(&self, waiter: *const $crate::wait::waiter::Waiter, ticket: u32) -> bool {
                // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
                unsafe { $crate::wait::waitable::Waitable::register(&self.$field, waiter, ticket) }
            }

            unsafe fn unregister(&self, is_selected: bool) {
                // SAFETY: the caller has registered here, and its wait has ended.
                unsafe { $crate::wait::waitable::Waitable::unregister(&self.$field, is_selected) }
            }

            fn is_lock(&self) -> bool {
                $crate::wait::waitable::Waitable::is_lock(&self.$field)
            }
        }
    };
}
pub(crate) use waits_by;

/// What a waitable stores of a waiter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaiterRef {
    pub(crate) waiter: *const Waiter,
    pub(crate) ticket: u32,
}

impl WaiterRef {
    /// Ends the wait, on behalf of the waitable that holds this address.
    ///
    /// # Safety
    /// The caller holds the waitable at which the waiter is registered.
    #[inline]
    pub(crate) unsafe fn try_select(self) -> Option<Wake> {
        // SAFETY: the caller holds the waitable in which the waiter is registered, so the waiter is alive.
        unsafe { Waiter::try_select(self.waiter, Selected::Ready(self.ticket)) }
    }
}
