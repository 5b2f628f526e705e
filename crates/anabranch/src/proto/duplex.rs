//! What a conversation goes over: the ring of a bounded one, or two streams.
//!
//! A conversation in which one end may speak again and again without an answer is not bounded by its protocol. It goes
//! over two [streams](crate::channel::spsc), one each way: with `#[buffer(n)]` there is room for so many messages and
//! who speaks waits for room, with `#[unbounded]` for any number.

use crate::{
    channel::{
        Closed,
        spsc::stream::{consumer::Consumer, cursor::PushError, producer::Producer, stream, wait::StreamWait},
    },
    proto::{done::Done, ring::Ring},
    wait::{state_word::WaitNode, waiter::Waiter},
};
use std::{
    marker::PhantomData,
    mem::ManuallyDrop,
    sync::atomic::{AtomicU64, Ordering},
};

/// One end of that over which a conversation goes. Sealed.
#[allow(private_bounds, reason = "sealed")]
pub trait Line: Transport<Said = <Self as Line>::Message> {
    /// What is said.
    type Message;
}

/// An endpoint. Implemented by what [`proto!`](crate::proto!) makes.
pub trait Endpoint {
    /// The number of its conversation. It proves nothing of itself, as anybody can implement this.
    #[doc(hidden)]
    fn conversation(&self) -> u64;
}

impl<M, const N: usize> Line for Ring<M, N> {
    type Message = M;
}

impl<M> Line for Duplex<M> {
    type Message = M;
}

/// The number of a new conversation; no other one has it. Nothing is ordered by it.
pub(crate) fn new_conversation() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// An end of a conversation that has come to the state of which `E` is the endpoint.
///
/// A conversation over a [`Ring`] is sound as long as its ends keep to the protocol. So no safe code can make one of
/// these, change its state, or speak and listen with it; generated code does so in `unsafe` blocks. Privacy alone would
/// not do: attributes of states are handed on, so a derive macro sees the field in which an endpoint has this.
pub struct At<L, E> {
    line: L,
    _state: PhantomData<fn() -> E>,
}

impl<L: Line, E> At<L, E> {
    pub(crate) fn new(line: L) -> Self {
        Self { line, _state: PhantomData }
    }

    pub(crate) fn line(&self) -> &L {
        &self.line
    }

    pub(crate) fn line_mut(&mut self) -> &mut L {
        &mut self.line
    }

    /// The end, as far as it came; what is left is used up.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        Self::new(self.line.take())
    }

    /// The same end in the next state.
    ///
    /// # Safety
    /// The message that was last said or heard leads from the state of `E` to that of `N`, on the same side.
    #[inline]
    pub unsafe fn next<N>(self) -> At<L, N> {
        At::new(self.line)
    }

    /// The last message has been said or heard.
    ///
    /// # Safety
    /// It has, by the protocol `P`.
    #[inline]
    pub unsafe fn finish<P>(self) -> Done<P> {
        let done = Done::new(self.line.conversation());
        Transport::finish(self.line);
        done
    }

    /// The number of the conversation. 0 if the end is used up.
    pub fn conversation(&self) -> u64 {
        self.line.conversation()
    }

    /// Whether the other side has gone.
    pub fn is_closed(&self) -> bool {
        self.line.is_closed()
    }
}

/// Says a message, for which there is room.
///
/// # Safety
/// `message` is one of those that this side says in the state of `E`, and leads to that of `N`.
#[inline]
pub unsafe fn say<L: Line, E, N>(mut end: At<L, E>, message: L::Message) -> Result<At<L, N>, Closed> {
    Transport::say(&mut end.line, message)?;
    Ok(At::new(end.line))
}

/// Says the last message, for which there is room.
///
/// # Safety
/// `message` is one of those that this side says in the state of `E`, and by the protocol `P` it is the last one.
#[inline]
pub unsafe fn say_last<L: Line, E, P>(mut end: At<L, E>, message: L::Message) -> Result<Done<P>, Closed> {
    Transport::say(&mut end.line, message)?;
    // SAFETY: the caller's word on `message`, which has been said.
    Ok(unsafe { end.finish() })
}

pub(crate) trait Transport: Sized {
    type Said;
    /// What a wait needs; stays where it is from `register` to `unregister`.
    type Wait;

