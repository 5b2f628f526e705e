//! The texts of a protocol: its diagram, and the text of its hash.

use crate::{
    model::{Message, Protocol, Side},
    text::written,
};

/// Returns the fields of a message as text, such as `(String, amount: u64)`, or an empty text.
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

impl Protocol {
    /// Returns a state diagram in the language of [Mermaid](https://mermaid.js.org). The client sends in the blue
    /// states, the server in the orange ones.
    pub fn mermaid(&self) -> String {
        let mut lines = vec!["stateDiagram-v2".to_owned(), format!("    [*] --> {}", self.states[0].name)];
        for state in &self.states {
            for message in &state.messages {
                let next = message.next.map_or("[*]".to_owned(), |next| self.states[next].name.to_string());
                let label = format!("{}{}", message.name, carried(message));
                // Mermaid's own syntax uses these characters, so they are written as entities.
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

    /// Returns the text whose hash is `anabranch::proto::Protocol::HASH`: the states with their senders, messages,
    /// types and next states. Comments, attributes and the names of fields do not change it.
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
