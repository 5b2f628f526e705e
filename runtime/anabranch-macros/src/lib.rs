//! The macro `proto!` of [`anabranch`](https://crates.io/crates/anabranch). That crate re-exports the macro and
//! documents it.

use proc_macro::TokenStream;

/// Generates the module of a protocol. `anabranch::proto!` has the documentation.
#[proc_macro]
pub fn proto(input: TokenStream) -> TokenStream {
    anabranch_proto::expand(input.into()).into()
}
