//! Waiting until the stream is closed.

use super::sender::Sender;
use crate::{
    channel::closing::{CloseWait, by_its_wait},
    cx::{Cx, Operation},
    wait::Cancelled,
};

/// Waiting until a stream is closed, as an operation. Created by [`Sender::closing`].
pub struct Closing<'a> {
    wait: CloseWait<'a>,
}

impl<T> Sender<T> {
    /// Waits until the receiver is gone or has closed the stream. So a sender can stop work whose result no receiver
    /// will get.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    ///
    /// ```
    /// use anabranch::channel::spsc;
    ///
    /// let (mut sender, receiver) = spsc::unbounded::<u32>();
    /// anabranch::run(|cx| {
    ///     let (no_receiver, ()) = cx.join(|cx| sender.closed(cx), |_| drop(receiver));
    ///     assert!(no_receiver.is_ok() && sender.is_closed());
    /// });
    /// ```
    #[track_caller]
    pub fn closed(&mut self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        self.closing().wait(cx)
    }

    /// Returns the wait until the stream is closed as an [operation](crate::Operation): for a wait with a time limit,
    /// for async code, on plain threads, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    pub fn closing(&mut self) -> Closing<'_> {
        Closing { wait: CloseWait::new(&self.producer.at.shared().closing) }
    }
}

by_its_wait!("spsc": Closing);
