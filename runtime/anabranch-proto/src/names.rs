//! Checks that no two items of the generated module have the same name.

use crate::{
    codegen::{argument_name, received_name, variant_name},
    errors::Errors,
    parse::{WrittenMessage, WrittenState},
};
use std::collections::HashMap;

/// Reports names that differ in the protocol and coincide in the generated code.
pub(crate) fn check_names(states: &[WrittenState], errors: &mut Errors) {
    check_endpoints(states, errors);
    check_variants(states, errors);
    states.iter().flat_map(|state| &state.messages).for_each(|message| check_values(message, errors));
}

/// Checks that no state has the name of what a receive in another state returns, or of another item of the module.
fn check_endpoints(states: &[WrittenState], errors: &mut Errors) {
    for state in states {
        if let Some(other) = states.iter().find(|other| received_name(&other.name) == state.name) {
            let text = format!(
                "`{}` is also the name of what `recv` in the state `{}` returns; rename one of the two states",
                state.name, other.name
            );
            errors.add(state.name.span(), text);
        }
        if matches!(state.name.to_string().as_str(), "Done" | "Protocol" | "AnyMessage" | "Link") {
            let text = format!("`{}` is also an item that `proto!` generates; rename the state", state.name);
            errors.add(state.name.span(), text);
        }
    }
}

/// Checks that no two messages of different states become the same variant of `AnyMessage`.
fn check_variants(states: &[WrittenState], errors: &mut Errors) {
    let mut seen: HashMap<String, (&WrittenState, &WrittenMessage)> = HashMap::new();
    for state in states {
        for message in &state.messages {
            let variant = variant_name(&state.name, &message.name).to_string();
            let earlier = seen.entry(variant).or_insert((state, message));
            // Within one state the names of messages are compared elsewhere.
            if earlier.0.name != state.name {
                let text = format!(
                    "the message `{}` of `{}` and `{}` of `{}` would both become `{}_{}`; rename one of them",
                    message.name, state.name, earlier.1.name, earlier.0.name, state.name, message.name
                );
                errors.add(message.name.span(), text);
            }
        }
    }
}

/// Checks that the values of a message have different names. Values without a name get one.
fn check_values(message: &WrittenMessage, errors: &mut Errors) {
    let names: Vec<_> = (0..message.fields.len())
        .map(|index| argument_name(message.fields[index].name.as_ref(), index, message.fields.len()).to_string())
        .collect();
    for (index, field) in message.fields.iter().enumerate() {
        let Some(name) = &field.name else { continue };
        let Some(other) = (0..names.len()).find(|&other| other != index && names[other] == names[index]) else {
            continue;
        };
        if message.fields[other].name.is_none() {
            let count = ["first", "second", "third"].get(other).map_or(format!("number {other}"), |n| (*n).to_owned());
            let text = format!(
                "the {count} value of `{}` has no name, so it is called `{name}` too; give it a name, as in `name: Type`",
                message.name
            );
            errors.add(name.span(), text);
        } else if other < index {
            errors.add(name.span(), format!("`{}` has two values with the name `{name}`; rename one", message.name));
        }
    }
}
