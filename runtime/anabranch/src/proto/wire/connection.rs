//! Carrying a conversation between an endpoint and a wire.
//!
//! The idea. An endpoint over a wire is an ordinary endpoint with an ordinary transport in this process, of which the
//! wire has the other end. So it can do all that an endpoint can do, and nothing has to be implemented twice. In each
//! state one side sends. If it is this side, its message is received from the endpoint, encoded, and sent. If it is the
//! other side, its message is read, and sent to the endpoint. The message leads to the next state, the same on both
//! sides, as both see all messages in one order. So there is one loop, which never reads and writes at the same time.
//!
//! | sender in this state | waits for                                                           | besides, in async code |
//! |----------------------|---------------------------------------------------------------------|------------|
//! | this side            | a message of the endpoint; if it is gone -> notifies the other side | bytes of the other side, which can only report that it is gone |
//! | the other side       | a frame; then, if need be, for room                                 | that the endpoint has gone |
//!
//! Encoded messages are gathered while there are more, and sent before any wait.
//!
//! The bytes of the other side are not trusted. A frame is refused by its length before memory is allocated for it. A
//! message is refused by its number if it is not one of this state. So whatever was read, what is sent to the endpoint
//! follows the protocol. The ring, which has no more slots than messages can be under way, relies on that.
//!
//! This costs a wake-up for each message, besides system calls. An endpoint whose transport *is* the stream would save
//! that, but could not be waited for like any other.
//!
//! One direction at a time is enough, as only one side sends in a state. On a thread a plain `Read + Write` does; two
//! directions at once would take two handles and two threads.

use super::{
    codec::{self, LEFT, LENGTH, Script},
    error::WireError,
    relay::{ReceivingAny, Relayed},
    stream::{InAsync, Mode, OnThread, Wire},
};
use crate::{
    channel::Closed,
    cx::operation::OperationFuture,
    proto::{
        duplex::{At, Link, Transport},
        wire::handshake,
    },
    sys::parker::Parker,
    wait::future::count_ready,
};
use futures_io::{AsyncRead, AsyncWrite};
use std::{
    fmt,
    future::{Future, poll_fn},
    io::{Read, Write},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker, ready},
};

/// Carries a conversation between its endpoint and a wire, while it is [run](Self::run).
///
/// `over` and `over_async` of `client` and `server` in the module that [`proto!`](crate::proto!) makes return one with
/// the endpoint. The endpoint receives nothing unless it runs. If it is dropped or fails, the endpoint sees `Closed`.
/// `Closed`.
#[must_use = "nothing goes over the wire unless the connection is run"]
pub struct Connection<P: Script, S> {
    link: P::Link,
    wire: Wire<S>,
    is_client: bool,
    state: usize,
}

impl<P: Script, S> Connection<P, S> {
    /// Creates the end of an endpoint, and the connection that carries its messages.
    fn new(wire: Wire<S>, is_client: bool) -> (P::Link, Self) {
        let [of_client, of_server] = P::CAPACITY;
        let (of_endpoint, of_wire) = if is_client { (of_client, of_server) } else { (of_server, of_client) };
        let (endpoint, link) = P::Link::pair(of_endpoint, of_wire);
        (endpoint, Self { link, wire, is_client, state: 0 })
    }

    /// Returns the stream.
    pub fn get_ref(&self) -> &S {
        self.wire.get_ref()
    }

    /// Runs the conversation to its end on this thread, which blocks between messages. Returns the wire, which can then
    /// carry another conversation.
    ///
    /// A read of the stream cannot be interrupted. If the endpoint is dropped while the other side is to send, this
    /// ends with the next message, or with an error of the stream, such as its time limit for reads. In the same way it
    /// notices that the other side is gone when it next reads or writes. [`run_async`](Self::run_async) notices both at
    /// once, unless it is writing to a peer that does not read.
    ///
    /// Do not use it on fibers, whose threads other fibers need. They have `cx.block_on(connection.run_async())`.
    ///
    /// # Errors
    /// Returns an error if the conversation was not completed. The [`WireError`] holds the cause.
    pub fn run(self) -> Result<Wire<S>, WireError>
    where
        S: Read + Write,
    {
        block_on(self.carry::<OnThread>())
    }

