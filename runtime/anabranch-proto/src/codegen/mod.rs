//! Generates the module of a protocol.
//!
//! ```text
//! mod name {
//!     enum Protocol; type Done; fn pipe;      the protocol, its proof of an end, the start of a conversation
//!     enum AnyMessage; type Link;             all messages, and their transport; both hidden
//!     mod client { .. }  mod server { .. }    an endpoint for each state, an enum for each receive, `over` for wires
//! }
//! ```
//! Code that is the same for every protocol is in the runtime, in `anabranch::proto::__private`.

mod docs;
mod endpoint;
mod wire;

use crate::{
    model::{Capacity, Link, Message, Protocol, Side, State},
    text::{from_within, hash},
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, GenericParam, Generics};

/// The parameters of a protocol, as each part of an item has them.
struct Params {
    /// Where they are declared: `<T: Bound>`.
    declared: TokenStream,
    /// The `where` clause.
    bounds: TokenStream,
    /// Where they are used: `<T>`.
    used: TokenStream,
}

/// Returns the parameters for code that is `depth` modules further in.
fn params(generics: &Generics, depth: usize) -> Params {
    let mut generics = generics.clone();
    let bounds = from_within(generics.where_clause.take().to_token_stream(), depth);
    let (_, used, _) = generics.split_for_impl();
    Params { used: used.to_token_stream(), bounds, declared: from_within(generics.to_token_stream(), depth) }
}

/// Returns the parameters without bounds and defaults, for a type alias.
fn without_bounds(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    generics.where_clause = None;
    for param in &mut generics.params {
        match param {
            GenericParam::Type(param) => {
                param.bounds.clear();
                param.colon_token = None;
                param.default = None;
            }
            GenericParam::Lifetime(param) => {
                param.bounds.clear();
                param.colon_token = None;
            }
            GenericParam::Const(param) => {
                param.default = None;
            }
        }
    }
    generics
}

/// Returns the variant of a message in `AnyMessage`.
fn variant(state: &State, message: &Message) -> Ident {
    variant_name(&state.name, &message.name)
}

/// Returns the variant in `AnyMessage` of a message with this name in the state with that name.
pub(crate) fn variant_name(state: &Ident, message: &Ident) -> Ident {
    use syn::ext::IdentExt;
    format_ident!("{}_{}", state, message.unraw(), span = message.span())
}

/// Returns the name of the enum that a receive in the state returns.
pub(crate) fn received_name(state: &Ident) -> Ident {
    format_ident!("{state}Message")
}

/// Returns the name of the value with this index among `count` values of a message.
pub(crate) fn argument_name(given: Option<&Ident>, index: usize, count: usize) -> Ident {
    match given {
        Some(name) => name.clone(),
        None if count == 1 => format_ident!("value"),
        None => format_ident!(
            "{}",
            ["first", "second", "third"].get(index).map_or(format!("arg_{index}"), |name| (*name).to_owned())
        ),
    }
}

/// Returns the `#[cfg]` attributes.
fn conditions(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
}

fn capacity(capacity: Capacity) -> TokenStream {
    match capacity {
        Capacity::Buffer(count) => {
            let count = Literal::usize_unsuffixed(count);
            quote!(::core::option::Option::Some(#count))
        }
        Capacity::Unbounded => quote!(::core::option::Option::None),
    }
}

impl Protocol {
    /// Returns the module that the macro generates.
    pub fn to_module(&self) -> TokenStream {
        let Self { attrs, visibility, name, .. } = self;
        let Params { declared, bounds, used } = params(&self.generics, 1);
        let alias = without_bounds(&self.generics);
        let any = self.states.iter().flat_map(|state| {
            state.messages.iter().map(move |message| {
                let (variant, conditions) = (variant(state, message), conditions(&message.attrs));
                let kinds = message.fields.iter().map(|field| from_within(field.kind.to_token_stream(), 1));
                quote!(#(#conditions)* #variant(#(#kinds),*),)
            })
        });
        let (link, lines) = match self.link {
            Link::Ring(count) => {
                // One slot more than the largest number of messages in flight.
                let slots = Literal::usize_unsuffixed(count + 1);
                (
                    quote!(::anabranch::proto::__private::Ring<AnyMessage #used, #slots>),
                    trusted(quote!(::anabranch::proto::__private::ring())),
                )
            }
            Link::Duplex { client, server } => {
                let (client, server) = (capacity(client), capacity(server));
                (
                    quote!(::anabranch::proto::__private::Duplex<AnyMessage #used>),
                    trusted(quote!(::anabranch::proto::__private::duplex(#client, #server))),
                )
            }
        };
        let first = &self.states[0].name;
        let [client, server] = Side::BOTH.map(|side| self.side(side));
        let warning = self.states.iter().find(|state| state.warns_endless).map(endless);
        let (text, diagram, hash) = (self.name(), self.mermaid(), hash(&self.canonical()));
        let docs = docs::module(self);
        let pipe_docs = docs::pipe(self);
        let script = self.wire.map(|version| self.script(version));
        quote! {
            #(#attrs)*
            #docs
            #[allow(dead_code, unused_imports, clippy::all, clippy::undocumented_unsafe_blocks)]
            #visibility mod #name {
                use super::*;

                /// The protocol, as a type.
                #[derive(Debug)]
                pub enum Protocol {}

                impl ::anabranch::proto::Protocol for Protocol {
                    const NAME: &'static str = #text;
                    const DIAGRAM: &'static str = #diagram;
                    const HASH: u64 = #hash;
                }

                /// The proof that a conversation has ended.
                pub type Done = ::anabranch::proto::Done<Protocol>;

                #pipe_docs
                pub fn pipe #declared () -> (client::#first #used, server::#first #used) #bounds {
                    let (client, server) = #lines;
                    (client::#first(client), server::#first(server))
                }

                /// The messages of all states.
                #[doc(hidden)]
                #[allow(non_camel_case_types)]
                pub enum AnyMessage #declared #bounds { #(#any)* }

                type Link #alias = #link;

                #script

                #client
                #server
                #warning
            }
        }
    }
}

/// Returns a call of an unsafe function of the runtime, in an `unsafe` block with the span of the macro. So a crate
/// that forbids `unsafe` can use it.
///
/// Each of these functions requires that an endpoint goes from state to state as its protocol says. The generated code
/// upholds this: a call contains only code of the macro, and names.
fn trusted(call: TokenStream) -> TokenStream {
    quote_spanned!(Span::mixed_site()=> unsafe { #call })
}

/// Returns code that makes the compiler warn at the name of a state: the use of a deprecated constant.
fn endless(state: &State) -> TokenStream {
    let name = &state.name;
    let note = format!(
        "a conversation that reaches `{name}` cannot end: no sequence of messages leads from it to `!`. \
         If this is intended, write `#[allow(endless)]` before the state, or before the protocol"
    );
    quote! {
        const _: () = {
            #[deprecated(note = #note)]
            #[allow(non_upper_case_globals)]
            const #name: () = ();
            #name
        };
    }
}
