//! Programs that compute and serve at once: timers and HTTP requests beside parallel loops.
//!
//! Anabranch has one pool for both. The other contenders are tokio for the timers and sockets and rayon for the loops,
//! each with as many threads. A loop is called by a thread outside of both ([`Way::Outside`]), handed over by a fiber
//! or task ([`Way::HandedOver`]), or called by a fiber or task itself ([`Way::Inline`]).
//!
//! A server is a process of its own, and its clients are threads of the sample's process ([`clients`]). Both use all
//! processors. [`running`] counts the threads that the system could run.

mod callers;
pub mod clients;
mod http;
mod kind;
pub mod peers;
pub mod picture;
pub mod running;
mod ticks;
pub mod work;
pub mod workloads;

pub use kind::Kind;
pub use peers::Way;
pub use workloads::{ALL, Settings};
