//! How much memory channels and conversations allocate, by an allocator that counts for each thread.

#[path = "../common/allocator.rs"]
mod allocator;
mod channel;
#[path = "../common/mod.rs"]
mod common;
mod proto;
#[cfg(feature = "serde")]
mod wire_bytes;
#[cfg(feature = "serde")]
#[path = "../common/wires/mod.rs"]
mod wires;
