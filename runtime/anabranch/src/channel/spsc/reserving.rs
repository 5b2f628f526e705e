//! The wait for room in a stream. Room that is there stays, since there is only one sender.

use crate::{
    channel::{
        Closed, ClosedError, PushError, USED_AGAIN,
        spsc::stream::{producer::Producer, wait::StreamWait},
    },
    cx::attempt::Attempt,
    wait::waitable::{Armed, Ended, Waitable},
};
use std::{cell::UnsafeCell, fmt};

/// The right to send one value without waiting. Made by [`Sender::reserve`](super::Sender::reserve).
#[must_use = "it is there to be used"]
pub struct Permit<'a, T> {
    pub(super) producer: &'a mut Producer<T>,
}

/// Reserving room in a stream, as an operation. Made by [`Sender::reserving`](super::Sender::reserving).
pub struct Reserving<'a, T> {
    /// `None` once a permit has it.
    producer: UnsafeCell<Option<&'a mut Producer<T>>>,
    wait: StreamWait,
}

impl<'a, T> Reserving<'a, T> {
    pub(super) fn new(producer: &'a mut Producer<T>) -> Self {
        Self { producer: UnsafeCell::new(Some(producer)), wait: StreamWait::new() }
    }

    /// # Safety
    /// The caller owns the operation, and drops the reference before it does anything else with the operation.
    #[allow(clippy::mut_from_ref, reason = "see above")]
    pub(super) unsafe fn producer(&self) -> &mut Producer<T> {
        // SAFETY: the caller owns the operation and has no other reference to the producer.
        unsafe { &mut *self.producer.get() }.as_deref_mut().expect(USED_AGAIN)
    }
}

impl<'a, T> Attempt for Reserving<'a, T> {
    type Output = Result<Permit<'a, T>, Closed>;

    const NAME: &'static &'static str = &"spsc::Sender::reserve";

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: an operation is not `Sync`, so only its owner reaches the field. The reference ends here.
        match unsafe { self.producer() }.check() {
            // SAFETY: as above.
            Ok(()) => Some(Ok(Permit { producer: unsafe { &mut *self.producer.get() }.take()? })),
            Err(PushError::Closed) => Some(Err(Closed)),
            Err(PushError::Full) => None,
        }
    }

    fn before_spin(&self) {
        // SAFETY: an operation is not `Sync`, so only its owner calls this, and the reference ends with the call.
        unsafe { self.producer() }.before_spin();
    }
}

crate::cx::operation::into_future!(Reserving<'a, T>, ['a, T];);

// SAFETY: an address leaves the word by `unregister`, or by a thread that then selects the wait before `unregister`
// ends. The operation borrows the end, and an attempt that fails does not move it.
unsafe impl<T> Waitable for Reserving<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        // SAFETY: no attempt runs meanwhile.
        self.wait.register_producer(unsafe { self.producer() }, armed)
    }

    fn unregister(&self, ended: Ended) {
        // SAFETY: no attempt runs meanwhile.
        self.wait.unregister_producer(unsafe { self.producer() }, ended);
    }
}

impl<T> fmt::Debug for Reserving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("spsc::Reserving").finish_non_exhaustive()
    }
}

impl<T> Permit<'_, T> {
    /// Sends a value into the reserved room.
    ///
    /// # Errors
    /// Returns the value if the stream has been closed meanwhile.
    pub fn send(self, value: T) -> Result<(), ClosedError<T>> {
        self.producer.push(value).map_err(|(_, value)| ClosedError(value))
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("spsc::Permit").finish_non_exhaustive()
    }
}
