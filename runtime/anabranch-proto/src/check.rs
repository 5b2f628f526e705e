//! The checks of a protocol. They report all errors at once, each at the token that is wrong.

use crate::{
    analysis::Graph,
    errors::Errors,
    model::{Capacity, Field, Link, Message, Protocol, Side, State},
    names::check_names,
    parse::{Written, WrittenState, whole},
    text::{camel, nearest, written},
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use syn::{Attribute, Error, GenericParam, Generics, LitInt, Result};

/// Checks a parsed protocol, and analyses how far each side can run ahead.
pub(crate) fn check(written: Written) -> Result<Protocol> {
    let mut errors = Errors::default();
    let Some(first) = written.states.first() else {
        return Err(Error::new(written.name.span(), "a protocol needs at least one state, the one in which it begins"));
    };
    let generics = first.generics.clone();
    let first_name = first.name.clone();

    let numbers = numbers(&written.states, &mut errors);
    for state in &written.states {
        check_parameters(state, &generics, &first_name, &mut errors);
        check_messages(state, &numbers, &generics, &mut errors);
        check_types(state, &written.states, &mut errors);
    }
    check_use_of_parameters(&written.states, &generics, &mut errors);
    check_names(&written.states, &mut errors);

    let mut attrs = written.attrs;
    let allows_all = take_allow_endless(&mut attrs);
    let wire = take_wire(&mut attrs, &generics, &mut errors);
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("buffer") || attr.path().is_ident("unbounded")) {
        let text = format!(
            "`{}` applies to a state; write it before the state in which the messages are sent",
            written_attr(attr)
        );
        errors.add(attr.path().span(), text);
    }
    let mut allowed = Vec::new();
    let mut states = Vec::new();
    for mut state in written.states {
        allowed.push(allows_all | take_allow_endless(&mut state.attrs));
        let capacity = take_capacity(&mut state.attrs, &mut errors);
        if let Some(attr) = state.attrs.iter().find(|attr| attr.path().is_ident("wire")) {
            errors.add(
                attr.path().span(),
                "`#[wire]` applies to a whole protocol; write it before the name of the protocol".to_owned(),
            );
        }
        states.push(resolve(state, capacity, &numbers));
    }
    // The checks below use the graph, so all states must exist.
    errors.end()?;

    let graph = Graph::new(&states);
    check_ways(&graph, &states, &mut errors);
    check_rooms(&graph, &states, &mut errors);
    errors.end()?;

    let ending = graph.ending();
    let (waits, link) = graph.plan();
    let unduly = (0..states.len()).find(|&state| !ending[state] && !allowed[state]);
    for (number, state) in states.iter_mut().enumerate() {
        state.waits = waits[number];
        state.warns_endless = unduly == Some(number);
    }
    check_methods(&states, link, &mut errors);
    errors.end()?;
    Ok(Protocol { attrs, visibility: written.visibility, name: written.name, generics, states, link, wire })
}

/// Returns the indices of the states by name. Reports names that occur twice.
fn numbers(states: &[WrittenState], errors: &mut Errors) -> HashMap<String, usize> {
    let mut numbers = HashMap::new();
    for (number, state) in states.iter().enumerate() {
        if numbers.insert(state.name.to_string(), number).is_some() {
            errors.add(state.name.span(), format!("the state `{}` is defined more than once", state.name));
        }
    }
    numbers
}

/// Checks that a state has the parameters of the first one.
fn check_parameters(state: &WrittenState, generics: &Generics, first: &Ident, errors: &mut Errors) {
    let shown = |generics: &Generics| written(generics.to_token_stream()) + &written(&generics.where_clause);
    let bare = |generics: &Generics| parameters(generics).join(", ");
    let (own, wanted) = (&state.generics, generics);
    if bare(own) != bare(wanted) {
        let span = if own.params.is_empty() { state.name.span() } else { own.params[0].span() };
        let text = if wanted.params.is_empty() {
            format!(
                "`{}` has parameters, but the first state, `{first}`, has none; all states of a protocol have the parameters of the first",
                state.name
            )
        } else {
            format!(
                "`{}` must have the parameters of the first state, `{first}{}`: all messages of a conversation share one block of memory",
                state.name,
                written(wanted)
            )
        };
        errors.add(span, text);
    } else if shown(own) != shown(wanted) && shown(own) != format!("<{}>", bare(wanted)) {
        let text = format!(
            "the bounds of parameters belong to the first state, `{first}`, and apply to all states; write `{}: .. <{}>` here",
            state.name,
            bare(wanted)
        );
        errors.add(own.params.first().map_or(state.name.span(), Spanning::span), text);
    }
}

