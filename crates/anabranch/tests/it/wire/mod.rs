//! Conversations over a stream of bytes.

mod bank;
mod close;
#[path = "../../common/wires/mod.rs"]
mod wires;
