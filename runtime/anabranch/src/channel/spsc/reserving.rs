//! The wait for room in a stream. Room that is available remains available, because there is only one sender.

use crate::{
    channel::{
        Closed, ClosedError, PushError, USED_AGAIN,
        spsc::stream::{producer::Producer, wait::StreamWait},
    },
    cx::attempt::{Attempt, OwnerCell},
    wait::waitable::{Armed, Ended, Waitable},
};
use std::fmt;

/// The right to send one value without waiting. Created by [`Sender::reserve`](super::Sender::reserve).
#[must_use = "it is there to be used"]
pub struct Permit<'a, T> {
    pub(super) producer: &'a mut Producer<T>,
}

/// Reserving room in a stream, as an operation. Created by [`Sender::reserving`](super::Sender::reserving).
pub struct Reserving<'a, T> {
    /// `None` once a permit has it.
    producer: OwnerCell<Option<&'a mut Producer<T>>>,
    wait: StreamWait,
}

impl<'a, T> Reserving<'a, T> {
    pub(super) fn new(producer: &'a mut Producer<T>) -> Self {
        Self { producer: OwnerCell::new(Some(producer)), wait: StreamWait::new() }
    }

    fn producer(&self) -> &Producer<T> {
        // SAFETY: no attempt runs while this reference is used.
        unsafe { self.producer.get() }.as_deref().expect(USED_AGAIN)
    }

    pub(super) fn push(&self, value: T) -> Result<(), (PushError, T)> {
        // SAFETY: the cell is not `Sync`, so only its owner calls this, and the stream does not know the operation.
        unsafe { &mut *self.producer.as_ptr() }.as_deref_mut().expect(USED_AGAIN).push(value)
    }
}

impl<'a, T> Attempt for Reserving<'a, T> {
    type Output = Result<Permit<'a, T>, Closed>;

    const NAME: &'static &'static str = &"spsc::Sender::reserve";

    fn attempt(&self) -> Option<Self::Output> {
        match self.producer().check() {
            Ok(()) => Some(Ok(Permit { producer: self.producer.with(Option::take)? })),
            Err(PushError::Closed) => Some(Err(Closed)),
            Err(PushError::Full) => None,
        }
    }

    fn before_spin(&self) {
        self.producer.with(|producer| producer.as_deref_mut().expect(USED_AGAIN).before_spin());
    }
}

crate::cx::operation::into_future!(Reserving<'a, T>, ['a, T];);

// SAFETY: an address leaves the word by `unregister`, or by a thread that then selects the wait before `unregister`
// ends. The operation borrows the end, and an attempt that fails does not move it.
unsafe impl<T> Waitable for Reserving<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        self.wait.register_producer(self.producer(), armed)
    }

    fn unregister(&self, ended: Ended) {
        self.wait.unregister_producer(self.producer(), ended);
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
