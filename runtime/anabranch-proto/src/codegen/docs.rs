//! Generates the documentation of the module, the endpoints and their methods.

use crate::{
    diagram::carried,
    model::{Capacity, Link, Message, Protocol, Side, State},
};
use proc_macro2::TokenStream;
use quote::quote;

fn doc(text: &str) -> TokenStream {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}

/// Returns text as code for a cell of a table.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

fn other(side: Side) -> Side {
    if side == Side::Client { Side::Server } else { Side::Client }
}

fn how_much(capacity: Capacity) -> String {
    match capacity {
        Capacity::Buffer(1) => "room for 1 message".to_owned(),
        Capacity::Buffer(count) => format!("room for {count} messages"),
        Capacity::Unbounded => "any number of messages".to_owned(),
    }
}

/// Returns a link to the next state of a message, or "the end".
fn next(protocol: &Protocol, message: &Message, prefix: &str) -> String {
    match message.next {
        Some(next) => format!("[`{0}`]({prefix}{0})", protocol.states[next].name),
        None => "the end".to_owned(),
    }
}

/// Returns a description of the messages in flight and the memory of the conversation.
fn bound(protocol: &Protocol) -> String {
    match protocol.link {
        Link::Ring(1) => {
            "The conversation is bounded: the sides take turns, and at most 1 message is in flight. The whole \
            conversation takes one allocation."
                .to_owned()
        }
        Link::Ring(count) => format!(
            "The conversation is bounded: at most {count} messages are in flight. The whole conversation takes one \
            allocation."
        ),
        Link::Duplex { client, server } => {
            let of = |side: Side| {
                let looping = protocol
                    .states
                    .iter()
                    .any(|state| state.sender == side && (state.waits || state.capacity.is_some()));
                (looping, if side == Side::Client { client } else { server })
            };
            let side = |side: Side| match of(side) {
                (true, Capacity::Buffer(count)) => format!(
                    "The {} can run ahead of the {}: there is {}, and a send waits while there is no room. ",
                    side.name(),
                    other(side).name(),
                    how_much(Capacity::Buffer(count))
                ),
                (true, Capacity::Unbounded) => format!(
                    "The {} can run ahead of the {} without bound: a send never waits, and may allocate memory. ",
                    side.name(),
                    other(side).name()
                ),
                (false, _) => String::new(),
            };
            format!("{}{}", side(Side::Client), side(Side::Server))
        }
    }
}

/// Returns the documentation of the module, which follows the user's own.
pub(super) fn module(protocol: &Protocol) -> TokenStream {
    let mut text = format!("\nThe protocol `{}`. A conversation begins with [`pipe`]({0}::pipe).\n\n", protocol.name);
    text += &bound(protocol);
    if let Some(version) = protocol.wire {
        text += &format!(
            "\n\nIt can also run over a wire, as version {version}: see [`client::over`]({0}::client::over) and \
             [`server::over`]({0}::server::over).",
            protocol.name
        );
    }
    text += "\n\n| state | sender | message | next |\n|---|---|---|---|\n";
    for state in &protocol.states {
        let mut first = format!("[`{0}`]({1}::client::{0}) | the {2}", state.name, protocol.name, state.sender.name());
        for message in &state.messages {
            let said = code(&format!("{}{}", message.name, carried(message)));
            let next = next(protocol, message, &format!("{}::client::", protocol.name));
            text += &format!("| {first} | {said} | {next} |\n");
            first = "| ".to_owned();
            first.clear();
            first += " | ";
        }
    }
    text += &format!("\n```mermaid\n{}\n```", protocol.mermaid());
    doc(&text)
}

pub(super) fn pipe(protocol: &Protocol) -> TokenStream {
    let first = &protocol.states[0].name;
    doc(&format!(
        "Begins a conversation in `{first}`. Returns the endpoints of the client and of the server.\n\n{}",
        bound(protocol)
    ))
}

/// Returns the documentation of an endpoint, which follows the user's own of the state.
pub(super) fn state(protocol: &Protocol, state: &State, side: Side) -> TokenStream {
    let mut text = format!("\nThe {} of `{}` in the state `{}`. ", side.name(), protocol.name, state.name);
    let sends = state.sender == side;
    if sends {
        text += "This side sends:\n\n| send | next |\n|---|---|\n";
    } else {
        text += &format!(
            "The {} sends, and this side [receives](Self::recv):\n\n| receive | next |\n|---|---|\n",
            state.sender.name()
        );
    }
    for message in &state.messages {
        let said = format!("{}{}", message.name, carried(message));
        let said = if sends { format!("[{}](Self::{})", code(&said), message.name) } else { code(&said) };
        text += &format!("| {said} | {} |\n", next(protocol, message, ""));
    }
    if sends {
        let capacity = match (state.waits, state.sender, protocol.link) {
            (true, Side::Client, Link::Duplex { client, .. }) => Some(client),
            (true, Side::Server, Link::Duplex { server, .. }) => Some(server),
            _ => None,
        };
        text += &match capacity {
            Some(capacity) => format!("\nThere is {}; a send waits while there is no room.", how_much(capacity)),
            None => "\nA send does not wait.".to_owned(),
        };
    }
    doc(&text)
}

/// Returns the documentation of a method that sends a message, which follows the user's own of the message.
pub(super) fn sends(protocol: &Protocol, state: &State, message: &Message) -> TokenStream {
    let next = match message.next {
        Some(next) => format!("Returns the endpoint in the state [`{}`].", protocol.states[next].name),
        None => "Ends the conversation and returns its `Done`.".to_owned(),
    };
    let waits = if state.waits { " Waits while the buffer is full." } else { "" };
    let errors = if state.waits {
        "Returns an error if the other side is gone, or if the wait was cancelled. In the latter case the error holds the endpoint and the values."
    } else {
        "Returns `Closed` if the other side is gone."
    };
    doc(&format!("\nSends `{}`. {next}{waits}\n\n# Errors\n{errors}", message.name))
}

/// Returns the documentation of the variant of a message, which follows the user's own of the message.
pub(super) fn received(protocol: &Protocol, message: &Message) -> TokenStream {
    let next = match message.next {
        Some(next) => format!("The last field is the endpoint in the state [`{}`].", protocol.states[next].name),
        None => "It ends the conversation; the last field is its `Done`.".to_owned(),
    };
    doc(&format!("\nThe message `{}{}`. {next}", message.name, carried(message)))
}

/// Returns the documentation of `over` and of `over_async`.
pub(super) fn over(protocol: &Protocol, side: Side) -> [TokenStream; 2] {
    let text = |how: &str| {
        doc(&format!(
            "Begins a conversation over a wire as the {}, {how}. Exchanges the hash of the protocol and its version, and \
             checks that the other side uses the same.\n\n\
             Returns the endpoint in the state `{}`, and the connection. Run the connection: it carries the messages.\n\n\
             # Errors\nReturns an error if the other side uses another protocol, or if the stream ends or fails.",
            side.name(),
            protocol.states[0].name
        ))
    };
    [text("on this thread"), text("in async code")]
}
