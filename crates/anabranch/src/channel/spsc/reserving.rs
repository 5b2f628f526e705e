//! The wait for room in a stream. Room that is there stays, since there is only one sender.

use crate::{
    channel::{
        Closed, PushError,
        spsc::stream::{producer::Producer, wait::StreamWait},
    },
    cx::attempt::Attempt,
    wait::{waitable::Waitable, waiter::Waiter},
};
use std::cell::UnsafeCell;

/// The wait for room.
pub(super) struct Reserving<'a, T> {
    producer: UnsafeCell<&'a mut Producer<T>>,
    wait: StreamWait,
}

impl<'a, T> Reserving<'a, T> {
    pub(super) fn new(producer: &'a mut Producer<T>) -> Self {
        Self { producer: UnsafeCell::new(producer), wait: StreamWait::new() }
    }

    /// # Safety
    /// The caller owns the operation, and drops the reference before it does anything else with the operation.
    #[allow(clippy::mut_from_ref, reason = "see above")]
    pub(super) unsafe fn producer(&self) -> &mut Producer<T> {
        // SAFETY: the caller owns the operation and has no other reference to the producer.
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

    fn before_spin(&self) {
        // SAFETY: an operation is not `Sync`, so only its owner calls this, and the reference ends with the call.
        unsafe { self.producer() }.before_spin();
    }
}

// SAFETY: an address leaves the word by `unregister`, or by a thread that then selects the wait before `unregister`
// ends. The operation borrows the end, and an attempt that fails does not move it.
unsafe impl<T> Waitable for Reserving<'_, T> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: no attempt runs meanwhile. The caller keeps the waiter armed and alive, and this object in place,
        // until `unregister`.
        unsafe { self.wait.register_producer(&**self.producer.get(), waiter, ticket) }
    }

    unsafe fn unregister(&self, is_selected: bool) {
        // SAFETY: no attempt runs meanwhile. The caller has registered here, and its wait has ended.
        unsafe { self.wait.unregister_producer(&**self.producer.get(), is_selected) }
    }
}