/// The span of a piece of syntax: that of its first token.
trait Spanning {
    fn span(&self) -> Span;
}

impl<T: ToTokens> Spanning for T {
    fn span(&self) -> Span {
        self.to_token_stream().into_iter().next().map_or_else(whole, |token| token.span())
    }
}

/// Returns an attribute as text.
fn written_attr(attr: &Attribute) -> String {
    format!("#[{}]", written(&attr.meta))
}

/// Returns the names of parameters, without their bounds.
fn parameters(generics: &Generics) -> Vec<String> {
    let name = |param: &GenericParam| match param {
        GenericParam::Type(param) => param.ident.to_string(),
        GenericParam::Lifetime(param) => param.lifetime.to_string(),
        GenericParam::Const(param) => param.ident.to_string(),
    };
    generics.params.iter().map(name).collect()
}

/// Checks that a state has messages, that their names differ, and that the next states exist and have the parameters.
fn check_messages(state: &WrittenState, numbers: &HashMap<String, usize>, generics: &Generics, errors: &mut Errors) {
    if state.messages.is_empty() {
        let who = if state.is_send { "the client" } else { "the server" };
        let text = format!(
            "no message can be sent in `{}`, so a conversation that reaches it can never end: add a message that {who} sends, or end the conversation earlier with `-> !`",
            state.name
        );
        errors.add(state.name.span(), text);
    }
    let mut variants = HashMap::new();
    for message in &state.messages {
        if let Some(other) = variants.insert(camel(&message.name), &message.name) {
            let text = if *other == message.name {
                format!("`{}` defines the message `{other}` more than once", state.name)
            } else {
                format!("`{}` and `{other}` would both become the variant `{}`", message.name, camel(other))
            };
            errors.add(message.name.span(), text);
        }
        let Some(next) = &message.next else { continue };
        let name = next.name.to_string();
        if !numbers.contains_key(&name) {
            let help = match nearest(&name, numbers.keys().map(String::as_str)) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => format!(
                    "; add `{name}: send {{ .. }}` or `{name}: recv {{ .. }}`, or write `!` if the conversation ends"
                ),
            };
            errors.add(next.name.span(), format!("there is no state `{name}`{help}"));
            continue;
        }
        let (wanted, given) = (parameters(generics), next.args.iter().map(written).collect::<Vec<_>>());
        if wanted.len() != given.len() {
            let count = |n: usize| if n == 1 { "1 parameter".to_owned() } else { format!("{n} parameters") };
            let right = if wanted.is_empty() { name.clone() } else { format!("{name}<{}>", wanted.join(", ")) };
            let text = format!(
                "`{name}` has {}, and {} given; write `{right}`",
                count(wanted.len()),
                match given.len() {
                    1 => "1 is".to_owned(),
                    n => format!("{n} are"),
                }
            );
            errors.add(next.name.span(), text);
        } else if let Some(at) = (0..wanted.len()).find(|&at| wanted[at] != given[at]) {
            let text = format!(
                "`{name}` must be given the parameter `{}`, not `{}`: all messages of a conversation share one block of memory",
                wanted[at], given[at]
            );
            errors.add(next.args[at].span(), text);
        }
    }
}

/// Checks that no type in a message has the name of an item that `proto!` generates.
fn check_types(state: &WrittenState, states: &[WrittenState], errors: &mut Errors) {
    let fields = state.messages.iter().flat_map(|message| &message.fields);
    for field in fields {
        for (name, leads) in beginnings(field.kind.to_token_stream()) {
            let text = name.to_string();
            let what = if matches!(text.as_str(), "client" | "server") && leads {
                "the module of this protocol's endpoints".to_owned()
            } else if let Some(state) = states.iter().find(|state| state.name == text) {
                format!("the endpoint in the state `{}`", state.name)
            } else if let Some(state) = states.iter().find(|state| format!("{}Message", state.name) == text) {
                format!("what `recv` in the state `{}` returns", state.name)
            } else if matches!(text.as_str(), "AnyMessage" | "Protocol" | "Done" | "Link") {
                "an item that `proto!` generates".to_owned()
            } else {
                continue;
            };
            let path = if leads { format!("{text}::..") } else { text };
            let text = format!("`{path}` would refer to {what}; if it is a type of your own, write `self::{path}`");
            errors.add(name.span(), text);
        }
    }
}

