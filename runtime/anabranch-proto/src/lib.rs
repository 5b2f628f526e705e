//! The compiler behind `anabranch::proto!`: turns the text of a protocol into types, errors and a diagram.
//!
//! The steps are modules: `parse` reads the text, `check` makes the checked protocol of `model`, and `codegen` and
//! `diagram` write the output. This is a library so that the `anabranch` command can show what the macro generates. The
//! documentation of `anabranch::proto!` describes the grammar.
//!
//! ```
//! let text = "pub ask { Question: send { ask(u64) -> Answer } Answer: recv { answer(u64) -> ! } }";
//! let protocol = anabranch_proto::read(text.parse().unwrap()).unwrap();
//! assert_eq!(protocol.name(), "ask");
//! assert!(protocol.mermaid().contains("Question --> Answer : ask"));
//! ```

mod analysis;
mod check;
mod codegen;
mod diagram;
mod errors;
mod model;
mod names;
mod parse;
mod text;

pub use crate::model::Protocol;
use proc_macro2::{TokenStream, TokenTree};
use syn::parse::Parser;

/// Reads a protocol and checks it.
///
/// # Errors
/// Returns an error that combines all errors of the protocol, each at its token.
pub fn read(input: TokenStream) -> syn::Result<Protocol> {
    let written = syn::parse2::<parse::Written>(input)?;
    check::check(written)
}

/// Returns the name of a protocol, even if the protocol has errors. Returns `None` if the text has no name where a
/// protocol has it.
///
/// ```
/// assert_eq!(anabranch_proto::name("pub ask { no state }".parse().unwrap()), Some("ask".to_owned()));
/// assert_eq!(anabranch_proto::name("{ no state }".parse().unwrap()), None);
/// ```
pub fn name(input: TokenStream) -> Option<String> {
    Parser::parse2(parse::name, input).ok().map(|name| name.to_string())
}

/// Returns the expansion of a protocol: its module, or its errors.
///
/// The generated code refers to the runtime as `::anabranch`. If the text begins with `$crate`, as the macro of that
/// crate passes it on, it refers to that crate, under whatever name the caller depends on it.
pub fn expand(input: TokenStream) -> TokenStream {
    let mut tokens = input.clone().into_iter();
    let runtime = match tokens.next() {
        Some(TokenTree::Ident(name)) if name == "$crate" => Some(name),
        _ => None,
    };
    let text = if runtime.is_some() { tokens.collect() } else { input };
    match (read(text), runtime) {
        (Ok(protocol), Some(runtime)) => text::with_runtime(protocol.to_module(), &runtime),
        (Ok(protocol), None) => protocol.to_module(),
        (Err(error), _) => error.into_compile_error(),
    }
}

/// Returns the content of each `proto! { .. }` in a source text, in order.
///
/// # Errors
/// Returns an error if the text is not Rust.
///
/// ```
/// let found = anabranch_proto::find("mod a { anabranch::proto! { pub b { C: send { d -> ! } } } }").unwrap();
/// assert_eq!(anabranch_proto::read(found[0].clone()).unwrap().name(), "b");
/// ```
pub fn find(source: &str) -> syn::Result<Vec<TokenStream>> {
    let mut found = Vec::new();
    collect(source.parse()?, &mut found);
    Ok(found)
}

/// Appends the content of each `proto! { .. }` in `tokens` to `found`.
fn collect(tokens: TokenStream, found: &mut Vec<TokenStream>) {
    let mut before = [None, None];
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            match &before {
                [Some(TokenTree::Ident(name)), Some(TokenTree::Punct(bang))]
                    if name == "proto" && bang.as_char() == '!' =>
                {
                    found.push(group.stream());
                }
                _ => collect(group.stream(), found),
            }
        }
        before = [before[1].take(), Some(token)];
    }
}
