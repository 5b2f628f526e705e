//! Waiting until no receiver is left.

use super::Sender;
use crate::{
    channel::{closing::by_its_wait, versioned::CloseWait},
    cx::{Cx, Operation},
    sys::sync::Arc,
    wait::Cancelled,
};

/// Waiting until no receiver is left, as an operation. Created by [`Sender::closing`].
pub struct Closing<'a, T> {
    wait: CloseWait<'a, Arc<T>>,
}

impl<T> Sender<T> {
    /// Waits until no receiver is left, or the channel is closed by [`close`](Self::close). So a sender can stop work
    /// whose result no receiver will see. [`subscribe`](Self::subscribe) may make a new receiver afterwards, so
    /// [`is_closed`](Self::is_closed) reports only `close`. A wait checks the state when it is woken: if there is a new
    /// receiver by then, it keeps waiting.
    ///
    /// # Errors
    /// Returns an error if the wait is cancelled.
    ///
    /// ```
    /// let (sender, receiver) = anabranch::channel::watch::channel(1);
    /// anabranch::run(|cx| {
    ///     let (no_receiver, ()) = cx.join(|cx| sender.closed(cx), |_| drop(receiver));
    ///     assert!(no_receiver.is_ok() && !sender.is_closed());
    /// });
    /// ```
    #[track_caller]
    pub fn closed(&self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        self.closing().wait(cx)
    }

    /// Returns the wait until no receiver is left as an [operation](crate::Operation): for a wait with a time limit,
    /// for async code, on plain threads, for [`Select`](crate::channel::Select) and [`select!`](crate::select).
    pub fn closing(&self) -> Closing<'_, T> {
        Closing { wait: CloseWait::of(&self.versioned) }
    }
}

by_its_wait!("watch": Closing [T]);