/// Returns the first name of each path in `tokens`, and whether the path continues after it.
fn beginnings(tokens: TokenStream) -> Vec<(Ident, bool)> {
    let mut found = Vec::new();
    let mut is_within = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_colon =
            |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        match token {
            TokenTree::Ident(name) => {
                if !is_within {
                    found.push((name, is_colon(tokens.peek())));
                }
                is_within = false;
            }
            TokenTree::Group(group) => found.extend(beginnings(group.stream())),
            other => is_within = is_colon(Some(&other)),
        }
    }
    found
}

/// Checks that a message uses each parameter.
fn check_use_of_parameters(states: &[WrittenState], generics: &Generics, errors: &mut Errors) {
    let fields = states.iter().flat_map(|state| &state.messages).flat_map(|message| &message.fields);
    let kinds: Vec<String> = fields.map(|field| format!(" {} ", field.kind.to_token_stream())).collect();
    for (param, name) in generics.params.iter().zip(parameters(generics)) {
        let is_in = |text: &String| {
            let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '\'';
            text.split(|letter| !is_of_word(letter)).any(|word| word == name)
        };
        if !kinds.iter().any(is_in) {
            errors.add(param.span(), format!("no message uses the parameter `{name}`; remove it"));
        }
    }
}

/// Removes `#[allow(endless)]`. Returns whether it was there.
fn take_allow_endless(attrs: &mut Vec<Attribute>) -> bool {
    let is_it = |attr: &Attribute| {
        attr.path().is_ident("allow") && attr.parse_args::<Ident>().is_ok_and(|lint| lint == "endless")
    };
    let before = attrs.len();
    attrs.retain(|attr| !is_it(attr));
    attrs.len() < before
}

/// Removes `#[wire(version = n)]`. Returns the version.
fn take_wire(attrs: &mut Vec<Attribute>, generics: &Generics, errors: &mut Errors) -> Option<u32> {
    let is_it = |attr: &Attribute| attr.path().is_ident("wire");
    let (found, rest) = std::mem::take(attrs).into_iter().partition::<Vec<_>, _>(is_it);
    *attrs = rest;
    let mut version = None;
    for attr in &found {
        let span = attr.path().span();
        if version.is_some() {
            errors.add(span, "this protocol has more than one `#[wire]`; remove one of them".to_owned());
        }
        let mut given = None;
        let parsed = attr.parse_nested_meta(|meta| {
            if !meta.path.is_ident("version") || given.is_some() {
                return Err(meta.error("expected one `version`"));
            }
            given = Some(meta.value()?.parse::<LitInt>()?.base10_parse::<u32>()?);
            Ok(())
        });
        match (parsed, given) {
            (Ok(()), Some(given)) => version = Some(given),
            _ => {
                let text = "expected a version below 2^32, such as `#[wire(version = 1)]`";
                errors.add(span, text.to_owned());
            }
        }
    }
    if let (Some(_), Some((param, name))) = (found.first(), generics.params.iter().zip(parameters(generics)).next()) {
        let text = format!(
            "a protocol with `#[wire]` cannot have parameters: the two programs compare the text of the protocol, in which `{name}` \
             stands for any type; write the type itself"
        );
        errors.add(param.span(), text);
    }
    version
}

