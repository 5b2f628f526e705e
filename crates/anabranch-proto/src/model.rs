//! A protocol, checked: states by their number, and how far each side may run ahead.

use proc_macro2::Span;
use syn::{Attribute, Generics, Ident, Type, Visibility};

/// Either side of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Client, Self::Server];

    /// The module of its endpoints, and what it is called in texts.
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
    /// Those of the first state, and so of all.
    pub(crate) generics: Generics,
    /// The first is where a conversation begins.
    pub(crate) states: Vec<State>,
    pub(crate) link: Link,
    /// The version in which it goes over a wire, if it does.
    pub(crate) wire: Option<u32>,
}

pub(crate) struct State {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) sender: Side,
    pub(crate) messages: Vec<Message>,
    /// What was asked for with an attribute.
    pub(crate) capacity: Option<(Capacity, Span)>,
    /// Whether its messages may have to wait for room.
    pub(crate) waits: bool,
    /// It has no way to the end, and no `#[allow(endless)]`.
    pub(crate) is_unduly_endless: bool,
}

pub(crate) struct Message {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) fields: Vec<Field>,
    /// The number of a state. `None`: the conversation has ended.
    pub(crate) next: Option<usize>,
}

pub(crate) struct Field {
    pub(crate) name: Option<Ident>,
    pub(crate) kind: Type,
}

/// The capacity for the messages of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capacity {
    /// So many; a sender of more waits.
    Buffer(usize),
    Unbounded,
}

/// The transport of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// No more than so many messages are ever under way.
    Ring(usize),
    Duplex {
        client: Capacity,
        server: Capacity,
    },
}

impl Protocol {
    /// Returns its name.
    pub fn name(&self) -> String {
        self.name.to_string()
    }
}
