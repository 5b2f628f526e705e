//! A request over a channel, and the answer to it.

use crate::{
    channel::{CallError, Sender, oneshot},
    cx::Cx,
};

impl<Q> Sender<Q> {
    /// Sends a request that carries a one-shot sender for the answer, and waits for the answer.
    ///
    /// # Errors
    /// Returns [`CallError::Closed`] if the channel is closed, or if the one-shot sender is dropped without an answer.
    /// Returns [`CallError::Cancelled`] if the wait is cancelled; the request may still have been received.
    #[track_caller]
    pub fn call<A>(&self, cx: &Cx<'_>, request: impl FnOnce(oneshot::Sender<A>) -> Q) -> Result<A, CallError> {
        let (sender, mut receiver) = oneshot::channel();
        self.send(cx, request(sender))?;
        Ok(receiver.recv(cx)?)
    }
}