    /// Runs the conversation to its end, in async code. Returns the wire, which can then carry another conversation. If
    /// the future is dropped earlier, the endpoint sees `Closed`.
    ///
    /// # Errors
    /// Returns an error if the conversation was not completed. The [`WireError`] holds the cause.
    pub async fn run_async(self) -> Result<Wire<S>, WireError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.carry::<InAsync>().await
    }

    async fn carry<M: Mode<S>>(mut self) -> Result<Wire<S>, WireError> {
        loop {
            count_ready().await;
            let is_ours = P::STATES[self.state].is_clients == self.is_client;
            let next = if is_ours { self.send_next::<M>().await } else { self.recv_next::<M>().await };
            match next? {
                Some(state) => self.state = state,
                None => {
                    self.wire.send::<M>().await?;
                    self.wire.forget_task();
                    Transport::finish(self.link);
                    return Ok(self.wire);
                }
            }
        }
    }

    /// Leaves the conversation, so that the other side can distinguish this from a stream that broke.
    async fn leave<M: Mode<S>>(&mut self, why: WireError) -> WireError {
        self.wire.output().extend_from_slice(&LEFT);
        let _ = self.wire.send::<M>().await;
        why
    }

    /// Sends a message of this side to the wire.
    async fn send_next<M: Mode<S>>(&mut self) -> Result<Option<usize>, WireError> {
        let received = match self.link.recv() {
            Some(received) => received,
            None => {
                self.wire.send::<M>().await?;
                self.wait_for_message::<M>().await?
            }
        };
        let Ok(message) = received else { return Err(self.leave::<M>(WireError::Dropped).await) };
        let limit = self.wire.limit();
        let next = match codec::write::<P>(self.state, message, self.wire.output(), limit) {
            Ok(next) => next,
            Err(error) => return Err(self.leave::<M>(error).await),
        };
        if self.wire.is_output_long() {
            self.wire.send::<M>().await?;
        }
        Ok(next)
    }

    /// Waits for a message of the endpoint, or for the end of the other side, which can send nothing else now.
    async fn wait_for_message<M: Mode<S>>(&mut self) -> Result<Result<<P::Link as Link>::Message, Closed>, WireError> {
        let Self { link, wire, state, .. } = self;
        let mut receiving = pin!(OperationFuture::new(ReceivingAny::new(link)));
        poll_fn(|context| {
            if let Poll::Ready(received) = receiving.as_mut().poll(context) {
                return Poll::Ready(Ok(received));
            }
            if !M::READS_ASIDE {
                return Poll::Pending;
            }
            loop {
                let unread = wire.unused();
                if unread.iter().zip(LEFT).any(|(&unread, left)| unread != left) {
                    return Poll::Ready(Err(WireError::OutOfTurn { state: P::STATES[*state].name }));
                }
                if unread.len() >= LENGTH {
                    return Poll::Ready(Err(WireError::Left));
                }
                ready!(wire.poll_fill::<M>(context))?;
            }
        })
        .await
    }

    /// Sends a message of the other side to the endpoint.
    async fn recv_next<M: Mode<S>>(&mut self) -> Result<Option<usize>, WireError> {
        self.wire.send::<M>().await?;
        let length = loop {
            match self.wire.frame()? {
                Some(length) => break length,
                None => self.fill::<M>().await?,
            }
        };
        let (message, next) = codec::read::<P>(self.state, &self.wire.unused()[LENGTH..][..length])?;
        self.wire.consume(LENGTH + length);
        if let Some(writable) = self.link.writable() {
            OperationFuture::new(writable).await;
        }
        match self.link.send(message) {
            Ok(()) => Ok(next),
            Err(Closed) => Err(self.leave::<M>(WireError::Dropped).await),
        }
    }

    /// Reads more bytes, unless the endpoint leaves.
    async fn fill<M: Mode<S>>(&mut self) -> Result<(), WireError> {
        let Self { link, wire, .. } = self;
        if !M::READS_ASIDE {
            return wire.fill::<M>().await;
        }
        let read = {
            let mut gone = pin!(OperationFuture::new(link.gone()));
            poll_fn(|context| match wire.poll_fill::<M>(context) {
                Poll::Ready(read) => Poll::Ready(Some(read)),
                Poll::Pending => gone.as_mut().poll(context).map(|()| None),
            })
            .await
        };
        match read {
            Some(read) => read,
            None => Err(self.leave::<M>(WireError::Dropped).await),
        }
    }
}

impl<P: Script, S> fmt::Debug for Connection<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.is_client { "client" } else { "server" };
        write!(f, "Connection of {}::{side}::{}", P::NAME, P::STATES[self.state].name)
    }
}

/// Sends the handshake of this side, and receives that of the other side.
async fn greet<P: Script, S, M: Mode<S>>(wire: &mut Wire<S>, is_client: bool) -> Result<(), WireError> {
    wire.output().extend(handshake::written::<P>(is_client));
    wire.send::<M>().await?;
    let length = loop {
        match handshake::length(wire.unused())? {
            Some(length) if length <= wire.unused().len() => break length,
            _ => wire.fill::<M>().await?,
        }
    };
    handshake::check::<P>(&wire.unused()[..length], is_client)?;
    wire.consume(length);
    wire.forget_task();
    Ok(())
}

/// The end of a conversation at which it begins, and what carries it.
type Begun<P, S, E> = (At<<P as Script>::Link, E>, Connection<P, S>);

/// Begins a conversation over a wire, for generated code. Blocks.
///
/// # Safety
/// `E` is the endpoint of the first state of the protocol on this side, and `P` says truly which states and messages it
/// has.
#[doc(hidden)]
pub unsafe fn over<P: Script, S: Read + Write, E>(
    mut wire: Wire<S>,
    is_client: bool,
) -> Result<Begun<P, S, E>, WireError> {
    block_on(greet::<P, S, OnThread>(&mut wire, is_client))?;
    let (link, connection) = Connection::new(wire, is_client);
    Ok((At::new(link), connection))
}

/// Like [`over`], in async code.
///
/// # Safety
/// The contract of [`over`] holds.
#[doc(hidden)]
pub async unsafe fn over_async<P: Script, S: AsyncRead + AsyncWrite + Unpin, E>(
    mut wire: Wire<S>,
    is_client: bool,
) -> Result<Begun<P, S, E>, WireError> {
    greet::<P, S, InAsync>(&mut wire, is_client).await?;
    let (link, connection) = Connection::new(wire, is_client);
    Ok((At::new(link), connection))
}

/// Wakes a thread that waits for an endpoint.
struct Unpark(Parker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let thread = Arc::new(Unpark(Parker::new()));
    let waker = Waker::from(Arc::clone(&thread));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread.0.park(),
        }
    }
}
