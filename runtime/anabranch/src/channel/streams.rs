//! Receivers as streams and senders as sinks, with the traits of the futures crates.
//!
//! One allocation holds the future of the current receive or send. The future owns the end of the channel and returns
//! it with its result, so the next future takes its place.

use crate::{
    channel::{
        ClosedError, Receive, Received, ReceiverSet, TrySendError,
        broadcast::{self, ClosedOrLagged, Lagged},
        mpmc::{Receiver, Sender},
        spsc, watch,
    },
    sys::sync::Arc,
    wait::future::poll_counted,
};
use futures_core::{FusedStream, Stream};
use futures_sink::Sink;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// The stream of the results of `next`, which returns `None` at the end.
struct Unfold<N, F> {
    next: N,
    /// `None` after the end.
    future: Option<Pin<Box<F>>>,
}

impl<N, F> Unpin for Unfold<N, F> {}

fn unfold<R, T, N, F>(receiver: R, next: N) -> Unfold<N, F>
where
    N: Fn(R) -> F,
    F: Future<Output = Option<(T, R)>>,
{
    let future = Some(Box::pin(next(receiver)));
    Unfold { next, future }
}

impl<R, T, N, F> Stream for Unfold<N, F>
where
    N: Fn(R) -> F,
    F: Future<Output = Option<(T, R)>>,
{
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Self { next, future: place } = &mut *self;
        let Some(future) = place else { return Poll::Ready(None) };
        let received = ready!(future.as_mut().poll(context));
        Poll::Ready(match received {
            Some((value, receiver)) => {
                future.set(next(receiver));
                Some(value)
            }
            None => {
                *place = None;
                None
            }
        })
    }
}

impl<R, T, N, F> FusedStream for Unfold<N, F>
where
    N: Fn(R) -> F,
    F: Future<Output = Option<(T, R)>>,
{
    fn is_terminated(&self) -> bool {
        self.future.is_none()
    }
}

/// The sink of a sender. `E` is the sender, `N` its asynchronous send.
struct Sending<E, T, N, F> {
    /// `None` while a send waits, and after the end.
    sender: Option<E>,
    try_send: fn(&mut E, T) -> Result<(), TrySendError<T>>,
    send: N,
    /// The send that waits, if one does.
    future: Pin<Box<Option<F>>>,
}

impl<E, T, N, F> Unpin for Sending<E, T, N, F> {}

impl<E, T, N, F> Sending<E, T, N, F>
where
    N: Fn(E, T) -> F,
    F: Future<Output = (E, Result<(), ClosedError<T>>)>,
{
    fn new(sender: E, try_send: fn(&mut E, T) -> Result<(), TrySendError<T>>, send: N) -> Self {
        Self { sender: Some(sender), try_send, send, future: Box::pin(None) }
    }

    /// Waits for the end of the send that waits, if one does.
    fn poll_sent(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ClosedError<T>>> {
        let Some(future) = self.future.as_mut().as_pin_mut() else { return Poll::Ready(Ok(())) };
        let (sender, sent) = ready!(future.poll(context));
        self.future.set(None);
        self.sender = Some(sender);
        Poll::Ready(sent)
    }
}

impl<E, T, N, F> Sink<T> for Sending<E, T, N, F>
where
    N: Fn(E, T) -> F,
    F: Future<Output = (E, Result<(), ClosedError<T>>)>,
{
    type Error = ClosedError<T>;

    fn poll_ready(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), ClosedError<T>>> {
        poll_counted(context, |context| self.poll_sent(context))
    }

    /// # Panics
    /// Panics if the sink is not ready, or was closed.
    fn start_send(mut self: Pin<&mut Self>, value: T) -> Result<(), ClosedError<T>> {
        let this = &mut *self;
        let mut sender = this.sender.take().expect("`poll_ready` returned `Ready`, and the sink was not closed");
        match (this.try_send)(&mut sender, value) {
            Ok(()) => this.sender = Some(sender),
            Err(TrySendError::Closed(value)) => {
                this.sender = Some(sender);
                return Err(ClosedError(value));
            }
            Err(TrySendError::Full(value)) => this.future.set(Some((this.send)(sender, value))),
        }
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), ClosedError<T>>> {
        self.poll_sent(context)
    }

    /// Drops the sender, once the value that waits was sent.
    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), ClosedError<T>>> {
        ready!(self.poll_sent(context))?;
        self.sender = None;
        Poll::Ready(Ok(()))
    }
}

