//! The transport of a conversation: the ring of a bounded one, or two streams.
//!
//! A conversation in which one end may send repeatedly without an answer is not bounded by its protocol. It uses two
//! [streams](crate::channel::spsc), one in each direction. With `#[buffer(n)]` there is room for `n` messages, and a
//! sender waits for room; with `#[unbounded]` there is room for any number.

use crate::{
    channel::{
        Closed, PushError,
        spsc::stream::{consumer::Consumer, producer::Producer, stream, wait::StreamWait},
    },
    proto::{done::Done, ring::Ring},
    wait::{
        state_word::WaitNode,
        waitable::{Armed, Ended},
    },
};
use std::{
    marker::PhantomData,
    mem::ManuallyDrop,
    sync::atomic::{AtomicU64, Ordering},
};

/// One end of the transport of a conversation. Sealed.
#[allow(private_bounds, reason = "sealed")]
pub trait Link: Transport<Sent = <Self as Link>::Message> {
    /// The type of the messages.
    type Message;
}

/// An endpoint. Implemented by the types that [`proto!`](crate::proto!) makes.
pub trait Endpoint {
    /// Returns the number of its conversation. The number proves nothing, as any type can implement this trait.
    #[doc(hidden)]
    fn conversation(&self) -> u64;
}

impl<M, const N: usize> Link for Ring<M, N> {
    type Message = M;
}

impl<M> Link for Duplex<M> {
    type Message = M;
}

/// Returns the number of a new conversation, which no other has. Numbers carry no order.
pub(crate) fn new_conversation() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// An end of a conversation that is in the state of which `E` is the endpoint.
///
/// A conversation over a [`Ring`] is sound as long as its ends keep to the protocol. So no safe code can make one of
/// these, change its state, or send and receive with it; generated code does so in `unsafe` blocks. Privacy alone would
/// not suffice: attributes of states are passed on, so a derive macro sees the field of an endpoint that holds this.
pub struct At<L, E> {
    link: L,
    _state: PhantomData<fn() -> E>,
}

impl<L: Link, E> At<L, E> {
    pub(crate) fn new(link: L) -> Self {
        Self { link, _state: PhantomData }
    }

    pub(crate) fn link(&self) -> &L {
        &self.link
    }

    pub(crate) fn link_mut(&mut self) -> &mut L {
        &mut self.link
    }

    /// Takes the end at its present position. What is left is used up.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        Self::new(self.link.take())
    }

    /// Moves the end to the next state.
    ///
    /// # Safety
    /// The message that was last sent or received leads from the state of `E` to that of `N`, on the same side.
    #[inline]
    pub unsafe fn next<N>(self) -> At<L, N> {
        At::new(self.link)
    }

    /// Finishes the conversation after its last message.
    ///
    /// # Safety
    /// By the protocol `P`, the last message was sent or received.
    #[inline]
    pub unsafe fn finish<P>(self) -> Done<P> {
        let done = Done::new(self.link.conversation());
        Transport::finish(self.link);
        done
    }

    /// Returns the number of the conversation, or 0 if the end is used up.
    pub fn conversation(&self) -> u64 {
        self.link.conversation()
    }

    /// Returns whether the other side is gone.
    pub fn is_closed(&self) -> bool {
        self.link.is_closed()
    }
}

/// Sends a message, for which there is room.
///
/// # Safety
/// `message` is one that this side may send in the state of `E`, and it leads to that of `N`.
#[inline]
pub unsafe fn send<L: Link, E, N>(mut end: At<L, E>, message: L::Message) -> Result<At<L, N>, Closed> {
    Transport::send(&mut end.link, message)?;
    Ok(At::new(end.link))
}

/// Sends the last message, for which there is room.
///
/// # Safety
/// `message` is one that this side may send in the state of `E`, and by the protocol `P` it is the last one.
#[inline]
pub unsafe fn send_last<L: Link, E, P>(mut end: At<L, E>, message: L::Message) -> Result<Done<P>, Closed> {
    Transport::send(&mut end.link, message)?;
    // SAFETY: the message was sent, and the caller promises that it is the last one of `P`.
    Ok(unsafe { end.finish() })
}

pub(crate) trait Transport: Sized {
    type Sent;
    /// The data that a wait needs. Stays in place from `register` to `unregister`.
    type Wait;

    fn wait() -> Self::Wait;

    fn send(&mut self, message: Self::Sent) -> Result<(), Closed>;

    fn recv(&mut self) -> Option<Result<Self::Sent, Closed>>;

    /// Returns whether `recv` would return something.
    fn is_ready(&self) -> bool;

    /// Returns whether nothing more can be received and messages would have no receiver.
    fn is_closed(&self) -> bool;

    /// Takes the end. What is left is used up.
    fn take(&mut self) -> Self;

    fn finish(self);

    /// Returns the number of the conversation, or 0 if the end is used up.
    fn conversation(&self) -> u64;

