//! Conversations over a stream of bytes.

mod bank;
mod close;
mod reads;
#[path = "../../common/wires/mod.rs"]
mod wires;