impl<T> Receiver<T> {
    /// Returns the values as a stream, which ends when the channel is closed and empty. It owns the receiver. (Feature
    /// `futures`.)
    ///
    /// ```
    /// use anabranch::channel;
    /// use futures_util::{SinkExt, StreamExt};
    ///
    /// let (sender, receiver) = channel::bounded(1);
    /// let squares = anabranch::spawn_async(async move {
    ///     let mut sink = sender.into_sink();
    ///     for n in 1..=3 {
    ///         sink.send(n * n).await.unwrap();
    ///     }
    /// });
    /// let sum = anabranch::spawn_async(receiver.into_stream().fold(0, async |sum, n| sum + n));
    /// anabranch::run(|cx| {
    ///     assert_eq!(sum.join(cx).unwrap(), 14);
    ///     squares.join(cx).unwrap();
    /// });
    /// ```
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        unfold(self, |receiver: Self| async move { Some((receiver.receiving().await.ok()?, receiver)) })
    }

    /// Like [`into_stream`](Self::into_stream), for a receiver that is also used in other ways.
    pub fn stream(&self) -> impl FusedStream<Item = T> + Unpin + '_ {
        unfold(self, |receiver: &Self| async move { Some((receiver.receiving().await.ok()?, receiver)) })
    }
}

impl<T> spsc::Receiver<T> {
    /// Returns the values as a stream of the futures crates, which ends when this stream is closed and empty. (Feature
    /// `futures`.)
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        unfold(self, |mut receiver: Self| async move { Some((receiver.receiving().await.ok()?, receiver)) })
    }
}

impl<T> watch::Receiver<T> {
    /// Returns the values that [`recv`](Self::recv) would return, as a stream, which ends when the channel is closed.
    /// (Feature `futures`.)
    pub fn into_stream(self) -> impl FusedStream<Item = Arc<T>> + Unpin {
        unfold(self, |mut receiver: Self| async move { Some((receiver.receiving().await.ok()?, receiver)) })
    }
}

impl<T> broadcast::Receiver<T> {
    /// Returns the values as a stream, which ends when the channel is closed and has no more of them. Missed values
    /// appear as an error among the items. (Feature `futures`.)
    pub fn into_stream(self) -> impl FusedStream<Item = Result<Arc<T>, Lagged>> + Unpin {
        unfold(self, |mut receiver: Self| async move {
            let received = match receiver.receiving().await {
                Ok(value) => Ok(value),
                Err(ClosedOrLagged::Lagged(missed)) => Err(Lagged(missed)),
                Err(ClosedOrLagged::Closed) => return None,
            };
            Some((received, receiver))
        })
    }
}

impl<R: Receive> ReceiverSet<R> {
    /// Returns the results that [`recv`](Self::recv) would return, as a stream, which ends when the set has no member.
    /// (Feature `futures`.)
    pub fn into_stream(self) -> impl FusedStream<Item = Received<R>> + Unpin {
        unfold(self, |mut set: Self| async move { Some((set.receiving().await.ok()?, set)) })
    }
}

impl<T> Sender<T> {
    /// Returns the sender as a sink, whose error has the value that was not sent. Closing the sink drops the sender.
    /// (Feature `futures`.)
    ///
    /// The sink is ready while it has no value that waits for room.
    pub fn into_sink(self) -> impl Sink<T, Error = ClosedError<T>> + Unpin {
        Sending::new(
            self,
            |sender, value| sender.try_send(value),
            |sender: Self, value| async move {
                let sent = sender.sending(value).await;
                (sender, sent)
            },
        )
    }
}

impl<T> spsc::Sender<T> {
    /// Returns the sender as a sink, whose error has the value that was not sent. Closing the sink drops the sender.
    /// (Feature `futures`.)
    ///
    /// The sink is ready while it has no value that waits for room.
    pub fn into_sink(self) -> impl Sink<T, Error = ClosedError<T>> + Unpin {
        Sending::new(
            self,
            |sender, value| sender.try_send(value),
            |mut sender: Self, value| async move {
                let sent = sender.sending(value).await;
                (sender, sent)
            },
        )
    }
}
