//! The server of a conversation over a wire receives these bytes: either as everything that a client sends, or after a
//! valid handshake, so that most inputs reach the messages.

#![no_main]

#[path = "../../../runtime/anabranch/tests/common/mod.rs"]
mod common;
#[path = "../../../runtime/anabranch/tests/common/wires/mod.rs"]
mod wires;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use wires::served::{hello, serve};

static HELLO: LazyLock<Vec<u8>> = LazyLock::new(|| hello(true));

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let says = if first % 16 == 0 { rest.to_vec() } else { [&HELLO[..], rest].concat() };
    let (_, _, ended) = serve(&says, 1 << 16);
    if let Err(error) = ended {
        wires::sentence(&error);
    }
});
