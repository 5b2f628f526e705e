//! A checked protocol. States refer to each other by index, and the room for messages in flight is known.

use proc_macro2::Span;
use syn::{Attribute, Generics, Ident, Type, Visibility};

/// A side of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Client, Self::Server];

    /// Returns the name of the side, which is also the name of the module of its endpoints.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// A protocol without errors.
pub struct Protocol {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    /// The parameters of the first state, which all states have.
    pub(crate) generics: Generics,
    /// A conversation begins in the first state.
    pub(crate) states: Vec<State>,
    pub(crate) link: Link,
    /// The version of `#[wire(version = n)]`, or `None` if there is no such attribute.
    pub(crate) wire: Option<u32>,
}

pub(crate) struct State {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) sender: Side,
    pub(crate) messages: Vec<Message>,
    /// The capacity that an attribute of the state demands, and the position of that attribute.
    pub(crate) capacity: Option<(Capacity, Span)>,
    /// Whether a send in this state may have to wait for room.
    pub(crate) waits: bool,
    /// Whether to warn that no sequence of messages leads from this state to the end.
    pub(crate) warns_endless: bool,
}

pub(crate) struct Message {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) fields: Vec<Field>,
    /// The index of the next state, or `None` if the message ends the conversation.
    pub(crate) next: Option<usize>,
}

pub(crate) struct Field {
    pub(crate) name: Option<Ident>,
    pub(crate) kind: Type,
}

/// The number of messages of one side that may be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capacity {
    /// At most this many. A send waits while all are in flight.
    Buffer(usize),
    /// Any number.
    Unbounded,
}

/// The transport of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// One ring for both directions. The protocol allows at most this many messages in flight.
    Ring(usize),
    /// Two streams, with the capacity of each side.
    Duplex { client: Capacity, server: Capacity },
}

impl Protocol {
    /// Returns the name of the protocol.
    pub fn name(&self) -> String {
        self.name.to_string()
    }
}
