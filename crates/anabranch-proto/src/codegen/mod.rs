//! The module that a protocol becomes.
//!
//! ```text
//! mod name {
//!     enum Protocol; type Done; fn pipe;      what is the protocol's own
//!     enum AnyMessage; type Line;             what goes over, hidden
//!     mod client { .. }  mod server { .. }    a type for each state, and one for what it receives; `over` for wires
//! }
//! ```
//! All that can be the same for every protocol is in the runtime, `anabranch::proto::__private`.

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

/// The parameters, in the ways in which they have to be written.
struct Params {
    /// `<T: Bound>`, and `where ..`.
    declared: TokenStream,
    bounds: TokenStream,
    /// `<T>`.
    used: TokenStream,
}

/// With paths as they are so many modules further in.
fn params(generics: &Generics, depth: usize) -> Params {
    let mut generics = generics.clone();
    let bounds = from_within(generics.where_clause.take().to_token_stream(), depth);
    let (_, used, _) = generics.split_for_impl();
    Params { used: used.to_token_stream(), bounds, declared: from_within(generics.to_token_stream(), depth) }
}

/// `<T>` for an alias, which has no bounds.
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

/// The variant of a message among all.
fn variant(state: &State, message: &Message) -> Ident {
    use syn::ext::IdentExt;
    format_ident!("{}_{}", state.name, message.name.unraw(), span = message.name.span())
}

/// Those attributes that say whether something is there at all.
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
    /// What the macro makes of it.
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
                // One slot more than there can be messages under way.
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
        let warning = self.states.iter().find(|state| state.is_unduly_endless).map(endless);
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

/// A call of an unsafe function of the runtime, by whose span it is the macro's own and not that of a crate that
/// forbids `unsafe`. Each of these promises that an end goes from state to state as its protocol says; what stands in a
/// call is the macro's alone, and names.
fn trusted(call: TokenStream) -> TokenStream {
    quote_spanned!(Span::mixed_site()=> unsafe { #call })
}

/// A warning at the name of a state that has no way to the end: the use of a constant that is deprecated.
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
