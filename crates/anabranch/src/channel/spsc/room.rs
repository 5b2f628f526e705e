//! Waiting for room in a stream, which stays once it is there, since there is but one sender.

use crate::{
    channel::{
        Closed,
        spsc::stream::{cursor::Stuck, producer::Inlet, wait::StreamWait},
    },
    cx::attempt::Attempt,
    wait::{waitable::Place, waiter::Waiter},
};
use std::cell::UnsafeCell;

/// Waiting for room.
pub(super) struct Reserving<'a, T> {
    inlet: UnsafeCell<&'a mut Inlet<T>>,
    wait: StreamWait,
}

impl<'a, T> Reserving<'a, T> {
    pub(super) fn new(inlet: &'a mut Inlet<T>) -> Self {
        Self { inlet: UnsafeCell::new(inlet), wait: StreamWait::new() }
    }

    /// # Safety
    /// The caller is who has the operation, and lets go of the reference before it does anything else with it.
    #[allow(clippy::mut_from_ref, reason = "see above")]
    pub(super) unsafe fn inlet(&self) -> &mut Inlet<T> {
        // SAFETY: the caller's word.
        unsafe { &mut *self.inlet.get() }
    }
}

impl<T> Attempt for Reserving<'_, T> {
    type Output = Result<(), Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: an operation is its strand's alone, as it is not `Sync`, and the reference ends here.
        match unsafe { &*self.inlet.get() }.check() {
            Ok(()) => Some(Ok(())),
            Err(Stuck::Closed) => Some(Err(Closed)),
            Err(Stuck::Full) => None,
        }
    }

    fn stay_away(&self) {
        // SAFETY: as above.
        unsafe { self.inlet() }.stay_away();
    }
}

// SAFETY: an address leaves the word by `unregister`, or by who then decides before `unregister` ends. The end is borrowed and
// not moved by an attempt that fails.
unsafe impl<T> Place for Reserving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: as in `attempt`; the rest is the caller's word.
        unsafe { self.wait.register_inlet(&**self.inlet.get(), waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: as above.
        unsafe { self.wait.unregister_inlet(&**self.inlet.get(), has_decided) }
    }
}
