//! Sockets: servers of anabranch and its peers, each in a process of its own on one core, and a load generator on
//! another.
//!
//! The process of a sample ([`isolate`](crate::isolate)) is the load generator. It starts the server as a process of
//! its own ([`server`]). The CPU time of a sample is that of the server alone. `std` is a server with a thread for each
//! connection.

pub mod http;
mod kind;
pub mod load;
pub mod server;
pub mod servers;
pub mod workloads;

pub use kind::Kind;
pub use workloads::{ALL, Settings};
