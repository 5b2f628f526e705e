//! The end of a conversation.

use std::{fmt, marker::PhantomData};

/// A protocol. [`proto!`](crate::proto!) implements it for the type `Protocol` of each generated module.
pub trait Protocol {
    /// The name of the protocol.
    const NAME: &'static str;
    /// The states and messages, as a Mermaid diagram.
    const DIAGRAM: &'static str;
    /// A hash of the states, messages and types as written in the source. The same source gives the same hash in every
    /// build.
    const HASH: u64;
}

/// Proof that a conversation is complete: the last message of its protocol was sent or received.
///
/// There is no other way to obtain one. In the end both sides have one, and two are equal if they belong to the same
/// conversation. A [service](crate::proto::spawn_service) has to return the one of its own conversation, so it cannot
/// abandon the conversation unnoticed.
///
/// ```
/// # use anabranch::proto;
/// proto! { pub tell { Only: send { only -> ! } } }
///
/// let tell = || {
///     let (client, server) = tell::pipe();
///     let of_client = client.only().unwrap();
///     let tell::server::OnlyMessage::Only(of_server) = server.try_recv().unwrap();
///     (of_client, of_server)
/// };
/// let (one, other) = (tell(), tell());
/// assert_eq!(one.0, one.1);
/// assert_ne!(one.0, other.0);
/// ```
#[must_use = "it proves that the conversation has ended"]
pub struct Done<P> {
    pub(super) conversation: u64,
    _of: PhantomData<fn() -> P>,
}

impl<P> Done<P> {
    pub(super) fn new(conversation: u64) -> Self {
        Self { conversation, _of: PhantomData }
    }
}

impl<P: Protocol> fmt::Debug for Done<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Done<{}>", P::NAME)
    }
}

impl<P> PartialEq for Done<P> {
    fn eq(&self, other: &Self) -> bool {
        self.conversation == other.conversation
    }
}

impl<P> Eq for Done<P> {}
