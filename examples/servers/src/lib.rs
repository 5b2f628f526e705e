//! What the servers of this package share, and the servers themselves. The programs in `src/bin` have their command
//! lines and demonstrations.

pub mod connection;
pub mod crawler;
pub mod http;
pub mod nucleotides;
pub mod on_tokio;
pub mod program;
pub mod proxy;
pub mod serve;
pub mod site;
pub mod tls;
pub mod websocket;

/// An error of any kind, for display.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
