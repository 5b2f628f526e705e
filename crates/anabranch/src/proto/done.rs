//! The end of a conversation, and services that have to come to it.

use super::line::{Line, Transport};
use std::{fmt, marker::PhantomData};

/// A protocol. Implemented by what [`proto!`](crate::proto!) makes, as `name::Protocol`.
pub trait Protocol {
    /// What it is called.
    const NAME: &'static str;
    /// Its states and messages, as a Mermaid diagram.
    const DIAGRAM: &'static str;
    /// A hash of its states, messages and their types as they are written. The same for the same text, in every build.
    const HASH: u64;
}

/// A conversation has come to its end: the last message of its protocol has been sent, or received.
///
/// There is no other way to come by one, so what has to return it cannot leave a conversation half-way unnoticed.
#[must_use = "it is the proof that the conversation came to its end"]
pub struct Done<P>(PhantomData<fn() -> P>);

impl<P: Protocol> fmt::Debug for Done<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Done<{}>", P::NAME)
    }
}

impl<P> PartialEq for Done<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<P> Eq for Done<P> {}

/// The last message has been said or heard.
#[inline]
pub fn finish<P, L: Line>(line: L) -> Done<P> {
    Transport::finish(line);
    Done(PhantomData)
}
