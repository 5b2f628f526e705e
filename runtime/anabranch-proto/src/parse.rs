//! The parser. The grammar:
//!
//! ```text
//! protocol: attributes visibility? name { state.. }
//! state:    attributes Name : (send | recv) generics? { message, .. }
//! message:  attributes name ( (type | name: type), .. )? -> (Next generics? | !)
//! ```

use proc_macro2::{Span, TokenStream};
use syn::{
    Attribute, GenericArgument, Generics, Ident, Result, Token, Type, Visibility, braced,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

mod word {
    syn::custom_keyword!(send);
    syn::custom_keyword!(recv);
}

/// A parsed protocol, not checked.
pub(crate) struct Written {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) states: Vec<WrittenState>,
}

pub(crate) struct WrittenState {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) is_send: bool,
    pub(crate) generics: Generics,
    pub(crate) messages: Vec<WrittenMessage>,
}

pub(crate) struct WrittenMessage {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) fields: Vec<WrittenField>,
    /// The next state, or `None` if the message ends the conversation (`!`).
    pub(crate) next: Option<WrittenNext>,
}

pub(crate) struct WrittenField {
    pub(crate) name: Option<Ident>,
    pub(crate) kind: Type,
}

pub(crate) struct WrittenNext {
    pub(crate) name: Ident,
    pub(crate) args: Vec<GenericArgument>,
}

/// Parses only the name of a protocol, and skips the rest.
pub(crate) fn name(input: ParseStream<'_>) -> Result<Ident> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let name = input.parse()?;
    input.parse::<TokenStream>()?;
    Ok(name)
}

/// Parses the name of a state or of a message.
fn identifier(input: ParseStream<'_>, what: &str) -> Result<Ident> {
    input.parse::<Ident>().map_err(|error| match input.fork().call(Ident::parse_any) {
        Ok(word) if matches!(word.to_string().as_str(), "self" | "Self" | "super" | "crate" | "_") => {
            syn::Error::new(word.span(), format!("`{word}` is a word of Rust; give {what} another name"))
        }
        Ok(word) => syn::Error::new(
            word.span(),
            format!("`{word}` is a word of Rust; write `r#{word}`, or give {what} another name"),
        ),
        Err(_) => error,
    })
}

impl Parse for Written {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name = input.parse::<Ident>().map_err(|error| {
            syn::Error::new(error.span(), "a protocol begins with its name, as in `proto! { pub bank { .. } }`")
        })?;
        let inside;
        braced!(inside in input);
        let mut states = Vec::new();
        while !inside.is_empty() {
            states.push(inside.parse()?);
            // A comma between states is optional.
            inside.parse::<Option<Token![,]>>()?;
        }
        if !input.is_empty() {
            return Err(
                input.error("a protocol ends with its closing brace; write another protocol in another `proto!`")
            );
        }
        Ok(Self { attrs, visibility, name, states })
    }
}

impl Parse for WrittenState {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name = identifier(input, "the state")?;
        if input.peek(Token![<]) {
            let text = format!("the parameters of a state follow its direction: write `{name}: send<..> {{ .. }}`");
            return Err(input.error(text));
        }
        input.parse::<Token![:]>().map_err(|error| {
            let help = format!(
                "expected `:` after the state `{name}`: write `{name}: send {{ .. }}` or `{name}: recv {{ .. }}`"
            );
            syn::Error::new(error.span(), help)
        })?;
        let is_send = if input.peek(word::send) {
            input.parse::<word::send>()?;
            true
        } else if input.peek(word::recv) {
            input.parse::<word::recv>()?;
            false
        } else {
            return Err(input.error(format!(
                "expected `send` or `recv`: write `send` if the client sends in `{name}`, `recv` if it receives"
            )));
        };
        let mut generics: Generics = input.parse()?;
        generics.where_clause = input.parse()?;
        let inside;
        braced!(inside in input);
        let messages = Punctuated::<WrittenMessage, Token![,]>::parse_terminated(&inside)?;
        Ok(Self { attrs, name, is_send, generics, messages: messages.into_iter().collect() })
    }
}

impl Parse for WrittenMessage {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name = identifier(input, "the message")?;
        if input.peek(syn::token::Brace) {
            let text = format!("the values of a message are in parentheses: write `{name}(name: Type, ..)`");
            return Err(input.error(text));
        }
        let mut fields = Vec::new();
        if input.peek(syn::token::Paren) {
            let inside;
            parenthesized!(inside in input);
            fields = Punctuated::<WrittenField, Token![,]>::parse_terminated(&inside)?.into_iter().collect();
        }
        input.parse::<Token![->]>().map_err(|error| {
            let help = format!("expected `->`: write `{name} -> State`, or `{name} -> !` if it is the last message");
            syn::Error::new(error.span(), help)
        })?;
        if input.parse::<Option<Token![!]>>()?.is_some() {
            return Ok(Self { attrs, name, fields, next: None });
        }
        let next = input.parse::<Ident>().map_err(|error| {
            syn::Error::new(error.span(), format!("expected the name of a state after `{name} ->`, or `!` for the end"))
        })?;
        let mut args = Vec::new();
        if input.parse::<Option<Token![<]>>()?.is_some() {
            while !input.peek(Token![>]) {
                args.push(input.parse()?);
                if input.parse::<Option<Token![,]>>()?.is_none() {
                    break;
                }
            }
            input.parse::<Token![>]>()?;
        }
        Ok(Self { attrs, name, fields, next: Some(WrittenNext { name: next, args }) })
    }
}

impl Parse for WrittenField {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let is_named = input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]);
        let name = if is_named {
            let name = input.parse()?;
            input.parse::<Token![:]>()?;
            Some(name)
        } else {
            None
        };
        Ok(Self { name, kind: input.parse()? })
    }
}

/// Returns the span of the whole macro call, for errors that no token shows.
pub(crate) fn whole() -> Span {
    Span::call_site()
}
