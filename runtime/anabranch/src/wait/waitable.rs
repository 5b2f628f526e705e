//! Waitables: what a waiter registers its address at, and what a waitable may do with it.
//!
//! Registering is sound only if the waiter and the waitable outlive the registration. Only the owner of the wait knows
//! that they do, and it says so once: it makes an [`Armed`] to register with, and an [`Ended`] to unregister with. Only
//! these constructors are unsafe. The functions between them and the queue or word that stores the address are safe,
//! because they only pass the token on:
//! - A token is neither copied nor sent. So a waitable that receives an `Armed` registers at most one of its nodes, on
//!   the thread of the waiter, and while none of its nodes is registered.
//! - A token is made for one waitable. It covers the fields of that waitable and what these borrow or own. A waitable
//!   uses it with nothing else: an implementer of [`Waitable`] promises that, as does any other caller of
//!   [`Armed::new`].
//! - The waitable stays where it is until it has refused the `Armed`, or `unregister` has returned. So do its nodes and
//!   entries, which must not move while they are registered. An `Ended` follows each `Armed` that was accepted, and
//!   removes only what was registered with that.
//!
//! So a function that stores an address need not check that the waiter is alive, the node free, or the entry in no
//! queue.

use crate::wait::waiter::{Selected, Waiter, Wake};
use std::{marker::PhantomData, ptr};

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
/// It uses [tokens](self) only with its own nodes and entries, and an `Ended` where it used the `Armed`.
///
/// `register` performs an atomic read-modify-write, of any location, before it returns `true`: the caller follows it by
/// [`fence_after_update`](crate::sys::sync::fence_after_update).
pub(crate) unsafe trait Waitable {
    /// Registers the address of a waiter. Returns `false` if there is no need to wait: the caller attempts again.
    /// Consumes nothing.
    fn register(&self, armed: Armed) -> bool;

    /// Registers the address of a waiter that is armed for a [local wait](crate::wait::waiter), without any atomic
    /// read-modify-write. Returns `false` if other threads may use the waitable, or if there is no need to wait.
    #[inline(always)]
    fn register_local(&self, _armed: Armed) -> bool {
        false
    }

    /// Removes the address. May spin while another thread ends the wait.
    fn unregister(&self, ended: Ended);

    /// Returns whether a fiber that unwinds may wait for this, which blocks its thread. That holds for locks: they are
    /// soon unlocked, and a destructor that cannot lock has no way to continue. Other waits of such a fiber are
    /// cancelled, as its scope is about to be.
    fn is_lock(&self) -> bool {
        false
    }

    /// Registers a persistent waiter. It is in no scope that could be cancelled meanwhile, so no atomic
    /// read-modify-write is needed.
    #[inline]
    fn register_persistent(&self, armed: Armed) -> bool {
        self.register(armed)
    }
}

/// Implements [`Waitable`] by a field that is one itself: `waits_by!(field: Type<T>, [T])`.
macro_rules! waits_by {
    ($field:tt: $type:ty $(, [$($generics:tt)*])?) => {
        // SAFETY: the field upholds the contract of `Waitable`, and every call is forwarded to it.
        unsafe impl $(<$($generics)*>)? $crate::wait::waitable::Waitable for $type {
            fn register(&self, armed: $crate::wait::waitable::Armed) -> bool {
                $crate::wait::waitable::Waitable::register(&self.$field, armed)
            }

            fn unregister(&self, ended: $crate::wait::waitable::Ended) {
                $crate::wait::waitable::Waitable::unregister(&self.$field, ended);
            }

            fn is_lock(&self) -> bool {
                $crate::wait::waitable::Waitable::is_lock(&self.$field)
            }
        }
    };
}
pub(crate) use waits_by;

/// The right to register one waiter at one waitable. See the [module](self).
#[must_use]
pub(crate) struct Armed(WaiterRef);

impl Armed {
    /// # Safety
    /// This is the waiter's thread. The waiter is armed or persistent, and the waitable that this is made for has no
    /// registration. The waiter stays alive, and the waitable in place, until the waitable has refused this, or
    /// `unregister` has returned, or a persistent waiter has been woken or withdrawn. Or they stay for ever, if a
    /// future is forgotten.
    #[inline(always)]
    pub(crate) const unsafe fn new(waiter: *const Waiter, ticket: u32) -> Self {
        Self(WaiterRef { waiter, ticket })
    }

    /// Returns the waiter.
    #[inline(always)]
    pub(crate) fn waiter(&self) -> &Waiter {
        // SAFETY: `new` promises that the waiter is alive.
        unsafe { &*self.0.waiter }
    }

    /// Returns the address of the waiter, which is that of the whole that has it as the first field.
    #[inline(always)]
    pub(crate) fn address(&self) -> *const Waiter {
        self.0.waiter
    }

    /// Returns what a waitable stores.
    #[inline(always)]
    pub(crate) fn into_ref(self) -> WaiterRef {
        self.0
    }
}

/// The right to remove the waiter from the waitable that accepted an [`Armed`]. See the [module](self).
#[must_use]
pub(crate) struct Ended {
    is_selected: bool,
    /// Neither sent nor shared, like an `Armed`.
    _not_send: PhantomData<*const Waiter>,
}

impl Ended {
    /// # Safety
    /// The waitable that this is made for has accepted an [`Armed`], or holds no address. The wait has ended since, or
    /// is that of a persistent waiter. `is_selected` says that this waitable has ended it.
    #[inline(always)]
    pub(crate) const unsafe fn new(is_selected: bool) -> Self {
        Self { is_selected, _not_send: PhantomData }
    }

    /// Returns whether this waitable has ended the wait.
    #[inline(always)]
    pub(crate) fn is_selected(&self) -> bool {
        self.is_selected
    }
}

/// The address of a waiter, as a waitable stores it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaiterRef {
    waiter: *const Waiter,
    ticket: u32,
}

impl WaiterRef {
    /// The reference before the first wait.
    pub(crate) const NONE: Self = Self { waiter: ptr::null(), ticket: 0 };

    /// Returns the address of the waiter.
    #[inline(always)]
    pub(crate) fn waiter(self) -> *const Waiter {
        self.waiter
    }

    /// Returns the ticket.
    #[inline(always)]
    pub(crate) fn ticket(self) -> u32 {
        self.ticket
    }

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
