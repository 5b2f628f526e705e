//! The states and messages as a Mermaid diagram.

use crate::{
    model::{Message, Protocol, Side},
    text::written,
};

/// What a message carries, as it is written: `(String, amount: u64)`, or nothing.
pub(crate) fn carried(message: &Message) -> String {
    let field = |field: &crate::model::Field| match &field.name {
        Some(name) => format!("{name}: {}", written(&field.kind)),
        None => written(&field.kind),
    };
    if message.fields.is_empty() {
        return String::new();
    }
    format!("({})", message.fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

/// A state, for code that draws it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateView {
    /// What it is called.
    pub name: String,
    /// Whether the client sends in it, or else the server.
    pub is_clients: bool,
}

/// A message, for code that draws it: an edge between states, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageView {
    /// What it is called, and what it carries: `login(String)`.
    pub text: String,
    /// The state in which it is sent.
    pub from: usize,
    /// The state that comes next; `None`: the conversation has ended.
    pub to: Option<usize>,
}

impl Protocol {
    /// The states. In the first one a conversation begins, and all others can be reached from it.
    pub fn states(&self) -> impl Iterator<Item = StateView> + '_ {
        self.states
            .iter()
            .map(|state| StateView { name: state.name.to_string(), is_clients: state.sender == Side::Client })
    }

    /// The messages of all states, in the order of these.
    ///
    /// ```
    /// let protocol = anabranch_proto::read("pub ask { Question: send { ask(u64) -> ! } }".parse().unwrap()).unwrap();
    /// let ask = protocol.messages().next().unwrap();
    /// assert_eq!((ask.text.as_str(), ask.from, ask.to), ("ask(u64)", 0, None));
    /// ```
    pub fn messages(&self) -> impl Iterator<Item = MessageView> + '_ {
        self.states.iter().enumerate().flat_map(|(from, state)| {
            state.messages.iter().map(move |message| MessageView {
                text: format!("{}{}", message.name, carried(message)),
                from,
                to: message.next,
            })
        })
    }

    /// A state diagram in the language of [Mermaid](https://mermaid.js.org). The client sends in the blue states.
    pub fn mermaid(&self) -> String {
        let mut lines = vec!["stateDiagram-v2".to_owned(), format!("    [*] --> {}", self.states[0].name)];
        for state in &self.states {
            for message in &state.messages {
                let next = message.next.map_or("[*]".to_owned(), |next| self.states[next].name.to_string());
                let label = format!("{}{}", message.name, carried(message));
                // What Mermaid would take for its own.
                let label = label.replace('#', "#35;").replace(';', "#59;").replace("#35#59;", "#35;");
                let label = label.replace('<', "#lt;").replace('>', "#gt;").replace("::", "#58;#58;");
                lines.push(format!("    {} --> {next} : {label}", state.name));
            }
        }
        for (side, colour) in [(Side::Client, "#cfe3ff"), (Side::Server, "#ffe6c7")] {
            let names: Vec<String> =
                self.states.iter().filter(|state| state.sender == side).map(|state| state.name.to_string()).collect();
            if !names.is_empty() {
                lines.push(format!("    classDef {} fill:{colour},stroke:#555,color:#000", side.name()));
                lines.push(format!("    class {} {}", names.join(","), side.name()));
            }
        }
        lines.join("\n")
    }

    /// Each state with its messages, in a form that depends only on the messages.
    pub(crate) fn canonical(&self) -> String {
        let mut text = String::new();
        for state in &self.states {
            text += &format!("{}:{}{{", state.name, state.sender.name());
            for message in &state.messages {
                let next = message.next.map_or("!".to_owned(), |next| self.states[next].name.to_string());
                let kinds: Vec<String> = message.fields.iter().map(|field| written(&field.kind)).collect();
                text += &format!("{}({})->{next},", message.name, kinds.join(","));
            }
            text += "}";
        }
        text
    }
}
