//! Generates the types of one side: an endpoint for each state, and an enum for each state in which it receives.

use super::{Params, argument_name, conditions, docs, params, received_name, trusted, variant};
use crate::{
    model::{Field, Message, Protocol, Side, State},
    text::{camel, from_within},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

/// The number of modules around these types.
const DEPTH: usize = 2;

/// Returns the parameters of a message, and their types.
fn arguments(message: &Message) -> (Vec<Ident>, Vec<TokenStream>) {
    let count = message.fields.len();
    let name = |(index, field): (usize, &Field)| argument_name(field.name.as_ref(), index, count);
    let names = message.fields.iter().enumerate().map(name);
    let kinds = message.fields.iter().map(|field| from_within(field.kind.to_token_stream(), DEPTH));
    (names.collect(), kinds.collect())
}

impl Protocol {
    /// Returns the module `client` or `server`.
    pub(super) fn side(&self, side: Side) -> TokenStream {
        let module = format_ident!("{}", side.name());
        let states = self.states.iter().map(|state| {
            let steps = if state.sender == side { self.sending(state, side) } else { self.receiving(state, side) };
            let endpoint = self.endpoint(state, side);
            quote!(#endpoint #steps)
        });
        let over = self.wire.map(|_| self.over(side));
        let text = format!(" The endpoints of the {}.", side.name());
        quote! {
            #[doc = #text]
            pub mod #module {
                use super::super::*;

                #over

                #(#states)*
            }
        }
    }

    fn full_name(&self, state: &State, side: Side) -> String {
        format!("{}::{}::{}", self.name, side.name(), state.name)
    }

    /// Returns the type of an endpoint.
    fn endpoint(&self, state: &State, side: Side) -> TokenStream {
        let Params { declared, bounds, used } = params(&self.generics, DEPTH);
        let State { name, attrs, .. } = state;
        let docs = docs::state(self, state, side);
        let full = self.full_name(state, side);
        let must = if state.sender == side {
            "the other side waits for the next message; drop the endpoint to leave the conversation"
        } else {
            "the other side sends the next message; drop the endpoint to leave the conversation"
        };
        quote! {
            #(#attrs)*
            #docs
            #[must_use = #must]
            pub struct #name #declared (
                pub(super) ::anabranch::proto::__private::At<super::Link #used, #name #used>
            ) #bounds;

            impl #declared ::core::fmt::Debug for #name #used #bounds {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(#full)
                }
            }

            impl #declared ::anabranch::proto::Endpoint for #name #used #bounds {
                fn conversation(&self) -> u64 {
                    self.0.conversation()
                }
            }
        }
    }

    /// Returns the type that a step yields: the next endpoint, or `Done`.
    fn next(&self, message: &Message) -> TokenStream {
        let Params { used, .. } = params(&self.generics, DEPTH);
        match message.next {
            Some(next) => {
                let name = &self.states[next].name;
                quote!(#name #used)
            }
            None => quote!(super::Done),
        }
    }

    /// Returns an expression that sends a message. Its value is a `Result` with the next endpoint.
    fn send(&self, state: &State, message: &Message, names: &[Ident]) -> TokenStream {
        let variant = variant(state, message);
        let arguments_sent = quote!(self.0, super::AnyMessage::#variant(#(#names),*));
        match message.next {
            Some(next) => {
                let (name, send) =
                    (&self.states[next].name, trusted(quote!(::anabranch::proto::__private::send(#arguments_sent))));
                quote!({ #send }.map(#name))
            }
            None => trusted(quote!(::anabranch::proto::__private::send_last(#arguments_sent))),
        }
    }

    /// Returns the methods of an endpoint that sends.
    fn sending(&self, state: &State, side: Side) -> TokenStream {
        let Params { declared, bounds, used } = params(&self.generics, DEPTH);
        let name = &state.name;
        let methods = state.messages.iter().map(|message| {
            if state.waits { self.waiting_step(state, message, side) } else { self.step(state, message) }
        });
        let writable = state.waits.then(|| {
            quote! {
                /// Returns the wait for room as an operation: for a wait with a time limit, for async code, for
                /// `select!`. Once it completes, a send does not wait.
                pub fn writable(&mut self) -> ::anabranch::proto::Writable<'_, super::AnyMessage #used> {
                    ::anabranch::proto::Writable::new(&mut self.0)
                }
            }
        });
        quote! {
            impl #declared #name #used #bounds {
                #(#methods)*

                #writable

                /// Returns whether the other side is gone, so that no message can be received.
                pub fn is_closed(&self) -> bool {
                    self.0.is_closed()
                }
            }
        }
    }

    /// Returns the method that sends a message for which there is always room.
    fn step(&self, state: &State, message: &Message) -> TokenStream {
        let (attrs, name) = (&message.attrs, &message.name);
        let (names, kinds) = arguments(message);
        let (next, send) = (self.next(message), self.send(state, message, &names));
        let docs = docs::sends(self, state, message);
        quote! {
            #(#attrs)*
            #docs
            #[inline]
            pub fn #name(self #(, #names: #kinds)*) -> ::core::result::Result<#next, ::anabranch::channel::Closed> {
                #send
            }
        }
    }

    /// Returns the methods that send a message for which there may be no room.
    fn waiting_step(&self, state: &State, message: &Message, side: Side) -> TokenStream {
        let (attrs, name) = (&message.attrs, &message.name);
        let (try_name, async_name) = (format_ident!("try_{}", name.unraw()), format_ident!("{name}_async"));
        let (names, kinds) = arguments(message);
        // An error holds one value as it is, and several as a tuple.
        let (value, kind) = match (&names[..], &kinds[..]) {
            ([name], [kind]) => (quote!(#name), quote!(#kind)),
            _ => (quote!((#(#names),*)), quote!((#(#kinds),*))),
        };
        let (next, send) = (self.next(message), self.send(state, message, &names));
        let docs = docs::sends(self, state, message);
        let full = format!("{}::{name}", self.full_name(state, side));
        let try_docs = format!(" Like [`{name}`](Self::{name}), without waiting.");
        let async_docs =
            format!(" Like [`{name}`](Self::{name}), for async code. A future that is dropped drops the endpoint too.");
        let conditions: Vec<_> = conditions(attrs).collect();
        // The name has the span of the macro, so it does not clash with the name of a field.
        let cx = Ident::new("cx", Span::mixed_site());
        quote! {
            #(#attrs)*
            #docs
            #[inline]
            #[track_caller]
            pub fn #name(
                mut self,
                #cx: &::anabranch::Cx<'_>
                #(, #names: #kinds)*
            ) -> ::core::result::Result<#next, ::anabranch::proto::EndpointSendError<Self, #kind>> {
                match ::anabranch::proto::__private::wait_writable(&mut self.0, #cx, &#full) {
                    ::core::result::Result::Ok(()) => ::core::result::Result::Ok(#send?),
                    ::core::result::Result::Err(_) => {
                        ::core::result::Result::Err(::anabranch::proto::EndpointSendError::Cancelled(self, #value))
                    }
                }
            }

            #(#conditions)*
            #[doc = #try_docs]
            ///
            /// # Errors
            /// Returns `Full` with the endpoint and the values if there is no room, or `Closed` if the other side is
            /// gone.
            pub fn #try_name(
                self
                #(, #names: #kinds)*
            ) -> ::core::result::Result<#next, ::anabranch::proto::EndpointTrySendError<Self, #kind>> {
                if ::anabranch::proto::__private::is_full(&self.0) {
                    return ::core::result::Result::Err(::anabranch::proto::EndpointTrySendError::Full(self, #value));
                }
                ::core::result::Result::Ok(#send?)
            }

            #(#conditions)*
            #[doc = #async_docs]
            ///
            /// # Errors
            /// Returns `Closed` if the other side is gone.
            pub async fn #async_name(
                mut self
                #(, #names: #kinds)*
            ) -> ::core::result::Result<#next, ::anabranch::channel::Closed> {
                self.writable().await;
                #send
            }
        }
    }

    /// Returns the methods of an endpoint that receives, and the enum of its messages.
    fn receiving(&self, state: &State, side: Side) -> TokenStream {
        let Params { declared, bounds, used } = params(&self.generics, DEPTH);
        let (name, received) = (&state.name, received_name(&state.name));
        let full = self.full_name(state, side);
        let full_recv = format!("{full}::recv");
        let enum_docs = format!(" What the {} can receive in the state `{name}`, with the next endpoint.", side.name());
        let recv_docs = format!(" Waits for a message from the {}, and receives it.", state.sender.name());
        let variants = state.messages.iter().map(|message| {
            let (attrs, variant) = (&message.attrs, camel(&message.name));
            let (_, kinds) = arguments(message);
            let next = self.next(message);
            let docs = docs::received(self, message);
            quote!(#(#attrs)* #docs #variant(#(#kinds,)* #next),)
        });
        let arms = state.messages.iter().map(|message| {
            let (from, to) = (variant(state, message), camel(&message.name));
            let (names, _) = arguments(message);
            // The name has the span of the macro, so it does not clash with the name of a field.
            let end = Ident::new("end", Span::mixed_site());
            let next = match message.next {
                Some(next) => {
                    let (name, next) = (&self.states[next].name, trusted(quote!(#end.next())));
                    quote!(#name(#next))
                }
                None => trusted(quote!(#end.finish())),
            };
            let conditions = conditions(&message.attrs);
            quote!(#(#conditions)* super::AnyMessage::#from(#(#names),*) => #received::#to(#(#names,)* #next),)
        });
        let is_all = self.states.iter().all(|other| other.name == state.name || other.messages.is_empty());
        let rest = (!is_all).then(|| quote!(_ => ::core::unreachable!("the other side follows the protocol"),));
        let shown = state.messages.iter().map(|message| {
            let (variant, conditions) = (camel(&message.name), conditions(&message.attrs));
            let text = format!("{full}Message::{variant}");
            quote!(#(#conditions)* Self::#variant(..) => #text,)
        });
        let private = quote!(::anabranch::proto::__private);
        let end = Ident::new("end", Span::mixed_site());
        let message = Ident::new("message", Span::mixed_site());
        let steps = quote! {
            type Received = #received #used;
            type Link = super::Link #used;
            const NAME: &'static &'static str = &#full_recv;

            #[inline]
            fn end(&self) -> &#private::At<super::Link #used, Self> {
                &self.0
            }

            #[inline]
            fn end_mut(&mut self) -> &mut #private::At<super::Link #used, Self> {
                &mut self.0
            }
        };
        let body = quote!(match #message { #(#arms)* #rest });
        let kind = quote!(#name #used);
        // `unsafe` has the span of the macro, as in `trusted`.
        let receive = quote_spanned! {Span::mixed_site()=>
            unsafe impl #declared ::anabranch::proto::ReceiveEndpoint for #kind #bounds {
                #steps

                #[inline]
                unsafe fn received(
                    #end: #private::At<super::Link #used, Self>,
                    #message: super::AnyMessage #used,
                ) -> #received #used {
                    #body
                }
            }
        };
        let result = quote!(::core::result::Result);
        quote! {
            #[doc = #enum_docs]
            #[must_use = "it holds the next endpoint"]
            pub enum #received #declared #bounds { #(#variants)* }

            impl #declared ::core::fmt::Debug for #received #used #bounds {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(match self { #(#shown)* })
                }
            }

            #receive

            impl #declared #name #used #bounds {
                #[doc = #recv_docs]
                ///
                /// # Errors
                /// Returns an error if the other side is gone, or if the wait was cancelled. In the latter case the
                /// error holds the endpoint.
                #[inline]
                #[track_caller]
                pub fn recv(self, cx: &::anabranch::Cx<'_>) -> #result<#received #used, ::anabranch::proto::EndpointRecvError<Self>> {
                    #private::recv(self, cx)
                }

                /// Receives a message if there is one. Does not wait.
                ///
                /// # Errors
                /// Returns `Empty` with the endpoint if there is no message yet, or `Closed` if the other side is gone.
                #[inline]
                pub fn try_recv(self) -> #result<#received #used, ::anabranch::proto::EndpointTryRecvError<Self>> {
                    #private::try_recv(self)
                }

                /// Returns whether [`try_recv`](Self::try_recv) would not return `Empty`.
                pub fn is_ready(&self) -> bool {
                    #private::is_ready(self)
                }

                /// Returns the receive as an operation: for a wait with a time limit, for async code, for `select!`.
                /// Once it completes, the methods of this endpoint return `Closed`: the message has the next endpoint.
                /// If the wait ends early, or its future is dropped, this endpoint is unchanged.
                pub fn receiving(&mut self) -> ::anabranch::proto::Receiving<'_, Self> {
                    ::anabranch::proto::Receiving::new(self)
                }
            }
        }
    }
}
