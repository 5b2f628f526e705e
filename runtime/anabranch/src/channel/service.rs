//! Services: fibers that answer requests.

use crate::{
    channel::{self, CallError, Receiver, Sender, oneshot},
    cx::{Cx, handle::JoinHandle, join_error::JoinError, spawn::spawn},
    pool::Pool,
};
use std::fmt;

/// A client's side of a fiber that answers requests. Created by [`spawn_service`].
///
/// The fiber runs until its last client is gone: its receiver then reports that the channel is closed.
pub struct Service<Q, R = ()> {
    requests: Sender<Q>,
    handle: JoinHandle<R>,
}

/// Spawns a fiber that answers requests, in the pool of the caller, or else in the default pool.
///
/// A request carries the means to answer it, such as the sender of a one-shot channel. [`Service::call`] makes one.
///
/// # Panics
/// Panics outside of any pool if the default pool cannot be created.
///
/// ```
/// use anabranch::channel::oneshot;
///
/// enum Request {
///     Add(u64),
///     Total(oneshot::Sender<u64>),
/// }
///
/// let service = anabranch::fiber::spawn_service(|cx, requests| {
///     let mut total = 0;
///     for request in requests.iter(cx) {
///         let Ok(request) = request else { break };
///         match request {
///             Request::Add(n) => total += n,
///             // The client may be gone.
///             Request::Total(reply) => drop(reply.send(total)),
///         }
///     }
/// });
/// anabranch::run(|cx| {
///     service.requests().send(cx, Request::Add(20)).unwrap();
///     service.requests().send(cx, Request::Add(22)).unwrap();
///     assert_eq!(service.call(cx, Request::Total), Ok(42));
///     service.stop(cx).unwrap();
/// });
/// ```
#[track_caller]
pub fn spawn_service<Q, R, F>(body: F) -> Service<Q, R>
where
    Q: Send + 'static,
    R: Send + 'static,
    F: FnOnce(&Cx<'_>, Receiver<Q>) -> R + Send + 'static,
{
    let (requests, receiver) = channel::unbounded();
    Service { requests, handle: spawn(move |cx| body(cx, receiver)) }
}

impl Pool {
    /// Like [`spawn_service`], in this pool.
    #[track_caller]
    pub fn spawn_service<Q, R, F>(&self, body: F) -> Service<Q, R>
    where
        Q: Send + 'static,
        R: Send + 'static,
        F: FnOnce(&Cx<'_>, Receiver<Q>) -> R + Send + 'static,
    {
        let (requests, receiver) = channel::unbounded();
        Service { requests, handle: self.spawn(move |cx| body(cx, receiver)) }
    }
}

impl<Q, R> Service<Q, R> {
    /// Returns the sender of requests. Each clone of it is another client.
    pub fn requests(&self) -> &Sender<Q> {
        &self.requests
    }

    /// Sends a request and waits for the answer; see [`Sender::call`].
    ///
    /// # Errors
    /// Returns an error if the service has ended or does not answer this request, or if the wait is cancelled.
    #[track_caller]
    pub fn call<A>(&self, cx: &Cx<'_>, request: impl FnOnce(oneshot::Sender<A>) -> Q) -> Result<A, CallError> {
        self.requests.call(cx, request)
    }

    /// Drops this client, waits for the service to end, and returns what its function returned. Other clients keep the
    /// service running.
    ///
    /// # Errors
    /// Returns the errors of [`JoinHandle::join`].
    #[track_caller]
    pub fn stop(self, cx: &Cx<'_>) -> Result<R, JoinError> {
        drop(self.requests);
        self.handle.join(cx)
    }

    /// Returns the handle of the fiber.
    pub fn handle(&self) -> &JoinHandle<R> {
        &self.handle
    }
}

impl<Q, R> fmt::Debug for Service<Q, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("requests", &self.requests).field("handle", &self.handle).finish()
    }
}