    /// Registers a waiter that is to receive the next message, as
    /// [`register`](crate::wait::waitable::Waitable::register) does.
    fn register(&self, wait: &Self::Wait, armed: Armed) -> bool;

    fn unregister(&self, wait: &Self::Wait, ended: Ended);

    /// Takes the address of a waiter out again. Returns `false` if it is not there; if it was registered, it was then
    /// taken out.
    fn withdraw(&self, wait: &Self::Wait) -> bool;
}

impl<M, const N: usize> Transport for Ring<M, N> {
    type Sent = M;
    type Wait = WaitNode;

    fn wait() -> WaitNode {
        WaitNode::new()
    }

    #[inline]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        Self::send(self, message).map_err(|_| Closed)
    }

    #[inline]
    fn recv(&mut self) -> Option<Result<M, Closed>> {
        Some(Self::recv(self)?.map_err(|_| Closed))
    }

    fn is_ready(&self) -> bool {
        Self::is_ready(self)
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }

    #[inline]
    fn take(&mut self) -> Self {
        Self::take(self)
    }

    #[inline]
    fn finish(self) {
        // Not dropped after it has left.
        ManuallyDrop::new(self).leave();
    }

    fn conversation(&self) -> u64 {
        Self::conversation(self)
    }

    fn register(&self, wait: &WaitNode, armed: Armed) -> bool {
        Self::register(self, wait, armed)
    }

    fn unregister(&self, wait: &WaitNode, ended: Ended) {
        Self::unregister(self, wait, ended);
    }

    fn withdraw(&self, wait: &WaitNode) -> bool {
        Self::withdraw(self, wait)
    }
}

/// One end of a conversation that its protocol does not bound.
pub struct Duplex<M> {
    /// In a box, as it is moved at each step. `None` if it is used up.
    ends: Option<Box<Ends<M>>>,
}

type Ends<M> = (Producer<M>, Consumer<M>, u64);

impl<M> Duplex<M> {
    /// Returns the client's end and the server's, with room for that many messages of each side.
    pub(crate) fn pair(of_client: Option<usize>, of_server: Option<usize>) -> (Self, Self) {
        let (client_inlet, server_outlet) = stream(of_client);
        let (server_inlet, client_outlet) = stream(of_server);
        let conversation = new_conversation();
        let end = |producer, consumer| Self { ends: Some(Box::new((producer, consumer, conversation))) };
        (end(client_inlet, client_outlet), end(server_inlet, server_outlet))
    }

    #[inline]
    pub(crate) fn producer(&self) -> Option<&Producer<M>> {
        Some(&self.ends.as_ref()?.0)
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.producer().is_some_and(|producer| matches!(producer.check(), Err(PushError::Full)))
    }
}

#[inline(never)]
fn send_slow<M>(producer: &mut Producer<M>, message: M) -> Result<(), Closed> {
    match producer.push(message) {
        Ok(()) => Ok(()),
        Err((PushError::Closed, _)) => Err(Closed),
        Err((PushError::Full, _)) => unreachable!("there is room for what need not wait for it"),
    }
}

impl<M> Transport for Duplex<M> {
    type Sent = M;
    type Wait = StreamWait;

    fn wait() -> StreamWait {
        StreamWait::new()
    }

    #[inline]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let (producer, ..) = &mut **self.ends.as_mut().ok_or(Closed)?;
        match producer.push_fast(message) {
            Ok(()) => Ok(()),
            Err(message) => send_slow(producer, message),
        }
    }

    #[inline]
    fn recv(&mut self) -> Option<Result<M, Closed>> {
        let Some(ends) = &mut self.ends else { return Some(Err(Closed)) };
        if let Some(message) = ends.1.pop_fast() {
            return Some(Ok(message));
        }
        Some(ends.1.pop()?.map_err(|_| Closed))
    }

    fn is_ready(&self) -> bool {
        self.ends.as_deref().is_none_or(|(_, consumer, _)| !consumer.is_empty() || consumer.is_closed())
    }

    fn is_closed(&self) -> bool {
        self.ends
            .as_deref()
            .is_none_or(|(producer, consumer, _)| producer.is_closed() && consumer.is_closed() && consumer.is_empty())
    }

    #[inline]
    fn take(&mut self) -> Self {
        Self { ends: self.ends.take() }
    }

    fn finish(self) {}

    fn conversation(&self) -> u64 {
        self.ends.as_deref().map_or(0, |ends| ends.2)
    }

    fn register(&self, wait: &StreamWait, armed: Armed) -> bool {
        self.ends.as_deref().is_some_and(|(_, consumer, _)| wait.register_consumer(consumer, armed))
    }

    fn unregister(&self, wait: &StreamWait, ended: Ended) {
        if let Some((_, consumer, _)) = self.ends.as_deref() {
            wait.unregister_consumer(consumer, ended);
        }
    }

    fn withdraw(&self, wait: &StreamWait) -> bool {
        self.ends.as_deref().is_some_and(|(_, consumer, _)| wait.withdraw_outlet(consumer))
    }
}
