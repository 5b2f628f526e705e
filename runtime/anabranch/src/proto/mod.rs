//! Protocols: conversations whose order the compiler checks.
//!
//! [`proto!`](crate::proto!) describes a conversation between two sides: its states, which side sends in each, the
//! possible messages and the next states. It generates a module with a type for each state and side, an *endpoint*.
//! Each step consumes an endpoint and returns the next one, which has other methods. A program that sends out of turn
//! does not compile.
//!
//! ```
//! use anabranch::{channel::RecvError, proto};
//!
//! proto! { pub ping_pong {
//!     Ping: send { ping(u64) -> Pong, quit -> ! }
//!     Pong: recv { pong(u64) -> Ping }
//! }}
//!
//! let (client, service) = proto::spawn_service(ping_pong::pipe, |cx, mut server| {
//!     loop {
//!         server = match server.recv(cx)? {
//!             ping_pong::server::PingMessage::Ping(n, server) => server.pong(n + 1)?,
//!             ping_pong::server::PingMessage::Quit(done) => return Ok::<_, RecvError>(done),
//!         }
//!     }
//! });
//! anabranch::run(|cx| {
//!     let ping_pong::client::PongMessage::Pong(n, client) = client.ping(1).unwrap().recv(cx).unwrap();
//!     assert_eq!(n, 2);
//!     let done = client.quit().unwrap();
//!     assert_eq!(service.join(cx).unwrap(), Ok(done));
//! });
//! ```
//!
//! # What it costs
//! A conversation is *bounded* if neither side can send repeatedly without an answer. Then `pipe` allocates one block
//! for the whole conversation, and no message allocates. A send is one atomic exchange; a receive of a message that was
//! sent is one load.
//!
//! A state that can follow itself without an answer has a buffer, by default for 16 messages, and a send waits while
//! the buffer is full. `#[buffer(n)]` sets the size, and `#[unbounded]` removes the limit. The documentation of the
//! generated module says which kind the conversation is.
//!
//! # Ends
//! A message `-> !` is the last one, and both sides get a [`Done`] with it. If an error, a panic or a cancelled fiber
//! drops an endpoint earlier, the other side can still receive the messages that were sent before. Its next step then
//! returns `Closed`.
//!
//! # Over a wire
//! With the feature `serde`, two programs can hold a conversation over a stream of bytes: see the module `wire`.
//!
//! [The guide](crate::guide::protocols) explains when to use a protocol; `docs/PROTOCOLS.md` in the repository has the
//! details.

// `ring <- duplex <- {receiving, sending, done} <- wire`.
#[cfg(not(loom))]
mod done;
#[cfg(not(loom))]
mod duplex;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod receiving;
pub(crate) mod ring;
#[cfg(not(loom))]
mod sending;
#[cfg(all(any(unix, windows), not(loom)))]
mod service;
#[cfg(all(not(loom), feature = "serde"))]
pub mod wire;

#[cfg(all(any(unix, windows), not(loom)))]
pub use self::service::{spawn_service, spawn_service_in};
#[cfg(not(loom))]
pub use {
    self::{
        done::{Done, Protocol},
        error::{EndpointRecvError, EndpointSendError, EndpointTryRecvError, EndpointTrySendError},
    },
    crate::proto::{
        duplex::Endpoint,
        receiving::{ReceiveEndpoint, Receiving},
        sending::Writable,
    },
};

/// The items that the expansion of [`proto!`](crate::proto!) refers to. Only that expansion uses them: it upholds the
/// requirements of a [`Ring`](ring::Ring).
#[cfg(not(loom))]
#[doc(hidden)]
pub mod __private {
    pub use super::ring::Ring;
    pub use crate::proto::{
        duplex::{At, Duplex, Endpoint, Link, send, send_last},
        receiving::{is_ready, recv, try_recv},
        sending::wait_writable,
    };

    /// Creates the two ends of a bounded conversation.
    ///
    /// # Safety
    /// `C` and `S` are the client's and the server's endpoint of the first state of a protocol. The protocol allows at
    /// most `N - 1` messages in flight.
    pub unsafe fn ring<M, const N: usize, C, S>() -> (At<Ring<M, N>, C>, At<Ring<M, N>, S>) {
        let (client, server) = Ring::pair(crate::proto::duplex::new_conversation());
        (At::new(client), At::new(server))
    }

    /// Creates the two ends of an unbounded or buffered conversation, with the capacities of the two directions.
    ///
    /// # Safety
    /// `C` and `S` are the client's and the server's endpoint of the first state of a protocol.
    pub unsafe fn duplex<M, C, S>(
        of_client: Option<usize>,
        of_server: Option<usize>,
    ) -> (At<Duplex<M>, C>, At<Duplex<M>, S>) {
        let (client, server) = Duplex::pair(of_client, of_server);
        (At::new(client), At::new(server))
    }

    /// Returns whether a message would have to wait for room.
    pub fn is_full<M, E>(end: &At<Duplex<M>, E>) -> bool {
        end.link().is_full()
    }
}
