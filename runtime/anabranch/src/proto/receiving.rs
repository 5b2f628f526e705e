//! Receiving: the methods of endpoints whose next step is to receive.

use crate::{
    channel::{self, Closed, Receive, set::source::Source},
    cx::{
        Cx,
        attempt::{Attempt, OwnerCell, wait_again_for},
    },
    proto::{
        duplex::{At, Endpoint, Link, Transport},
        error::{EndpointRecvError, EndpointTryRecvError},
    },
    time::NEVER,
    wait::{
        WaitError,
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::fmt;

/// An endpoint whose next step is to receive. Implemented only by the types that [`proto!`](crate::proto!) makes.
///
/// # Safety
/// For generated code. The type is the endpoint of a state in which its side receives. `end` and `end_mut` return the
/// same end each time, as long as no other is assigned. `received` accepts each message that may be received in this
/// state.
pub unsafe trait ReceiveEndpoint: Endpoint + Sized {
    /// The result of the receive: one of the messages of the state, with the next endpoint.
    type Received;
    #[doc(hidden)]
    type Link: Link;
    /// Its name, for the reasons of waits.
    #[doc(hidden)]
    const NAME: &'static &'static str;

    #[doc(hidden)]
    fn end(&self) -> &At<Self::Link, Self>;

    #[doc(hidden)]
    fn end_mut(&mut self) -> &mut At<Self::Link, Self>;

    /// # Safety
    /// `message` was the last one that was received at `end`.
    #[doc(hidden)]
    unsafe fn received(end: At<Self::Link, Self>, message: <Self::Link as Link>::Message) -> Self::Received;
}

/// Receives a message that was sent, and makes the step that follows from it. The endpoint is used up by that, and by
/// `Closed`.
#[inline]
fn try_receive<E: ReceiveEndpoint>(end: &mut E) -> Option<Result<E::Received, Closed>> {
    let end = end.end_mut();
    match end.link_mut().recv()? {
        // SAFETY: the message was just received at this end.
        Ok(message) => Some(Ok(unsafe { E::received(end.take(), message) })),
        Err(Closed) => Some(Err(Closed)),
    }
}

/// Waits for the next message. Like the other functions here, it is called by the methods of endpoints.
///
/// It waits only until the message is there. The message then goes from its slot straight to the caller. Passing it
/// through the frames of the wait would copy it several times. Each copy would read at once what the one before has
/// just written in parts, and stall.
#[inline]
#[track_caller]
pub fn recv<E: ReceiveEndpoint>(mut end: E, cx: &Cx<'_>) -> Result<E::Received, EndpointRecvError<E>> {
    if cx.checkpoint().is_err() {
        return Err(EndpointRecvError::Cancelled(end));
    }
    loop {
        if let Some(received) = try_receive(&mut end) {
            return Ok(received?);
        }
        if more(end.end().link(), cx, WaitReason::new(E::NAME)).is_err() {
            return Err(EndpointRecvError::Cancelled(end));
        }
    }
}

/// Waits until there is a message. There was none just now.
#[inline(always)]
fn more<L: Link>(link: &L, cx: &Cx<'_>, reason: WaitReason) -> Result<(), WaitError> {
    wait_again_for(cx, &Ready { link, wait: L::wait() }, NEVER, reason)
}

/// Receives the next message if it was sent. Does not wait.
#[inline]
pub fn try_recv<E: ReceiveEndpoint>(mut end: E) -> Result<E::Received, EndpointTryRecvError<E>> {
    match try_receive(&mut end) {
        Some(received) => Ok(received?),
        None => Err(EndpointTryRecvError::Empty(end)),
    }
}

/// Returns whether [`try_recv`] would not return `Empty`.
pub fn is_ready<E: ReceiveEndpoint>(end: &E) -> bool {
    end.end().link().is_ready()
}

/// Receiving from an endpoint of a conversation, as an operation. Made by the method `receiving` of the endpoint.
pub struct Receiving<'a, E: ReceiveEndpoint> {
    end: OwnerCell<&'a mut E>,
    wait: <E::Link as Transport>::Wait,
}

impl<'a, E: ReceiveEndpoint> Receiving<'a, E> {
    #[doc(hidden)]
    pub fn new(end: &'a mut E) -> Self {
        Self { end: OwnerCell::new(end), wait: E::Link::wait() }
    }

    fn link(&self) -> &E::Link {
        // SAFETY: no attempt runs while this reference is used.
        unsafe { self.end.get() }.end().link()
    }
}

impl<E: ReceiveEndpoint> Attempt for Receiving<'_, E> {
    type Output = Result<E::Received, Closed>;

    const NAME: &'static &'static str = E::NAME;

    fn attempt(&self) -> Option<Self::Output> {
        self.end.with(|end| try_receive(*end))
    }
}

crate::cx::operation::into_future!(Receiving<'_, E>, [E: ReceiveEndpoint];);

// SAFETY: the link upholds the contract of `Waitable`, and its end stays in place while it is borrowed.
unsafe impl<E: ReceiveEndpoint> Waitable for Receiving<'_, E> {
    fn register(&self, armed: Armed) -> bool {
        self.link().register(&self.wait, armed)
    }

    fn unregister(&self, ended: Ended) {
        self.link().unregister(&self.wait, ended);
    }
}

/// The same wait, without a receive.
struct Ready<'a, L: Link> {
    link: &'a L,
    wait: L::Wait,
}

impl<L: Link> Attempt for Ready<'_, L> {
    type Output = ();

    #[inline]
    fn attempt(&self) -> Option<()> {
        self.link.is_ready().then_some(())
    }
}

// SAFETY: the link upholds the contract of `Waitable`, and its end stays in place while it is borrowed.
unsafe impl<L: Link> Waitable for Ready<'_, L> {
    fn register(&self, armed: Armed) -> bool {
        self.link.register(&self.wait, armed)
    }

    fn unregister(&self, ended: Ended) {
        self.link.unregister(&self.wait, ended);
    }
}

impl<E: ReceiveEndpoint> fmt::Debug for Receiving<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("proto::Receiving").field("from", &E::NAME).finish_non_exhaustive()
    }
}

/// As a member of a set, an endpoint receives once and is used up.
impl<E: ReceiveEndpoint> Receive for E {
    type Item = E::Received;
}

impl<E: ReceiveEndpoint> Source for E {
    type Value = E::Received;
    type Wait = <E::Link as Transport>::Wait;

    const IS_ONCE: bool = true;

    fn wait() -> Self::Wait {
        E::Link::wait()
    }

    fn receive(&mut self) -> Result<E::Received, channel::TryRecvError> {
        Ok(try_receive(self).ok_or(channel::TryRecvError::Empty)??)
    }

    fn register(&self, wait: &Self::Wait, armed: Armed) -> bool {
        self.end().link().register(wait, armed)
    }

    fn withdraw(&self, wait: &Self::Wait, _: Ended) -> bool {
        self.end().link().withdraw(wait)
    }

    fn pass_on(&self) {}
}
