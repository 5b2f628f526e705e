//! What a conversation goes over: the ring of a bounded one, or two streams.
//!
//! A conversation in which one end may speak again and again without an answer is not bounded by its protocol. It goes over
//! two [streams](crate::channel::spsc), one each way: with `#[buffer(n)]` there is room for so many messages and who
//! speaks waits for room, with `#[unbounded]` for any number.

use super::ring::Ring;
use crate::{
    channel::{
        Closed,
        stream::{Inlet, Outlet, StreamWait, Stuck, stream},
        word::Sleeper,
    },
    wait::waiter::Waiter,
};
use std::mem::ManuallyDrop;

/// One end of that over which a conversation goes. Sealed.
#[allow(private_bounds, reason = "sealed")]
pub trait Line: Transport<Said = <Self as Line>::Message> {
    /// What is said.
    type Message;
}

/// An endpoint. Implemented by what [`proto!`](crate::proto!) makes.
pub trait Endpoint {}

impl<M, const N: usize> Line for Ring<M, N> {
    type Message = M;
}

impl<M> Line for Duplex<M> {
    type Message = M;
}

/// Says a message, for which there is room.
#[inline]
pub fn say<L: Line>(mut line: L, message: L::Message) -> Result<L, Closed> {
    Transport::say(&mut line, message)?;
    Ok(line)
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

    /// # Safety
    /// As for [`Place::register`](crate::wait::place::Place::register), with a wait of this end, which is to hear the next message.
    unsafe fn register(&self, wait: &Self::Wait, waiter: *const Waiter, ticket: u32) -> bool;

    /// # Safety
    /// As for [`Place::unregister`](crate::wait::place::Place::unregister).
    unsafe fn unregister(&self, wait: &Self::Wait, has_decided: bool);

    /// Takes the address of a waiter out again. `false`: it is not there, and was taken out if it was registered.
    fn withdraw(&self, wait: &Self::Wait) -> bool;
}

impl<M, const N: usize> Transport for Ring<M, N> {
    type Said = M;
    type Wait = Sleeper;

    fn wait() -> Sleeper {
        Sleeper::new()
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

    unsafe fn register(&self, wait: &Sleeper, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        unsafe { Self::register(self, wait, waiter, ticket) }
    }

    unsafe fn unregister(&self, wait: &Sleeper, has_decided: bool) {
        // SAFETY: the caller's word.
        unsafe { Self::unregister(self, wait, has_decided) }
    }

    fn withdraw(&self, wait: &Sleeper) -> bool {
        Self::withdraw(self, wait)
    }
}

/// One end of a conversation that its protocol does not bound.
pub struct Duplex<M> {
    /// In a box, as it is moved from step to step. `None` when it is used up.
    ends: Option<Box<(Inlet<M>, Outlet<M>)>>,
}

impl<M> Duplex<M> {
    /// The client's end, and the server's, with room for so many messages of either.
    pub(crate) fn pair(of_client: Option<usize>, of_server: Option<usize>) -> (Self, Self) {
        let (client_inlet, server_outlet) = stream(of_client);
        let (server_inlet, client_outlet) = stream(of_server);
        let end = |inlet, outlet| Self { ends: Some(Box::new((inlet, outlet))) };
        (end(client_inlet, client_outlet), end(server_inlet, server_outlet))
    }

    #[inline]
    pub(crate) fn inlet(&self) -> Option<&Inlet<M>> {
        Some(&self.ends.as_ref()?.0)
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.inlet().is_some_and(|inlet| matches!(inlet.check(), Err(Stuck::Full)))
    }
}

#[inline(never)]
fn say_slowly<M>(inlet: &mut Inlet<M>, message: M) -> Result<(), Closed> {
    match inlet.push(message) {
        Ok(()) => Ok(()),
        Err((Stuck::Closed, _)) => Err(Closed),
        Err((Stuck::Full, _)) => unreachable!("there is room for what need not wait for it"),
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
        let (inlet, _) = &mut **self.ends.as_mut().ok_or(Closed)?;
        match inlet.push_at_once(message) {
            Ok(()) => Ok(()),
            Err(message) => say_slowly(inlet, message),
        }
    }

    #[inline]
    fn hear(&mut self) -> Option<Result<M, Closed>> {
        let Some(ends) = &mut self.ends else { return Some(Err(Closed)) };
        if let Some(message) = ends.1.pop_at_once() {
            return Some(Ok(message));
        }
        Some(ends.1.pop()?.map_err(|_| Closed))
    }

    fn is_ready(&self) -> bool {
        self.ends.as_deref().is_none_or(|(_, outlet)| !outlet.is_empty() || outlet.is_closed())
    }

    fn is_closed(&self) -> bool {
        self.ends.as_deref().is_none_or(|(inlet, outlet)| inlet.is_closed() && outlet.is_closed() && outlet.is_empty())
    }

    #[inline]
    fn take(&mut self) -> Self {
        Self { ends: self.ends.take() }
    }

    fn finish(self) {}

    unsafe fn register(&self, wait: &StreamWait, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller's word.
        self.ends.as_deref().is_some_and(|(_, outlet)| unsafe { wait.register_outlet(outlet, waiter, ticket) })
    }

    unsafe fn unregister(&self, wait: &StreamWait, has_decided: bool) {
        if let Some((_, outlet)) = self.ends.as_deref() {
            // SAFETY: the caller's word.
            unsafe { wait.unregister_outlet(outlet, has_decided) }
        }
    }

    fn withdraw(&self, wait: &StreamWait) -> bool {
        self.ends.as_deref().is_some_and(|(_, outlet)| wait.withdraw_outlet(outlet))
    }
}