/// Removes `#[buffer(n)]` or `#[unbounded]`. Returns the capacity and the position of the attribute.
fn take_capacity(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<(Capacity, Span)> {
    let mut found: Option<(Capacity, Span)> = None;
    let mut rest = Vec::new();
    for attr in attrs.drain(..) {
        let span = attr.path().span();
        let capacity = if attr.path().is_ident("unbounded") {
            if let Err(error) = attr.meta.require_path_only() {
                errors.add(error.span(), "`#[unbounded]` takes no arguments".to_owned());
            }
            Capacity::Unbounded
        } else if attr.path().is_ident("buffer") {
            let count = attr.parse_args::<LitInt>().and_then(|count| count.base10_parse::<usize>());
            match count {
                Ok(count) if count > 0 => Capacity::Buffer(count),
                _ => {
                    errors.add(span, "expected a number of messages above zero, such as `#[buffer(16)]`".to_owned());
                    continue;
                }
            }
        } else {
            rest.push(attr);
            continue;
        };
        if found.is_some() {
            errors.add(span, "this state has more than one buffer attribute; remove one of them".to_owned());
        }
        found = Some((capacity, span));
    }
    *attrs = rest;
    found
}

/// Converts a parsed state. Next states become indices.
fn resolve(state: WrittenState, capacity: Option<(Capacity, Span)>, numbers: &HashMap<String, usize>) -> State {
    let messages = state.messages.into_iter().map(|message| Message {
        attrs: message.attrs,
        name: message.name,
        fields: message.fields.into_iter().map(|field| Field { name: field.name, kind: field.kind }).collect(),
        next: message.next.and_then(|next| numbers.get(&next.name.to_string()).copied()),
    });
    State {
        attrs: state.attrs,
        name: state.name,
        sender: if state.is_send { Side::Client } else { Side::Server },
        messages: messages.collect(),
        capacity,
        waits: false,
        warns_endless: false,
    }
}

/// Checks that each state can be reached.
fn check_ways(graph: &Graph<'_>, states: &[State], errors: &mut Errors) {
    for (state, _) in states.iter().zip(graph.reachable()).filter(|(_, is_reachable)| !is_reachable) {
        let text = format!(
            "`{}` is unreachable: no sequence of messages leads to it from `{}`, the first state",
            state.name, states[0].name
        );
        errors.add(state.name.span(), text);
    }
}

/// Checks that attributes about buffers are at states that need them, once for each loop, and at each loop without an
/// exit.
fn check_rooms(graph: &Graph<'_>, states: &[State], errors: &mut Errors) {
    let co_live = graph.co_live();
    let mut is_seen = vec![false; states.len()];
    for (number, state) in states.iter().enumerate() {
        if !co_live[number] {
            if let Some((_, span)) = state.capacity {
                let text = format!(
                    "`{}` needs no buffer: the sender cannot come back here without an answer, so the conversation is bounded; remove this attribute",
                    state.name
                );
                errors.add(span, text);
            }
            continue;
        }
        let members = graph.loop_of(number);
        if std::mem::replace(&mut is_seen[number], true) || members.iter().any(|&member| member < number) {
            continue;
        }
        let asked: Vec<_> = members.iter().filter_map(|&member| states[member].capacity).collect();
        if let [_, (_, second), ..] = asked[..] {
            errors.add(
                second,
                "another state of this loop already has a buffer attribute; remove one of them".to_owned(),
            );
        }
        if asked.is_empty() && !graph.has_exit(&members) {
            let (side, other) = match state.sender {
                Side::Client => ("client", "server"),
                Side::Server => ("server", "client"),
            };
            let text = format!(
                "in `{}` the {side} sends repeatedly and the {other} never answers, so the number of messages in flight is not bounded: \
                 write `#[buffer(16)]` before the state, so that a send waits while 16 are in flight, or `#[unbounded]`",
                state.name
            );
            errors.add(state.name.span(), text);
        }
    }
}

/// Checks that no message has the name of another method of its endpoint.
fn check_methods(states: &[State], link: Link, errors: &mut Errors) {
    for state in states {
        for message in &state.messages {
            let name = message.name.to_string();
            let is_taken =
                name == "is_closed" || name == "writable" && state.waits && matches!(link, Link::Duplex { .. });
            if is_taken {
                errors
                    .add(message.name.span(), format!("endpoints already have a method `{name}`; rename the message"));
            }
            let stem = name.strip_prefix("try_").or(name.strip_suffix("_async")).filter(|_| state.waits);
            if let Some(stem) = stem.filter(|stem| state.messages.iter().any(|other| other.name == stem)) {
                let text =
                    format!("the message `{stem}` of this state already has a method `{name}`; rename this message");
                errors.add(message.name.span(), text);
            }
        }
    }
}
