//! A request over a channel, and the answer to it.

use crate::{
    channel::{self, RecvError, Sender, oneshot},
    cx::Cx,
};

impl<Q> Sender<Q> {
    /// Sends a request with a place for the answer, and waits for that.
    ///
    /// # Errors
    /// [`RecvError::Closed`] when the channel is closed, or the place was dropped without an answer;
    /// [`RecvError::Cancelled`] when the wait was cancelled: the request may have been received all the same.
    #[track_caller]
    pub fn call<A>(&self, cx: &Cx<'_>, request: impl FnOnce(oneshot::Sender<A>) -> Q) -> Result<A, RecvError> {
        let (sender, mut receiver) = oneshot::channel();
        self.send(cx, request(sender)).map_err(|error| match error {
            channel::SendError::Closed(_) => RecvError::Closed,
            channel::SendError::Cancelled(_) => RecvError::Cancelled,
        })?;
        receiver.recv(cx)
    }
}
