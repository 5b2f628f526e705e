//! The tests that can share a process. Those that need one of their own are separate test programs.

mod channel;
#[path = "../common/mod.rs"]
mod common;
#[cfg(unix)]
mod cx;
mod errors;
mod fiber;
mod fork;
#[cfg(feature = "net")]
mod net;
mod pool;
mod proto;
mod sync;
#[cfg(all(feature = "serde", unix))]
mod wire;
