//! The wire's end of a conversation, in place of the other side: what it waits for besides a message.

use crate::{
    channel::Closed,
    cx::attempt::{Attempt, OwnerCell},
    proto::{
        duplex::{Duplex, Link, Transport, new_conversation},
        ring::Ring,
        sending::Writable,
    },
    wait::{
        latch::{Latch, LatchWait},
        waitable::{Armed, Ended, Waitable, waits_by},
    },
};

/// How much room there is for messages from the wire if the protocol sets no limit: the other side must not choose how
/// much memory it takes.
const DEFAULT_CAPACITY: usize = 16;

/// The transport of a conversation, as far as wires use it. Sealed.
#[doc(hidden)]
#[allow(private_bounds, reason = "sealed")]
pub trait Relay: Link + Relayed<Sent = <Self as Link>::Message> {}

impl<M, const N: usize> Relay for Ring<M, N> {}

impl<M> Relay for Duplex<M> {}

pub(crate) trait Relayed: Transport {
    /// Returns the endpoint's end and the wire's, with room for that many messages of the endpoint and of the wire.
    fn pair(of_endpoint: Option<usize>, of_wire: Option<usize>) -> (Self, Self);

    /// Returns the wait for room for a message, or `None` if the protocol guarantees room.
    fn writable(&mut self) -> Option<impl Attempt<Output = ()>>;

    /// Returns the wait for the end of the endpoint while it is to receive.
    fn gone(&mut self) -> impl Attempt<Output = ()>;
}

impl<M, const N: usize> Relayed for Ring<M, N> {
    fn pair(_: Option<usize>, _: Option<usize>) -> (Self, Self) {
        Self::watched_pair(new_conversation())
    }

    fn writable(&mut self) -> Option<impl Attempt<Output = ()>> {
        None::<Gone<'_>>
    }

    fn gone(&mut self) -> impl Attempt<Output = ()> {
        Gone { latch: self.watch(), wait: LatchWait::new(self.watch()) }
    }
}

impl<M> Relayed for Duplex<M> {
    fn pair(of_endpoint: Option<usize>, of_wire: Option<usize>) -> (Self, Self) {
        Self::pair(of_endpoint, of_wire.or(Some(DEFAULT_CAPACITY)))
    }

    fn writable(&mut self) -> Option<impl Attempt<Output = ()>> {
        Some(Writable::of(self))
    }

    fn gone(&mut self) -> impl Attempt<Output = ()> {
        // The endpoint sends nothing before it has received something, so the only event here is that it is gone.
        Ready(ReceivingAny::new(self))
    }
}

/// The wait for the end of the other end.
struct Gone<'a> {
    latch: &'a Latch,
    wait: LatchWait<&'a Latch>,
}

impl Attempt for Gone<'_> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        self.latch.is_notified().then_some(())
    }
}

waits_by!(wait: Gone<'_>);

/// Receiving the next message, of any state.
pub(super) struct ReceivingAny<'a, T: Transport> {
    link: OwnerCell<&'a mut T>,
    wait: T::Wait,
}

impl<'a, T: Transport> ReceivingAny<'a, T> {
    pub(super) fn new(link: &'a mut T) -> Self {
        Self { link: OwnerCell::new(link), wait: T::wait() }
    }

    fn link(&self) -> &T {
        // SAFETY: no attempt runs while this reference is used.
        unsafe { self.link.get() }
    }
}

impl<T: Transport> Attempt for ReceivingAny<'_, T> {
    type Output = Result<T::Sent, Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        self.link.with(|link| link.recv())
    }
}

// SAFETY: the link upholds the contract of `Waitable`, and its end stays in place while it is borrowed.
unsafe impl<T: Transport> Waitable for ReceivingAny<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        self.link().register(&self.wait, armed)
    }

    fn unregister(&self, ended: Ended) {
        self.link().unregister(&self.wait, ended);
    }
}

/// The same wait, without a receive.
struct Ready<'a, T: Transport>(ReceivingAny<'a, T>);

impl<T: Transport> Attempt for Ready<'_, T> {
    type Output = ();

    fn attempt(&self) -> Option<()> {
        self.0.link().is_ready().then_some(())
    }
}

waits_by!(0: Ready<'_, T>, [T: Transport]);
