//! The macro `proto!`, for [`anabranch`](https://crates.io/crates/anabranch), which re-exports it and has its
//! documentation.

use proc_macro::TokenStream;

/// See `anabranch::proto!`.
#[proc_macro]
pub fn proto(input: TokenStream) -> TokenStream {
    anabranch_proto::expand(input.into()).into()
}