    fn wait() -> Self::Wait;

    fn say(&mut self, message: Self::Said) -> Result<(), Closed>;

    fn hear(&mut self) -> Option<Result<Self::Said, Closed>>;

    /// Whether `hear` would say something.
    fn is_ready(&self) -> bool;

    /// Whether there will be nothing more to hear, nor anybody to hear what is said.
    fn is_closed(&self) -> bool;

    /// The end; what is left is used up.
    fn take(&mut self) -> Self;

    fn finish(self);

    /// The number of the conversation. 0 when the end is used up.
    fn conversation(&self) -> u64;

    /// # Safety
    /// As for [`Place::register`](crate::wait::waitable::Place::register), with a wait of this end, which is to hear
    /// the next message.
    unsafe fn register(&self, wait: &Self::Wait, waiter: *const Waiter, ticket: u32) -> bool;

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::waitable::Place::unregister).
    unsafe fn unregister(&self, wait: &Self::Wait, has_decided: bool);

    /// Takes the address of a waiter out again. `false`: it is not there, and was taken out if it was registered.
    fn withdraw(&self, wait: &Self::Wait) -> bool;
}

impl<M, const N: usize> Transport for Ring<M, N> {
    type Said = M;
    type Wait = WaitNode;

    fn wait() -> WaitNode {
        WaitNode::new()
    }

    #[inline]
    fn say(&mut self, message: M) -> Result<(), Closed> {
        Self::say(self, message).map_err(|_| Closed)
    }

    #[inline]
    fn hear(&mut self) -> Option<Result<M, Closed>> {
        Some(Self::hear(self)?.map_err(|_| Closed))
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
        // Not to be dropped after it has left.
        ManuallyDrop::new(self).leave();
    }

    fn conversation(&self) -> u64 {
        Self::conversation(self)
    }

    unsafe fn register(&self, wait: &WaitNode, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
        unsafe { Self::register(self, wait, waiter, ticket) }
    }

    unsafe fn unregister(&self, wait: &WaitNode, has_decided: bool) {
        // SAFETY: the caller has registered here, and its wait has ended.
        unsafe { Self::unregister(self, wait, has_decided) }
    }

    fn withdraw(&self, wait: &WaitNode) -> bool {
        Self::withdraw(self, wait)
    }
}

/// One end of a conversation that its protocol does not bound.
pub struct Duplex<M> {
    /// In a box, as it is moved from step to step. `None` when it is used up.
    ends: Option<Box<Ends<M>>>,
}

type Ends<M> = (Producer<M>, Consumer<M>, u64);

impl<M> Duplex<M> {
    /// The client's end, and the server's, with room for so many messages of either.
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
fn say_slow<M>(producer: &mut Producer<M>, message: M) -> Result<(), Closed> {
    match producer.push(message) {
        Ok(()) => Ok(()),
        Err((PushError::Closed, _)) => Err(Closed),
        Err((PushError::Full, _)) => unreachable!("there is room for what need not wait for it"),
    }
}

impl<M> Transport for Duplex<M> {
    type Said = M;
    type Wait = StreamWait;

    fn wait() -> StreamWait {
        StreamWait::new()
    }

    #[inline]
    fn say(&mut self, message: M) -> Result<(), Closed> {
        let (producer, ..) = &mut **self.ends.as_mut().ok_or(Closed)?;
        match producer.push_fast(message) {
            Ok(()) => Ok(()),
            Err(message) => say_slow(producer, message),
        }
    }

    #[inline]
    fn hear(&mut self) -> Option<Result<M, Closed>> {
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

    unsafe fn register(&self, wait: &StreamWait, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
        self.ends.as_deref().is_some_and(|(_, consumer, _)| unsafe { wait.register_outlet(consumer, waiter, ticket) })
    }

    unsafe fn unregister(&self, wait: &StreamWait, has_decided: bool) {
        if let Some((_, consumer, _)) = self.ends.as_deref() {
            // SAFETY: the caller has registered here, and its wait has ended.
            unsafe { wait.unregister_outlet(consumer, has_decided) }
        }
    }

    fn withdraw(&self, wait: &StreamWait) -> bool {
        self.ends.as_deref().is_some_and(|(_, consumer, _)| wait.withdraw_outlet(consumer))
    }
}
