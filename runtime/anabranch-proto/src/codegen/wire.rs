//! Generates the code of conversations over a wire: the encoding of messages, and the functions `over`.

use super::{conditions, docs, variant};
use crate::{
    model::{Capacity, Link, Message, Protocol, Side, State},
    text::from_within,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// Returns the expression for the index of the next state, if there is one.
fn next(next: Option<usize>) -> TokenStream {
    match next {
        Some(next) => quote!(::core::option::Option::Some(#next)),
        None => quote!(::core::option::Option::None),
    }
}

impl Protocol {
    /// Returns the implementation of `Script`, with which a connection encodes and decodes messages.
    pub(super) fn script(&self, version: u32) -> TokenStream {
        let states = self.states.iter().map(|state| {
            let (name, is_clients) = (state.name.to_string(), state.sender == Side::Client);
            let messages = state.messages.iter().map(|message| message.name.to_string());
            quote! {
                ::anabranch::proto::wire::__private::State {
                    name: #name, is_clients: #is_clients, messages: &[#(#messages),*],
                }
            }
        });
        let capacity = match self.link {
            Link::Ring(_) => [Capacity::Unbounded; 2],
            Link::Duplex { client, server } => [client, server],
        };
        let capacity = capacity.map(super::capacity);
        let writes = self.states.iter().map(writes);
        let reads = self.states.iter().enumerate().map(|(number, state)| reads(number, state));
        quote! {
            impl ::anabranch::proto::wire::Script for Protocol {
                type Link = Link;
                const VERSION: u32 = #version;
                const CAPACITY: [::core::option::Option<usize>; 2] = [#(#capacity),*];
                const STATES: &'static [::anabranch::proto::wire::__private::State] = &[#(#states),*];

                fn write(
                    message: AnyMessage,
                    to: &mut ::anabranch::proto::wire::__private::Writer<'_>,
                ) -> ::core::result::Result<::core::option::Option<usize>, ::anabranch::proto::wire::__private::Unfit> {
                    use ::anabranch::proto::wire::__private::Value as _;
                    match message { #(#writes)* }
                }

                fn read(
                    state: usize,
                    number: u32,
                    from: &mut ::anabranch::proto::wire::__private::Reader<'_>,
                ) -> ::core::result::Result<
                    (AnyMessage, ::core::option::Option<usize>),
                    ::anabranch::proto::wire::__private::Unfit,
                > {
                    use ::anabranch::proto::wire::__private::Value as _;
                    ::core::result::Result::Ok(match (state, number) {
                        #(#reads)*
                        _ => return ::core::result::Result::Err(::anabranch::proto::wire::__private::Unfit::Unknown),
                    })
                }
            }
        }
    }

    /// Returns the functions `over` and `over_async`, with which a side begins a conversation over a wire.
    pub(super) fn over(&self, side: Side) -> TokenStream {
        let first = &self.states[0].name;
        let is_client = side == Side::Client;
        let [on_thread, in_async] = docs::over(self, side);
        let private = quote!(::anabranch::proto::wire::__private);
        let result = quote! {
            ::core::result::Result<
                (#first, ::anabranch::proto::wire::Connection<super::Protocol, ByteStream>),
                ::anabranch::proto::wire::WireError,
            >
        };
        // These names have the span of the macro, as in `trusted`, so code of the user cannot refer to them.
        let link = format_ident!("link", span = Span::mixed_site());
        let connection = format_ident!("connection", span = Span::mixed_site());
        let wire = format_ident!("wire", span = Span::mixed_site());
        let call = quote_spanned! {Span::mixed_site()=>
            unsafe { #private::over::<super::Protocol, ByteStream, #first>(#wire, #is_client) }
        };
        let call_async = quote_spanned! {Span::mixed_site()=>
            unsafe { #private::over_async::<super::Protocol, ByteStream, #first>(#wire, #is_client) }
        };
        quote! {
            #on_thread
            pub fn over<ByteStream: ::std::io::Read + ::std::io::Write>(
                #wire: ::anabranch::proto::wire::Wire<ByteStream>,
            ) -> #result {
                let (#link, #connection) = #call?;
                ::core::result::Result::Ok((#first(#link), #connection))
            }

            #in_async
            pub async fn over_async<ByteStream>(
                #wire: ::anabranch::proto::wire::Wire<ByteStream>,
            ) -> #result
            where
                ByteStream: ::anabranch::proto::wire::AsyncRead
                    + ::anabranch::proto::wire::AsyncWrite
                    + ::core::marker::Unpin,
            {
                let (#link, #connection) = #call_async.await?;
                ::core::result::Result::Ok((#first(#link), #connection))
            }
        }
    }
}

/// Returns the names of a message's values, and a call of `what` for each. The compiler reports an error in such a call
/// at the type of the value.
fn values(message: &Message, what: &str) -> (Vec<Ident>, Vec<TokenStream>) {
    let values = message.fields.iter().enumerate().map(|(index, field)| {
        let kind = from_within(field.kind.to_token_stream(), 1);
        let at = kind.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
        let span = at.resolved_at(Span::call_site());
        let (name, what) = (format_ident!("value_{index}", span = span), format_ident!("{what}", span = span));
        let argument = if what == "put" { quote_spanned!(span=> &#name, to) } else { quote_spanned!(span=> from) };
        (name, quote_spanned!(span=> ::anabranch::proto::wire::__private::Of::<#kind>::#what(#argument)?))
    });
    values.unzip()
}

fn writes(state: &State) -> TokenStream {
    let arms = state.messages.iter().enumerate().map(|(index, message)| {
        let (variant, next, number) = (variant(state, message), next(message.next), index as u32);
        let (names, puts) = values(message, "put");
        let conditions = conditions(&message.attrs);
        quote! {
            #(#conditions)*
            AnyMessage::#variant(#(#names),*) => {
                to.number(#number)?;
                #(#puts;)*
                ::core::result::Result::Ok(#next)
            }
        }
    });
    quote!(#(#arms)*)
}

fn reads(state_number: usize, state: &State) -> TokenStream {
    let arms = state.messages.iter().enumerate().map(|(index, message)| {
        let (variant, next, number) = (variant(state, message), next(message.next), index as u32);
        let (_, takes) = values(message, "take");
        let conditions = conditions(&message.attrs);
        quote!(#(#conditions)* (#state_number, #number) => (AnyMessage::#variant(#(#takes),*), #next),)
    });
    quote!(#(#arms)*)
}
