//! Waiting for room in a stream, which stays once it is there, since there is but one sender.

use crate::{
    channel::{
        Closed,
        spsc::stream::{cursor::PushError, producer::Producer, wait::StreamWait},
    },
    cx::attempt::Attempt,
    wait::{waitable::Place, waiter::Waiter},
};
use std::cell::UnsafeCell;

/// Waiting for room.
pub(super) struct Reserving<'a, T> {
    producer: UnsafeCell<&'a mut Producer<T>>,
    wait: StreamWait,
}

impl<'a, T> Reserving<'a, T> {
    pub(super) fn new(producer: &'a mut Producer<T>) -> Self {
        Self { producer: UnsafeCell::new(producer), wait: StreamWait::new() }
    }

    /// # Safety
    /// The caller is who has the operation, and lets go of the reference before it does anything else with it.
    #[allow(clippy::mut_from_ref, reason = "see above")]
    pub(super) unsafe fn producer(&self) -> &mut Producer<T> {
        // SAFETY: the caller's word.
        unsafe { &mut *self.producer.get() }
    }
}

impl<T> Attempt for Reserving<'_, T> {
    type Output = Result<(), Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: an operation is not `Sync`, so only its owner reaches the field. The reference ends here.
        match unsafe { &*self.producer.get() }.check() {
            Ok(()) => Some(Ok(())),
            Err(PushError::Closed) => Some(Err(Closed)),
            Err(PushError::Full) => None,
        }
    }

    fn snooze(&self) {
        // SAFETY: as above.
        unsafe { self.producer() }.snooze();
    }
}

// SAFETY: an address leaves the word by `unregister`, or by who then decides before `unregister` ends. The end is
// borrowed and not moved by an attempt that fails.
unsafe impl<T> Place for Reserving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: as in `attempt`; the rest is the caller's word.
        unsafe { self.wait.register_inlet(&**self.producer.get(), waiter, ticket) }
    }

    unsafe fn unregister(&self, has_decided: bool) {
        // SAFETY: as above.
        unsafe { self.wait.unregister_inlet(&**self.producer.get(), has_decided) }
    }
}
